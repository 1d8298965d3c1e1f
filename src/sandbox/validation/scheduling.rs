//! What a pod says to the scheduler: affinity, tolerations, spreading, gates.

use std::collections::BTreeSet;

use serde_json::Value;

use super::errors::Errors;
use super::format::{dns_label, dns_subdomain, label_value, qualified_name};
use super::path::Path;
use super::selector::validate_selector;
use crate::sandbox::json::{entries, list, text};

const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// `affinity` of a pod.
pub(super) fn validate_affinity(affinity: &Value, path: &Path<'_>, errors: &mut Errors) {
    let node = &affinity["nodeAffinity"];
    let node_path = path.child("nodeAffinity");
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    if !node[required].is_null() {
        validate_node_selector(&node[required], &node_path.child(required), errors);
    }
    let terms_path = node_path.child(preferred);
    for (index, term) in list(&node[preferred]).iter().enumerate() {
        let path = terms_path.index(index);
        validate_weight(term, &path, errors);
        validate_node_term(
            &term["preference"],
            false,
            &path.child("preference"),
            errors,
        );
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let (pods, path) = (&affinity[kind], path.child(kind));
        let required_path = path.child(required);
        for (index, term) in list(&pods[required]).iter().enumerate() {
            validate_pod_term(term, &required_path.index(index), errors);
        }
        let preferred_path = path.child(preferred);
        for (index, term) in list(&pods[preferred]).iter().enumerate() {
            let path = preferred_path.index(index);
            validate_weight(term, &path, errors);
            validate_pod_term(
                &term["podAffinityTerm"],
                &path.child("podAffinityTerm"),
                errors,
            );
        }
    }
}

fn validate_weight(term: &Value, path: &Path<'_>, errors: &mut Errors) {
    let weight = term["weight"].as_i64().unwrap_or_default();
    if !(1..=100).contains(&weight) {
        errors.invalid(&path.child("weight"), weight, "must be in the range 1-100");
    }
}

/// A required node selector: at least one term.
pub(super) fn validate_node_selector(selector: &Value, path: &Path<'_>, errors: &mut Errors) {
    let path = path.child("nodeSelectorTerms");
    let terms = list(&selector["nodeSelectorTerms"]);
    if terms.is_empty() {
        errors.required(&path, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        validate_node_term(term, true, &path.index(index), errors);
    }
}

/// Preferences may name values that no label can have.
fn validate_node_term(term: &Value, is_strict: bool, path: &Path<'_>, errors: &mut Errors) {
    let expressions = path.child("matchExpressions");
    for (index, requirement) in list(&term["matchExpressions"]).iter().enumerate() {
        validate_node_requirement(requirement, is_strict, &expressions.index(index), errors);
    }
    let fields = path.child("matchFields");
    for (index, requirement) in list(&term["matchFields"]).iter().enumerate() {
        validate_node_field(requirement, &fields.index(index), errors);
    }
}

fn validate_node_requirement(
    requirement: &Value,
    is_strict: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let values = list(&requirement["values"]);
    let values_path = path.child("values");
    match text(&requirement["operator"]) {
        "In" | "NotIn" if values.is_empty() => errors.required(
            &values_path,
            "must be specified when `operator` is 'In' or 'NotIn'",
        ),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.forbidden(
            &values_path,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        "Gt" | "Lt" if values.len() != 1 => errors.required(
            &values_path,
            "must be specified single value when `operator` is 'Lt' or 'Gt'",
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        operator => {
            errors.invalid(
                &path.child("operator"),
                operator,
                "not a valid selector operator",
            );
        }
    }
    let key = text(&requirement["key"]);
    errors.all_invalid(&path.child("key"), key, qualified_name(key));
    for (index, value) in values.iter().enumerate().filter(|_| is_strict) {
        errors.all_invalid(
            &values_path.index(index),
            text(value),
            label_value(text(value)),
        );
    }
}

fn validate_node_field(requirement: &Value, path: &Path<'_>, errors: &mut Errors) {
    let values = list(&requirement["values"]);
    let values_path = path.child("values");
    match text(&requirement["operator"]) {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(&values_path, detail);
            }
        }
        operator => {
            errors.invalid(
                &path.child("operator"),
                operator,
                "not a valid selector operator",
            );
        }
    }
    let key = text(&requirement["key"]);
    if key != "metadata.name" {
        errors.invalid(&path.child("key"), key, "not a valid field selector key");
        return;
    }
    for (index, value) in values.iter().enumerate() {
        errors.all_invalid(
            &values_path.index(index),
            text(value),
            dns_subdomain(text(value)),
        );
    }
}

fn validate_pod_term(term: &Value, path: &Path<'_>, errors: &mut Errors) {
    validate_selector(&term["labelSelector"], &path.child("labelSelector"), errors);
    let field = "namespaceSelector";
    validate_selector(&term[field], &path.child(field), errors);
    for namespace in list(&term["namespaces"]) {
        let namespace = text(namespace);
        errors.all_invalid(&path.child("namespace"), namespace, dns_label(namespace));
    }
    validate_label_keys(term, path, errors);
    let key = text(&term["topologyKey"]);
    let key_path = path.child("topologyKey");
    if key.is_empty() {
        errors.required(&key_path, "can not be empty");
    }
    errors.all_invalid(&key_path, key, qualified_name(key));
}

/// `matchLabelKeys` and `mismatchLabelKeys`, which narrow down the selector beside them.
fn validate_label_keys(term: &Value, path: &Path<'_>, errors: &mut Errors) {
    let selector = &term["labelSelector"];
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let (keys, path) = (list(&term[field]), path.child(field));
        if keys.is_empty() {
            continue;
        }
        if selector.is_null() {
            errors.forbidden(&path, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            errors.all_invalid(&path.index(index), text(key), qualified_name(text(key)));
        }
    }
    let keys = list(&term["matchLabelKeys"]);
    let mut selected: BTreeSet<&str> = entries(&selector["matchLabels"])
        .map(|(key, _)| key)
        .collect();
    for requirement in list(&selector["matchExpressions"]) {
        let key = text(&requirement["key"]);
        let index = keys.iter().rposition(|other| text(other) == key);
        if let (Some(index), false) = (index, selected.insert(key)) {
            let detail = "exists in both matchLabelKeys and labelSelector";
            errors.invalid(&path.index(index), key, detail);
        }
    }
    let keys_path = path.child("matchLabelKeys");
    for (index, key) in keys.iter().enumerate() {
        if list(&term["mismatchLabelKeys"]).contains(key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.invalid(&keys_path.index(index), text(key), detail);
        }
    }
}

/// `topologySpreadConstraints` of a pod.
pub(super) fn validate_spreading(constraints: &Value, path: &Path<'_>, errors: &mut Errors) {
    let constraints = list(constraints);
    for (index, constraint) in constraints.iter().enumerate() {
        validate_spread(
            constraint,
            &constraints[index + 1..],
            &path.index(index),
            errors,
        );
    }
}

fn validate_spread(constraint: &Value, others: &[Value], path: &Path<'_>, errors: &mut Errors) {
    let skew = constraint["maxSkew"].as_i64().unwrap_or_default();
    if skew <= 0 {
        errors.invalid(&path.child("maxSkew"), skew, "must be greater than zero");
    }
    let (key, action) = (&constraint["topologyKey"], &constraint["whenUnsatisfiable"]);
    if text(key).is_empty() {
        errors.required(&path.child("topologyKey"), "can not be empty");
    }
    let actions = ["DoNotSchedule", "ScheduleAnyway"];
    if !actions.contains(&text(action)) {
        let action = Value::from(text(action));
        errors.not_supported(&path.child("whenUnsatisfiable"), &action, &actions);
    }
    let is_same = |other: &Value| {
        text(&other["topologyKey"]) == text(key)
            && text(&other["whenUnsatisfiable"]) == text(action)
    };
    if others.iter().any(is_same) {
        let pair = format!("{{{}, {}}}", text(key), text(action));
        errors.duplicate(&path.child("{topologyKey, whenUnsatisfiable}"), pair);
    }
    if let Some(domains) = constraint["minDomains"].as_i64() {
        let path = path.child("minDomains");
        if domains <= 0 {
            errors.invalid(&path, domains, "must be greater than zero");
        }
        if action != "DoNotSchedule" {
            let action = text(action);
            let detail =
                format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            errors.invalid(&path, domains, detail);
        }
    }
    for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        let supported = ["Honor", "Ignore"];
        errors.one_of_if_set(&path.child(policy), &constraint[policy], &supported);
    }
    validate_label_keys(constraint, path, errors);
    let field = "labelSelector";
    validate_selector(&constraint[field], &path.child(field), errors);
}

