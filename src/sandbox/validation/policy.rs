//! Leases, Events, `PodDisruptionBudget`s and `PriorityClass`es.

use serde_json::{Value, json};

use super::errors::Errors;
use super::format::{dns_subdomain, qualified_name};
use super::metadata;
use super::path::Path;
use super::selector::validate_selector;
use super::workload::{is_over_100_percent, validate_count_or_percent};
use crate::sandbox::field_error::FieldError;
use crate::sandbox::json::{is_zero, text};

const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;

/// The spec of a Lease.
pub(super) fn validate_lease_spec(lease: &Value, errors: &mut Errors) {
    let (spec, path) = (&lease["spec"], Path::root("spec"));
    if let Some(seconds) = spec["leaseDurationSeconds"]
        .as_i64()
        .filter(|seconds| *seconds <= 0)
    {
        let path = path.child("leaseDurationSeconds");
        errors.invalid(&path, seconds, "must be greater than 0");
    }
    errors.not_negative(&path.child("leaseTransitions"), &spec["leaseTransitions"]);
    if !is_zero(&spec["preferredHolder"]) && is_zero(&spec["strategy"]) {
        let detail = "may only be specified if `strategy` is defined";
        errors.forbidden(&path.child("preferredHolder"), detail);
    }
}

/// The spec of a `PodDisruptionBudget`.
pub(super) fn validate_budget(budget: &Value, errors: &mut Errors) {
    let (spec, path) = (&budget["spec"], Path::root("spec"));
    let bounds = ["minAvailable", "maxUnavailable"];
    if bounds.iter().all(|bound| !spec[*bound].is_null()) {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            spec["minAvailable"],
            super::selector::shown_selector(&spec["selector"]),
            spec["maxUnavailable"],
            spec["unhealthyPodEvictionPolicy"]
        );
        let detail = "minAvailable and maxUnavailable cannot be both set";
        errors.push(FieldError::invalid_as("spec", &shown, detail));
    }
    for bound in bounds {
        let (value, path) = (&spec[bound], path.child(bound));
        validate_count_or_percent(value, &path, errors);
        if is_over_100_percent(value) {
            errors.invalid(&path, value.clone(), "must not be greater than 100%");
        }
    }
    validate_selector(&spec["selector"], &path.child("selector"), errors);
    let field = "unhealthyPodEvictionPolicy";
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    errors.one_of_if_set(&path.child(field), &spec[field], &policies);
}

/// An update of a `PodDisruptionBudget`'s status.
pub(super) fn validate_budget_status(budget: &Value, errors: &mut Errors) {
    let path = Path::root("status");
    for field in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        errors.not_negative(&path.child(field), &budget["status"][field]);
    }
}

/// A new `PriorityClass`.
pub(super) fn validate_priority_class(class: &Value, errors: &mut Errors) {
    metadata::validate("PriorityClass", class, errors);
    let name = text(&class["metadata"]["name"]);
    let value = class["value"].as_i64().unwrap_or_default();
    if name.starts_with("system-") {
        if !matches!(name, "system-cluster-critical" | "system-node-critical") {
            let path = Path::root("metadata");
            let detail = "priority class names with 'system-' prefix are reserved for system use only. error: \"";
            let detail = format!("{detail}{name}\" is not a known system priority class");
            errors.forbidden(&path.child("name"), detail);
        }
    } else if value > HIGHEST_USER_PRIORITY {
        let detail =
            format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        errors.forbidden(&Path::root("value"), detail);
    }
    let policies = ["Never", "PreemptLowerPriority"];
    let field = "preemptionPolicy";
    errors.one_of_if_set(&Path::root(field), &class[field], &policies);
}

/// An update of a `PriorityClass`: its value stays.
pub(super) fn validate_priority_class_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    if new["value"] != old["value"] {
        errors.forbidden(&Path::root("value"), "may not be changed in an update.");
    }
    let field = "preemptionPolicy";
    if new[field] != old[field] {
        errors.invalid(&Path::root(field), new[field].clone(), "field is immutable");
    }
}

