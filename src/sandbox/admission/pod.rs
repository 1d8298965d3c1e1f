//! What the mutating plugins do to pods, in their order: limits of the namespace, priority, patience with failing nodes.

use std::ops::Bound;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{all, known, one, subject};
use crate::sandbox::json::{list, text};
use crate::sandbox::kinds::Kind;
use crate::sandbox::object::Object;
use crate::sandbox::status::ApiError;
use crate::sandbox::store::Store;
use crate::sandbox::{defaults, limit_range};

pub(super) fn admit(store: &Store, kind: &Kind, pod: &mut Value) -> Result<(), ApiError> {
    for range in all(store, "limitranges", text(&pod["metadata"]["namespace"])) {
        limit_range::set_defaults(&range, pod);
    }
    let forbidden = |pod: &Value, why: String| ApiError::forbidden(kind, subject(pod), &why);
    set_priority(store, pod).map_err(|why| forbidden(pod, why))?;
    defaults::pod_admission(pod);
    check_runtime_class(store, &pod["spec"]).map_err(|why| forbidden(pod, why))?;
    merge_label_keys(pod);
    Ok(())
}

/// A pod keeps what it was given.
pub(super) fn admit_update(new: &mut Value, old: &Value) {
    for field in ["priority", "preemptionPolicy"] {
        if new["spec"][field].is_null() && !old["spec"][field].is_null() {
            new["spec"][field] = old["spec"][field].clone();
        }
    }
}

/// The number and the policy behind a pod's priority class, which the pod may state only if it states the same.
fn set_priority(store: &Store, pod: &mut Value) -> Result<(), String> {
    const COMPUTED: &str =
        "must not be provided in pod spec; priority admission controller computed";
    let spec = &mut pod["spec"];
    let name = text(&spec["priorityClassName"]);
    let class = match name {
        "" => default_class(store),
        "system-cluster-critical" => json!({"value": 2_000_000_000}),
        "system-node-critical" => json!({"value": 2_000_001_000}),
        name => one(store, "priorityclasses", name)
            .ok_or_else(|| format!("no PriorityClass with name {name} was found"))?,
    };
    if let (true, Some(default)) = (name.is_empty(), class["metadata"]["name"].as_str()) {
        spec["priorityClassName"] = default.into();
    }
    let priority = class["value"].as_i64().unwrap_or_default();
    if let Some(given) = spec["priority"].as_i64().filter(|given| *given != priority) {
        return Err(format!(
            "the integer value of priority ({given}) {COMPUTED} {priority} from the given PriorityClass name"
        ));
    }
    let policy = class["preemptionPolicy"]
        .as_str()
        .unwrap_or("PreemptLowerPriority");
    if let Some(given) = spec["preemptionPolicy"]
        .as_str()
        .filter(|given| *given != policy)
    {
        return Err(format!(
            "the string value of PreemptionPolicy ({given}) {COMPUTED} {policy} from the given PriorityClass name"
        ));
    }
    spec["priority"] = priority.into();
    spec["preemptionPolicy"] = policy.into();
    Ok(())
}

/// The class of pods that name none: the lowest global default, or none.
fn default_class(store: &Store) -> Value {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Class {
        global_default: bool,
    }
    let is_default = |class: &&Arc<Object>| {
        let class: Class = class.decode().unwrap_or_default();
        class.global_default
    };
    let kind = known("priorityclasses");
    let classes = store.list(kind.collection, None, &Bound::Unbounded);
    classes
        .filter(is_default)
        .map(|class| class.value(kind))
        .min_by_key(|class| class["value"].as_i64())
        .unwrap_or_default()
}

fn check_runtime_class(store: &Store, spec: &Value) -> Result<(), String> {
    let Some(name) = spec["runtimeClassName"].as_str() else {
        return Ok(());
    };
    match one(store, "runtimeclasses", name) {
        Some(_) => Ok(()),
        None => Err(format!("pod rejected: RuntimeClass {name:?} not found")),
    }
}

/// Selectors that are to look for the pod's own labels get their values.
fn merge_label_keys(pod: &mut Value) {
    let labels = pod["metadata"]["labels"].clone();
    let spec = &mut pod["spec"];
    for constraint in items(&mut spec["topologySpreadConstraints"]) {
        merge_keys(constraint, "matchLabelKeys", "In", &labels);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.pointer_mut(&format!("/affinity/{kind}")) else {
            continue;
        };
        for term in items(&mut affinity["requiredDuringSchedulingIgnoredDuringExecution"]) {
            merge_term(term, &labels);
        }
        for weighted in items(&mut affinity["preferredDuringSchedulingIgnoredDuringExecution"]) {
            merge_term(&mut weighted["podAffinityTerm"], &labels);
        }
    }
}

fn merge_term(term: &mut Value, labels: &Value) {
    merge_keys(term, "matchLabelKeys", "In", labels);
    merge_keys(term, "mismatchLabelKeys", "NotIn", labels);
}

fn merge_keys(holder: &mut Value, keys: &str, operator: &str, labels: &Value) {
    let added: Vec<Value> = list(&holder[keys])
        .iter()
        .filter_map(|key| {
            let value = labels[text(key)].as_str()?;
            Some(json!({"key": key, "operator": operator, "values": [value]}))
        })
        .collect();
    let selector = &mut holder["labelSelector"];
    if added.is_empty() || selector.is_null() {
        return;
    }
    match selector["matchExpressions"].as_array_mut() {
        Some(expressions) => expressions.extend(added),
        None => selector["matchExpressions"] = added.into(),
    }
}

fn items(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    list.as_array_mut().into_iter().flatten()
}
