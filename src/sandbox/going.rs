//! How objects go: grace periods, finalizers, propagation. Pure: from an object and what was asked to its next state.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::kinds::Kind;
use super::metadata;
use super::object::Object;
use super::query::DeleteOptions;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// The state that a delete leaves, and whether nothing holds the object any more. `grace` is its
/// [`grace_period`]; of objects other than Namespaces the metadata alone are looked at.
pub(crate) fn going(
    kind: &Kind,
    old: &Value,
    grace: Option<i64>,
    options: &DeleteOptions,
    now: Timestamp,
) -> (Value, bool) {
    let mut new = old.clone();
    if kind.kind == "Namespace" {
        let metadata = metadata::of(&mut new);
        metadata
            .entry("deletionTimestamp")
            .or_insert_with(|| metadata::time(now));
        new["status"]["phase"] = "Terminating".into();
        let is_gone = !is_held(&new) && is_empty(&new["spec"]["finalizers"]);
        return (new, is_gone);
    }
    let is_terminating = old["metadata"]["deletionTimestamp"].is_string();
    match grace {
        Some(grace) if is_terminating => {
            let left = old["metadata"]["deletionGracePeriodSeconds"].as_i64();
            let left = left.unwrap_or_default();
            if options.grace_period_seconds.is_none() || grace >= left {
                return (new, false);
            }
            set_finalizers(kind, &mut new, options);
            shorten(&mut new, grace - left);
        }
        Some(grace) => {
            set_finalizers(kind, &mut new, options);
            mark(&mut new, grace, now);
        }
        None => {
            set_finalizers(kind, &mut new, options);
            if is_held(&new) && !is_terminating {
                mark(&mut new, 0, now);
            }
        }
    }
    let grace = new["metadata"]["deletionGracePeriodSeconds"].as_i64();
    let is_gone = !is_held(&new) && grace.unwrap_or_default() == 0;
    (new, is_gone)
}

/// Whether finalizers keep an object.
fn is_held(object: &Value) -> bool {
    !is_empty(&object["metadata"]["finalizers"])
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

/// Seconds that a pod gets to end; `None` for kinds that go at once.
pub(crate) fn grace_period(kind: &Kind, object: &Object, options: &DeleteOptions) -> Option<i64> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Spec {
        termination_grace_period_seconds: Option<i64>,
        node_name: Option<String>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Status {
        phase: Option<String>,
    }
    if kind.kind != "Pod" {
        return None;
    }
    let spec: Spec = serde_json::from_str(object.spec_text()).unwrap_or_default();
    let status: Status = serde_json::from_str(object.status_text()).unwrap_or_default();
    let asked = options
        .grace_period_seconds
        .or(spec.termination_grace_period_seconds)
        .unwrap_or_default();
    let is_bound = spec.node_name.is_some_and(|node| !node.is_empty());
    let is_finished = matches!(status.phase.as_deref(), Some("Failed" | "Succeeded"));
    match asked {
        _ if !is_bound || is_finished => Some(0),
        ..0 => Some(1),
        seconds => Some(seconds),
    }
}

fn mark(object: &mut Value, grace: i64, now: Timestamp) {
    let at = now
        .saturating_add(SignedDuration::from_secs(grace))
        .unwrap_or(Timestamp::MAX);
    let metadata = metadata::of(object);
    metadata.insert("deletionTimestamp".to_owned(), metadata::time(at));
    metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
    if let Some(generation) = metadata.get("generation").and_then(Value::as_i64) {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
}

/// Moves the end of a pod that is ending already.
fn shorten(object: &mut Value, by: i64) {
    let metadata = metadata::of(object);
    let seconds = |field: &str, metadata: &Map<String, Value>| metadata[field].as_i64();
    if let Some(grace) = seconds("deletionGracePeriodSeconds", metadata) {
        metadata.insert("deletionGracePeriodSeconds".to_owned(), (grace + by).into());
    }
    let end = metadata["deletionTimestamp"].as_str();
    if let Some(end) = end.and_then(|end| end.parse::<Timestamp>().ok()) {
        let end = end
            .saturating_add(SignedDuration::from_secs(by))
            .unwrap_or(Timestamp::MAX);
        metadata.insert("deletionTimestamp".to_owned(), metadata::time(end));
    }
}

/// Leaves the finalizer that tells a garbage collector what becomes of the dependents.
fn set_finalizers(kind: &Kind, object: &mut Value, options: &DeleteOptions) {
    if kind.kind == "Event" {
        return;
    }
    let list = object["metadata"]["finalizers"].as_array();
    let present: Vec<Value> = list.cloned().unwrap_or_default();
    let wanted = propagation(kind, &present, options);
    let mut finalizers: Vec<Value> = present
        .into_iter()
        .filter(|finalizer| *finalizer != FOREGROUND && *finalizer != ORPHAN)
        .collect();
    finalizers.extend(wanted.map(Value::from));
    let metadata = metadata::of(object);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
}

/// The finalizer that the options ask for, the object has, or its kind has by default.
fn propagation(kind: &Kind, present: &[Value], options: &DeleteOptions) -> Option<&'static str> {
    let policy = options.propagation_policy.as_deref();
    match (options.orphan_dependents, policy) {
        (Some(true), _) | (None, Some("Orphan")) => Some(ORPHAN),
        (None, Some("Foreground")) => Some(FOREGROUND),
        (Some(false), _) | (None, Some(_)) => None,
        (None, None) => {
            let kept = [ORPHAN, FOREGROUND];
            let kept = kept
                .into_iter()
                .find(|name| present.iter().any(|one| one == name));
            let orphans_by_default = matches!(kind.kind, "Job" | "ReplicationController");
            kept.or(orphans_by_default.then_some(ORPHAN))
        }
    }
}
