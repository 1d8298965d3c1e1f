//! Merging and ordering lists, for strategic merge patches.

use serde_json::{Map, Value};

use super::PatchError;
use super::go_format::{Printed, go_type};
use super::strategic::{DIRECTIVE, Members, merge_objects, unknown_directive};

/// What makes two elements of a list the same one.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    /// Their whole value.
    Whole,
    /// This member.
    Member(&'static str),
}

impl Identity {
    fn of(self, element: &Value) -> Result<&Value, PatchError> {
        let Self::Member(key) = self else {
            return Ok(element);
        };
        let members = element.as_object().ok_or_else(|| {
            PatchError::Unmergeable(format!(
                "expected a map[string]interface {{}}, but received a {}",
                go_type(element)
            ))
        })?;
        members.get(key).ok_or_else(|| no_merge_key(element, key))
    }

    fn position(self, list: &[Value], element: &Value) -> Result<Option<usize>, PatchError> {
        let wanted = self.of(element)?;
        for (index, element) in list.iter().enumerate() {
            if self.of(element)? == wanted {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

fn no_merge_key(element: &Value, key: &str) -> PatchError {
    PatchError::Unmergeable(format!(
        "map: {} does not contain declared merge key: {key}",
        Printed(element)
    ))
}

/// Adds the values of `patch` that `original` lacks.
pub(super) fn merge_values(original: &[Value], patch: &[Value]) -> Result<Vec<Value>, PatchError> {
    check_elements(original, patch)?;
    let mut merged: Vec<Value> = Vec::with_capacity(original.len() + patch.len());
    for value in original.iter().chain(patch) {
        if !merged.contains(value) {
            merged.push(value.clone());
        }
    }
    arrange(Identity::Whole, merged, patch, original)
}

/// Merges each element of `patch` with the one of `original` that has the same key, honouring `$patch` in elements.
pub(super) fn merge_by_key(
    key: &'static str,
    members: Members,
    mut original: Vec<Value>,
    patch: Vec<Value>,
) -> Result<Vec<Value>, PatchError> {
    check_elements(&original, &patch)?;
    let identity = Identity::Member(key);
    let (additions, replaces) = follow_directives(key, &mut original, patch)?;
    if replaces {
        return arrange(identity, additions, &[], &[]);
    }
    let mut merged = original.clone();
    for addition in &additions {
        match identity.position(&merged, addition)? {
            Some(index) => merge_element(members, &mut merged[index], addition)?,
            None => merged.push(addition.clone()),
        }
    }
    arrange(identity, merged, &additions, &original)
}

fn merge_element(members: Members, element: &mut Value, patch: &Value) -> Result<(), PatchError> {
    if let (Value::Object(before), Value::Object(patch)) = (&mut *element, patch) {
        *before = merge_objects(members, std::mem::take(before), patch.clone())?;
    }
    Ok(())
}

/// Carries out the elements that are directives; gives the others, and whether they replace the list.
fn follow_directives(
    key: &'static str,
    original: &mut Vec<Value>,
    patch: Vec<Value>,
) -> Result<(Vec<Value>, bool), PatchError> {
    let mut additions = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for element in patch {
        let members = element.as_object();
        match members.and_then(|members| members.get(DIRECTIVE)) {
            None => additions.push(element),
            Some(Value::String(directive)) if directive == "replace" => replaces = true,
            Some(Value::String(directive)) if directive == "delete" => {
                let deleted = element
                    .get(key)
                    .ok_or_else(|| no_merge_key(&element, key))?;
                original.retain(|element| element.get(key) != Some(deleted));
            }
            Some(Value::String(directive)) if directive == "merge" => {
                let message = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Unmergeable(message.to_owned()));
            }
            Some(directive) => {
                let members = members.cloned().unwrap_or_else(Map::new);
                return Err(unknown_directive(directive, &members));
            }
        }
    }
    Ok((additions, replaces))
}

/// All elements must be of one JSON type, and none a list.
fn check_elements(original: &[Value], patch: &[Value]) -> Result<(), PatchError> {
    let mut types = original.iter().chain(patch).map(go_type);
    let Some(first) = types.next() else {
        return Ok(());
    };
    if first.starts_with("[]") {
        let message = "lists of lists are not supported";
        return Err(PatchError::Unmergeable(message.to_owned()));
    }
    if types.all(|other| other == first) {
        return Ok(());
    }
    let list = |list: &[Value]| Printed(&Value::Array(list.to_vec())).to_string();
    Err(PatchError::Unmergeable(format!(
        "list element types are not identical: [{} {}]",
        list(original),
        list(patch)
    )))
}

/// `$setElementOrder` must name what the patch sets, in the patch's order.
pub(super) fn check_order(
    identity: Identity,
    patch: &[Value],
    order: &[Value],
) -> Result<(), PatchError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut ordered = order.iter();
    for element in patch.iter().filter(|element| !has_directive(element)) {
        let wanted = identity.of(element)?;
        loop {
            match ordered.next() {
                Some(next) if identity.of(next)? == wanted => break,
                Some(_) => {}
                None => return Err(wrong_order(patch, order)),
            }
        }
    }
    Ok(())
}

fn has_directive(element: &Value) -> bool {
    element.get(DIRECTIVE).is_some()
}

fn wrong_order(patch: &[Value], order: &[Value]) -> PatchError {
    let printed = |list: &[Value]| Printed(&Value::Array(list.to_vec())).to_string();
    PatchError::Unmergeable(format!(
        "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
        printed(patch),
        printed(order)
    ))
}

/// Puts a merged list in order: what `order` names as it says, the rest as in the list before; an element of the rest
/// stands before the named one that it stood before.
pub(super) fn arrange(
    identity: Identity,
    merged: Vec<Value>,
    order: &[Value],
    before: &[Value],
) -> Result<Vec<Value>, PatchError> {
    let mut named = Vec::new();
    let mut rest = Vec::new();
    for element in merged {
        let stood = identity.position(before, &element)?;
        match identity.position(order, &element)? {
            Some(index) => named.push((index, stood, element)),
            None => rest.push((stood.unwrap_or(usize::MAX), element)),
        }
    }
    named.sort_by_key(|(index, ..)| *index);
    rest.sort_by_key(|(index, _)| *index);
    let mut arranged = Vec::with_capacity(named.len() + rest.len());
    let mut rest = rest.into_iter().peekable();
    for (_, stood, element) in named {
        while let Some((_, earlier)) = rest.next_if(|(index, _)| Some(*index) < stood) {
            arranged.push(earlier);
        }
        arranged.push(element);
    }
    arranged.extend(rest.map(|(_, element)| element));
    Ok(arranged)
}
