//! The spec of a pod, in a pod or in a template.

use std::collections::BTreeSet;

use serde_json::Value;

use super::container::{
    PodContext, validate_containers, validate_ephemeral_containers, validate_init_containers,
};
use super::errors::Errors;
use super::format::{dns_label, dns_subdomain, ip_address, search_domain};
use super::metadata::validate_annotations;
use super::path::Path;
use super::resources::{
    Holder, validate_amount, validate_container_resource, validate_requirements,
};
use super::scheduling::{
    validate_affinity, validate_gates, validate_spreading, validate_tolerations,
};
use super::security::validate_pod_security;
use super::selector::validate_labels;
use super::volume::validate_volumes;
use crate::sandbox::json::{entries, flag, is_zero, list, text};

/// The longest grace, deadline and the like.
const INT32_MAX: i64 = i32::MAX as i64;

/// Whether a spec stands in a pod or in a template for pods.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place<'a> {
    Pod { name: &'a str },
    Template,
}

/// A pod template: labels, annotations, spec.
pub(super) fn validate_template(template: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (metadata, spec) = (&template["metadata"], &template["spec"]);
    let spec_path = path.child("spec");
    validate_labels(&metadata["labels"], &path.child("labels"), errors);
    let annotations_path = path.child("annotations");
    validate_annotations(&metadata["annotations"], &annotations_path, errors);
    validate_pod_annotations(&metadata["annotations"], spec, &annotations_path, errors);
    validate_spec(spec, Place::Template, &spec_path, errors);
    if !is_zero(&spec["ephemeralContainers"]) {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&spec_path.child("ephemeralContainers"), detail);
    }
}

/// Annotations with a meaning of their own for pods.
pub(super) fn validate_pod_annotations(
    annotations: &Value,
    spec: &Value,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mirror = "kubernetes.io/config.mirror";
    if let Some(value) = annotations[mirror].as_str()
        && text(&spec["nodeName"]).is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid(&path.key(mirror), value, detail);
    }
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    if let Some(value) = annotations[cost].as_str()
        && !is_deletion_cost(value)
    {
        errors.invalid(&path.key(cost), value, "must be a 32bit integer");
    }
}

fn is_deletion_cost(text: &str) -> bool {
    let is_plain =
        text == "0" || text.starts_with(['-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    is_plain && text.parse::<i32>().is_ok()
}

/// The spec of a pod.
pub(super) fn validate_spec(spec: &Value, place: Place<'_>, path: &Path<'_>, errors: &mut Errors) {
    let grace = &spec["terminationGracePeriodSeconds"];
    if grace.is_null() {
        errors.required(&path.child("terminationGracePeriodSeconds"), "");
    }
    let pod_name = match place {
        Place::Pod { name } => Some(name),
        Place::Template => None,
    };
    let volumes_path = path.child("volumes");
    let pod = PodContext {
        volumes: validate_volumes(&spec["volumes"], pod_name, &volumes_path, errors),
        claim_names: validate_claims(spec, &path.child("resourceClaims"), errors),
        grace: grace.as_i64(),
        os: spec["os"]["name"].as_str(),
        restart_policy: text(&spec["restartPolicy"]),
        has_host_users: spec["hostUsers"] != false,
    };
    validate_containers(&spec["containers"], &pod, &path.child("containers"), errors);
    validate_init_containers(spec, &pod, &path.child("initContainers"), errors);
    validate_ephemeral_containers(spec, &pod, &path.child("ephemeralContainers"), errors);
    validate_pod_resources(spec, &pod, &path.child("resources"), errors);
    validate_host_network(spec, place, &path.child("containers"), errors);
    validate_policies(spec, path, errors);
    validate_pod_security(spec, path, errors);
    validate_affinity(&spec["affinity"], &path.child("affinity"), errors);
    validate_dns(spec, &path.child("dnsConfig"), errors);
    validate_gates(spec, path, errors);
    let field = "topologySpreadConstraints";
    validate_spreading(&spec[field], &path.child(field), errors);
    validate_host_users(spec, path, errors);
    validate_host_name(spec, path, errors);
    validate_names(spec, path, errors);
    validate_platform(spec, path, errors);
}

fn validate_claims<'a>(spec: &'a Value, path: &Path<'_>, errors: &mut Errors) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (index, claim) in list(&spec["resourceClaims"]).iter().enumerate() {
        let path = path.index(index);
        let name = text(&claim["name"]);
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        } else if names.insert(name) {
            errors.all_invalid(&path.child("name"), name, dns_label(name));
        } else {
            errors.duplicate(&path.child("name"), name);
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        match sources
            .iter()
            .filter(|field| !claim[**field].is_null())
            .count()
        {
            0 => {
                let detail =
                    "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                errors.invalid(&path, claim.clone(), detail);
            }
            1 => {}
            _ => {
                let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                errors.invalid(&path, claim.clone(), detail);
            }
        }
        for field in sources {
            if let Some(name) = claim[field].as_str() {
                errors.all_invalid(&path.child(field), name, dns_subdomain(name));
            }
        }
    }
    names
}

