//! How much of what quotas limit an object takes.

use std::collections::BTreeSet;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::kubelet::Resources;
use crate::sandbox::json::{list, text};
use crate::sandbox::kinds::Kind;
use crate::sandbox::pod_resources::{amounts, of_pod};
use crate::schema::quantity::Quantity;

/// Behind the name of a storage class, in names of resources.
const STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// The resources of containers whose requests and limits quotas can limit by name.
const COMPUTE: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];

/// Whether a quota's resource is one that objects of the kind may take.
pub(super) fn is_taken_by(kind: &Kind, resource: &str) -> bool {
    if is_count_of(kind, resource) {
        return true;
    }
    match kind.qualified_resource().as_str() {
        "pods" => is_pod_resource(resource),
        "services" => matches!(
            resource,
            "services" | "services.loadbalancers" | "services.nodeports"
        ),
        "persistentvolumeclaims" => ["persistentvolumeclaims", "requests.storage"]
            .iter()
            .any(|name| is_of_storage_class(resource, name) || resource == *name),
        plural @ ("configmaps" | "replicationcontrollers" | "resourcequotas" | "secrets") => {
            resource == plural
        }
        _ => false,
    }
}

fn is_count_of(kind: &Kind, resource: &str) -> bool {
    resource.strip_prefix("count/") == Some(&kind.qualified_resource())
}

fn is_of_storage_class(resource: &str, name: &str) -> bool {
    let class = resource.strip_suffix(name);
    class.is_some_and(|class| class.ends_with(STORAGE_CLASS))
}

fn is_pod_resource(resource: &str) -> bool {
    let requested = resource.strip_prefix("requests.");
    let limited = resource.strip_prefix("limits.");
    let compute = requested.or(limited).unwrap_or(resource);
    resource == "pods"
        || COMPUTE.contains(&compute)
        || requested.unwrap_or(resource).starts_with("hugepages-")
        || requested.is_some() && is_extended(resource)
}

/// Whether a resource is neither Kubernetes' own nor without a domain.
fn is_extended(resource: &str) -> bool {
    resource.contains('/') && !resource.contains("kubernetes.io/")
}

/// What an object takes.
pub(super) fn usage(kind: &Kind, object: &Value, now: Timestamp) -> Resources {
    let plural = kind.qualified_resource();
    let mut usage = Resources::new();
    usage.insert(format!("count/{plural}"), Quantity::from(1));
    match plural.as_str() {
        "pods" if counts(object, now) => add_pod(&mut usage, object),
        "services" => add_service(&mut usage, &object["spec"]),
        "persistentvolumeclaims" => add_claim(&mut usage, object),
        "configmaps" | "replicationcontrollers" | "resourcequotas" | "secrets" => {
            usage.insert(plural, Quantity::from(1));
        }
        _ => {}
    }
    usage
}

/// A pod that ended, or should be gone by now, takes no more than its place in the store.
fn counts(pod: &Value, now: Timestamp) -> bool {
    if matches!(text(&pod["status"]["phase"]), "Failed" | "Succeeded") {
        return false;
    }
    let metadata = &pod["metadata"];
    let deleted = text(&metadata["deletionTimestamp"]).parse::<Timestamp>();
    let grace = metadata["deletionGracePeriodSeconds"].as_i64();
    match (deleted, grace) {
        (Ok(deleted), Some(grace)) => {
            now.duration_since(deleted) <= SignedDuration::from_secs(grace)
        }
        _ => true,
    }
}

fn add_pod(usage: &mut Resources, pod: &Value) {
    let (mut requests, mut limits) = (of_pod(pod, "requests"), of_pod(pod, "limits"));
    for (name, amount) in amounts(&pod["spec"]["overhead"]) {
        if let Some(limit) = limits.get_mut(&name).filter(|limit| !limit.is_zero()) {
            *limit += amount;
        }
        *requests.entry(name).or_default() += amount;
    }
    usage.extend(compute_usage(&requests, &limits));
}

