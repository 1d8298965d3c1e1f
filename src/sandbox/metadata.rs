//! The part of `metadata` that the server keeps: identity, times, versions, deletion.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value};

use super::kinds::{Generation, Kind};
use super::object::Object;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use crate::controller::api::ObjectKey;

/// An instant as objects carry it: whole seconds.
pub(crate) fn time(at: Timestamp) -> Value {
    format!("{at:.0}").into()
}

/// `metadata` of an object, made where it is missing.
pub(crate) fn of(object: &mut Value) -> &mut Map<String, Value> {
    if !object["metadata"].is_object() {
        object["metadata"] = Value::Object(Map::new());
    }
    object["metadata"]
        .as_object_mut()
        .expect("it was made an object just now")
}

/// Puts an object into the namespace of the path; another one in the object is refused.
pub(crate) fn set_namespace(target: &Target, object: &mut Value) -> Result<(), ApiError> {
    let metadata = of(object);
    let given = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match target.namespace.as_deref() {
        Some(namespace) if given.is_empty() || given == namespace => {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
        None if given.is_empty() => {
            metadata.remove("namespace");
        }
        _ => {
            return Err(ApiError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    Ok(())
}

/// The name in an object must be the path's.
pub(crate) fn check_name(target: &Target, object: &Value) -> Result<(), ApiError> {
    let path = target.name.as_deref().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if name == path {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "the name of the object ({name}) does not match the name on the URL ({path})"
    )))
}

/// A write that names a uid wants that very object.
pub(crate) fn check_uid(kind: &Kind, sent: &Value, old: &Value) -> Result<(), ApiError> {
    let text = |field: &str| old["metadata"][field].as_str().unwrap_or_default();
    let key = ObjectKey::new(text("namespace"), text("name"));
    check_uid_of(kind, sent, &key, text("uid"))
}

/// The same, against an object of that key and uid.
pub(crate) fn check_uid_of(
    kind: &Kind,
    sent: &Value,
    key: &ObjectKey,
    uid: &str,
) -> Result<(), ApiError> {
    let wanted = sent["metadata"]["uid"].as_str().unwrap_or_default();
    if wanted.is_empty() || wanted == uid {
        return Ok(());
    }
    let namespace = match key.namespace.as_str() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}/{namespace}{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}",
        kind.plural, key.name
    );
    Err(ApiError::conflict(kind, &key.name, &why))
}

/// Gives a new object its identity. Says whether it came with a name.
pub(crate) fn prepare_for_create(
    state: &mut State,
    kind: &Kind,
    object: &mut Value,
) -> Result<bool, ApiError> {
    let version = &object["metadata"]["resourceVersion"];
    if !matches!(version.as_str(), None | Some("")) {
        return Err(ApiError::internal(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    let now = time(state.now());
    let uid = state.random.uid(kind.collection);
    let metadata = of(object);
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "generation",
    ] {
        metadata.remove(field);
    }
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), now);
    if kind.generation != Generation::Never {
        metadata.insert("generation".to_owned(), 1.into());
    }
    let has_name = metadata
        .get("name")
        .and_then(Value::as_str)
        .is_some_and(|name| !name.is_empty());
    if !has_name {
        generate_name(state, kind, object);
    }
    Ok(has_name)
}

/// Draws a name from `generateName`; `None` where there is none.
pub(crate) fn generate_name(state: &mut State, kind: &Kind, object: &mut Value) -> Option<String> {
    /// A generated name stays within 63 characters.
    const LONGEST_PREFIX: usize = 58;
    let prefix = object["metadata"]["generateName"].as_str()?;
    if prefix.is_empty() {
        return None;
    }
    let prefix: String = prefix.chars().take(LONGEST_PREFIX).collect();
    let name = prefix + &state.random.suffix(kind.collection);
    of(object).insert("name".to_owned(), name.clone().into());
    Some(name)
}

/// A write that names a resourceVersion wants that very state replaced.
pub(crate) fn check_resource_version(
    kind: &Kind,
    stored: &Object,
    new: &Value,
) -> Result<(), ApiError> {
    let Some(version) = new["metadata"]["resourceVersion"].as_str() else {
        return Ok(());
    };
    if version.is_empty() || version == "0" {
        return Ok(());
    }
    let version: u64 = version.parse().map_err(|_| {
        ApiError::internal(format!(
            "strconv.ParseUint: parsing {version:?}: invalid syntax"
        ))
    })?;
    if version == stored.resource_version() {
        Ok(())
    } else {
        Err(ApiError::stale(kind, stored.name()))
    }
}

/// Carries over what no update changes.
pub(crate) fn prepare_for_update(new: &mut Value, old: &Value) {
    let kept = |field: &str| old["metadata"].get(field).cloned();
    let metadata = of(new);
    for field in ["creationTimestamp", "generation", "deletionTimestamp"] {
        match kept(field) {
            Some(value) => metadata.insert(field.to_owned(), value),
            None => metadata.remove(field),
        };
    }
    for field in [
        "uid",
        "deletionGracePeriodSeconds",
        "name",
        "resourceVersion",
    ] {
        let is_set = metadata
            .get(field)
            .is_some_and(|value| !value.is_null() && value != "");
        if let (false, Some(value)) = (is_set, kept(field)) {
            metadata.insert(field.to_owned(), value);
        }
    }
}

/// Whether an object that is being deleted has nothing left to wait for.
pub(crate) fn is_released(kind: &Kind, object: &Value) -> bool {
    let metadata = &object["metadata"];
    let holds_content = kind.kind == "Namespace"
        && object["spec"]["finalizers"]
            .as_array()
            .is_some_and(|finalizers| !finalizers.is_empty());
    let held = metadata["finalizers"]
        .as_array()
        .is_some_and(|finalizers| !finalizers.is_empty());
    let grace = metadata["deletionGracePeriodSeconds"]
        .as_i64()
        .unwrap_or_default();
    metadata["deletionTimestamp"].is_string() && !held && !holds_content && grace == 0
}
