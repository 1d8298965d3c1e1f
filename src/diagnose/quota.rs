//! Whether quotas leave room for the pods that a rollout is still to create.

use serde_json::Value;

use super::api::Quota;
use super::code::Code;
use super::finding::{Class, Finding};
use super::snapshot::Snapshot;
use crate::controller::api::ReplicaSet;
use crate::controller::deployment::overview::Overview;
use crate::schema::quantity::Quantity;

/// Resources of quotas, and where a container states what counts against them.
const RESOURCES: [(&str, &str, &str); 6] = [
    ("requests.cpu", "requests", "cpu"),
    ("cpu", "requests", "cpu"),
    ("requests.memory", "requests", "memory"),
    ("memory", "requests", "memory"),
    ("limits.cpu", "limits", "cpu"),
    ("limits.memory", "limits", "memory"),
];

/// The first quota with less room than the pods take that may exist beside the present ones.
pub(super) fn headroom(
    snapshot: &Snapshot,
    overview: &Overview,
    new: Option<&ReplicaSet>,
) -> Option<Finding> {
    let wanted = match new {
        Some(set) => {
            overview
                .max_total()
                .min(overview.total + overview.desired - set.spec.replicas)
                - overview.current
        }
        None => overview.max_total() - overview.current,
    };
    if wanted <= 0 {
        return None;
    }
    let spec = &snapshot.deployment.spec.template.json()["spec"];
    let tight = snapshot
        .surroundings
        .quotas
        .iter()
        .find_map(|quota| tight(quota, spec, wanted))?;
    Some(Finding::new(Code::QuotaHeadroom, Class::Note, tight))
}

fn tight(quota: &Quota, spec: &Value, wanted: i32) -> Option<String> {
    let room = |resource: &str| {
        let of = |amounts: &std::collections::BTreeMap<String, Value>| {
            Quantity::from_json(amounts.get(resource)?).ok()
        };
        let used = of(&quota.status.used)?;
        Some(of(&quota.status.hard)?.millis() - used.millis())
    };
    let name = &quota.meta.name;
    if let Some(left) = room("pods").or_else(|| room("count/pods"))
        && left / 1000 < i64::from(wanted)
    {
        return Some(format!(
            "quota {name:?} leaves room for {} more of the {wanted} pods that may be wanted at once",
            left / 1000
        ));
    }
    RESOURCES.iter().find_map(|(resource, side, unit)| {
        let left = room(resource)?;
        let each = per_pod(spec, side, unit);
        (each > 0 && left < each.saturating_mul(wanted.into())).then(|| {
            format!(
                "quota {name:?} leaves {resource} for {} more of the {wanted} pods that may be wanted at once",
                left.max(0) / each
            )
        })
    })
}

/// What the containers of a pod state together, in thousandths.
fn per_pod(spec: &Value, side: &str, unit: &str) -> i64 {
    let containers = spec["containers"].as_array().into_iter().flatten();
    containers
        .filter_map(|container| Quantity::from_json(&container["resources"][side][unit]).ok())
        .map(Quantity::millis)
        .fold(0, i64::saturating_add)
}
