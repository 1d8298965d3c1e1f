//! Limit ranges: what they write into new pods, and what they refuse (failure-states spec, section 14.2).
//!
//! Admission gives in the limit ranges of the object's namespace. Where a real server lists violations in random order,
//! they come in order of resource name here.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::json::{Object, entries, list, object_mut, object_or_new, objects_mut, text};
use super::pod_resources::{amounts, of_pod};
use crate::kubelet::Resources;
use crate::schema::quantity::Quantity;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Gives containers the requests and limits that they leave open, and notes in an annotation which.
pub(crate) fn set_defaults(limit_range: &Value, pod: &mut Value) {
    let mut requests = BTreeMap::new();
    let mut limits = BTreeMap::new();
    for limit in limits_of_type(limit_range, "Container") {
        requests.extend(entries(&limit["defaultRequest"]));
        limits.extend(entries(&limit["default"]));
    }
    let Some(pod) = pod.as_object_mut() else {
        return;
    };
    let mut notes = Vec::new();
    if let Some(spec) = object_mut(pod, "spec") {
        for (field, what) in [
            ("containers", "container"),
            ("initContainers", "init container"),
        ] {
            for container in objects_mut(spec, field) {
                let name = text(&container["name"]).to_owned();
                for (which, defaults) in [("requests", &requests), ("limits", &limits)] {
                    let set = set_missing(container, which, defaults);
                    if !set.is_empty() {
                        let which = which.trim_end_matches('s');
                        notes.push(format!("{} {which} for {what} {name}", set.join(", ")));
                    }
                }
            }
        }
    }
    if notes.is_empty() {
        return;
    }
    let note = format!("LimitRanger plugin set: {}", notes.join("; "));
    let annotations =
        object_or_new(pod, "metadata").and_then(|metadata| object_or_new(metadata, "annotations"));
    if let Some(annotations) = annotations {
        annotations.insert(ANNOTATION.to_owned(), note.into());
    }
}

/// The resources that were missing, in order of name.
fn set_missing<'d>(
    container: &mut Object,
    which: &str,
    defaults: &BTreeMap<&'d str, &Value>,
) -> Vec<&'d str> {
    let Some(resources) = object_or_new(container, "resources") else {
        return Vec::new();
    };
    let Some(present) = object_or_new(resources, which) else {
        return Vec::new();
    };
    let mut set = Vec::new();
    for (name, amount) in defaults {
        if !present.contains_key(*name) {
            present.insert((*name).to_owned(), (*amount).clone());
            set.push(*name);
        }
    }
    set
}

/// What a LimitRange has against a new object; nothing for kinds that it does not limit.
pub(crate) fn violations(limit_range: &Value, kind: &str, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match kind {
        "Pod" => pod_violations(limit_range, object, &mut found),
        "PersistentVolumeClaim" => {
            for limit in limits_of_type(limit_range, "PersistentVolumeClaim") {
                let usage = Usage {
                    of: "PersistentVolumeClaim",
                    requests: amounts(&object["spec"]["resources"]["requests"]),
                    limits: Resources::new(),
                };
                found.extend(each(&limit["min"], |name, min| usage.check_min(name, min)));
                found.extend(each(&limit["max"], |name, max| {
                    usage.check_max_request(name, max)
                }));
            }
        }
        _ => {}
    }
    let mut seen = Vec::with_capacity(found.len());
    for violation in found {
        if !seen.contains(&violation) {
            seen.push(violation);
        }
    }
    seen
}

fn pod_violations(limit_range: &Value, pod: &Value, found: &mut Vec<String>) {
    for limit in list(&limit_range["spec"]["limits"]) {
        match text(&limit["type"]) {
            "Container" => {
                let containers = list(&pod["spec"]["containers"]).iter();
                for container in containers.chain(list(&pod["spec"]["initContainers"])) {
                    let resources = &container["resources"];
                    let usage = Usage {
                        of: "Container",
                        requests: amounts(&resources["requests"]),
                        limits: amounts(&resources["limits"]),
                    };
                    usage.check(limit, found);
                }
            }
            "Pod" => {
                let usage = Usage {
                    of: "Pod",
                    requests: of_pod(pod, "requests"),
                    limits: of_pod(pod, "limits"),
                };
                usage.check(limit, found);
            }
            _ => {}
        }
    }
}

fn limits_of_type<'v>(limit_range: &'v Value, wanted: &str) -> impl Iterator<Item = &'v Value> {
    let limits = list(&limit_range["spec"]["limits"]).iter();
    limits.filter(move |limit| limit["type"] == wanted)
}

fn each(bounds: &Value, check: impl Fn(&str, Quantity) -> Option<String>) -> Vec<String> {
    let bounds = amounts(bounds).into_iter();
    bounds
        .filter_map(|(name, bound)| check(&name, bound))
        .collect()
}

/// What something takes that a limit speaks of.
struct Usage {
    of: &'static str,
    requests: Resources,
    limits: Resources,
}

impl Usage {
    fn check(&self, limit: &Value, found: &mut Vec<String>) {
        found.extend(each(&limit["min"], |name, min| self.check_min(name, min)));
        found.extend(each(&limit["max"], |name, max| self.check_max(name, max)));
        let ratios = &limit["maxLimitRequestRatio"];
        found.extend(each(ratios, |name, ratio| self.check_ratio(name, ratio)));
    }

    fn check_min(&self, name: &str, min: Quantity) -> Option<String> {
        let rule = format!("minimum {name} usage per {} is {min}", self.of);
        let Some(request) = self.requests.get(name) else {
            return Some(format!("{rule}.  No request is specified"));
        };
        if *request < min {
            return Some(format!("{rule}, but request is {request}"));
        }
        let limit = self.limits.get(name).filter(|limit| **limit < min)?;
        Some(format!("{rule}, but limit is {limit}"))
    }

    fn check_max(&self, name: &str, max: Quantity) -> Option<String> {
        let rule = format!("maximum {name} usage per {} is {max}", self.of);
        let Some(limit) = self.limits.get(name) else {
            return Some(format!("{rule}.  No limit is specified"));
        };
        if *limit > max {
            return Some(format!("{rule}, but limit is {limit}"));
        }
        let request = self.requests.get(name).filter(|request| **request > max)?;
        Some(format!("{rule}, but request is {request}"))
    }

    /// Claims have requests only.
    fn check_max_request(&self, name: &str, max: Quantity) -> Option<String> {
        let rule = format!("maximum {name} usage per {} is {max}", self.of);
        let Some(request) = self.requests.get(name) else {
            return Some(format!("{rule}.  No request is specified"));
        };
        (*request > max).then(|| format!("{rule}, but request is {request}"))
    }

    fn check_ratio(&self, name: &str, max: Quantity) -> Option<String> {
        let rule = format!("{name} max limit to request ratio per {} is {max}", self.of);
        let given = |amounts: &Resources| amounts.get(name).copied().filter(|it| !it.is_zero());
        let Some(request) = given(&self.requests) else {
            return Some(format!(
                "{rule}, but no request is specified or request is 0"
            ));
        };
        let Some(limit) = given(&self.limits) else {
            return Some(format!("{rule}, but no limit is specified or limit is 0"));
        };
        let ratio = limit.quotient(request);
        (ratio > max.quotient(Quantity::from(1)))
            .then(|| format!("{rule}, but provided ratio is {ratio:.6}"))
    }
}
