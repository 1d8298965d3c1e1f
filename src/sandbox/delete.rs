//! Delete and deletecollection.

use std::ops::Bound;
use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::encode::Encoder;
use super::going::{going, grace_period};
use super::kinds::Kind;
use super::object::{Object, View};
use super::query::{DeleteOptions, ListOptions};
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::selector::Filter;
use super::server::State;
use super::status::ApiError;
use super::{admission, list, read};

/// DELETE of one object.
pub(crate) fn delete(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let options = delete_options(request)?;
    let deletion = delete_object(state, target, &options)?;
    if deletion.is_gone && !target.kind.returns_deleted {
        let status = deleted(target.kind, &deletion.object);
        return Ok(Reply::value(StatusCode::OK, &status));
    }
    let body = encoder.object(target.kind, &deletion.object)?;
    Ok(Reply::json(StatusCode::OK, body))
}

/// DELETE of a collection: answers with the objects as they were.
pub(crate) fn delete_collection(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let options = delete_options(request)?;
    let list_options = ListOptions::parse(&request.query)?;
    let reply = list::list(state, target, &list_options, encoder)?;
    let filter = Filter::parse(
        target.kind,
        &list_options.label_selector,
        &list_options.field_selector,
    )?;
    let namespace = target.namespace.as_deref();
    let found: Vec<_> = state
        .store
        .list(target.kind.collection, namespace, &Bound::Unbounded)
        .filter(|object| filter.matches(object))
        .cloned()
        .collect();
    for object in found {
        check_preconditions(target.kind, &object, &options)?;
        end(state, target.kind, &object, &options);
    }
    Ok(reply)
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
    admission::check_delete(target)?;
    let stored = read::find(&state.store, target)?.clone();
    check_preconditions(target.kind, &stored, options)?;
    Ok(end(state, target.kind, &stored, options))
}

/// Takes an object out of the store, or marks it as going.
fn end(state: &mut State, kind: &Kind, stored: &Arc<Object>, options: &DeleteOptions) -> Deletion {
    // A deletion is about the metadata alone, except that a Namespace also has a phase, and finalizers in its spec.
    let view = match kind.kind {
        "Namespace" => View::Whole,
        _ => View::Metadata,
    };
    let old = stored.view(kind, view);
    let grace = grace_period(kind, stored, options);
    let (new, is_gone) = going(kind, &old, grace, options, state.now());
    let is_changed = new != old;
    if options.is_dry_run() {
        let version = stored.resource_version();
        let object = Arc::new(Object::replacing(Some(stored), view, new, version));
        return Deletion { object, is_gone };
    }
    let mut object = stored.clone();
    if is_changed {
        object = state.store.put_viewed(kind.collection, view, new);
    }
    if is_gone && let Some(last) = state.store.remove(kind.collection, stored.key()) {
        object = last;
    }
    Deletion { object, is_gone }
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

pub(crate) fn check_preconditions(
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
