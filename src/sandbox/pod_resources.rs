//! What a pod asks for as a whole, as admission counts it: limit ranges and quotas go by it.

use serde_json::Value;

use super::json::{entries, list};
use crate::kubelet::{Resources, peak};
use crate::schema::quantity::Quantity;

/// The amounts of a resource list; what is no quantity is left out, since objects here are decoded.
pub(crate) fn amounts(resources: &Value) -> Resources {
    entries(resources)
        .filter_map(|(name, amount)| Some((name.to_owned(), Quantity::from_json(amount).ok()?)))
        .collect()
}

/// The pod's `requests` or `limits`: its containers' in its worst moment, or its own where it states some.
pub(crate) fn of_pod(pod: &Value, which: &str) -> Resources {
    let spec = &pod["spec"];
    let of = |container: &Value| amounts(&container["resources"][which]);
    let init_containers: Vec<_> = list(&spec["initContainers"])
        .iter()
        .map(|container| (of(container), container["restartPolicy"] == "Always"))
        .collect();
    let containers: Vec<_> = list(&spec["containers"]).iter().map(of).collect();
    let init_containers = init_containers
        .iter()
        .map(|(amounts, is_sidecar)| (amounts, *is_sidecar));
    let mut total = peak(init_containers, &containers);
    let own = amounts(&spec["resources"][which]);
    total.extend(own.into_iter().filter(|(name, _)| can_be_the_pods(name)));
    total
}

/// Whether a pod may state the resource for itself.
fn can_be_the_pods(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-")
}
