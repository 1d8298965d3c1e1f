//! What stands between a request and validation: namespaces that do not take objects, and what plugins add.

use std::ops::Bound;

use serde_json::{Value, json};

use super::defaults;
use super::kinds::{self, Kind};
use super::route::Target;
use super::status::ApiError;
use super::store::Store;
use crate::controller::api::ObjectKey;

/// The taint of a node that is not ready, or not known to be.
pub(crate) const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Refuses to create in a namespace that is missing or going.
pub(crate) fn namespace_lifecycle(
    store: &Store,
    target: &Target,
    object: &Value,
) -> Result<(), ApiError> {
    let Some(name) = target.namespace.as_deref() else {
        return Ok(());
    };
    let namespaces = kinds::by_plural("namespaces").expect("namespaces are in the table");
    let Some(namespace) = store.get(namespaces.collection, &ObjectKey::new("", name)) else {
        return Err(ApiError::not_found(namespaces, name));
    };
    if namespace.value(namespaces)["status"]["phase"] != "Terminating" {
        return Ok(());
    }
    let created = object["metadata"]["name"].as_str().unwrap_or_default();
    let why =
        format!("unable to create new content in namespace {name} because it is being terminated");
    let cause = json!({
        "reason": "NamespaceTerminating",
        "message": format!("namespace {name} is being terminated"),
        "field": "metadata.namespace",
    });
    Err(ApiError::forbidden(target.kind, created, &why).with_causes(vec![cause]))
}

/// Namespaces that every cluster has stay.
pub(crate) fn check_delete(target: &Target) -> Result<(), ApiError> {
    match target.name.as_deref() {
        Some(name @ ("default" | "kube-system" | "kube-public"))
            if target.kind.kind == "Namespace" =>
        {
            let why = "this namespace may not be deleted";
            Err(ApiError::forbidden(target.kind, name, why))
        }
        _ => Ok(()),
    }
}

/// What the mutating plugins add to a new object.
pub(crate) fn admit(store: &Store, kind: &Kind, object: &mut Value) -> Result<(), ApiError> {
    match kind.kind {
        "Pod" => {
            defaults::pod_admission(object);
            set_priority(store, kind, object)?;
            refuse_runtime_class(kind, object)?;
        }
        "Node" => taint_as_not_ready(object),
        _ => {}
    }
    Ok(())
}

/// There are no runtime classes here.
fn refuse_runtime_class(kind: &Kind, pod: &Value) -> Result<(), ApiError> {
    let Some(class) = pod["spec"]["runtimeClassName"].as_str() else {
        return Ok(());
    };
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let why = format!("pod rejected: RuntimeClass {class:?} not found");
    Err(ApiError::forbidden(kind, name, &why))
}

/// A new node takes no pods until something has seen that it is ready.
fn taint_as_not_ready(node: &mut Value) {
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    let taints = &mut node["spec"]["taints"];
    match taints.as_array_mut() {
        Some(taints) if taints.contains(&taint) => {}
        Some(taints) => taints.push(taint),
        None => *taints = json!([taint]),
    }
}

/// The number behind a pod's priority class.
fn set_priority(store: &Store, kind: &Kind, pod: &mut Value) -> Result<(), ApiError> {
    let classes = kinds::by_plural("priorityclasses").expect("the table has priority classes");
    let stored = |name: &str| {
        let class = store.get(classes.collection, &ObjectKey::new("", name))?;
        Some(class.value(classes))
    };
    let name = pod["spec"]["priorityClassName"]
        .as_str()
        .unwrap_or_default();
    let class = match name {
        "" => default_class(store, classes),
        "system-cluster-critical" => json!({"value": 2_000_000_000}),
        "system-node-critical" => json!({"value": 2_000_001_000}),
        name => stored(name).ok_or_else(|| {
            let pod_name = pod["metadata"]["name"].as_str().unwrap_or_default();
            let why = format!("no PriorityClass with name {name} was found");
            ApiError::forbidden(kind, pod_name, &why)
        })?,
    };
    if let (true, Some(default)) = (name.is_empty(), class["metadata"]["name"].as_str()) {
        pod["spec"]["priorityClassName"] = default.into();
    }
    pod["spec"]["priority"] = class["value"].as_i64().unwrap_or_default().into();
    if pod["spec"]["preemptionPolicy"].is_null() {
        let policy = class["preemptionPolicy"].as_str();
        pod["spec"]["preemptionPolicy"] = policy.unwrap_or("PreemptLowerPriority").into();
    }
    Ok(())
}

/// The class of pods that name none: the lowest global default, or none.
fn default_class(store: &Store, classes: &Kind) -> Value {
    store
        .list(classes.collection, None, Bound::Unbounded)
        .map(|class| class.value(classes))
        .filter(|class| class["globalDefault"] == true)
        .min_by_key(|class| class["value"].as_i64())
        .unwrap_or_default()
}
