//! Defaults of pods and pod templates, and what admission adds to a pod.

use serde_json::{Value, json};

use super::container::{container, requests_from_limits};
use super::volume::volume;
use super::{default_nil, default_zero, resource_list};
use crate::sandbox::json::{Object, flag, is_zero, object_mut, object_or_new, objects_mut, text};

const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
const EVICTION_TAINTS: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
const EVICTION_SECONDS: i64 = 300;

/// Fills in a pod. What only a pod gets, and a template does not: requests from limits, service links, host ports.
pub(super) fn pod(pod: &mut Object) {
    let Some(spec) = object_or_new(pod, "spec") else {
        return;
    };
    pod_spec(spec);
    for list in ["initContainers", "containers"] {
        objects_mut(spec, list).for_each(requests_from_limits);
    }
    default_nil(spec, "enableServiceLinks", true);
    if spec["terminationGracePeriodSeconds"].as_i64() < Some(0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), 1.into());
    }
    if spec.get("hostNetwork").is_some_and(flag) {
        for list in ["initContainers", "containers"] {
            objects_mut(spec, list).for_each(host_ports);
        }
    }
}

/// Fills in the `template` of an object that has one at its top (a workload's spec).
pub(super) fn template(parent: &mut Object) {
    let template = object_or_new(parent, "template");
    if let Some(spec) = template.and_then(|template| object_or_new(template, "spec")) {
        pod_spec(spec);
    }
}

fn pod_spec(spec: &mut Object) {
    default_zero(spec, "dnsPolicy", "ClusterFirst");
    default_zero(spec, "restartPolicy", "Always");
    default_nil(spec, "securityContext", json!({}));
    default_nil(spec, "terminationGracePeriodSeconds", 30);
    default_zero(spec, "schedulerName", "default-scheduler");
    service_account(spec);
    objects_mut(spec, "volumes").for_each(volume);
    for list in CONTAINER_LISTS {
        objects_mut(spec, list).for_each(container);
    }
    resource_list(spec, "overhead");
    if let Some(resources) = object_mut(spec, "resources") {
        resource_list(resources, "limits");
        resource_list(resources, "requests");
    }
}

/// `serviceAccount` is the old name of `serviceAccountName`; both are stored, the new one decides.
fn service_account(spec: &mut Object) {
    let named = ["serviceAccountName", "serviceAccount"]
        .into_iter()
        .find_map(|field| spec.get(field).filter(|name| !is_zero(name)).cloned());
    if let Some(name) = named {
        spec.insert("serviceAccountName".to_owned(), name.clone());
        spec.insert("serviceAccount".to_owned(), name);
    }
}

fn host_ports(container: &mut Object) {
    for port in objects_mut(container, "ports") {
        if let Some(number) = port.get("containerPort").cloned() {
            default_zero(port, "hostPort", number);
        }
    }
}

/// What the admission plugin `DefaultTolerationSeconds` adds to a pod, on create and update: five minutes of patience
/// with a node that is not ready or unreachable.
pub fn pod_admission(pod: &mut Value) {
    let Some(spec) = pod
        .as_object_mut()
        .and_then(|pod| object_or_new(pod, "spec"))
    else {
        return;
    };
    let tolerations = spec.get("tolerations").cloned().unwrap_or(Value::Null);
    for taint in EVICTION_TAINTS {
        if !tolerates_eviction(&tolerations, taint) {
            let toleration = json!({
                "key": taint,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": EVICTION_SECONDS,
            });
            default_nil(spec, "tolerations", json!([]));
            if let Some(list) = spec.get_mut("tolerations").and_then(Value::as_array_mut) {
                list.push(toleration);
            }
        }
    }
}

fn tolerates_eviction(tolerations: &Value, taint: &str) -> bool {
    crate::sandbox::json::list(tolerations)
        .iter()
        .any(|toleration| {
            let (key, effect) = (text(&toleration["key"]), text(&toleration["effect"]));
            (key.is_empty() || key == taint) && (effect.is_empty() || effect == "NoExecute")
        })
}
