//! Rules of the kinds for what a write may touch: status apart from spec, and what raises the generation.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{Generation, Kind};
use super::{defaults, metadata, pod_parts};

/// How often a DaemonSet's template has changed.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Kinds whose `status` is written through the subresource alone.
fn has_status(kind: &Kind) -> bool {
    kind.subresource("status").is_some()
}

/// A new object starts without what its controllers write; a node brings its own account of itself.
pub(crate) fn prepare_for_create(kind: &Kind, object: &mut Value, now: Timestamp) {
    if has_status(kind) && kind.kind != "Node" {
        set(object, "status", None);
    }
    match kind.kind {
        "Pod" => {
            object["status"] = json!({"phase": "Pending"});
            block_by_gates(object, now);
        }
        "PersistentVolumeClaim" | "PersistentVolume" => {
            object["status"] = json!({"phase": "Pending"});
        }
        "Namespace" => {
            object["status"] = json!({"phase": "Active"});
            add_kubernetes_finalizer(object);
        }
        "DaemonSet" => number_templates(object, &Value::Null),
        _ => {}
    }
}

/// A DaemonSet counts its templates in an annotation, which only the server writes.
fn number_templates(new: &mut Value, old: &Value) {
    let annotation = |object: &Value| {
        let number = object["metadata"]["annotations"][TEMPLATE_GENERATION].as_str()?;
        number.parse::<i64>().ok()
    };
    let number = match annotation(old) {
        None => annotation(new).unwrap_or(1).max(1),
        Some(number) if new["spec"]["template"] == old["spec"]["template"] => number,
        Some(number) => number + 1,
    };
    new["metadata"]["annotations"][TEMPLATE_GENERATION] = number.to_string().into();
}

/// A pod with scheduling gates says from the start that it waits for them.
fn block_by_gates(pod: &mut Value, now: Timestamp) {
    let gates = pod["spec"]["schedulingGates"].as_array();
    if gates.is_some_and(|gates| !gates.is_empty()) {
        pod["status"]["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "lastTransitionTime": metadata::time(now),
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
    }
}

/// A namespace is not gone before its contents are.
fn add_kubernetes_finalizer(namespace: &mut Value) {
    let finalizers = &mut namespace["spec"]["finalizers"];
    match finalizers.as_array_mut() {
        Some(list) if list.iter().any(|one| one == "kubernetes") => {}
        Some(list) => list.push("kubernetes".into()),
        None => *finalizers = json!(["kubernetes"]),
    }
}

/// Takes from `new` what this path writes and everything else from `old`; then the generation.
pub(crate) fn prepare_for_update(kind: &Kind, subresource: &str, new: &mut Value, old: &Value) {
    match subresource {
        "status" => keep_all_but_status(kind, new, old),
        "finalize" => keep(new, old, "status"),
        "ephemeralcontainers" | "resize" => pod_parts::keep_rest(subresource, new, old),
        _ => {
            if has_status(kind) {
                keep(new, old, "status");
            }
            if kind.kind == "Namespace" {
                keep(new, old, "spec");
            }
            if kind.kind == "DaemonSet" {
                number_templates(new, old);
            }
        }
    }
    if subresource != "status" && raises_generation(kind, new, old) {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or_default();
        new["metadata"]["generation"] = (generation + 1).into();
    }
}

/// Fields that follow from others.
pub(crate) fn complete(kind: &Kind, object: &mut Value) {
    match kind.kind {
        "Namespace" => {
            let name = object["metadata"]["name"].clone();
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
        }
        "Pod" => {
            if object["status"]["qosClass"].is_null() {
                object["status"]["qosClass"] = defaults::qos_class(object).into();
            }
            reconcile_ips(&mut object["status"]);
        }
        _ => {}
    }
}

/// `podIP` and the first of `podIPs` are one; where both are given and differ, `podIP` counts.
fn reconcile_ips(status: &mut Value) {
    let first = status["podIPs"][0]["ip"].as_str().unwrap_or_default();
    let single = status["podIP"].as_str().unwrap_or_default();
    if single.is_empty() && !first.is_empty() {
        status["podIP"] = first.into();
    } else if !single.is_empty() && single != first {
        status["podIPs"] = json!([{"ip": single}]);
    }
}

fn keep(new: &mut Value, old: &Value, field: &str) {
    set(new, field, old.get(field).cloned());
}

fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    match value {
        Some(value) => object.insert(field.to_owned(), value),
        None => object.remove(field),
    };
}

/// The metadata of a status write is stored too, apart from what a kind takes back: a Deployment's controller keeps
/// the revision in an annotation and writes it this way.
fn keep_all_but_status(kind: &Kind, new: &mut Value, old: &Value) {
    if let (Some(new), Some(old)) = (new.as_object_mut(), old.as_object()) {
        let is_written = |member: &str| matches!(member, "metadata" | "status");
        new.retain(|member, _| is_written(member));
        let kept = old.iter().filter(|(member, _)| !is_written(member));
        new.extend(kept.map(|(member, value)| (member.clone(), value.clone())));
    }
    match kind.kind {
        "Deployment" => keep_metadata(new, old, "labels"),
        "Pod" => {
            keep_metadata(new, old, "ownerReferences");
            let class = &old["status"]["qosClass"];
            if new["status"]["qosClass"].is_null() && !class.is_null() {
                new["status"]["qosClass"] = class.clone();
            }
        }
        _ => {}
    }
}

fn keep_metadata(new: &mut Value, old: &Value, field: &str) {
    let metadata = metadata::of(new);
    match old["metadata"].get(field) {
        Some(value) => metadata.insert(field.to_owned(), value.clone()),
        None => metadata.remove(field),
    };
}

fn raises_generation(kind: &Kind, new: &Value, old: &Value) -> bool {
    let spec_changed = || new.get("spec") != old.get("spec");
    match kind.generation {
        Generation::Never => false,
        Generation::Spec => spec_changed(),
        Generation::SpecAndAnnotations => {
            spec_changed()
                || new["metadata"].get("annotations") != old["metadata"].get("annotations")
        }
    }
}