fn compute_usage(requests: &Resources, limits: &Resources) -> Resources {
    let mut usage = Resources::new();
    usage.insert("pods".to_owned(), Quantity::from(1));
    for (name, amount) in requests {
        let is_plain = COMPUTE.contains(&name.as_str()) || name.starts_with("hugepages-");
        if is_plain {
            usage.insert(name.clone(), *amount);
        }
        if is_plain || is_extended(name) {
            usage.insert(format!("requests.{name}"), *amount);
        }
    }
    for name in COMPUTE {
        if let Some(amount) = limits.get(name) {
            usage.insert(format!("limits.{name}"), *amount);
        }
    }
    usage
}

fn add_service(usage: &mut Resources, spec: &Value) {
    let ports = list(&spec["ports"]);
    let given = ports
        .iter()
        .filter(|port| port["nodePort"].as_i64() > Some(0));
    let is_balanced = spec["type"] == "LoadBalancer";
    let node_ports = match text(&spec["type"]) {
        "LoadBalancer" if spec["allocateLoadBalancerNodePorts"] == false => given.count(),
        "LoadBalancer" | "NodePort" => ports.len(),
        _ => 0,
    };
    let node_ports = i64::try_from(node_ports).unwrap_or(i64::MAX);
    usage.insert("services".to_owned(), Quantity::from(1));
    usage.insert("services.nodeports".to_owned(), Quantity::from(node_ports));
    let balancers = Quantity::from(i64::from(is_balanced));
    usage.insert("services.loadbalancers".to_owned(), balancers);
}

fn add_claim(usage: &mut Resources, claim: &Value) {
    const CLAIMS: &str = "persistentvolumeclaims";
    let spec = &claim["spec"];
    let annotation = &claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
    let class = annotation
        .as_str()
        .unwrap_or(text(&spec["storageClassName"]));
    let requested = amounts(&spec["resources"]["requests"]).remove("storage");
    let allocated = amounts(&claim["status"]["allocatedResources"]).remove("storage");
    let storage = requested.map(|requested| {
        let bytes = requested.max(allocated.unwrap_or_default());
        if bytes.is_integer() {
            bytes
        } else {
            Quantity::from(bytes.value())
        }
    });
    for (name, amount) in [
        (CLAIMS, Some(Quantity::from(1))),
        ("requests.storage", storage),
    ] {
        let Some(amount) = amount else { continue };
        usage.insert(name.to_owned(), amount);
        if !class.is_empty() {
            usage.insert(format!("{class}{STORAGE_CLASS}{name}"), amount);
        }
    }
}

/// What a pod's containers must state because a quota limits it, and who does not: `requests.cpu for: web`.
pub(super) fn missing(pod: &Value, limited: &BTreeSet<&str>) -> Vec<String> {
    let spec = &pod["spec"];
    let own = &spec["resources"];
    let states_own = ["requests", "limits"]
        .iter()
        .any(|which| !amounts(&own[*which]).is_empty());
    if states_own {
        return Vec::new();
    }
    let must_be_stated = |resource: &&&str| {
        let plain = resource.strip_prefix("requests.");
        let plain = plain.or(resource.strip_prefix("limits."));
        matches!(plain.unwrap_or(resource), "cpu" | "memory")
    };
    let containers: Vec<_> = list(&spec["containers"])
        .iter()
        .chain(list(&spec["initContainers"]))
        .map(|container| {
            let resources = &container["resources"];
            let (requests, limits) = (
                amounts(&resources["requests"]),
                amounts(&resources["limits"]),
            );
            (text(&container["name"]), compute_usage(&requests, &limits))
        })
        .collect();
    let missing = limited
        .iter()
        .filter(must_be_stated)
        .filter_map(|resource| {
            let silent: BTreeSet<&str> = containers
                .iter()
                .filter(|(_, usage)| !usage.contains_key(*resource))
                .map(|(name, _)| *name)
                .collect();
            let silent = Vec::from_iter(silent);
            (!silent.is_empty()).then(|| format!("{resource} for: {}", silent.join(",")))
        });
    missing.collect()
}
