//! What stands between a request and validation: namespaces that do not take objects, and what plugins add.

use serde_json::{Value, json};

use super::defaults;
use super::kinds::{self, Kind};
use super::route::Target;
use super::status::ApiError;
use super::store::Store;
use crate::controller::api::ObjectKey;

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
pub(crate) fn admit(kind: &Kind, object: &mut Value) {
    if kind.kind == "Pod" {
        defaults::pod_admission(object);
    }
}
