//! Delete and deletecollection.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::encode::Encoder;
use super::kinds::Kind;
use super::metadata;
use super::object::Object;
use super::query::DeleteOptions;
use super::read;
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::server::State;
use super::status::ApiError;

/// DELETE of one object.
pub(crate) fn delete(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let options = delete_options(request)?;
    let deletion = delete_object(state, target, &options)?;
    if deletion.is_gone && target.kind.kind != "Pod" {
        let status = deleted(target.kind, &deletion.object);
        return Ok(Reply::value(StatusCode::OK, &status));
    }
    let body = encoder.object(target.kind, &deletion.object)?;
    Ok(Reply::json(StatusCode::OK, body))
}

/// What a delete came to.
#[derive(Debug)]
pub(crate) struct Deletion {
    /// The object's last state, or the one in which it waits.
    pub(crate) object: Arc<Object>,
    /// Whether it is gone.
    pub(crate) is_gone: bool,
}

/// Deletes the object that a path names, or begins to.
pub(crate) fn delete_object(
    state: &mut State,
    target: &Target,
    options: &DeleteOptions,
) -> Result<Deletion, ApiError> {
    let stored = read::find(&state.store, target)?.clone();
    check_preconditions(target.kind, &stored, options)?;
    let (object, is_gone) = remove(state, target.kind, &stored, options);
    Ok(Deletion { object, is_gone })
}

/// DELETE of a collection.
pub(crate) fn delete_collection(
    _state: &mut State,
    _request: &ApiRequest,
    _target: &Target,
    _encoder: &Encoder,
) -> Result<Reply, ApiError> {
    Err(ApiError::method_not_allowed())
}

fn delete_options(request: &ApiRequest) -> Result<DeleteOptions, ApiError> {
    let options = if request.body.is_empty() {
        DeleteOptions::from_query(&request.query)?
    } else {
        let value = super::body::parse(request, "DeleteOptions")?;
        serde_json::from_value(value).map_err(|error| ApiError::bad_request(error.to_string()))?
    };
    options.check()?;
    Ok(options)
}

fn check_preconditions(
    kind: &Kind,
    stored: &Object,
    options: &DeleteOptions,
) -> Result<(), ApiError> {
    let Some(preconditions) = &options.preconditions else {
        return Ok(());
    };
    if let Some(uid) = preconditions
        .uid
        .as_deref()
        .filter(|uid| *uid != stored.uid())
    {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            stored.uid()
        );
        return Err(ApiError::failed_precondition(kind, stored.name(), &why));
    }
    let current = stored.resource_version().to_string();
    if let Some(version) = preconditions
        .resource_version
        .as_deref()
        .filter(|version| **version != current)
    {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record \
             ({current}). The object might have been modified"
        );
        return Err(ApiError::failed_precondition(kind, stored.name(), &why));
    }
    Ok(())
}

/// Deletes or begins to; says whether the object is gone.
fn remove(
    state: &mut State,
    kind: &Kind,
    stored: &Arc<Object>,
    options: &DeleteOptions,
) -> (Arc<Object>, bool) {
    let mut object = stored.value(kind);
    let held = object["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|finalizers| !finalizers.is_empty());
    if options.is_dry_run() {
        return (stored.clone(), !held);
    }
    if held {
        if object["metadata"]["deletionTimestamp"].is_null() {
            object["metadata"]["deletionTimestamp"] = metadata::time(state.now());
            object["metadata"]["deletionGracePeriodSeconds"] = 0.into();
            return (state.store.put(kind.collection, object), false);
        }
        return (stored.clone(), false);
    }
    let removed = state.store.remove(kind.collection, stored.key());
    (removed.unwrap_or_else(|| stored.clone()), true)
}

/// The Status that a completed delete answers with.
fn deleted(kind: &Kind, object: &Object) -> Value {
    let mut details = json!({"name": object.name(), "kind": kind.plural, "uid": object.uid()});
    if !kind.group().is_empty() {
        details["group"] = kind.group().into();
    }
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    })
}