/// Requests and limits of the pod as a whole.
fn validate_pod_resources(
    spec: &Value,
    pod: &PodContext<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let resources = &spec["resources"];
    if resources.is_null() {
        return;
    }
    if pod.os == Some("windows") {
        errors.forbidden(path, "may not be set for a windows pod");
        return;
    }
    if !resources["claims"].is_null() {
        let detail = "claims may not be set for Resources at pod-level";
        errors.forbidden(&path.child("claims"), detail);
    }
    validate_requirements(Holder::Pod, resources, &pod.claim_names, path, errors);
}

/// On the node's network a container's port is the node's.
fn validate_host_network(spec: &Value, place: Place<'_>, path: &Path<'_>, errors: &mut Errors) {
    if !flag(&spec["hostNetwork"]) {
        return;
    }
    for (index, container) in list(&spec["containers"]).iter().enumerate() {
        let path = path.index(index);
        let ports = path.child("ports");
        for (index, port) in list(&container["ports"]).iter().enumerate() {
            let host_port = port["hostPort"].as_i64().unwrap_or_default();
            let container_port = port["containerPort"].as_i64().unwrap_or_default();
            // In a template it may be left out: the pod's defaulting fills it in.
            let is_checked = place != Place::Template || host_port != 0;
            if is_checked && host_port != container_port {
                let path = ports.index(index);
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.invalid(&path.child("hostPort"), host_port, detail);
            }
        }
    }
}

fn validate_policies(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let policies = ["Always", "OnFailure", "Never"];
    let field = "restartPolicy";
    errors.one_of(&path.child(field), &spec[field], &policies);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.one_of(&path.child("dnsPolicy"), &spec["dnsPolicy"], &policies);
    validate_labels(&spec["nodeSelector"], &path.child("nodeSelector"), errors);
}

fn validate_dns(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let config = &spec["dnsConfig"];
    let servers = list(&config["nameservers"]);
    let servers_path = path.child("nameservers");
    if spec["dnsPolicy"] == "None" && config.is_null() {
        errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
        return;
    }
    if spec["dnsPolicy"] == "None" && servers.is_empty() {
        let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        errors.required(&servers_path, detail);
        return;
    }
    if servers.len() > 3 {
        let detail = "must not have more than 3 nameservers";
        errors.invalid(&servers_path, config["nameservers"].clone(), detail);
    }
    for (index, server) in servers.iter().enumerate() {
        errors.all_invalid(
            &servers_path.index(index),
            text(server),
            ip_address(text(server)),
        );
    }
    let searches = list(&config["searches"]);
    let searches_path = path.child("searches");
    let characters: usize = searches.iter().map(|search| text(search).len() + 1).sum();
    if searches.len() > 32 {
        let detail = "must not have more than 32 search paths";
        errors.invalid(&searches_path, config["searches"].clone(), detail);
    }
    if characters > 2049 {
        let detail =
            "must not have more than 2048 characters (including spaces) in the search list";
        errors.invalid(&searches_path, config["searches"].clone(), detail);
    }
    for (index, search) in searches.iter().enumerate() {
        let search = text(search);
        if search != "." {
            let search = search.strip_suffix('.').unwrap_or(search);
            errors.all_invalid(&searches_path.index(index), search, search_domain(search));
        }
    }
    let options = path.child("options");
    for (index, option) in list(&config["options"]).iter().enumerate() {
        if text(&option["name"]).is_empty() {
            errors.required(&options.index(index), "must not be empty");
        }
    }
}

