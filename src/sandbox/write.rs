//! Create, update and patch: from a request to a stored object.
//!
//! The order is the API server's: decode, default, admit, complete the metadata, validate, store. A dry run goes all
//! the way and leaves out the last step.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::encode::Encoder;
use super::field_error::FieldError;
use super::kinds::{Kind, Serves};
use super::object::Object;
use super::patch::{PatchError, PatchKind, apply_patch};
use super::query::WriteOptions;
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use super::{admission, body, defaults, metadata, read, strategy, subresource, validation};
use crate::controller::api::ObjectKey;
use crate::schema;

/// How often a taken generated name is replaced by another.
const NAME_ATTEMPTS: usize = 8;

/// Who writes, and how.
#[derive(Clone, Debug)]
pub(crate) struct WriteContext {
    pub(crate) options: WriteOptions,
    /// The name under which `managedFields` records the write.
    #[expect(dead_code, reason = "managedFields read it")]
    pub(crate) manager: String,
}

impl WriteContext {
    pub(crate) fn of(request: &ApiRequest, options_kind: &str) -> Result<Self, ApiError> {
        let options = WriteOptions::parse(&request.query, options_kind)?;
        let manager = options
            .field_manager
            .clone()
            .unwrap_or_else(|| request.default_manager());
        Ok(Self { options, manager })
    }
}

/// POST.
pub(crate) fn create(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let context = WriteContext::of(request, "CreateOptions")?;
    if target.subresource.is_some() || target.kind.serves == Serves::CreateOnly {
        return subresource::create(state, request, target, &context);
    }
    let object = body::object(request, target.kind)?;
    let stored = store_new(state, &context, target, object)?;
    let body = encoder.object(target.kind, &stored)?;
    Ok(Reply::json(StatusCode::CREATED, body))
}

/// PUT.
pub(crate) fn update(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let context = WriteContext::of(request, "UpdateOptions")?;
    let object = body::object(request, target.kind)?;
    check_name(target, &object)?;
    if target.kind.put_creates
        && target.subresource.is_none()
        && state
            .store
            .get(target.kind.collection, &read::key_of(target))
            .is_none()
    {
        let stored = store_new(state, &context, target, object)?;
        let body = encoder.object(target.kind, &stored)?;
        return Ok(Reply::json(StatusCode::CREATED, body));
    }
    let stored = store_change(state, &context, target, |_| Ok(object))?;
    let body = encoder.object(target.kind, &stored)?;
    Ok(Reply::json(StatusCode::OK, body))
}

/// PATCH.
pub(crate) fn patch(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let context = WriteContext::of(request, "PatchOptions")?;
    let patch_kind = match request.content_type() {
        "application/json-patch+json" => PatchKind::Json,
        "application/merge-patch+json" => PatchKind::Merge,
        "application/strategic-merge-patch+json" => PatchKind::Strategic,
        _ => {
            let error = ApiError::unsupported_media_type("415: Unsupported Media Type");
            return Err(error.with_empty_details());
        }
    };
    let stored = store_change(state, &context, target, |old| {
        let ty = schema::of_kind(target.kind.api_version, target.kind.kind)
            .ok_or_else(ApiError::method_not_allowed)?;
        apply_patch(patch_kind, ty, old.clone(), &request.body)
            .map_err(|error| unpatchable(target, error))
    })?;
    let body = encoder.object(target.kind, &stored)?;
    Ok(Reply::json(StatusCode::OK, body))
}

/// The refusal of a patch that does not apply.
fn unpatchable(target: &Target, error: PatchError) -> ApiError {
    let message = error.to_string();
    match error {
        PatchError::Malformed(_) => ApiError::bad_request(message),
        PatchError::Inapplicable => ApiError::unprocessable(message).with_empty_details(),
        PatchError::TooLarge(_) => ApiError::too_large(message),
        PatchError::Unmergeable(_) => ApiError::internal(message),
        PatchError::Untyped { patch, problem } => {
            let name = target.name.as_deref().unwrap_or_default();
            let error = FieldError::invalid("patch", &patch.into(), &problem);
            ApiError::invalid(target.kind, name, &[error])
        }
    }
}

