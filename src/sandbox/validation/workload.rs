//! Deployments and `ReplicaSet`s, and the template rules that the other workloads share.

use serde_json::Value;

use super::errors::Errors;
use super::format::percent;
use super::metadata;
use super::path::Path;
use super::pod_spec::validate_template;
use super::selector::{selects, selects_all, shown_selector, validate_selector};
use crate::sandbox::field_error::FieldError;
use crate::sandbox::json::text;
use crate::schema;

/// A new Deployment.
pub(super) fn validate_deployment(deployment: &Value, errors: &mut Errors) {
    metadata::validate("Deployment", deployment, errors);
    validate_deployment_spec(&deployment["spec"], errors);
}

/// An update of a Deployment.
pub(super) fn validate_deployment_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_deployment_spec(&new["spec"], errors);
    validate_same_selector(new, old, errors);
}

fn validate_deployment_spec(spec: &Value, errors: &mut Errors) {
    let path = Path::root("spec");
    errors.not_negative(&path.child("replicas"), &spec["replicas"]);
    validate_selector_and_template(spec, &path, errors);
    validate_strategy(&spec["strategy"], &path.child("strategy"), errors);
    for field in ["minReadySeconds", "revisionHistoryLimit"] {
        errors.not_negative(&path.child(field), &spec[field]);
    }
    if let Some(deadline) = spec["progressDeadlineSeconds"].as_i64() {
        let path = path.child("progressDeadlineSeconds");
        errors.not_negative(&path, &spec["progressDeadlineSeconds"]);
        if deadline <= spec["minReadySeconds"].as_i64().unwrap_or_default() {
            errors.invalid(&path, deadline, "must be greater than minReadySeconds");
        }
    }
}

/// A new `ReplicaSet`.
pub(super) fn validate_replica_set(set: &Value, errors: &mut Errors) {
    metadata::validate("ReplicaSet", set, errors);
    validate_replica_set_spec(&set["spec"], errors);
}

/// An update of a `ReplicaSet`; its template may change.
pub(super) fn validate_replica_set_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_replica_set_spec(&new["spec"], errors);
    validate_same_selector(new, old, errors);
}

fn validate_replica_set_spec(spec: &Value, errors: &mut Errors) {
    let path = Path::root("spec");
    for field in ["replicas", "minReadySeconds"] {
        errors.not_negative(&path.child(field), &spec[field]);
    }
    validate_selector_and_template(spec, &path, errors);
}

/// `selector` and `template`: the selector is valid, not empty, and selects the template's pods, which run on.
pub(super) fn validate_selector_and_template(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let selector = &spec["selector"];
    let selector_path = path.child("selector");
    let before = errors.count();
    if selector.is_null() {
        errors.required(&selector_path, "");
    } else {
        validate_selector(selector, &selector_path, errors);
        if errors.count() > before {
            let (field, shown) = (selector_path.to_string(), shown_selector(selector));
            errors.push(FieldError::invalid_as(
                field,
                &shown,
                "invalid label selector",
            ));
            return;
        }
        if selects_all(selector) {
            let (field, shown) = (selector_path.to_string(), shown_selector(selector));
            let detail = "empty selector is invalid for deployment";
            errors.push(FieldError::invalid_as(field, &shown, detail));
        }
    }
    let template = &spec["template"];
    let template_path = path.child("template");
    let labels = &template["metadata"]["labels"];
    if !selects_all(selector) && !selects(selector, labels) {
        let path = template_path.child("metadata");
        let detail = "`selector` does not match template `labels`";
        errors.invalid(&path.child("labels"), labels.clone(), detail);
    }
    validate_lasting_template(template, "ReplicaSet", &template_path, errors);
}

/// A template for pods that run until they are deleted.
pub(super) fn validate_lasting_template(
    template: &Value,
    holder: &str,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    validate_template(template, path, errors);
    let (spec, path) = (&template["spec"], path.child("spec"));
    if spec["restartPolicy"] != "Always" {
        let path = path.child("restartPolicy");
        errors.not_supported(
            &path,
            &Value::from(text(&spec["restartPolicy"])),
            &["Always"],
        );
    }
    if !spec["activeDeadlineSeconds"].is_null() {
        let detail = format!("activeDeadlineSeconds in {holder} is not Supported");
        errors.forbidden(&path.child("activeDeadlineSeconds"), detail);
    }
}

/// The selector of a Deployment or `ReplicaSet` never changes.
fn validate_same_selector(new: &Value, old: &Value, errors: &mut Errors) {
    let ty = schema::named("LabelSelector").expect("the type table has LabelSelector");
    let (new, old) = (&new["spec"]["selector"], &old["spec"]["selector"]);
    if !schema::semantically_equal(ty, new, old) {
        let shown = shown_selector(new);
        errors.push(FieldError::invalid_as(
            "spec.selector",
            &shown,
            "field is immutable",
        ));
    }
}

