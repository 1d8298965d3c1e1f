//! What must be right before anything is sent: mistakes that would leave a set of manifests half applied.
//!
//! Only Deployments and ReplicaSets are looked at, and only for what every server refuses; the rest is for the server
//! to judge, in its own words. Wording follows Kubernetes' validation.

use std::collections::{BTreeMap, HashMap};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::Deserialize;
use serde_json::Value;

use super::error::{Error, Mistake, Place};
use super::object::Object;
use crate::controller::selector::Selector;

/// The kinds of `apps/v1`.
const APPS_KINDS: [&str; 5] = [
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "ControllerRevision",
];

const MAX_NAME_BYTES: usize = 253;

/// Looks objects over; `namespace` is where those without a namespace of their own would go.
///
/// # Errors
/// The first object, in order, that can't be applied to any cluster, or that is there twice.
pub fn check(objects: &[Object], namespace: &str) -> Result<(), Error> {
    let mut seen: HashMap<_, &Place> = HashMap::new();
    for object in objects {
        check_kind(object)?;
        if !is_reconciled(object) {
            continue;
        }
        check_fields(object)?;
        let own = Some(object.namespace()).filter(|own| !own.is_empty());
        let key = (object.kind(), own.unwrap_or(namespace), object.name());
        if let Some(first) = seen.insert(key, &object.place) {
            return Err(object.place.mistake(Mistake::Duplicate {
                first: first.clone(),
                what: format!("{}.apps", object.kind().to_ascii_lowercase()),
                name: object.name().to_owned(),
            }));
        }
    }
    Ok(())
}

/// Whether this tool's controllers work on the object.
fn is_reconciled(object: &Object) -> bool {
    object.api_version() == "apps/v1" && matches!(object.kind(), "Deployment" | "ReplicaSet")
}

/// Kind and version have to go together as far as `apps` is concerned: what was once `extensions/v1beta1` is gone, and
/// a misspelt Deployment would pass for a kind of someone else's and silently be left alone.
fn check_kind(object: &Object) -> Result<(), Error> {
    let (kind, api_version) = (object.kind(), object.api_version());
    let is_right = api_version == "apps/v1" && APPS_KINDS.contains(&kind);
    let is_someone_elses = match object.group() {
        "apps" => false,
        // Kubernetes' other groups that have, or had, workloads.
        "" | "extensions" => !APPS_KINDS.contains(&kind),
        _ => true,
    };
    if is_right || is_someone_elses {
        return Ok(());
    }
    let advice = if APPS_KINDS.contains(&kind) {
        "its version is apps/v1".to_owned()
    } else if let Some(meant) = APPS_KINDS.iter().find(|known| is_alike(known, kind)) {
        format!("did you mean {meant}?")
    } else {
        format!("apps/v1 has {}", APPS_KINDS.join(", "))
    };
    Err(object.place.mistake(Mistake::NoMatch {
        kind: kind.to_owned(),
        api_version: api_version.to_owned(),
        advice,
    }))
}

/// Whether two words start alike, whatever comes of them then.
fn is_alike(known: &str, word: &str) -> bool {
    word.get(..4)
        .is_some_and(|start| known[..4].eq_ignore_ascii_case(start))
}

fn check_fields(object: &Object) -> Result<(), Error> {
    let invalid = |field, message| {
        object.place.mistake(Mistake::Invalid {
            kind: object.kind().to_owned(),
            name: object.name().to_owned(),
            field,
            message,
        })
    };
    let name = object.name();
    let spec = &object.json["spec"];
    if name.is_empty() {
        return Err(invalid(
            "metadata.name",
            "Required value: name is required".into(),
        ));
    }
    if let Some(problem) = name_problem(name) {
        return Err(invalid(
            "metadata.name",
            format!("Invalid value: \"{name}\": {problem}"),
        ));
    }
    if spec["selector"].is_null() {
        return Err(invalid("spec.selector", "Required value".into()));
    }
    if selects_nothing(spec) {
        let labels = &spec["template"]["metadata"]["labels"];
        return Err(invalid(
            "spec.template.metadata.labels",
            format!("Invalid value: {labels}: `selector` does not match template `labels`"),
        ));
    }
    if let Some(replicas) = spec["replicas"].as_i64().filter(|replicas| *replicas < 0) {
        return Err(invalid(
            "spec.replicas",
            format!("Invalid value: {replicas}: must be greater than or equal to 0"),
        ));
    }
    let rolling_update = &spec["strategy"]["rollingUpdate"];
    let max_unavailable = &rolling_update["maxUnavailable"];
    if is_zero(max_unavailable) && is_zero(&rolling_update["maxSurge"]) {
        return Err(invalid(
            "spec.strategy.rollingUpdate.maxUnavailable",
            format!("Invalid value: {max_unavailable}: may not be 0 when `maxSurge` is 0"),
        ));
    }
    Ok(())
}

/// What is wrong with a name that has to be a DNS subdomain.
fn name_problem(name: &str) -> Option<String> {
    if name.len() > MAX_NAME_BYTES {
        return Some(format!("must be no more than {MAX_NAME_BYTES} characters"));
    }
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(is_alphanumeric)
            && label.ends_with(is_alphanumeric)
            && label.chars().all(|c| is_alphanumeric(c) || c == '-')
    };
    if name.split('.').all(is_label) {
        return None;
    }
    Some(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
         and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            .to_owned(),
    )
}

/// Whether the selector leaves out the template's own pods. Selectors and labels that make no sense are left to the
/// server.
fn selects_nothing(spec: &Value) -> bool {
    let selector = LabelSelector::deserialize(&spec["selector"]).ok();
    let Some(Ok(selector)) = selector.map(|selector| Selector::compile(Some(&selector))) else {
        return false;
    };
    let labels = &spec["template"]["metadata"]["labels"];
    match <Option<BTreeMap<String, String>>>::deserialize(labels) {
        Ok(labels) => !selector.matches(&labels.unwrap_or_default()),
        Err(_) => false,
    }
}

fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0) || value.as_str() == Some("0%")
}
