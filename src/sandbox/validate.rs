//! Validation as the verbs call it: the metadata that every object has, then the kind's own rules.

use serde_json::Value;

use super::field_error::FieldError;
use super::kinds::Kind;

/// What is wrong with a new object.
pub(crate) fn create(_kind: &Kind, object: &Value) -> Vec<FieldError> {
    let named = object["metadata"]["name"]
        .as_str()
        .is_some_and(|name| !name.is_empty());
    if named {
        return Vec::new();
    }
    vec![FieldError::required(
        "metadata.name",
        "name or generateName is required",
    )]
}

/// What is wrong with a new state of an object.
pub(crate) fn update(
    _kind: &Kind,
    _subresource: &str,
    _new: &Value,
    _old: &Value,
) -> Vec<FieldError> {
    Vec::new()
}