/// `tolerations` of a pod.
pub(super) fn validate_tolerations(tolerations: &Value, path: &Path<'_>, errors: &mut Errors) {
    for (index, toleration) in list(tolerations).iter().enumerate() {
        validate_toleration(toleration, &path.index(index), errors);
    }
}

fn validate_toleration(toleration: &Value, path: &Path<'_>, errors: &mut Errors) {
    let field = |field: &str| text(&toleration[field]);
    let (key, operator) = (field("key"), field("operator"));
    let (value, effect) = (field("value"), field("effect"));
    let operator_path = path.child("operator");
    if !key.is_empty() {
        errors.all_invalid(&path.child("key"), key, qualified_name(key));
    } else if operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.invalid(&operator_path, operator, detail);
    }
    if !toleration["tolerationSeconds"].is_null() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.invalid(&path.child("effect"), effect, detail);
    }
    match operator {
        "Equal" | "" => {
            let problems = label_value(value);
            if !problems.is_empty() {
                errors.invalid(&operator_path, value, problems.join(";"));
            }
        }
        "Exists" => {
            if !value.is_empty() {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid(&operator_path, value, detail);
            }
        }
        "Lt" | "Gt" => errors.not_supported(
            &operator_path,
            &toleration["operator"],
            &["Equal", "Exists", "Lt", "Gt"],
        ),
        _ => errors.not_supported(
            &operator_path,
            &toleration["operator"],
            &["Equal", "Exists"],
        ),
    }
    if !effect.is_empty() {
        errors.one_of_if_set(&path.child("effect"), &toleration["effect"], &TAINT_EFFECTS);
    }
}

/// The effect of a taint, which may not be left out.
pub(super) fn validate_taint_effect(effect: &Value, path: &Path<'_>, errors: &mut Errors) {
    errors.one_of(path, effect, &TAINT_EFFECTS);
}

/// `readinessGates` and `schedulingGates` of a pod.
pub(super) fn validate_gates(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let gates_path = path.child("readinessGates");
    for (index, gate) in list(&spec["readinessGates"]).iter().enumerate() {
        let condition = text(&gate["conditionType"]);
        let path = gates_path.index(index);
        errors.all_invalid(
            &path.child("conditionType"),
            condition,
            qualified_name(condition),
        );
    }
    let gates_path = path.child("schedulingGates");
    let mut names = BTreeSet::new();
    for (index, gate) in list(&spec["schedulingGates"]).iter().enumerate() {
        let name = text(&gate["name"]);
        let path = gates_path.index(index);
        errors.all_invalid(&path, name, qualified_name(name));
        if !names.insert(name) {
            errors.duplicate(&path, name);
        }
    }
}
