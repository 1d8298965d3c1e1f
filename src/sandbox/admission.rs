//! Admission: namespaces that do not take objects, what plugins add to an object before it is validated, and what they
//! have against it when it is valid.

mod pod;
mod quotas;
mod review;

use std::ops::Bound;
use std::sync::Arc;

use serde_json::{Value, json};

pub(crate) use self::quotas::recount as recount_quotas;
pub(crate) use self::review::review;
use super::json::text;
use super::kinds::{self, Kind};
use super::object::Object;
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
    let Some(namespace) = stored(store, "namespaces", name) else {
        return Err(ApiError::not_found(known("namespaces"), name));
    };
    // The text says so before a tree would.
    let may_be_going = namespace.status_text().contains("Terminating");
    if !may_be_going || namespace.status()["phase"] != "Terminating" {
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
        "Pod" => return pod::admit(store, kind, object),
        "Node" => taint_as_not_ready(object),
        _ => {}
    }
    Ok(())
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

/// What they add to an object that changes.
pub(crate) fn admit_update(kind: &Kind, new: &mut Value, old: &Value) {
    if kind.kind == "Pod" {
        pod::admit_update(new, old);
    }
}

/// How a plugin names a new object: before it has its name, by the one it is to be generated from.
fn subject(object: &Value) -> &str {
    ["name", "generateName"]
        .iter()
        .map(|field| text(&object["metadata"][*field]))
        .find(|name| !name.is_empty())
        .unwrap_or("Unknown")
}

/// The objects of a kind in a namespace; empty for kinds without namespaces.
fn all(store: &Store, plural: &str, namespace: &str) -> Vec<Value> {
    let kind = known(plural);
    let namespace = kind.namespaced.then_some(namespace);
    store
        .list(kind.collection, namespace, &Bound::Unbounded)
        .map(|object| object.value(kind))
        .collect()
}

/// A cluster-scoped object by its name.
fn one(store: &Store, plural: &str, name: &str) -> Option<Value> {
    Some(stored(store, plural, name)?.value(known(plural)))
}

/// The same, unread.
fn stored<'s>(store: &'s Store, plural: &str, name: &str) -> Option<&'s Arc<Object>> {
    store.get(known(plural).collection, &ObjectKey::new("", name))
}

fn known(plural: &str) -> &'static Kind {
    kinds::by_plural(plural).expect("the table has every kind that plugins look up")
}