fn validate_strategy(strategy: &Value, path: &Path<'_>, errors: &mut Errors) {
    let parameters = &strategy["rollingUpdate"];
    let parameters_path = path.child("rollingUpdate");
    match text(&strategy["type"]) {
        "Recreate" if !parameters.is_null() => errors.forbidden(
            &parameters_path,
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        "Recreate" => {}
        "RollingUpdate" if parameters.is_null() => errors.required(
            &parameters_path,
            "this should be defaulted and never be nil",
        ),
        "RollingUpdate" => validate_rolling_update(parameters, &parameters_path, errors),
        other => {
            let shown = format!(
                "{{\"Type\":{},\"RollingUpdate\":{}}}",
                Value::from(other),
                shown_parameters(parameters)
            );
            let supported = ["Recreate", "RollingUpdate"];
            errors.push(FieldError::not_supported_as(
                path.to_string(),
                &shown,
                &supported,
            ));
        }
    }
}

fn shown_parameters(parameters: &Value) -> String {
    if parameters.is_null() {
        return "null".to_owned();
    }
    let shown = |field: &str| match &parameters[field] {
        Value::Null => "0".to_owned(),
        value => value.to_string(),
    };
    format!(
        "{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}",
        shown("maxUnavailable"),
        shown("maxSurge")
    )
}

fn validate_rolling_update(parameters: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (unavailable, surge) = (&parameters["maxUnavailable"], &parameters["maxSurge"]);
    let unavailable_path = path.child("maxUnavailable");
    validate_count_or_percent(unavailable, &unavailable_path, errors);
    validate_count_or_percent(surge, &path.child("maxSurge"), errors);
    if count_or_percent(unavailable) == 0 && count_or_percent(surge) == 0 {
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.invalid(&unavailable_path, unavailable.clone(), detail);
    }
    if is_over_100_percent(unavailable) {
        let detail = "must not be greater than 100%";
        errors.invalid(&unavailable_path, unavailable.clone(), detail);
    }
}

/// A count, or a percentage of one.
pub(super) fn validate_count_or_percent(value: &Value, path: &Path<'_>, errors: &mut Errors) {
    match value {
        Value::String(text) => errors.all_invalid(path, text, percent(text)),
        value => errors.not_negative(path, value),
    }
}

/// Whether it is a percentage above 100.
pub(super) fn is_over_100_percent(value: &Value) -> bool {
    value.is_string() && count_or_percent(value) > 100
}

/// The number in front of the percent sign, or the count itself; 0 for what is neither.
fn count_or_percent(value: &Value) -> i64 {
    match value {
        Value::String(text) if percent(text).is_empty() => {
            // More digits than fit are more than any bound.
            text.trim_end_matches('%').parse().unwrap_or(i64::MAX)
        }
        Value::String(text) => text.parse().unwrap_or_default(),
        value => value.as_i64().unwrap_or_default(),
    }
}

/// An update of a Deployment's status.
pub(super) fn validate_deployment_status(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    let (status, path) = (&new["status"], Path::root("status"));
    for field in [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ] {
        errors.not_negative(&path.child(field), &status[field]);
    }
    validate_counters(status, "updatedReplicas", &path, errors);
    let collisions = |object: &Value| object["status"]["collisionCount"].as_i64();
    let (now, before) = (collisions(new).unwrap_or_default(), collisions(old));
    if before.is_some_and(|before| now < before) {
        errors.invalid(&path.child("collisionCount"), now, "cannot be decremented");
    }
}

/// An update of a `ReplicaSet`'s status.
pub(super) fn validate_replica_set_status(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    let (status, path) = (&new["status"], Path::root("status"));
    for field in [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ] {
        errors.not_negative(&path.child(field), &status[field]);
    }
    validate_counters(status, "fullyLabeledReplicas", &path, errors);
}

/// No part of the replicas can be more than all of them, nor more available than ready.
fn validate_counters(status: &Value, first: &str, path: &Path<'_>, errors: &mut Errors) {
    let count = |field: &str| status[field].as_i64().unwrap_or_default();
    for field in [first, "readyReplicas", "availableReplicas"] {
        if count(field) > count("replicas") {
            let detail = "cannot be greater than status.replicas";
            errors.invalid(&path.child(field), count(field), detail);
        }
    }
    let available = count("availableReplicas");
    if available > count("readyReplicas") {
        let path = path.child("availableReplicas");
        errors.invalid(&path, available, "cannot be greater than readyReplicas");
    }
}
