//! Warnings: what the API server lets pass but remarks on, in `Warning` headers, once an object has been found valid.

mod pod;
mod ports;
mod volume;

#[cfg(test)]
mod tests;

use std::fmt::Display;

use serde_json::Value;

use super::format;
use super::path::Path;
use crate::sandbox::json::{list, text};
use crate::sandbox::pod_resources::amounts;

/// The remarks on an object, in order.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Warnings {
    /// Remarks on a field.
    fn at(&mut self, place: Path<'_>, remark: impl Display) {
        self.0.push(format!("{place}: {remark}"));
    }

    fn add(&mut self, remark: impl Into<String>) {
        self.0.push(remark.into());
    }
}

/// The remarks on a valid new object of a kind.
pub fn warnings_on_create(kind: &str, object: &Value) -> Vec<String> {
    let mut warnings = Warnings::default();
    let name = format::dns_label(text(&object["metadata"]["name"]));
    if let (false, Some(use_of_name)) = (name.is_empty(), use_of_name(kind)) {
        warnings.add(format!(
            "metadata.name: this is used in {use_of_name}, which can result in surprising behavior; \
             a DNS label is recommended: [{}]",
            name.join(" ")
        ));
    }
    match kind {
        "Pod" => {
            let (spec, metadata) = (Path::root("spec"), Path::root("metadata"));
            pod::warn(object, &spec, &metadata.child("annotations"), &mut warnings);
        }
        "ResourceQuota" => warn_of_quota(&object["spec"]["hard"], &mut warnings),
        _ => warn_of_template(kind, object, &mut warnings),
    }
    warn_always(kind, object, &mut warnings);
    warnings.0
}

/// The remarks on a valid update of an object (its status apart).
pub fn warnings_on_update(kind: &str, new: &Value, old: &Value) -> Vec<String> {
    let mut warnings = Warnings::default();
    if new["metadata"]["generation"] != old["metadata"]["generation"] {
        warn_of_template(kind, new, &mut warnings);
    }
    if kind == "CronJob" && text(&new["spec"]["schedule"]).contains("TZ") {
        warnings.add(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
        );
    }
    warn_always(kind, new, &mut warnings);
    warnings.0
}

/// What the name of an object of a kind becomes part of, where that is to be a DNS label.
fn use_of_name(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("the Pod's hostname"),
        "Deployment" | "ReplicaSet" | "Job" | "CronJob" => Some("Pod names and hostnames"),
        _ => None,
    }
}

fn warn_of_template(kind: &str, object: &Value, warnings: &mut Warnings) {
    let spec = Path::root("spec");
    let job_template = spec.child("jobTemplate");
    let job_spec = job_template.child("spec");
    let (place, template) = match kind {
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" => {
            (spec.child("template"), &object["spec"]["template"])
        }
        "CronJob" => (
            job_spec.child("template"),
            &object["spec"]["jobTemplate"]["spec"]["template"],
        ),
        _ => return,
    };
    let metadata = place.child("metadata");
    pod::warn(
        template,
        &place.child("spec"),
        &metadata.child("annotations"),
        warnings,
    );
}

fn warn_always(kind: &str, object: &Value, warnings: &mut Warnings) {
    let spec = &object["spec"];
    match kind {
        "Secret" => warn_of_certificate(object, warnings),
        "Service" => warn_of_service(object, warnings),
        "StatefulSet"
            if spec["revisionHistoryLimit"]
                .as_i64()
                .is_some_and(i64::is_negative) =>
        {
            warnings.add(
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; \
                 a value >= 0 is recommended",
            );
        }
        _ => {}
    }
}

/// A TLS secret should hold a certificate and its key. That the one belongs to the other is not checked.
fn warn_of_certificate(secret: &Value, warnings: &mut Warnings) {
    if secret["type"] != "kubernetes.io/tls" {
        return;
    }
    for (entry, what) in [("tls.crt", "certificate"), ("tls.key", "key")] {
        if !is_pem(text(&secret["data"][entry])) {
            let remark = format!("tls: failed to find any PEM data in {what} input");
            return warnings.add(remark);
        }
    }
}

fn is_pem(base64: &str) -> bool {
    use base64::Engine as _;
    let decoded = base64::engine::general_purpose::STANDARD.decode(base64);
    decoded.is_ok_and(|data| String::from_utf8_lossy(&data).contains("-----BEGIN "))
}

fn warn_of_service(service: &Value, warnings: &mut Warnings) {
    const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let spec = &service["spec"];
    let is_external_name = spec["type"] == "ExternalName";
    let is_headless = spec["type"] == "ClusterIP" && spec["clusterIP"] == "None";
    let has_external_ips = !list(&spec["externalIPs"]).is_empty();
    if !service["metadata"]["annotations"][TOPOLOGY_HINTS].is_null() {
        warnings.add(format!(
            "annotation {TOPOLOGY_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    if is_headless {
        if !text(&spec["loadBalancerIP"]).is_empty() {
            warnings.add("spec.loadBalancerIP is ignored for headless services");
        }
        if has_external_ips {
            warnings.add("spec.externalIPs is ignored for headless services");
        }
        if spec["sessionAffinity"] != "None" {
            warnings.add("spec.SessionAffinity is ignored for headless services");
        }
    }
    if has_external_ips && !is_headless && !is_external_name {
        warnings.add(
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        );
    }
    if has_external_ips && is_external_name {
        warnings.add("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if !is_external_name && !text(&spec["externalName"]).is_empty() {
        warnings.add("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if spec["trafficDistribution"] == "PreferClose" {
        warnings
            .add("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

fn warn_of_quota(hard: &Value, warnings: &mut Warnings) {
    let hard = amounts(hard);
    for resource in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let mut requested = format!("requests.{resource}");
        if !hard.contains_key(&requested) && matches!(resource, "cpu" | "memory") {
            resource.clone_into(&mut requested);
        }
        let limited = format!("limits.{resource}");
        if let (Some(request), Some(limit)) = (hard.get(&requested), hard.get(&limited))
            && request > limit
        {
            warnings.add(format!(
                "ResourceQuota {requested} ({request}) should be less than {limited} ({limit})"
            ));
        }
    }
}