/// Completes, checks and stores a new object.
pub(crate) fn store_new(
    state: &mut State,
    context: &WriteContext,
    target: &Target,
    mut object: Value,
) -> Result<Arc<Object>, ApiError> {
    let kind = target.kind;
    metadata::set_namespace(target, &mut object)?;
    admission::namespace_lifecycle(&state.store, target, &object)?;
    settle(kind, &mut object);
    admission::admit(kind, &mut object);
    strategy::prepare_for_create(kind, &mut object);
    metadata::prepare_for_create(state, kind, &mut object)?;
    let errors = validation::validate_create(kind.kind, &object);
    if !errors.is_empty() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return Err(ApiError::invalid(kind, name, &errors));
    }
    let key = claim_name(state, kind, &mut object)?;
    strategy::complete(kind, &mut object);
    encode_form(kind, &mut object);
    if context.options.dry_run {
        return Ok(Arc::new(Object::new(object, 0)));
    }
    debug_assert_eq!(key.name, object["metadata"]["name"]);
    Ok(state.store.put(kind.collection, object))
}

/// A name that is free: the one given, or one generated.
fn claim_name(state: &mut State, kind: &Kind, object: &mut Value) -> Result<ObjectKey, ApiError> {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let mut key = ObjectKey::new(
        namespace,
        object["metadata"]["name"].as_str().unwrap_or_default(),
    );
    for _ in 0..NAME_ATTEMPTS {
        if state.store.get(kind.collection, &key).is_none() {
            return Ok(key);
        }
        let Some(name) = metadata::generate_name(state, kind, object) else {
            break;
        };
        key.name = name;
    }
    let taken = state.store.get(kind.collection, &key);
    let is_going = taken.is_some_and(|object| object.is_terminating());
    Err(ApiError::already_exists(kind, &key.name, is_going))
}

/// Changes a stored object: `change` gets its present state and gives the one asked for.
pub(crate) fn store_change(
    state: &mut State,
    context: &WriteContext,
    target: &Target,
    change: impl FnOnce(&Value) -> Result<Value, ApiError>,
) -> Result<Arc<Object>, ApiError> {
    let kind = target.kind;
    let stored = read::find(&state.store, target)?.clone();
    let old = stored.value(kind);
    let mut new = change(&old)?;
    metadata::set_namespace(target, &mut new)?;
    metadata::check_resource_version(kind, &stored, &new)?;
    settle(kind, &mut new);
    let subresource = target.subresource.as_deref().unwrap_or_default();
    metadata::prepare_for_update(&mut new, &old);
    strategy::prepare_for_update(kind, subresource, &mut new, &old);
    let errors = match subresource {
        "status" => validation::validate_status_update(kind.kind, &new, &old),
        _ => validation::validate_update(kind.kind, &new, &old),
    };
    if !errors.is_empty() {
        return Err(ApiError::invalid(kind, stored.name(), &errors));
    }
    strategy::complete(kind, &mut new);
    encode_form(kind, &mut new);
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
    if new == old {
        return Ok(stored);
    }
    if context.options.dry_run {
        return Ok(Arc::new(Object::new(new, stored.resource_version())));
    }
    if metadata::is_released(kind, &new) {
        // The last finalizer is gone: the object goes without being stored once more.
        state.store.remove(kind.collection, stored.key());
        return Ok(Arc::new(Object::new(new, stored.resource_version())));
    }
    Ok(state.store.put(kind.collection, new))
}

/// Brings what a caller sent into the form that the server works on: typed, defaulted.
fn settle(kind: &Kind, object: &mut Value) {
    encode_form(kind, object);
    defaults::apply_defaults(kind.kind, object);
}

/// The form in which objects are stored and sent.
fn encode_form(kind: &Kind, object: &mut Value) {
    if let Some(ty) = schema::of_kind(kind.api_version, kind.kind) {
        schema::round_trip(ty, object);
    }
}

/// The name in a PUT body must be the path's.
fn check_name(target: &Target, object: &Value) -> Result<(), ApiError> {
    let path = target.name.as_deref().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if name == path {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "the name of the object ({name}) does not match the name on the URL ({path})"
    )))
}