/// A user namespace of its own excludes the node's other namespaces.
fn validate_host_users(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    if spec["hostUsers"] != false {
        return;
    }
    for (field, shown) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        if flag(&spec[field]) {
            errors.forbidden(&path.child(shown), "when `hostUsers` is false");
        }
    }
}

fn validate_host_name(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let Some(name) = spec["hostnameOverride"].as_str() else {
        return;
    };
    let path = path.child("hostnameOverride");
    if flag(&spec["setHostnameAsFQDN"]) {
        let detail = "may not be specified when setHostnameAsFQDN is true";
        errors.forbidden(&path, detail);
    }
    if flag(&spec["hostNetwork"]) {
        errors.forbidden(&path, "may not be specified when hostNetwork is true");
    }
    if name.len() > 64 {
        errors.too_long(&path, 64);
    }
    errors.all_invalid(&path, name, dns_subdomain(name));
}

/// Names of other things, and the settings that Kubernetes checks beside them.
fn validate_names(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    type Check = fn(&str) -> Vec<&'static str>;
    let check = |field: &str, check: Check, errors: &mut Errors| {
        let name = text(&spec[field]);
        if !name.is_empty() {
            errors.all_invalid(&path.child(field), name, check(name));
        }
    };
    check("serviceAccountName", dns_subdomain, errors);
    check("nodeName", dns_subdomain, errors);
    let deadline = spec["activeDeadlineSeconds"].as_i64();
    if let Some(seconds) = deadline.filter(|seconds| !(1..=INT32_MAX).contains(seconds)) {
        let detail = "must be between 1 and 2147483647, inclusive";
        errors.invalid(&path.child("activeDeadlineSeconds"), seconds, detail);
    }
    check("hostname", dns_label, errors);
    check("subdomain", dns_label, errors);
    validate_tolerations(&spec["tolerations"], &path.child("tolerations"), errors);
    validate_host_aliases(spec, &path.child("hostAliases"), errors);
    check("priorityClassName", dns_subdomain, errors);
    check("runtimeClassName", dns_subdomain, errors);
    let policies = ["PreemptLowerPriority", "Never"];
    let field = "preemptionPolicy";
    errors.one_of_if_set(&path.child(field), &spec[field], &policies);
}

fn validate_host_aliases(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    for (index, alias) in list(&spec["hostAliases"]).iter().enumerate() {
        let path = path.index(index);
        let ip = text(&alias["ip"]);
        errors.all_invalid(&path.child("ip"), ip, ip_address(ip));
        let names = path.child("hostnames");
        for (index, name) in list(&alias["hostnames"]).iter().enumerate() {
            errors.all_invalid(&names.index(index), text(name), dns_subdomain(text(name)));
        }
    }
}

/// Overhead and operating system.
fn validate_platform(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let overhead = path.child("overhead");
    let overhead = overhead.child("limits");
    for (name, amount) in entries(&spec["overhead"]) {
        let path = overhead.key(name);
        validate_container_resource(name, &path, errors);
        validate_amount(name, amount, &path, errors);
    }
    let os = &spec["os"];
    if !os.is_null() {
        let path = path.child("os");
        let name = text(&os["name"]);
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        } else if !matches!(name, "linux" | "windows") {
            errors.not_supported(&path, &os["name"], &["linux", "windows"]);
        }
    }
}
