//! Merging an applied configuration into an object, and taking fields out of one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::sandbox::managed_fields::layout::{IdentityError, Layout};
use crate::sandbox::managed_fields::path::PathElement;
use crate::sandbox::managed_fields::set::FieldSet;

/// Merges `config` into `live`: what `config` sets wins, the rest stays.
pub(super) fn merge(layout: Layout, live: &mut Value, config: &Value) -> Result<(), IdentityError> {
    match (layout, &mut *live, config) {
        (Layout::Struct(_) | Layout::Map(_), Value::Object(live), Value::Object(config)) => {
            for (name, value) in config {
                match live.get_mut(name) {
                    Some(before) => merge(layout.member(name).1, before, value)?,
                    None => {
                        live.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        (Layout::Set | Layout::Keyed(..), Value::Array(before), Value::Array(config)) => {
            let merged = merge_lists(layout, before, config)?;
            *before = merged;
        }
        // Nothing said about the members or elements leaves them as they are.
        (_, Value::Object(before), Value::Null)
            if !matches!(layout, Layout::Leaf) && !before.is_empty() => {}
        (_, Value::Array(before), Value::Null) if layout.is_list() && !before.is_empty() => {}
        (_, live, config) => *live = config.clone(),
    }
    Ok(())
}

/// A list whose elements have an identity.
struct Elements<'a> {
    layout: Layout,
    steps: Vec<PathElement>,
    values: &'a [Value],
    /// Where each identity is; `None` for one that is there more than once.
    places: BTreeMap<PathElement, Option<usize>>,
}

impl<'a> Elements<'a> {
    fn of(layout: Layout, values: &'a [Value]) -> Result<Self, IdentityError> {
        let mut steps = Vec::with_capacity(values.len());
        let mut places = BTreeMap::new();
        for (place, value) in values.iter().enumerate() {
            let (step, _) = layout.element(value)?;
            places
                .entry(step.clone())
                .and_modify(|place| *place = None)
                .or_insert(Some(place));
            steps.push(step);
        }
        Ok(Self {
            layout,
            steps,
            values,
            places,
        })
    }

    fn has(&self, step: &PathElement) -> bool {
        self.places.contains_key(step)
    }

    /// The configured element merged with the one of the same identity here.
    fn merged_with(&self, step: &PathElement, configured: &Value) -> Result<Value, IdentityError> {
        let Some(&Some(place)) = self.places.get(step) else {
            return Ok(configured.clone());
        };
        let mut merged = self.values[place].clone();
        merge(self.layout.element(configured)?.1, &mut merged, configured)?;
        Ok(merged)
    }
}

/// Elements that both lists have stand in the order of `config`; those of `live` alone keep their place among their
/// neighbours; those of `config` alone follow the element that they follow there.
fn merge_lists(
    layout: Layout,
    live: &[Value],
    config: &[Value],
) -> Result<Vec<Value>, IdentityError> {
    let live = Elements::of(layout, live)?;
    let config = Elements::of(layout, config)?;
    let mut merged = Vec::with_capacity(live.values.len().max(config.values.len()));
    let mut shared = config.steps.iter().filter(|step| live.has(step)).peekable();
    let (mut at_live, mut at_config) = (0, 0);
    loop {
        let live_step = live.steps.get(at_live);
        let config_step = config.steps.get(at_config);
        let take_live = match (live_step, config_step) {
            (None, None) => return Ok(merged),
            (None, Some(_)) => false,
            // What both have appears where the configuration has it.
            (Some(step), _) if config.has(step) => {
                let is_due = shared.peek().map(|next| *next == step);
                if Some(step) == config_step || is_due.is_none() {
                    at_live += 1;
                } else if is_due == Some(false) {
                    at_live += 1;
                    continue;
                }
                false
            }
            (Some(_), _) => true,
        };
        if take_live {
            merged.push(live.values[at_live].clone());
            at_live += 1;
        } else if let Some(step) = config_step {
            merged.push(live.merged_with(step, &config.values[at_config])?);
            at_config += 1;
            shared.next_if(|next| *next == step);
        }
    }
}

/// Takes fields out of a value. What held them stays, if only empty.
pub(super) fn remove(layout: Layout, value: &mut Value, fields: &FieldSet) {
    if fields.is_empty() {
        return;
    }
    match (layout, value) {
        (Layout::Struct(_) | Layout::Map(_), Value::Object(members)) => {
            remove_members(layout, members, fields);
        }
        (Layout::Set | Layout::Keyed(..), Value::Array(list)) => {
            list.retain_mut(|element| {
                let Ok((step, inside)) = layout.element(element) else {
                    return true;
                };
                if fields.has(&step) {
                    return false;
                }
                if let Some(below) = fields.below(&step) {
                    remove(inside, element, below);
                }
                true
            });
        }
        _ => {}
    }
}

fn remove_members(layout: Layout, members: &mut Map<String, Value>, fields: &FieldSet) {
    members.retain(|name, value| {
        let (step, inside) = layout.member(name);
        if fields.has(&step) {
            return false;
        }
        if let Some(below) = fields.below(&step) {
            remove(inside, value, below);
        }
        true
    });
}
