//! What changed from one object to another, field by field; and which fields an object sets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::layout::Layout;
use super::path::PathElement;
use super::set::FieldSet;

/// The fields in which two objects differ; no field is in more than one set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Fields that only the first object has.
    pub removed: FieldSet,
    /// Fields that both have, with different values.
    pub modified: FieldSet,
    /// Fields that only the second object has.
    pub added: FieldSet,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Removed,
    Modified,
    Added,
}

impl Comparison {
    /// Compares two objects, or values that divide alike.
    pub fn of(layout: Layout, before: &Value, after: &Value) -> Self {
        let mut comparison = Self::default();
        if before != after {
            comparison.descend(layout, Some(before), Some(after));
        }
        comparison
    }

    /// Takes out these fields and everything below them.
    #[must_use]
    pub fn without(mut self, fields: &FieldSet) -> Self {
        self.removed.subtract_deeply(fields);
        self.modified.subtract_deeply(fields);
        self.added.subtract_deeply(fields);
        self
    }

    /// Adds what changed at and below one step.
    fn visit(
        &mut self,
        step: PathElement,
        layout: Layout,
        before: Option<&Value>,
        after: Option<&Value>,
    ) {
        if before == after {
            return;
        }
        let mut below = Self::default();
        let is_leaf = below.descend(layout, before, after);
        let change = match (before, after) {
            (None, _) => Some(Change::Added),
            (_, None) => Some(Change::Removed),
            _ if is_leaf => Some(Change::Modified),
            _ => None,
        };
        self.attach(step, change, below);
    }

    fn attach(&mut self, step: PathElement, change: Option<Change>, below: Self) {
        let is = |wanted| change == Some(wanted);
        self.removed
            .attach(step.clone(), is(Change::Removed), below.removed);
        self.modified
            .attach(step.clone(), is(Change::Modified), below.modified);
        self.added.attach(step, is(Change::Added), below.added);
    }

    /// Compares the parts of two values; says whether they have none and count as one.
    fn descend(&mut self, layout: Layout, before: Option<&Value>, after: Option<&Value>) -> bool {
        match layout {
            Layout::Struct(_) | Layout::Map(_) => {
                let (Some(before), Some(after)) = (members(before), members(after)) else {
                    return true;
                };
                if before.is_empty() && after.is_empty() {
                    return true;
                }
                self.compare_members(layout, before, after);
                false
            }
            Layout::Set | Layout::Keyed(..) => {
                let (Some(before), Some(after)) = (elements(before), elements(after)) else {
                    return true;
                };
                if before.is_empty() && after.is_empty() {
                    return true;
                }
                self.compare_elements(layout, before, after);
                false
            }
            Layout::Leaf => true,
        }
    }

    fn compare_members(
        &mut self,
        layout: Layout,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) {
        for (name, value) in before {
            let (step, inside) = layout.member(name);
            self.visit(step, inside, Some(value), after.get(name));
        }
        for (name, value) in after {
            if !before.contains_key(name) {
                let (step, inside) = layout.member(name);
                self.visit(step, inside, None, Some(value));
            }
        }
    }

    fn compare_elements(&mut self, layout: Layout, before: &[Value], after: &[Value]) {
        let mut found: BTreeMap<PathElement, (Layout, [Vec<&Value>; 2])> = BTreeMap::new();
        for (side, list) in [before, after].into_iter().enumerate() {
            for element in list {
                if let Ok((step, inside)) = layout.element(element) {
                    let (_, sides) = found
                        .entry(step)
                        .or_insert_with(|| (inside, [Vec::new(), Vec::new()]));
                    sides[side].push(element);
                }
            }
        }
        for (step, (inside, [before, after])) in found {
            match (before.as_slice(), after.as_slice()) {
                ([] | [_], [] | [_]) => {
                    let (before, after) = (before.first().copied(), after.first().copied());
                    self.visit(step, inside, before, after);
                }
                // An element that is there more than once has no parts of its own.
                ([_, _, ..], [_, _, ..]) => {
                    let change = (before != after).then_some(Change::Modified);
                    self.attach(step, change, Self::default());
                }
                ([_, _, ..], once) => {
                    self.visit(step.clone(), inside, None, once.first().copied());
                    self.removed.attach(step, true, FieldSet::default());
                }
                (once, _) => {
                    self.visit(step.clone(), inside, once.first().copied(), None);
                    self.added.attach(step, true, FieldSet::default());
                }
            }
        }
    }
}

static NO_MEMBERS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The members of a value; absent and `null` have none, and what is no object can't be asked.
fn members(value: Option<&Value>) -> Option<&Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Some(&NO_MEMBERS),
        Some(value) => value.as_object(),
    }
}

fn elements(value: Option<&Value>) -> Option<&[Value]> {
    match value {
        None | Some(Value::Null) => Some(&[]),
        Some(value) => value.as_array().map(Vec::as_slice),
    }
}

/// The fields that a value sets: scalars, whole atomic values, entries of maps and elements of lists.
pub fn fields_of(layout: Layout, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    match (layout, value) {
        (Layout::Struct(_) | Layout::Map(_), Value::Object(members)) => {
            for (name, value) in members {
                let (step, inside) = layout.member(name);
                let is_set = matches!(inside, Layout::Leaf)
                    || matches!(layout, Layout::Map(_))
                    || value.is_null()
                    || value.as_object().is_some_and(Map::is_empty);
                set.attach(step, is_set, fields_of(inside, value));
            }
        }
        (Layout::Set | Layout::Keyed(..), Value::Array(list)) => {
            let mut counts: BTreeMap<PathElement, (Layout, &Value, usize)> = BTreeMap::new();
            for element in list {
                if let Ok((step, inside)) = layout.element(element) {
                    counts.entry(step).or_insert((inside, element, 0)).2 += 1;
                }
            }
            for (step, (inside, element, count)) in counts {
                let below = if count == 1 {
                    fields_of(inside, element)
                } else {
                    FieldSet::default()
                };
                set.attach(step, true, below);
            }
        }
        _ => {}
    }
    set
}
