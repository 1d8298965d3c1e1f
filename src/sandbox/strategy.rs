//! Rules of the kinds for what a write may touch: status apart from spec, and what raises the generation.

use serde_json::{Map, Value, json};

use super::kinds::{Generation, Kind};

/// Kinds whose `status` is written through the subresource alone.
fn has_status(kind: &Kind) -> bool {
    kind.subresource("status").is_some()
}

/// A new object starts without what its controllers write.
pub(crate) fn prepare_for_create(kind: &Kind, object: &mut Value) {
    if let (true, Some(object)) = (has_status(kind), object.as_object_mut()) {
        object.remove("status");
        let phase = match kind.kind {
            "Pod" | "PersistentVolumeClaim" | "PersistentVolume" => "Pending",
            "Namespace" => "Active",
            _ => return,
        };
        let mut status = Map::new();
        status.insert("phase".to_owned(), phase.into());
        object.insert("status".to_owned(), status.into());
    }
    if kind.kind == "Namespace" {
        add_kubernetes_finalizer(object);
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
        _ if has_status(kind) => keep(new, old, "status"),
        _ => {}
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
        "Pod" if object["status"]["qosClass"].is_null() => {
            object["status"]["qosClass"] = super::defaults::qos_class(object).into();
        }
        _ => {}
    }
}

fn keep(new: &mut Value, old: &Value, field: &str) {
    let Some(object) = new.as_object_mut() else {
        return;
    };
    match old.get(field) {
        Some(value) => object.insert(field.to_owned(), value.clone()),
        None => object.remove(field),
    };
}

/// A Deployment's status write also stores annotations: its controller keeps the revision there.
fn keep_all_but_status(kind: &Kind, new: &mut Value, old: &Value) {
    let status = new["status"].take();
    let metadata = new["metadata"].take();
    *new = old.clone();
    new["status"] = status;
    new["metadata"] = metadata;
    let kept: &[&str] = match kind.kind {
        "Deployment" | "ReplicaSet" => &["labels"],
        _ => &[],
    };
    for field in kept {
        match old["metadata"].get(field) {
            Some(value) => new["metadata"][field] = value.clone(),
            None => {
                if let Some(metadata) = new["metadata"].as_object_mut() {
                    metadata.remove(*field);
                }
            }
        }
    }
}

fn raises_generation(kind: &Kind, new: &Value, old: &Value) -> bool {
    let annotations = |object: &Value| object["metadata"]["annotations"].clone();
    match kind.generation {
        Generation::Never => false,
        Generation::Spec => new["spec"] != old["spec"],
        Generation::SpecAndAnnotations => {
            new["spec"] != old["spec"] || annotations(new) != annotations(old)
        }
    }
}
