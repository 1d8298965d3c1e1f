//! Defaults of the kinds that carry a pod template, and of the autoscaler.

use serde_json::{Value, json};

use super::pod::template;
use super::volume::claim_spec;
use super::{default_nil, default_zero};
use crate::sandbox::json::{Object, is_zero, object_mut, object_or_new, objects_mut, text};

fn spec_of(object: &mut Object) -> Option<&mut Object> {
    object_or_new(object, "spec")
}

pub(super) fn deployment(object: &mut Object) {
    let Some(spec) = spec_of(object) else { return };
    default_nil(spec, "replicas", 1);
    if let Some(strategy) = object_or_new(spec, "strategy") {
        default_zero(strategy, "type", "RollingUpdate");
        rolling_update(
            strategy,
            &[("maxUnavailable", json!("25%")), ("maxSurge", json!("25%"))],
        );
    }
    default_nil(spec, "revisionHistoryLimit", 10);
    default_nil(spec, "progressDeadlineSeconds", 600);
    template(spec);
}

/// Fills in the parameters of a rolling update where that is the strategy.
fn rolling_update(strategy: &mut Object, defaults: &[(&str, Value)]) {
    if strategy.get("type").map(text) != Some("RollingUpdate") {
        return;
    }
    if let Some(parameters) = object_or_new(strategy, "rollingUpdate") {
        for (field, value) in defaults {
            default_nil(parameters, field, value.clone());
        }
    }
}

pub(super) fn replica_set(object: &mut Object) {
    let Some(spec) = spec_of(object) else { return };
    default_nil(spec, "replicas", 1);
    template(spec);
}

fn template_labels(object: &Object) -> Value {
    let template = object.get("spec").map(|spec| &spec["template"]);
    template.map_or(Value::Null, |template| {
        template["metadata"]["labels"].clone()
    })
}

pub(super) fn replication_controller(object: &mut Object) {
    replica_set(object);
    let labels = template_labels(object);
    if is_zero(&labels) {
        return;
    }
    if let Some(metadata) = object_or_new(object, "metadata") {
        default_zero(metadata, "labels", labels.clone());
    }
    if let Some(spec) = spec_of(object) {
        default_zero(spec, "selector", labels);
    }
}

pub(super) fn stateful_set(object: &mut Object) {
    let Some(spec) = spec_of(object) else { return };
    default_zero(spec, "podManagementPolicy", "OrderedReady");
    if let Some(strategy) = object_or_new(spec, "updateStrategy") {
        if strategy.get("type").is_none_or(is_zero) {
            strategy.insert("type".to_owned(), json!("RollingUpdate"));
            default_nil(strategy, "rollingUpdate", json!({}));
        }
        if strategy.contains_key("rollingUpdate") {
            rolling_update(strategy, &[("partition", json!(0))]);
        }
    }
    if let Some(retention) = object_or_new(spec, "persistentVolumeClaimRetentionPolicy") {
        default_zero(retention, "whenDeleted", "Retain");
        default_zero(retention, "whenScaled", "Retain");
    }
    default_nil(spec, "replicas", 1);
    default_nil(spec, "revisionHistoryLimit", 10);
    template(spec);
    for claim in objects_mut(spec, "volumeClaimTemplates") {
        claim_spec(claim);
        if let Some(status) = object_or_new(claim, "status") {
            default_zero(status, "phase", "Pending");
        }
    }
}

pub(super) fn daemon_set(object: &mut Object) {
    let Some(spec) = spec_of(object) else { return };
    if let Some(strategy) = object_or_new(spec, "updateStrategy") {
        default_zero(strategy, "type", "RollingUpdate");
        rolling_update(
            strategy,
            &[("maxUnavailable", json!(1)), ("maxSurge", json!(0))],
        );
    }
    default_nil(spec, "revisionHistoryLimit", 10);
    template(spec);
}

pub(super) fn job(object: &mut Object) {
    let labels = template_labels(object);
    if !is_zero(&labels)
        && let Some(metadata) = object_or_new(object, "metadata")
    {
        default_zero(metadata, "labels", labels);
    }
    if let Some(spec) = spec_of(object) {
        job_spec(spec);
    }
}

fn job_spec(spec: &mut Object) {
    let is_unset = |field: &str| spec.get(field).is_none_or(Value::is_null);
    let is_single = is_unset("completions") && is_unset("parallelism");
    let backoff_limit = if is_unset("backoffLimitPerIndex") {
        6
    } else {
        i32::MAX
    };
    let replacement = if is_unset("podFailurePolicy") {
        "TerminatingOrFailed"
    } else {
        "Failed"
    };
    if is_single {
        default_nil(spec, "completions", 1);
    }
    default_nil(spec, "parallelism", 1);
    default_nil(spec, "backoffLimit", backoff_limit);
    default_nil(spec, "completionMode", "NonIndexed");
    default_nil(spec, "suspend", false);
    default_nil(spec, "manualSelector", false);
    default_nil(spec, "podReplacementPolicy", replacement);
    template(spec);
}

pub(super) fn cron_job(object: &mut Object) {
    let Some(spec) = spec_of(object) else { return };
    default_zero(spec, "concurrencyPolicy", "Allow");
    default_nil(spec, "suspend", false);
    default_nil(spec, "successfulJobsHistoryLimit", 3);
    default_nil(spec, "failedJobsHistoryLimit", 1);
    if let Some(job) = object_or_new(spec, "jobTemplate").and_then(spec_of) {
        template(job);
    }
}

pub(super) fn horizontal_pod_autoscaler(object: &mut Object) {
    let is_v1 = object.get("apiVersion").map(text) == Some("autoscaling/v1");
    let Some(spec) = spec_of(object) else { return };
    default_nil(spec, "minReplicas", 1);
    if is_v1 {
        return;
    }
    default_zero(
        spec,
        "metrics",
        json!([{
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
        }]),
    );
    if let Some(behavior) = object_mut(spec, "behavior") {
        for direction in ["scaleUp", "scaleDown"] {
            if let Some(rules) = object_or_new(behavior, direction) {
                scaling_rules(direction, rules);
            }
        }
    }
}

fn scaling_rules(direction: &str, rules: &mut Object) {
    default_nil(rules, "selectPolicy", "Max");
    let by_percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    if direction == "scaleUp" {
        default_nil(rules, "stabilizationWindowSeconds", 0);
        let by_pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
        default_nil(rules, "policies", json!([by_pods, by_percent]));
    } else {
        default_nil(rules, "policies", json!([by_percent]));
    }
}
