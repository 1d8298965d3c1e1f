//! Remarks on pods and pod templates.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Warnings, ports, volume};
use crate::sandbox::json::{entries, list, text};
use crate::sandbox::pod_resources::amounts;
use crate::sandbox::validation::format;
use crate::sandbox::validation::path::Path;

const NO_POD: &str = "a null labelSelector results in matching no pod";
const USE_SECCOMP_PROFILE: &str =
    "non-functional in v1.27+; use the \"seccompProfile\" field instead";

const DEPRECATED_NODE_LABELS: [(&str, &str); 8] = [
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

const DEPRECATED_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Remarks on a pod or a pod template, whose spec and annotations are at these places.
pub(super) fn warn(pod: &Value, place: &Path<'_>, annotations: &Path<'_>, warnings: &mut Warnings) {
    let spec = &pod["spec"];
    let annotated = &pod["metadata"]["annotations"];
    warn_of_node_labels(spec, place, warnings);
    warn_of_spreading(spec, place, warnings);
    for (key, remark) in DEPRECATED_ANNOTATIONS {
        if !annotated[key].is_null() {
            warnings.at(annotations.key(key), remark);
        }
    }
    volume::warn(list(&spec["volumes"]), &place.child("volumes"), warnings);
    warn_of_repeats(spec, place, warnings);
    warn_of_fractions(&spec["overhead"], &place.child("overhead"), warnings);
    let seccomp = "seccomp.security.alpha.kubernetes.io/pod";
    if spec["securityContext"]["seccompProfile"].is_null() && !annotated[seccomp].is_null() {
        warnings.at(annotations.key(seccomp), USE_SECCOMP_PROFILE);
    }
    for (field, index, container) in containers(spec) {
        let containers = place.child(field);
        let here = containers.index(index);
        warn_of_container(container, &here, annotated, annotations, warnings);
    }
    ports::warn(spec, place, warnings);
    if spec["terminationGracePeriodSeconds"]
        .as_i64()
        .is_some_and(i64::is_negative)
    {
        warnings.at(
            place.child("terminationGracePeriodSeconds"),
            "must be >= 0; negative values are invalid and will be treated as 1",
        );
    }
    warn_of_affinity(&spec["affinity"], &place.child("affinity"), warnings);
}

/// All containers in the order in which they are looked at, with their list's field and their place in it.
pub(super) fn containers(spec: &Value) -> impl Iterator<Item = (&'static str, usize, &Value)> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|field| {
            let containers = list(&spec[field]).iter().enumerate();
            containers.map(move |(index, container)| (field, index, container))
        })
}

fn deprecated_node_label(key: &str) -> Option<&'static str> {
    let found = DEPRECATED_NODE_LABELS
        .iter()
        .find(|(label, _)| *label == key);
    found.map(|(_, remark)| *remark)
}

fn warn_of_node_labels(spec: &Value, place: &Path<'_>, warnings: &mut Warnings) {
    let selector = place.child("nodeSelector");
    for (key, _) in entries(&spec["nodeSelector"]) {
        if let Some(remark) = deprecated_node_label(key) {
            warnings.at(selector.key(key), remark);
        }
    }
    let affinity = &spec["affinity"]["nodeAffinity"];
    let place = place.child("affinity");
    let place = place.child("nodeAffinity");
    let required = place.child("requiredDuringSchedulingIgnoredDuringExecution");
    let terms = required.child("nodeSelectorTerms");
    let required = &affinity["requiredDuringSchedulingIgnoredDuringExecution"];
    for (index, term) in list(&required["nodeSelectorTerms"]).iter().enumerate() {
        warn_of_term(term, &terms.index(index), false, warnings);
    }
    let preferred = place.child("preferredDuringSchedulingIgnoredDuringExecution");
    let terms = list(&affinity["preferredDuringSchedulingIgnoredDuringExecution"]);
    for (index, term) in terms.iter().enumerate() {
        let here = preferred.index(index);
        warn_of_term(
            &term["preference"],
            &here.child("preference"),
            true,
            warnings,
        );
    }
}

