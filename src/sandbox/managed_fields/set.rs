//! Sets of fields: what a manager owns, what changed between two objects.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::path::PathElement;

/// A set of field paths. A field and what is below it are independent: either may be in the set without the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Sorted by step.
    nodes: Vec<(PathElement, Node)>,
}

/// What the set holds at and below one step. Never both empty and no member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    is_member: bool,
    below: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }
}

impl FieldSet {
    /// Whether no field is in it.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds what is at and below one step.
    pub fn attach(&mut self, step: PathElement, is_member: bool, below: Self) {
        let node = Node { is_member, below };
        if node.is_empty() {
            return;
        }
        match self.place(&step) {
            Ok(place) => self.nodes[place].1 = node,
            Err(place) => self.nodes.insert(place, (step, node)),
        }
    }

    /// Where a step is, or where it would be.
    fn place(&self, step: &PathElement) -> Result<usize, usize> {
        // Sets are mostly built in order.
        match self.nodes.last() {
            Some((last, _)) if last < step => Err(self.nodes.len()),
            _ => self.nodes.binary_search_by(|(other, _)| other.cmp(step)),
        }
    }

    fn node(&self, step: &PathElement) -> Option<&Node> {
        let place = self.place(step).ok()?;
        self.nodes.get(place).map(|(_, node)| node)
    }

    /// The set that holds one path of field names.
    pub fn of_path(path: &[&'static str]) -> Self {
        let mut set = Self::default();
        if let Some((first, rest)) = path.split_first() {
            set.attach(
                PathElement::known(first),
                rest.is_empty(),
                Self::of_path(rest),
            );
        }
        set
    }

    /// Whether the field at this step is in the set.
    pub fn has(&self, step: &PathElement) -> bool {
        self.node(step).is_some_and(|node| node.is_member)
    }

    /// What the set holds below a step, if anything.
    pub fn below(&self, step: &PathElement) -> Option<&Self> {
        let node = self.node(step)?;
        (!node.below.is_empty()).then_some(&node.below)
    }

    /// Whether the path of field names is in the set.
    pub fn has_path(&self, path: &[&'static str]) -> bool {
        match path {
            [] => false,
            [last] => self.has(&PathElement::known(last)),
            [first, rest @ ..] => self
                .below(&PathElement::known(first))
                .is_some_and(|below| below.has_path(rest)),
        }
    }

    /// Fields of either.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        for (step, theirs) in other.nodes {
            match self.place(&step) {
                Ok(place) => {
                    let node = &mut self.nodes[place].1;
                    node.is_member |= theirs.is_member;
                    node.below = std::mem::take(&mut node.below).union(theirs.below);
                }
                Err(place) => self.nodes.insert(place, (step, theirs)),
            }
        }
        self
    }

    /// Fields of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for (step, node) in &self.nodes {
            if let Some(theirs) = other.node(step) {
                let is_member = node.is_member && theirs.is_member;
                both.attach(
                    step.clone(),
                    is_member,
                    node.below.intersection(&theirs.below),
                );
            }
        }
        both
    }

    /// Takes out the fields of `other`; what is below them stays.
    pub fn subtract(&mut self, other: &Self) {
        self.subtract_with(other, false);
    }

    /// Takes out the fields of `other` and everything below them.
    pub fn subtract_deeply(&mut self, other: &Self) {
        self.subtract_with(other, true);
    }

    fn subtract_with(&mut self, other: &Self, deeply: bool) {
        if other.is_empty() {
            return;
        }
        self.nodes.retain_mut(|(step, node)| {
            let Some(theirs) = other.node(step) else {
                return true;
            };
            if theirs.is_member {
                node.is_member = false;
                if deeply {
                    return false;
                }
            }
            node.below.subtract_with(&theirs.below, deeply);
            !node.is_empty()
        });
    }

    /// Adds the steps for which `is_named` holds and below which something is in the set, and goes on below with what
    /// it gives.
    pub fn add_parents<C: Copy>(
        &mut self,
        context: C,
        inside: &impl Fn(C, &PathElement) -> (bool, C),
    ) {
        for (step, node) in &mut self.nodes {
            let (is_named, below) = inside(context, step);
            if !node.below.is_empty() {
                node.is_member |= is_named;
                node.below.add_parents(below, inside);
            }
        }
    }

    /// The paths as messages print them: those of one level before what is below.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        let members = self.nodes.iter().filter(|(_, node)| node.is_member);
        paths.extend(members.map(|(step, _)| format!("{prefix}{step}")));
        let mut path = String::new();
        for (step, node) in self.nodes.iter().filter(|(_, node)| !node.below.is_empty()) {
            path.clear();
            // Writing to a String cannot fail.
            let _ = write!(path, "{prefix}{step}");
            node.below.collect_paths(&path, paths);
        }
    }

    /// Reads `fieldsV1`; steps that only later versions know are left out.
    pub fn from_fields_v1(fields: &Value) -> Self {
        let mut set = Self::default();
        for (text, below) in fields.as_object().into_iter().flatten() {
            if let Some(step) = PathElement::from_fields_v1(text) {
                let is_member = below
                    .as_object()
                    .is_none_or(|below| below.is_empty() || below.contains_key("."));
                set.attach(step, is_member, Self::from_fields_v1(below));
            }
        }
        set
    }

    /// Writes `fieldsV1`.
    pub fn to_fields_v1(&self) -> Value {
        let mut fields = Map::new();
        for (step, node) in &self.nodes {
            let mut below = node.below.to_fields_v1();
            if let Value::Object(below) = &mut below
                && node.is_member
                && !below.is_empty()
            {
                below.insert(".".to_owned(), Value::Object(Map::new()));
            }
            fields.insert(step.to_fields_v1(), below);
        }
        Value::Object(fields)
    }
}
