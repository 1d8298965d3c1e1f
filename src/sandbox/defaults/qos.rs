//! The quality-of-service class of a pod, which the API server writes into its status at birth.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sandbox::json::{entries, is_zero, list};
use crate::schema::quantity::Quantity;

type Amounts<'a> = BTreeMap<&'a str, Quantity>;

/// `Guaranteed`, `Burstable` or `BestEffort`, from the pod's own resources or, without those, its containers'.
pub fn qos_class(pod: &Value) -> &'static str {
    let spec = &pod["spec"];
    let own = &spec["resources"];
    let holders: Vec<&Value> = if is_zero(&own["requests"]) && is_zero(&own["limits"]) {
        let containers = list(&spec["initContainers"])
            .iter()
            .chain(list(&spec["containers"]));
        containers
            .map(|container| &container["resources"])
            .collect()
    } else {
        vec![own]
    };
    let mut requests = Amounts::new();
    let mut limits = Amounts::new();
    let mut all_limited = true;
    for resources in holders {
        add(&mut requests, &resources["requests"]);
        all_limited &= add(&mut limits, &resources["limits"]) == 2;
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if all_limited && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Adds the positive amounts of CPU and memory; returns how many of the two there were.
fn add<'a>(sums: &mut Amounts<'a>, amounts: &'a Value) -> usize {
    let mut found = 0;
    for (name, amount) in entries(amounts) {
        let amount = Quantity::from_json(amount).unwrap_or_default();
        if matches!(name, "cpu" | "memory") && amount > Quantity::ZERO {
            *sums.entry(name).or_default() += amount;
            found += 1;
        }
    }
    found
}
