//! Strategic merge patch: a partial object that is merged into another as the fields' types say, with directives
//! (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) for what merging alone can't express.

use serde_json::{Map, Value};

use super::PatchError;
use super::go_format::{Printed, go_type};
use super::list::{self, Identity};
use crate::schema::{ListMerge, Shape, Strategy, Type};

pub(super) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

type Object = Map<String, Value>;

/// What is known of the members of a JSON object.
#[derive(Clone, Copy)]
pub(super) enum Members {
    /// They are the fields of a type.
    Fields(&'static Type),
    /// They are the values of a map.
    Values(&'static Shape),
    /// Nothing: they are merged as plain JSON.
    Unknown,
}

/// How a member is merged.
struct Rules {
    strategy: Option<&'static Strategy>,
    /// The members of the member, or of its elements.
    inside: Members,
}

impl Members {
    fn of(shape: &'static Shape) -> Self {
        match shape {
            Shape::Struct(ty) => Self::Fields(ty.get()),
            Shape::Map(value) => Self::Values(value),
            Shape::List(element) => Self::of(element),
            _ => Self::Unknown,
        }
    }

    fn rules(self, name: &str) -> Result<Rules, PatchError> {
        let (strategy, inside) = match self {
            Self::Fields(ty) => {
                let field = ty.field(name).ok_or_else(|| {
                    PatchError::Unmergeable(format!(
                        "unable to find api field in struct {} for the json field {name:?}",
                        ty.name()
                    ))
                })?;
                (Some(&field.strategy), Self::of(&field.shape))
            }
            Self::Values(shape) => (None, Self::of(shape)),
            Self::Unknown => (None, Self::Unknown),
        };
        Ok(Rules { strategy, inside })
    }
}

impl Rules {
    fn replaces(&self) -> bool {
        self.strategy.is_some_and(|strategy| strategy.replaces)
    }

    fn merge(&self) -> Option<ListMerge> {
        self.strategy.and_then(|strategy| strategy.merge)
    }
}

/// Merges `patch` into an object of this type.
pub(super) fn merge(
    ty: &'static Type,
    original: Object,
    patch: Object,
) -> Result<Object, PatchError> {
    merge_objects(Members::Fields(ty), original, patch)
}

pub(super) fn merge_objects(
    members: Members,
    mut original: Object,
    mut patch: Object,
) -> Result<Object, PatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Object::new()),
            _ => Err(unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    set_element_orders(members, &mut original, &mut patch)?;
    for (name, value) in patch {
        if let Some(name) = parallel_list(&name, DELETE_FROM_PRIMITIVE_LIST, "primitive list")? {
            delete_values(&mut original, name, &value);
        } else {
            merge_member(members, &mut original, name, value)?;
        }
    }
    Ok(original)
}

pub(super) fn unknown_directive(directive: &Value, patch: &Object) -> PatchError {
    PatchError::Unmergeable(format!(
        "unknown patch type: {} in map: {}",
        Printed(directive),
        Printed(&Value::Object(patch.clone()))
    ))
}

/// The name of the list that a directive is about, if the member is that directive.
fn parallel_list<'a>(
    name: &'a str,
    directive: &str,
    what: &str,
) -> Result<Option<&'a str>, PatchError> {
    let Some(rest) = name.strip_prefix(directive) else {
        return Ok(None);
    };
    let list = rest.strip_prefix('/');
    list.map(Some)
        .ok_or_else(|| PatchError::Malformed(format!("invalid patch format of {what}")))
}

fn merge_member(
    members: Members,
    original: &mut Object,
    name: String,
    patch: Value,
) -> Result<(), PatchError> {
    if patch.is_null() {
        original.remove(&name);
        return Ok(());
    }
    match (original.get_mut(&name), patch) {
        (Some(Value::Object(before)), Value::Object(patch)) => {
            let rules = members.rules(&name)?;
            *before = if rules.replaces() {
                patch
            } else {
                merge_objects(rules.inside, std::mem::take(before), patch)?
            };
        }
        (Some(Value::Array(before)), Value::Array(patch)) => {
            let rules = members.rules(&name)?;
            *before = merge_lists(&rules, std::mem::take(before), patch)?;
        }
        (_, patch) => match plain(patch) {
            Some(value) => {
                original.insert(name, value);
            }
            None => {
                original.remove(&name);
            }
        },
    }
    Ok(())
}

