//! Create, update, patch and apply, as requests: what a body asks for, and the answer to it.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::apply::{self, ApplyError};
use super::encode::Encoder;
use super::field_error::FieldError;
use super::kinds::{self, Kind, Serves};
use super::managed_fields::Writer;
use super::object::{Object, View};
use super::patch::{PatchError, PatchKind, apply_patch};
use super::persist::{self, Write};
use super::query::WriteOptions;
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use super::{body, metadata, plain_event, read, scale, subresource};

/// POST.
pub(crate) fn create(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let write = begin(request, target, "CreateOptions")?;
    if target.subresource.is_some() || target.kind.serves == Serves::CreateOnly {
        return subresource::create(state, request, &write);
    }
    let created = if let Some(created) = plain_event::create(state, request, &write) {
        created
    } else {
        let object = sent(request, target.kind, &write)?;
        persist::create(state, &write, object)
    };
    let reply =
        created.and_then(|created| answer(StatusCode::CREATED, target.kind, &created, encoder));
    Ok(with_warnings(write, reply))
}

/// PUT.
pub(crate) fn update(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let mut write = begin(request, target, "UpdateOptions")?;
    write.view = View::WithoutSpec;
    let reply = if write.subresource() == "scale" {
        update_scale(state, request, &mut write, encoder)
    } else {
        update_object(state, request, &write, encoder)
    };
    Ok(with_warnings(write, reply))
}

fn update_scale(
    state: &mut State,
    request: &ApiRequest,
    write: &mut Write<'_>,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let scale = sent(request, &kinds::SCALE, write)?;
    metadata::check_name(write.target, &scale)?;
    let scaled = scale::change(state, write, |_| Ok(scale))?;
    answer(StatusCode::OK, &kinds::SCALE, &scaled, encoder)
}

fn update_object(
    state: &mut State,
    request: &ApiRequest,
    write: &Write<'_>,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let target = write.target;
    let object = sent(request, target.kind, write)?;
    metadata::check_name(target, &object)?;
    let is_missing = read::find(&state.store, target).is_err();
    if is_missing && target.kind.put_creates && target.subresource.is_none() {
        let created = create_by_put(state, write, object)?;
        return answer(StatusCode::CREATED, target.kind, &created, encoder);
    }
    let updated = persist::change(state, write, |old| {
        metadata::check_uid(target.kind, &object, old)?;
        Ok(object)
    })?;
    answer(StatusCode::OK, target.kind, &updated, encoder)
}

/// The object in the request's body; what it has beyond its type is warned of.
fn sent(request: &ApiRequest, kind: &Kind, write: &Write<'_>) -> Result<Value, ApiError> {
    let decoded = body::object(request, kind, write.options.field_validation)?;
    write.warn(decoded.warnings);
    Ok(decoded.object)
}

/// The answer to a write, be it a refusal, with what there is to warn of.
fn with_warnings(write: Write<'_>, reply: Result<Reply, ApiError>) -> Reply {
    let mut reply = reply.unwrap_or_else(Reply::from);
    reply.warnings.extend(write.warnings.into_inner());
    reply
}

/// PUT of what is not there: a resourceVersion means nothing then, a uid cannot be met.
fn create_by_put(
    state: &mut State,
    write: &Write<'_>,
    mut object: Value,
) -> Result<Arc<Object>, ApiError> {
    let missing = read::key_of(write.target);
    metadata::set_namespace(write.target, &mut object)?;
    metadata::check_uid_of(write.target.kind, &object, &missing, "")?;
    metadata::of(&mut object).remove("resourceVersion");
    persist::create(state, write, object)
}

