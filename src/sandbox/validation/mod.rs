//! Validation: what the API server refuses, in Kubernetes' words and order.
//!
//! The functions look at decoded and defaulted objects and return what is wrong or odd about them; nothing is changed. The
//! API's verbs call them after admission. Each file holds the rules of one part of the API; a path to a field is
//! only written out once something is wrong there.

mod container;
mod core;
mod env;
mod errors;
mod format;
mod metadata;
mod mount;
mod path;
mod pod;
mod pod_diff;
mod pod_spec;
mod pod_status;
mod policy;
mod probe;
mod quota;
mod resources;
mod scheduling;
mod security;
mod selector;
mod service;
mod volume;
mod warnings;
mod workload;

use serde_json::Value;

use self::errors::Errors;
pub use self::warnings::{warnings_on_create, warnings_on_update};
use super::field_error::FieldError;

/// What is wrong with a new object of a kind; nothing where it may be stored.
pub fn validate_create(kind: &str, object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    validate_new(kind, object, &mut errors);
    if errors.count() == 0 {
        metadata::validate_generic(kind, object, &mut errors);
    }
    errors.into_vec()
}

/// The kind's own rules for a new object.
fn validate_new(kind: &str, object: &Value, errors: &mut Errors) {
    match kind {
        "Pod" => pod::validate(object, errors),
        "Deployment" => workload::validate_deployment(object, errors),
        "ReplicaSet" => workload::validate_replica_set(object, errors),
        "Service" => service::validate(object, errors),
        "ConfigMap" => core::validate_config_map(object, errors),
        "Secret" => core::validate_secret(object, errors),
        "Namespace" => core::validate_namespace(object, errors),
        "Node" => core::validate_node(object, errors),
        "ResourceQuota" => quota::validate_resource_quota(object, errors),
        "LimitRange" => quota::validate_limit_range(object, errors),
        "PriorityClass" => policy::validate_priority_class(object, errors),
        "Event" => policy::validate_event(object, errors),
        "PodDisruptionBudget" => policy::validate_budget(object, errors),
        "Lease" => {
            metadata::validate(kind, object, errors);
            policy::validate_lease_spec(object, errors);
        }
        _ => metadata::validate(kind, object, errors),
    }
}

/// What is wrong with an update of an object (its status apart).
pub fn validate_update(kind: &str, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    let errors_mut = &mut errors;
    validate_common_update(kind, new, old, errors_mut);
    match kind {
        "Pod" => pod::validate_update(new, old, errors_mut),
        "Deployment" => workload::validate_deployment_update(new, old, errors_mut),
        "ReplicaSet" => workload::validate_replica_set_update(new, old, errors_mut),
        "Service" => service::validate_update(new, old, errors_mut),
        "ConfigMap" => core::validate_config_map_update(new, old, errors_mut),
        "Secret" => core::validate_secret_update(new, old, errors_mut),
        "Node" => core::validate_node_update(new, old, errors_mut),
        "ResourceQuota" => quota::validate_resource_quota_update(new, old, errors_mut),
        "PriorityClass" => policy::validate_priority_class_update(new, old, errors_mut),
        "Event" => policy::validate_event_update(new, old, errors_mut),
        // These kinds are held to the rules of a new object again.
        "LimitRange" | "PodDisruptionBudget" => validate_new(kind, new, errors_mut),
        "Lease" => {
            metadata::validate_update(new, old, errors_mut);
            policy::validate_lease_spec(new, errors_mut);
        }
        "Namespace" | "ServiceAccount" => {
            metadata::validate_update(new, old, errors_mut);
            validate_new(kind, new, errors_mut);
        }
        _ => metadata::validate_update(new, old, errors_mut),
    }
    errors.into_vec()
}

/// What is wrong with an update of an object's status.
pub fn validate_status_update(kind: &str, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    validate_common_update(kind, new, old, &mut errors);
    match kind {
        "Pod" => pod_status::validate_update(new, old, &mut errors),
        "Deployment" => workload::validate_deployment_status(new, old, &mut errors),
        "ReplicaSet" => workload::validate_replica_set_status(new, old, &mut errors),
        "Namespace" => core::validate_namespace_status(new, old, &mut errors),
        "ResourceQuota" => quota::validate_resource_quota_status(new, old, &mut errors),
        "PodDisruptionBudget" => policy::validate_budget_status(new, &mut errors),
        "Node" => core::validate_node_update(new, old, &mut errors),
        _ => metadata::validate_update(new, old, &mut errors),
    }
    errors.into_vec()
}

/// Whether [`validate_status_update`] has to see the `spec` of the objects to judge this update of a status.
pub fn status_follows_spec(kind: &str, new: &Value, old: &Value) -> bool {
    kind == "Pod" && pod_status::follows_spec(&new["status"], &old["status"])
}

/// What the server asks of every update before the kind's own rules.
fn validate_common_update(kind: &str, new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_generic(kind, new, errors);
    metadata::validate_generic_update(new, old, errors);
}

#[cfg(test)]
mod tests;
