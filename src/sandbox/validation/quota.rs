//! `ResourceQuota`s and `LimitRange`s.

use std::collections::BTreeSet;

use serde_json::Value;

use super::errors::Errors;
use super::format::qualified_name;
use super::metadata;
use super::path::Path;
use super::resources::{
    is_overcommittable, validate_amount, validate_any_resource, validate_container_resource,
    validate_quota_resource,
};
use crate::sandbox::json::{entries, is_zero, list, text};
use crate::schema::quantity::Quantity;

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

/// A new `ResourceQuota`.
pub(super) fn validate_resource_quota(quota: &Value, errors: &mut Errors) {
    metadata::validate("ResourceQuota", quota, errors);
    validate_quota_spec(&quota["spec"], errors);
    validate_quota_lists(quota, "status", &["hard", "used"], errors);
}

/// An update of a `ResourceQuota`; its scopes may not change.
pub(super) fn validate_resource_quota_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_quota_spec(&new["spec"], errors);
    let scopes = |quota: &Value| -> BTreeSet<String> {
        let scopes = list(&quota["spec"]["scopes"]).iter();
        scopes.map(|scope| text(scope).to_owned()).collect()
    };
    if scopes(new) != scopes(old) {
        let path = Path::root("spec");
        let value = new["spec"]["scopes"].clone();
        errors.invalid(&path.child("scopes"), value, "field is immutable");
    }
}

/// An update of a `ResourceQuota`'s status.
pub(super) fn validate_resource_quota_status(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_quota_lists(new, "status", &["hard", "used"], errors);
}

fn validate_quota_lists(quota: &Value, part: &str, lists: &[&str], errors: &mut Errors) {
    let path = Path::root(part);
    for field in lists {
        let path = path.child(field);
        for (name, amount) in entries(&quota[part][*field]) {
            validate_quota_resource(name, &path.key(name), errors);
            validate_amount(name, amount, &path.key(name), errors);
        }
    }
}

fn validate_quota_spec(spec: &Value, errors: &mut Errors) {
    let quota = serde_json::json!({"spec": spec});
    validate_quota_lists(&quota, "spec", &["hard"], errors);
    let path = Path::root("spec");
    let scopes_path = path.child("scopes");
    let scopes: Vec<&str> = list(&spec["scopes"]).iter().map(text).collect();
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            errors.invalid(&scopes_path, spec["scopes"].clone(), "unsupported scope");
        }
        for (name, _) in entries(&spec["hard"]) {
            if !is_in_scope(scope, name) {
                let detail = "unsupported scope applied to resource";
                errors.invalid(&scopes_path, spec["scopes"].clone(), detail);
            }
        }
    }
    for pair in [
        ["BestEffort", "NotBestEffort"],
        ["Terminating", "NotTerminating"],
    ] {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            errors.invalid(&scopes_path, spec["scopes"].clone(), "conflicting scopes");
        }
    }
    let path = path.child("scopeSelector");
    let path = path.child("matchExpressions");
    for requirement in list(&spec["scopeSelector"]["matchExpressions"]) {
        validate_scope_requirement(requirement, &path, errors);
    }
}

/// Whether a standard resource can be counted for the pods of a scope; others are not looked at.
fn is_in_scope(scope: &str, name: &str) -> bool {
    let is_compute = name
        .strip_prefix("requests.")
        .or(name.strip_prefix("limits."))
        .unwrap_or(name);
    let is_compute = matches!(is_compute, "cpu" | "memory");
    match scope {
        _ if name.contains('/') => true,
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        scope if SCOPES.contains(&scope) => name == "pods" || is_compute,
        _ => true,
    }
}