fn merge_lists(
    rules: &Rules,
    original: Vec<Value>,
    patch: Vec<Value>,
) -> Result<Vec<Value>, PatchError> {
    match rules.merge() {
        None => Ok(patch),
        Some(ListMerge::Values) => list::merge_values(&original, &patch),
        Some(ListMerge::ByKey(key)) => list::merge_by_key(key, rules.inside, original, patch),
    }
}

/// What a patch adds where nothing was to merge with: without `null` and without what carries directives.
fn plain(patch: Value) -> Option<Value> {
    Some(match patch {
        Value::Object(members) if members.contains_key(DIRECTIVE) => return None,
        Value::Object(members) => {
            let set = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                set.filter_map(|(name, value)| Some((name, plain(value)?)))
                    .collect(),
            )
        }
        Value::Array(elements) => Value::Array(elements.into_iter().filter_map(plain).collect()),
        scalar => scalar,
    })
}

/// `$retainKeys`: what the list does not name goes, and the patch may set nothing else.
fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), PatchError> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let malformed = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let Value::Array(retained) = directive else {
        return Err(malformed());
    };
    let is_retained = |name: &String| retained.iter().any(|retained| retained == name.as_str());
    let sets_more = patch.iter().any(|(name, value)| {
        !value.is_null()
            && !name.starts_with(DELETE_FROM_PRIMITIVE_LIST)
            && !name.starts_with(SET_ELEMENT_ORDER)
            && !is_retained(name)
    });
    if sets_more {
        return Err(malformed());
    }
    original.retain(|name, _| is_retained(name));
    Ok(())
}

fn delete_values(original: &mut Object, name: &str, values: &Value) {
    match (original.get_mut(name), values) {
        (Some(Value::Array(before)), Value::Array(values)) => {
            before.retain(|value| !values.contains(value));
        }
        (_, Value::Null) => {
            original.remove(name);
        }
        _ => {}
    }
}

/// `$setElementOrder/LIST`: merges LIST right away, into the order that the directive gives.
fn set_element_orders(
    members: Members,
    original: &mut Object,
    patch: &mut Object,
) -> Result<(), PatchError> {
    let directives: Vec<String> = patch
        .keys()
        .filter(|name| name.starts_with(SET_ELEMENT_ORDER))
        .cloned()
        .collect();
    for directive in directives {
        let order = take_list(patch, &directive)?.unwrap_or_default();
        let name = parallel_list(&directive, SET_ELEMENT_ORDER, "setElementOrder list")?;
        let Some(name) = name else { continue };
        let before = take_list(original, name)?;
        let patched = take_list(patch, name)?;
        let rules = members.rules(name)?;
        let identity = match rules.merge() {
            Some(ListMerge::ByKey(key)) => Identity::Member(key),
            _ => Identity::Whole,
        };
        list::check_order(identity, patched.as_deref().unwrap_or_default(), &order)?;
        let server_order = before.clone().unwrap_or_default();
        let merged = match (before, patched) {
            (Some(before), Some(patched)) => merge_lists(&rules, before, patched)?,
            (Some(before), None) => before,
            (None, Some(patched)) => patched.into_iter().filter_map(plain).collect(),
            (None, None) => continue,
        };
        let arranged = list::arrange(identity, merged, &order, &server_order)?;
        original.insert(name.to_owned(), Value::Array(arranged));
    }
    Ok(())
}

fn take_list(object: &mut Object, name: &str) -> Result<Option<Vec<Value>>, PatchError> {
    match object.remove(name) {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list)),
        Some(other) => Err(PatchError::Unmergeable(format!(
            "expected a []interface {{}}, but received a {}",
            go_type(&other)
        ))),
    }
}
