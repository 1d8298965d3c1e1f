//! Defaults of the other kinds: Service, Secret, Namespace, Node, `LimitRange`, `ResourceQuota`, claims.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::volume::claim_spec;
use super::{default_nil, default_zero, resource_list};
use crate::sandbox::json::{Object, is_zero, object_mut, object_or_new, objects_mut, text};

const AFFINITY_SECONDS: i64 = 10_800;

pub(super) fn service(object: &mut Object) {
    let Some(spec) = object_or_new(object, "spec") else {
        return;
    };
    default_zero(spec, "type", "ClusterIP");
    default_zero(spec, "sessionAffinity", "None");
    session_affinity(spec);
    for port in objects_mut(spec, "ports") {
        default_zero(port, "protocol", "TCP");
        if let Some(number) = port.get("port").cloned() {
            default_zero(port, "targetPort", number);
        }
    }
    let is_external_name = spec["type"] == "ExternalName";
    let is_external = spec["type"] == "NodePort" || spec["type"] == "LoadBalancer";
    let has_external_ips = spec.get("externalIPs").is_some_and(|ips| !is_zero(ips));
    if is_external || (spec["type"] == "ClusterIP" && has_external_ips) {
        default_zero(spec, "externalTrafficPolicy", "Cluster");
    }
    if !is_external_name {
        default_nil(spec, "internalTrafficPolicy", "Cluster");
    }
    if spec["type"] == "LoadBalancer" {
        default_nil(spec, "allocateLoadBalancerNodePorts", true);
        ingress_mode(object);
    }
}

/// Traffic to an IP of a load balancer is taken to have that IP, unless its entry says otherwise.
fn ingress_mode(service: &mut Object) {
    let balancer =
        object_mut(service, "status").and_then(|status| object_mut(status, "loadBalancer"));
    for entry in balancer
        .into_iter()
        .flat_map(|balancer| objects_mut(balancer, "ingress"))
    {
        if entry.get("ip").is_some_and(|ip| !is_zero(ip)) {
            default_nil(entry, "ipMode", "VIP");
        }
    }
}

fn session_affinity(spec: &mut Object) {
    if spec["sessionAffinity"] == "None" {
        spec.remove("sessionAffinityConfig");
    } else if spec["sessionAffinity"] == "ClientIP"
        && let Some(config) = object_or_new(spec, "sessionAffinityConfig")
        && let Some(client_ip) = object_or_new(config, "clientIP")
    {
        default_nil(client_ip, "timeoutSeconds", AFFINITY_SECONDS);
    }
}

/// Beside the type: `stringData` goes into `data`, where it wins, and is not read back.
pub(super) fn secret(object: &mut Object) {
    default_zero(object, "type", "Opaque");
    let Some(Value::Object(plain)) = object.remove("stringData") else {
        return;
    };
    if let Some(data) = object_or_new(object, "data") {
        for (key, value) in plain {
            data.insert(key, Value::String(STANDARD.encode(text(&value))));
        }
    }
}

/// The label with its own name, the finalizer and the phase of a living namespace.
pub(super) fn namespace(object: &mut Object) {
    let name = object
        .get("metadata")
        .map_or("", |metadata| text(&metadata["name"]));
    if !name.is_empty() {
        let name = Value::String(name.to_owned());
        let labels = object_or_new(object, "metadata")
            .and_then(|metadata| object_or_new(metadata, "labels"));
        if let Some(labels) = labels {
            labels.insert("kubernetes.io/metadata.name".to_owned(), name);
        }
    }
    if let Some(status) = object_or_new(object, "status") {
        default_zero(status, "phase", "Active");
    }
}

/// Allocatable from capacity.
pub(super) fn node(object: &mut Object) {
    if let Some(spec) = object_mut(object, "spec")
        && let Some(range) = spec.get("podCIDR").filter(|range| !is_zero(range)).cloned()
    {
        default_zero(spec, "podCIDRs", json!([range]));
    }
    let Some(status) = object_mut(object, "status") else {
        return;
    };
    resource_list(status, "capacity");
    resource_list(status, "allocatable");
    if let Some(capacity) = status.get("capacity").cloned() {
        default_nil(status, "allocatable", capacity);
    }
}

pub(super) fn limit_range(object: &mut Object) {
    let Some(spec) = object_or_new(object, "spec") else {
        return;
    };
    for item in objects_mut(spec, "limits") {
        for list in [
            "max",
            "min",
            "default",
            "defaultRequest",
            "maxLimitRequestRatio",
        ] {
            resource_list(item, list);
        }
        if item.get("type").map(text) == Some("Container") {
            copy_missing(item, "max", "default");
            copy_missing(item, "default", "defaultRequest");
            copy_missing(item, "min", "defaultRequest");
        }
    }
}

/// Copies the amounts of one resource list that another lacks.
fn copy_missing(item: &mut Object, from: &str, to: &str) {
    let Some(Value::Object(amounts)) = item.get(from).cloned() else {
        return;
    };
    if let Some(target) = object_or_new(item, to) {
        for (name, amount) in amounts {
            target.entry(name).or_insert(amount);
        }
    }
}

pub(super) fn resource_quota(object: &mut Object) {
    for (part, lists) in [("spec", &["hard"][..]), ("status", &["hard", "used"])] {
        if let Some(part) = object_mut(object, part) {
            for list in lists {
                resource_list(part, list);
            }
        }
    }
}

pub(super) fn persistent_volume_claim(object: &mut Object) {
    claim_spec(object);
    if let Some(status) = object_or_new(object, "status") {
        default_zero(status, "phase", "Pending");
    }
}