/// PATCH.
pub(crate) fn patch(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let patch_kind = match request.content_type() {
        "application/apply-patch+yaml" => return apply(state, request, target, encoder),
        "application/json-patch+json" => PatchKind::Json,
        "application/merge-patch+json" => PatchKind::Merge,
        "application/strategic-merge-patch+json" => PatchKind::Strategic,
        _ => {
            let error = ApiError::unsupported_media_type("415: Unsupported Media Type");
            return Err(error.with_empty_details());
        }
    };
    let mut write = begin(request, target, "PatchOptions")?;
    if write.options.force.is_some() {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        return Err(invalid_options(&[error]));
    }
    write.view = match patch_kind {
        PatchKind::Merge if body::is_status_alone(request) => View::Status,
        PatchKind::Merge => View::WithoutSpec,
        // A JSON patch may test and copy what it does not change, and a strategic one merges by what is there.
        PatchKind::Json | PatchKind::Strategic => View::Whole,
    };
    let validation = write.options.field_validation;
    let mut warnings = Vec::new();
    let mut patched = |kind: &Kind, old: &Value| {
        let check = |patched: &Value| body::check_patched(patched, kind, validation);
        let patched = apply_patch(patch_kind, kind.ty(), old, &request.body, check);
        let mut patched = patched.map_err(unpatchable)?;
        body::set_kind(&mut patched.object, kind);
        warnings = patched.warnings;
        Ok(patched.object)
    };
    let (kind, changed) = if write.subresource() == "scale" {
        let scaled = scale::change(state, &mut write, |old| patched(&kinds::SCALE, old));
        (&kinds::SCALE, scaled)
    } else {
        let stored = read::find(&state.store, target)?.clone();
        let changed = persist::change(state, &write, |old| {
            // A refusal quotes the whole object.
            patched(target.kind, old).or_else(|_| patched(target.kind, &stored.value(target.kind)))
        });
        (target.kind, changed)
    };
    // Reading the result came before validating it.
    write.warnings.borrow_mut().splice(..0, warnings);
    let reply = changed.and_then(|changed| answer(StatusCode::OK, kind, &changed, encoder));
    Ok(with_warnings(write, reply))
}

/// PATCH by server-side apply, which creates what is missing.
fn apply(
    state: &mut State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let mut write = begin(request, target, "PatchOptions")?;
    if write.options.field_manager.is_none() {
        let error = FieldError::required("fieldManager", "is required for apply patch");
        return Err(invalid_options(&[error]));
    }
    write.manages_itself = true;
    let config = body::apply_configuration(request)?;
    let manager = write.manager.clone();
    let writer = Writer {
        manager: &manager,
        subresource: target.subresource.as_deref().unwrap_or_default(),
        now: state.now(),
    };
    let force = write.options.force.unwrap_or_default();
    let applied = |kind: &Kind, live: Option<&Value>| {
        apply::apply(kind.ty(), live, &config, &writer, force).map_err(inapplicable)
    };
    let mut kind = target.kind;
    let mut code = StatusCode::OK;
    let written = if write.subresource() == "scale" {
        kind = &kinds::SCALE;
        scale::change(state, &mut write, |old| applied(kind, Some(old)))
    } else if target.subresource.is_none() && read::find(&state.store, target).is_err() {
        code = StatusCode::CREATED;
        applied(kind, None).and_then(|object| {
            metadata::check_name(target, &object)?;
            persist::create(state, &write, object)
        })
    } else {
        persist::change(state, &write, |old| applied(kind, Some(old)))
    };
    let reply = written.and_then(|written| answer(code, kind, &written, encoder));
    Ok(with_warnings(write, reply))
}

fn begin<'a>(
    request: &ApiRequest,
    target: &'a Target,
    options_kind: &str,
) -> Result<Write<'a>, ApiError> {
    let options = WriteOptions::parse(&request.query, options_kind)?;
    let manager = options
        .field_manager
        .clone()
        .unwrap_or_else(|| request.default_manager());
    Ok(Write::new(target, options, manager))
}

fn answer(
    code: StatusCode,
    kind: &Kind,
    object: &Object,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let body = encoder.object(kind, object)?;
    Ok(Reply::json(code, body))
}

fn invalid_options(errors: &[FieldError]) -> ApiError {
    ApiError::invalid_named("meta.k8s.io", "PatchOptions", "", errors)
}

/// The refusal of a patch that does not apply.
fn unpatchable(error: PatchError) -> ApiError {
    let message = error.to_string();
    match error {
        PatchError::Malformed(_) => ApiError::bad_request(message),
        PatchError::Inapplicable => ApiError::unprocessable(message).with_empty_details(),
        PatchError::TooLarge(_) => ApiError::too_large(message),
        PatchError::Unmergeable(_) => ApiError::internal(message),
        PatchError::Untyped { patch, problem } => {
            let error = FieldError::invalid("patch", &patch.into(), &problem);
            ApiError::invalid_named("", "", "", &[error])
        }
    }
}

/// The refusal of an apply.
fn inapplicable(error: ApplyError) -> ApiError {
    let message = error.to_string();
    match error {
        ApplyError::BadRequest(_) => ApiError::bad_request(message),
        ApplyError::Internal(_) => ApiError::internal(message),
        ApplyError::Conflict(conflicts) => ApiError::apply_conflict(message, &conflicts),
    }
}