/// An Event of either version; the newer one is held to more.
pub(super) fn validate_event(event: &Value, errors: &mut Errors) {
    let is_legacy = event["apiVersion"] == "v1";
    validate_event_objects(event, is_legacy, errors);
    if is_legacy {
        return;
    }
    metadata::validate("Event", event, errors);
    validate_series(&event["series"], errors);
    if event["eventTime"].is_null() {
        errors.required(&Path::root("eventTime"), "");
    }
    let kind = text(&event["type"]);
    if !matches!(kind, "Normal" | "Warning") {
        errors.invalid(
            &Path::root("type"),
            "",
            format!("has invalid value: {kind}"),
        );
    }
    for (field, shown) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("deprecatedSource", "source"),
    ] {
        if !is_zero(&event[field]) {
            errors.invalid(&Path::root(shown), "", "needs to be unset");
        }
    }
}

fn validate_event_objects(event: &Value, is_legacy: bool, errors: &mut Errors) {
    let object = &event[if is_legacy {
        "involvedObject"
    } else {
        "regarding"
    }];
    let (namespace, involved) = (
        text(&event["metadata"]["namespace"]),
        text(&object["namespace"]),
    );
    let is_new = !event["eventTime"].is_null();
    let agrees = match (involved.is_empty(), is_new) {
        (true, true) => matches!(namespace, "default" | "kube-system"),
        (true, false) => matches!(namespace, "" | "default"),
        (false, true) => true,
        (false, false) => involved == namespace,
    };
    if !agrees {
        let path = Path::root("involvedObject");
        let detail = "does not match event.namespace";
        errors.invalid(&path.child("namespace"), involved, detail);
    }
    if is_new {
        validate_reporter(event, is_legacy, errors);
    }
    errors.all_invalid(
        &Path::root("namespace"),
        namespace,
        dns_subdomain(namespace),
    );
}

/// Who saw what: asked for as soon as an event has the newer `eventTime`.
fn validate_reporter(event: &Value, is_legacy: bool, errors: &mut Errors) {
    let (reporter, message) = if is_legacy {
        ("reportingComponent", "message")
    } else {
        ("reportingController", "note")
    };
    let name = text(&event[reporter]);
    if name.is_empty() {
        errors.required(&Path::root(reporter), "");
    }
    errors.all_invalid(&Path::root(reporter), name, qualified_name(name));
    for (field, shown, most) in [
        ("reportingInstance", "reportingInstance", 128),
        ("action", "action", 128),
        ("reason", "reason", 128),
        (message, "message", 1024),
    ] {
        let value = text(&event[field]);
        if value.is_empty() && shown != "message" {
            errors.required(&Path::root(shown), "");
        }
        if value.len() > most {
            let detail = format!("can have at most {most} characters");
            errors.invalid(&Path::root(shown), "", detail);
        }
    }
}

fn validate_series(series: &Value, errors: &mut Errors) {
    if series.is_null() {
        return;
    }
    if series["count"].as_i64().unwrap_or_default() < 2 {
        errors.invalid(&Path::root("series.count"), "", "should be at least 2");
    }
    if series["lastObservedTime"].is_null() {
        errors.required(&Path::root("series.lastObservedTime"), "");
    }
}

/// An update of an Event: through the newer version only its series and count of sightings may change.
pub(super) fn validate_event_update(new: &Value, old: &Value, errors: &mut Errors) {
    let is_legacy = new["apiVersion"] == "v1";
    validate_event_objects(new, is_legacy, errors);
    if is_legacy {
        return;
    }
    metadata::validate_update(new, old, errors);
    if new["series"] != old["series"] {
        validate_series(&new["series"], errors);
    }
    for (field, shown) in [
        ("regarding", "involvedObject"),
        ("reason", "reason"),
        ("note", "message"),
        ("deprecatedSource", "source"),
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        if new[field] != old[field] {
            let value = json!(new[field]);
            errors.invalid(&Path::root(shown), value, "field is immutable");
        }
    }
}
