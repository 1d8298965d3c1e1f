//! Defaulting: what a stored object says that its body left out.
//!
//! [`apply_defaults`] is the API version's own defaulting, the same on create and update; [`pod_admission`] is what
//! the admission plugins add to a pod. Fields that the encoder writes though nothing set them (`resources: {}`) are
//! the schema's business. Pure; the API's verbs call both between decoding and validation.

mod container;
mod core;
mod pod;
mod qos;
mod volume;
mod workload;

use serde_json::Value;

pub use pod::pod_admission;
pub use qos::qos_class;

use crate::sandbox::json::Object;
use crate::schema::quantity::Quantity;

/// Fills in what Kubernetes 1.36 fills in for an object of this kind. Kinds without defaults are left alone.
pub fn apply_defaults(kind: &str, object: &mut Value) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    match kind {
        "Pod" => pod::pod(object),
        "PodTemplate" => pod::template(object),
        "Deployment" => workload::deployment(object),
        "ReplicaSet" => workload::replica_set(object),
        "ReplicationController" => workload::replication_controller(object),
        "StatefulSet" => workload::stateful_set(object),
        "DaemonSet" => workload::daemon_set(object),
        "Job" => workload::job(object),
        "CronJob" => workload::cron_job(object),
        "HorizontalPodAutoscaler" => workload::horizontal_pod_autoscaler(object),
        "Service" => core::service(object),
        "Secret" => core::secret(object),
        "Namespace" => core::namespace(object),
        "Node" => core::node(object),
        "LimitRange" => core::limit_range(object),
        "ResourceQuota" => core::resource_quota(object),
        "PersistentVolumeClaim" => core::persistent_volume_claim(object),
        "PriorityClass" => default_nil(object, "preemptionPolicy", "PreemptLowerPriority"),
        _ => {}
    }
}

/// Sets a field whose Go type is a pointer: null and absent are unset, zero is a value.
fn default_nil(object: &mut Object, field: &str, value: impl Into<Value>) {
    if object.get(field).is_none_or(Value::is_null) {
        object.insert(field.to_owned(), value.into());
    }
}

/// Sets a field whose Go type is plain: its zero value is unset too.
fn default_zero(object: &mut Object, field: &str, value: impl Into<Value>) {
    if object.get(field).is_none_or(crate::sandbox::json::is_zero) {
        object.insert(field.to_owned(), value.into());
    }
}

/// Writes the amounts of a resource list in canonical form, rounded up to thousandths.
fn resource_list(parent: &mut Object, field: &str) {
    let Some(amounts) = parent.get_mut(field).and_then(Value::as_object_mut) else {
        return;
    };
    for amount in amounts.values_mut() {
        if let Ok(quantity) = Quantity::from_json(amount) {
            *amount = Value::String(quantity.round_up_to_milli().to_string());
        }
    }
}

#[cfg(test)]
mod tests;
