//! Binding a pod to a node, as a scheduler does.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::field_error::FieldError;
use super::kinds::{self, Kind};
use super::object::Object;
use super::persist::Write;
use super::reply::Reply;
use super::request::ApiRequest;
use super::server::State;
use super::status::ApiError;
use super::{admission, body, metadata, subresource};
use crate::controller::api::ObjectKey;
use crate::schema;

/// POST of a Binding; `path_name` is the pod's name in the path, where the path has it.
pub(crate) fn create(
    state: &mut State,
    request: &ApiRequest,
    write: &Write<'_>,
    path_name: Option<&str>,
) -> Result<Reply, ApiError> {
    let validation = write.options.field_validation;
    let binding = body::object(request, kind("bindings"), validation)?.object;
    let name = binding["metadata"]["name"].as_str().unwrap_or_default();
    if path_name.is_some_and(|path| path != name) {
        let message = "name in URL does not match name in Binding object";
        return Err(ApiError::bad_request(message));
    }
    bind(state, write, &binding)?;
    Ok(subresource::success())
}

/// Binds a pod to the node that a Binding names.
pub(crate) fn bind(
    state: &mut State,
    write: &Write<'_>,
    binding: &Value,
) -> Result<Arc<Object>, ApiError> {
    admission::namespace_lifecycle(&state.store, write.target, binding)?;
    check_target(&binding["target"])?;
    let pods = kind("pods");
    let name = binding["metadata"]["name"].as_str().unwrap_or_default();
    let key = ObjectKey::new(write.target.namespace.as_deref().unwrap_or_default(), name);
    let stored = state.store.get(pods.collection, &key).cloned();
    let stored = stored.ok_or_else(|| ApiError::not_found(pods, name))?;
    let new = bound(&stored, binding, state.now())?;
    if write.options.dry_run {
        return Ok(stored);
    }
    Ok(state.store.put(pods.collection, new))
}

/// A pod as a Binding leaves it.
pub(crate) fn bound(stored: &Object, binding: &Value, now: Timestamp) -> Result<Value, ApiError> {
    let pods = kind("pods");
    let mut new = stored.value(pods);
    metadata::check_uid(pods, binding, &new)?;
    metadata::check_resource_version(pods, stored, binding)?;
    check_pod(&new)?;
    new["spec"]["nodeName"] = binding["target"]["name"].clone();
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            new["metadata"][field][key] = value.clone();
        }
    }
    set_scheduled(&mut new["status"], &metadata::time(now));
    schema::round_trip(pods.ty(), &mut new);
    Ok(new)
}

fn kind(plural: &str) -> &'static Kind {
    kinds::by_plural(plural).expect("the table has pods and bindings")
}

fn check_target(target: &Value) -> Result<(), ApiError> {
    let kind = target["kind"].as_str().unwrap_or_default();
    let name = target["name"].as_str().unwrap_or_default();
    let error = if !matches!(kind, "" | "Node") {
        FieldError::not_supported("target.kind", &kind.into(), &["Node", "<empty>"])
    } else if name.is_empty() {
        FieldError::required("target.name", "")
    } else {
        return Ok(());
    };
    Err(ApiError::internal(format!(
        "{}: {}",
        error.field, error.message
    )))
}

/// Only a pod that waits for a node can be bound.
fn check_pod(pod: &Value) -> Result<(), ApiError> {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let gates = pod["spec"]["schedulingGates"].as_array();
    let why = if pod["metadata"]["deletionTimestamp"].is_string() {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if let Some(node) = pod["spec"]["nodeName"].as_str() {
        format!("pod {name} is already assigned to node {node:?}")
    } else if gates.is_some_and(|gates| !gates.is_empty()) {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return Ok(());
    };
    Err(ApiError::unbindable(name, &why))
}

fn set_scheduled(status: &mut Value, now: &Value) {
    let scheduled = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": now,
    });
    let Some(conditions) = status["conditions"].as_array_mut() else {
        status["conditions"] = json!([scheduled]);
        return;
    };
    match conditions
        .iter_mut()
        .find(|condition| condition["type"] == "PodScheduled")
    {
        Some(condition) => *condition = scheduled,
        None => conditions.push(scheduled),
    }
}
