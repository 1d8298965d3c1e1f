//! Patches: JSON patch, JSON merge patch and strategic merge patch, as the API server applies them. The verbs call
//! [`apply_patch`]; nothing here knows of storage, admission or field managers.

mod go_format;
mod list;
mod printed;
mod strategic;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::decode::Decoded;
use super::json::type_name;
use crate::schema::Type;

/// The most operations that a JSON patch may have.
const OPERATIONS_MAX: usize = 10_000;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// A list of operations, RFC 6902.
    Json,
    /// A partial object, RFC 7396: lists are replaced.
    Merge,
    /// A partial object with directives: lists are merged as the type says.
    Strategic,
}

/// Why a patch is not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is no patch: 400 with this message.
    #[error("{0}")]
    Malformed(String),
    /// The operations do not fit the object: 422 with empty details.
    #[error("the server rejected our request due to an error in our request")]
    Inapplicable,
    /// Too many operations: 413 with this message.
    #[error("{0}")]
    TooLarge(String),
    /// A directive or list that can't be merged: 500 with this message and no reason.
    #[error("{0}")]
    Unmergeable(String),
    /// The result is not of the type: 422, invalid value of the field `patch`, which holds `patch`.
    #[error("{problem}")]
    Untyped {
        /// A strategic merge patch, as Go prints it; or what another patch makes of the object.
        patch: String,
        /// What can't be read.
        problem: String,
    },
}

/// The object that `body` makes of `current`. `check` says what to warn of in what comes out, or why that is no object
/// of the type.
pub fn apply_patch(
    kind: PatchKind,
    ty: &'static Type,
    current: &Value,
    body: &[u8],
    check: impl FnOnce(&Value) -> Result<Vec<String>, String>,
) -> Result<Decoded, PatchError> {
    let object = match kind {
        PatchKind::Strategic => return strategic_patch(ty, current, &parse(body, "")?, check),
        PatchKind::Json => json_patch(current, &parse(body, "error decoding patch: ")?)?,
        PatchKind::Merge => merge_patch(current, &parse(body, "error decoding patch: ")?)?,
    };
    match check(&object) {
        Ok(warnings) => Ok(Decoded { object, warnings }),
        Err(problem) => Err(PatchError::Untyped {
            patch: printed::patched(ty, current, &object),
            problem,
        }),
    }
}

fn parse(body: &[u8], prefix: &str) -> Result<Value, PatchError> {
    serde_json::from_slice(body)
        .map_err(|error| PatchError::Malformed(format!("{prefix}{}", syntax(&error, body))))
}

/// A syntax error in Go's words.
fn syntax(error: &serde_json::Error, body: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line_start = body
        .split_inclusive(|byte| *byte == b'\n')
        .take(error.line().saturating_sub(1))
        .map(<[u8]>::len)
        .sum::<usize>();
    let at = line_start + error.column().saturating_sub(1);
    match body.get(at) {
        Some(byte) => format!(
            "invalid character {:?} looking for beginning of value",
            char::from(*byte)
        ),
        None => "unexpected end of JSON input".to_owned(),
    }
}

fn wrong_type(prefix: &str, value: &Value, go_type: &str) -> PatchError {
    let found = type_name(value);
    PatchError::Malformed(format!(
        "{prefix}json: cannot unmarshal {found} into Go value of type {go_type}"
    ))
}

fn merge_patch(current: &Value, patch: &Value) -> Result<Value, PatchError> {
    match patch {
        Value::Object(_) => {
            let mut patched = current.clone();
            json_patch::merge(&mut patched, patch);
            Ok(patched)
        }
        Value::Null => Err(PatchError::Malformed("Invalid JSON Patch".to_owned())),
        other => Err(wrong_type(
            "error decoding patch: ",
            other,
            "map[string]interface {}",
        )),
    }
}

fn json_patch(current: &Value, patch: &Value) -> Result<Value, PatchError> {
    let operations = match patch {
        Value::Array(operations) => operations.as_slice(),
        Value::Null => &[],
        other => {
            let go_type = "[]handlers.jsonPatchOp";
            return Err(wrong_type("error decoding patch: ", other, go_type));
        }
    };
    if operations.len() > OPERATIONS_MAX {
        return Err(PatchError::TooLarge(format!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
            operations.len()
        )));
    }
    for operation in operations {
        if !operation.is_object() {
            let go_type = "handlers.jsonPatchOp";
            return Err(wrong_type("error decoding patch: ", operation, go_type));
        }
    }
    let mut patched = current.clone();
    for operation in operations {
        perform(&mut patched, operation).ok_or(PatchError::Inapplicable)?;
    }
    Ok(patched)
}

/// One operation. Where RFC 6902 and Kubernetes differ, this is Kubernetes: `replace` sets a member that an object
/// does not have, `copy` of what is not there adds `null`, and the whole document can't be removed.
fn perform(current: &mut Value, operation: &Value) -> Option<()> {
    let mut operation = operation.clone();
    let path = operation.get("path")?.as_str()?.to_owned();
    let (parent, _) = path.rsplit_once('/')?;
    let is_new = current.pointer(&path).is_none();
    let has_members = current.pointer(parent).is_some_and(Value::is_object);
    match operation.get("op")?.as_str()? {
        "replace" if is_new && has_members => operation["op"] = "add".into(),
        "copy" if current.pointer(operation.get("from")?.as_str()?).is_none() => {
            operation = json!({"op": "add", "path": path, "value": null});
        }
        _ => {}
    }
    let operation = serde_json::from_value(operation).ok()?;
    json_patch::patch(current, &[operation]).ok()
}

fn strategic_patch(
    ty: &'static Type,
    current: &Value,
    patch: &Value,
    check: impl FnOnce(&Value) -> Result<Vec<String>, String>,
) -> Result<Decoded, PatchError> {
    let members = match patch {
        Value::Object(members) => members.clone(),
        Value::Null => Map::new(),
        other => return Err(wrong_type("", other, "map[string]interface {}")),
    };
    let current = current.as_object().cloned().unwrap_or_default();
    let object = Value::Object(strategic::merge(ty, current, members)?);
    let untyped = |problem| PatchError::Untyped {
        patch: go_format::Printed(patch).to_string(),
        problem,
    };
    if let Some(problem) = go_format::unreadable(ty, &object) {
        return Err(untyped(problem));
    }
    let warnings = check(&object).map_err(untyped)?;
    Ok(Decoded { object, warnings })
}