fn warn_of_term(term: &Value, place: &Path<'_>, checks_values: bool, warnings: &mut Warnings) {
    let expressions = place.child("matchExpressions");
    for (index, expression) in list(&term["matchExpressions"]).iter().enumerate() {
        let here = expressions.index(index);
        let key = text(&expression["key"]);
        if let Some(remark) = deprecated_node_label(key) {
            warnings.at(here.child("key"), format_args!("{key} is {remark}"));
        }
        if !checks_values {
            continue;
        }
        let values = here.child("values");
        for (index, value) in list(&expression["values"]).iter().enumerate() {
            let value = text(value);
            for problem in format::label_value(value) {
                let remark = format_args!("{value} is invalid, {problem}");
                warnings.at(values.index(index), remark);
            }
        }
    }
}

fn warn_of_spreading(spec: &Value, place: &Path<'_>, warnings: &mut Warnings) {
    let constraints = place.child("topologySpreadConstraints");
    for (index, constraint) in list(&spec["topologySpreadConstraints"]).iter().enumerate() {
        let here = constraints.index(index);
        let key = text(&constraint["topologyKey"]);
        if let Some(remark) = deprecated_node_label(key) {
            warnings.at(here.child("topologyKey"), format_args!("{key} is {remark}"));
        }
        if constraint["labelSelector"].is_null() {
            warnings.at(here.child("labelSelector"), NO_POD);
        }
    }
}

/// Lists in which an entry that comes twice is lost in merges.
fn warn_of_repeats(spec: &Value, place: &Path<'_>, warnings: &mut Warnings) {
    let lists = [("hostAliases", "ip"), ("imagePullSecrets", "name")];
    for (field, key) in lists {
        let place = place.child(field);
        let mut seen = BTreeSet::new();
        for (index, item) in list(&spec[field]).iter().enumerate() {
            let value = text(&item[key]);
            if !seen.insert(value) {
                let here = place.index(index);
                warnings.at(here.child(key), format_args!("duplicate {key} {value:?}"));
            }
        }
    }
    let place = place.child("imagePullSecrets");
    for (index, secret) in list(&spec["imagePullSecrets"]).iter().enumerate() {
        if text(&secret["name"]).is_empty() {
            let here = place.index(index);
            warnings.at(here.child("name"), "invalid empty name \"\"");
        }
    }
}

/// Bytes come in whole numbers.
fn warn_of_fractions(resources: &Value, place: &Path<'_>, warnings: &mut Warnings) {
    let amounts = amounts(resources);
    for name in ["memory", "ephemeral-storage"] {
        if let Some(amount) = amounts.get(name).filter(|amount| !amount.is_integer()) {
            let remark =
                format_args!("fractional byte value \"{amount}\" is invalid, must be an integer");
            warnings.at(place.key(name), remark);
        }
    }
}

fn warn_of_container(
    container: &Value,
    place: &Path<'_>,
    annotated: &Value,
    annotations: &Path<'_>,
    warnings: &mut Warnings,
) {
    let name = text(&container["name"]);
    let security = &container["securityContext"];
    let seccomp = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
    if security["seccompProfile"].is_null() && !annotated[&seccomp].is_null() {
        warnings.at(annotations.key(&seccomp), USE_SECCOMP_PROFILE);
    }
    let resources = place.child("resources");
    for which in ["limits", "requests"] {
        let amounts = &container["resources"][which];
        warn_of_fractions(amounts, &resources.child(which), warnings);
    }
    let env = place.child("env");
    let mut seen = BTreeSet::new();
    for (index, variable) in list(&container["env"]).iter().enumerate() {
        let name = text(&variable["name"]);
        if seen.insert(name) {
            continue;
        }
        let value = text(&variable["value"]);
        let reference = format!("$({name})");
        let extends = value.contains(&reference) && value != reference;
        if !extends || !variable["valueFrom"].is_null() {
            let remark = format_args!(
                "hides previous definition of {name:?}, which may be dropped when using apply"
            );
            warnings.at(env.index(index), remark);
        }
    }
}

fn warn_of_affinity(affinity: &Value, place: &Path<'_>, warnings: &mut Warnings) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let place = place.child(kind);
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let terms = place.child(required);
        for (index, term) in list(&affinity[kind][required]).iter().enumerate() {
            if term["labelSelector"].is_null() {
                let here = terms.index(index);
                warnings.at(here.child("labelSelector"), NO_POD);
            }
        }
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        let terms = place.child(preferred);
        for (index, term) in list(&affinity[kind][preferred]).iter().enumerate() {
            if term["podAffinityTerm"]["labelSelector"].is_null() {
                let here = terms.index(index);
                let term = here.child("podAffinityTerm");
                warnings.at(term.child("labelSelector"), NO_POD);
            }
        }
    }
}