fn validate_scope_requirement(requirement: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (scope, operator) = (
        text(&requirement["scopeName"]),
        text(&requirement["operator"]),
    );
    let has_values = !is_zero(&requirement["values"]);
    if !SCOPES.contains(&scope) {
        errors.invalid(&path.child("scopeName"), scope, "unsupported scope");
    }
    let is_plain = !matches!(scope, "PriorityClass" | "VolumeAttributesClass");
    if SCOPES.contains(&scope) && is_plain && operator != "Exists" {
        let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
        errors.invalid(&path.child("operator"), operator, detail);
    }
    match operator {
        "In" | "NotIn" if !has_values => errors.required(
            &path.child("values"),
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        ),
        "Exists" | "DoesNotExist" if has_values => errors.invalid(
            &path.child("values"),
            requirement["values"].clone(),
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => errors.invalid(
            &path.child("operator"),
            operator,
            "not a valid selector operator",
        ),
    }
}

/// A `LimitRange`.
pub(super) fn validate_limit_range(range: &Value, errors: &mut Errors) {
    metadata::validate("LimitRange", range, errors);
    let path = Path::root("spec");
    let path = path.child("limits");
    let mut types = BTreeSet::new();
    for (index, limit) in list(&range["spec"]["limits"]).iter().enumerate() {
        let path = path.index(index);
        let kind = text(&limit["type"]);
        let problems = qualified_name(kind);
        let is_known = matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim");
        if problems.is_empty() && !kind.contains('/') && !is_known {
            let detail = "must be a standard limit type or fully qualified";
            errors.invalid(&path.child("type"), kind, detail);
        }
        errors.all_invalid(&path.child("type"), kind, problems);
        if !types.insert(kind) {
            errors.duplicate(&path.child("type"), kind);
        }
        validate_limit(limit, &path, errors);
    }
}

fn validate_limit(limit: &Value, path: &Path<'_>, errors: &mut Errors) {
    let kind = text(&limit["type"]);
    let mut names = BTreeSet::new();
    for field in [
        "max",
        "min",
        "default",
        "defaultRequest",
        "maxLimitRequestRatio",
    ] {
        let (amounts, path) = (&limit[field], path.child(field));
        if kind == "Pod" && field.starts_with("default") {
            if !is_zero(amounts) {
                errors.forbidden(&path, "may not be specified when `type` is 'Pod'");
            }
            continue;
        }
        for (name, _) in entries(amounts) {
            names.insert(name);
            if matches!(kind, "Pod" | "Container") {
                validate_container_resource(name, &path.key(name), errors);
            } else {
                validate_any_resource(name, &path.key(name), errors);
            }
        }
    }
    let has_storage = |field: &str| !limit[field]["storage"].is_null();
    if kind == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        let detail =
            "either minimum or maximum storage value is required, but neither was provided";
        errors.required(&path.child("limits"), detail);
    }
    for name in names {
        validate_limit_order(limit, name, path, errors);
    }
}

/// What may not be more than what: the two, how they are called, where the error is told and which of the two is shown.
const LIMIT_ORDER: [(&str, &str, &str, &str, &str, &str); 6] = [
    ("min", "max", "min", "max", "min", "min"),
    (
        "min",
        "defaultRequest",
        "min",
        "default request",
        "defaultRequest",
        "defaultRequest",
    ),
    (
        "defaultRequest",
        "max",
        "default request",
        "max",
        "defaultRequest",
        "defaultRequest",
    ),
    (
        "defaultRequest",
        "default",
        "default request",
        "default limit",
        "defaultRequest",
        "defaultRequest",
    ),
    ("min", "default", "min", "default", "default", "min"),
    ("default", "max", "default", "max", "default", "max"),
];

/// min ≤ defaultRequest ≤ default ≤ max, and a ratio that they can reach.
fn validate_limit_order(limit: &Value, name: &str, path: &Path<'_>, errors: &mut Errors) {
    let amount = |field: &str| Quantity::from_json(&limit[field][name]).ok();
    for (low, high, low_words, high_words, at, shown) in LIMIT_ORDER {
        if let (Some(least), Some(most)) = (amount(low), amount(high))
            && least > most
        {
            let shown = amount(shown).unwrap_or_default();
            let detail =
                format!("{low_words} value {least} is greater than {high_words} value {most}");
            errors.invalid(&path.child(at).key(name), shown.to_string(), detail);
        }
    }
    validate_ratio(limit, name, &path.child("maxLimitRequestRatio"), errors);
    let defaults = (amount("default"), amount("defaultRequest"));
    if let (Some(default), Some(request)) = defaults
        && default != request
        && !is_overcommittable(name)
    {
        let detail = format!(
            "default value {default} must equal to defaultRequest value {request} in {name}"
        );
        let path = path.child("defaultRequest");
        errors.invalid(&path.key(name), request.to_string(), detail);
    }
}

fn validate_ratio(limit: &Value, name: &str, path: &Path<'_>, errors: &mut Errors) {
    let amount = |field: &str| Quantity::from_json(&limit[field][name]).ok();
    let Some(ratio) = amount("maxLimitRequestRatio") else {
        return;
    };
    if ratio < Quantity::from(1) {
        let detail = format!("ratio {ratio} is less than 1");
        errors.invalid(&path.key(name), ratio.to_string(), detail);
    }
    if let (Some(min), Some(max)) = (amount("min"), amount("max")) {
        let reachable = max.quotient(min);
        if ratio.quotient(Quantity::from(1)) > reachable {
            let detail = format!("ratio {ratio} is greater than max/min = {reachable:.6}");
            errors.invalid(&path.key(name), ratio.to_string(), detail);
        }
    }
}
