//! The containers of a pod: regular, init, ephemeral.

use std::collections::BTreeSet;

use serde_json::Value;

use super::env::{validate_env, validate_env_from};
use super::errors::Errors;
use super::format::{dns_label, port_name, port_number};
use super::mount::{Volumes, validate_mounts};
use super::path::Path;
use super::probe::{validate_lifecycle, validate_probes};
use super::resources::{Holder, validate_requirements};
use super::security::validate_container_security;
use crate::sandbox::json::{is_zero, list, text};

/// What an ephemeral container may say; everything else belongs to the pod's own.
const EPHEMERAL_FIELDS: [&str; 17] = [
    "name",
    "image",
    "command",
    "args",
    "workingDir",
    "envFrom",
    "env",
    "resizePolicy",
    "volumeMounts",
    "volumeDevices",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
    "stdin",
    "stdinOnce",
    "tty",
];

/// What a container's validity depends on in its pod.
pub(super) struct PodContext<'a> {
    pub(super) volumes: Volumes<'a>,
    pub(super) claim_names: BTreeSet<&'a str>,
    pub(super) grace: Option<i64>,
    pub(super) os: Option<&'a str>,
    pub(super) restart_policy: &'a str,
    pub(super) has_host_users: bool,
}

/// `containers`: at least one, with names of their own.
pub(super) fn validate_containers(
    containers: &Value,
    pod: &PodContext<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let containers = list(containers);
    if containers.is_empty() {
        errors.required(path, "");
        return;
    }
    let mut names = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index);
        validate_common(container, pod, &path, errors);
        let name = text(&container["name"]);
        if !names.insert(name) {
            errors.duplicate(&path.child("name"), name);
        }
        validate_lifecycle(container, pod.grace, pod.os, &path, errors);
        validate_probes(container, pod.grace, &path, errors);
        validate_restart_policy(container, &path, errors);
    }
    validate_host_ports(containers.iter().enumerate(), path, errors);
}

/// `initContainers`; those that restart always are sidecars and may be probed.
pub(super) fn validate_init_containers(
    spec: &Value,
    pod: &PodContext<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut names: BTreeSet<&str> = names_of(&spec["containers"]).collect();
    for (index, container) in list(&spec["initContainers"]).iter().enumerate() {
        let item_path = path.index(index);
        validate_common(container, pod, &item_path, errors);
        validate_restart_policy(container, &item_path, errors);
        let name = text(&container["name"]);
        if !names.insert(name) && !name.is_empty() {
            errors.duplicate(&item_path.child("name"), name);
        }
        // Kubernetes looks at each by itself, and calls each the first.
        validate_host_ports([(0, container)].into_iter(), path, errors);
        if container["restartPolicy"] == "Always" {
            validate_lifecycle(container, pod.grace, pod.os, &item_path, errors);
            validate_probes(container, pod.grace, &item_path, errors);
        } else {
            forbid_probes(container, &item_path, errors);
        }
    }
}

fn forbid_probes(container: &Value, path: &Path<'_>, errors: &mut Errors) {
    for field in [
        "lifecycle",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
    ] {
        if !container[field].is_null() {
            let detail = "may not be set for init containers without restartPolicy=Always";
            errors.forbidden(&path.child(field), detail);
        }
    }
    let policies = path.child("resizePolicy");
    for (index, policy) in list(&container["resizePolicy"]).iter().enumerate() {
        let restart = &policy["restartPolicy"];
        if restart == "RestartContainer" {
            let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            let path = policies.index(index);
            errors.invalid(&path.child("restartPolicy"), restart.clone(), detail);
        }
    }
}

fn names_of(containers: &Value) -> impl Iterator<Item = &str> {
    list(containers)
        .iter()
        .map(|container| text(&container["name"]))
}

/// `ephemeralContainers`.
pub(super) fn validate_ephemeral_containers(
    spec: &Value,
    pod: &PodContext<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let lasting: BTreeSet<&str> = names_of(&spec["containers"])
        .chain(names_of(&spec["initContainers"]))
        .collect();
    let mut names = lasting.clone();
    for (index, container) in list(&spec["ephemeralContainers"]).iter().enumerate() {
        let path = path.index(index);
        validate_common(container, pod, &path, errors);
        validate_image_spaces(container, &path, errors);
        let name = text(&container["name"]);
        if !names.insert(name) {
            errors.duplicate(&path.child("name"), name);
        }
        let target = text(&container["targetContainerName"]);
        if !target.is_empty() && !lasting.contains(target) {
            errors.not_found(&path.child("targetContainerName"), target);
        }
        let detail = "cannot be set for an Ephemeral Container";
        for (field, value) in container.as_object().into_iter().flatten() {
            let is_known = EPHEMERAL_FIELDS.contains(&field.as_str());
            if !is_known && field != "targetContainerName" && !is_zero(value) {
                errors.forbidden(&path.child(field), detail);
            }
        }
        let mounts = path.child("volumeMounts");
        for (index, mount) in list(&container["volumeMounts"]).iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !text(&mount[field]).is_empty() {
                    errors.forbidden(&mounts.index(index).child(field), detail);
                }
            }
        }
    }
}

/// What holds for every sort of container.
fn validate_common(container: &Value, pod: &PodContext<'_>, path: &Path<'_>, errors: &mut Errors) {
    let name = text(&container["name"]);
    if name.is_empty() {
        errors.required(&path.child("name"), "");
    } else {
        errors.all_invalid(&path.child("name"), name, dns_label(name));
    }
    if text(&container["image"]).is_empty() {
        errors.required(&path.child("image"), "");
    }
    let field = "terminationMessagePolicy";
    let policies = ["File", "FallbackToLogsOnError"];
    errors.one_of(&path.child(field), &container[field], &policies);
    validate_ports(&container["ports"], &path.child("ports"), errors);
    validate_env(&container["env"], &path.child("env"), errors);
    validate_env_from(&container["envFrom"], &path.child("envFrom"), errors);
    validate_mounts(container, &pod.volumes, path, errors);
    let policies = ["Always", "IfNotPresent", "Never"];
    let field = "imagePullPolicy";
    errors.one_of(&path.child(field), &container[field], &policies);
    let (resources, resources_path) = (&container["resources"], path.child("resources"));
    let claims = &pod.claim_names;
    validate_requirements(
        Holder::Container,
        resources,
        claims,
        &resources_path,
        errors,
    );
    validate_resize_policy(container, pod, &path.child("resizePolicy"), errors);
    let field = "securityContext";
    let has_host_users = pod.has_host_users;
    validate_container_security(
        &container[field],
        has_host_users,
        &path.child(field),
        errors,
    );
}

fn validate_resize_policy(
    container: &Value,
    pod: &PodContext<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut resources = BTreeSet::new();
    for (index, policy) in list(&container["resizePolicy"]).iter().enumerate() {
        let (resource, restart) = (&policy["resourceName"], &policy["restartPolicy"]);
        if !resources.insert(text(resource)) {
            errors.duplicate(&path.index(index), text(resource));
        }
        errors.one_of(path, resource, &["cpu", "memory"]);
        errors.one_of(path, restart, &["NotRequired", "RestartContainer"]);
        if pod.restart_policy == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(path, text(restart), detail);
        }
    }
}

fn validate_ports(ports: &Value, path: &Path<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (index, port) in list(ports).iter().enumerate() {
        let path = path.index(index);
        let name = text(&port["name"]);
        if !name.is_empty() {
            let problems = port_name(name);
            if problems.is_empty() && !names.insert(name) {
                errors.duplicate(&path.child("name"), name);
            }
            errors.all_invalid(&path.child("name"), name, problems);
        }
        for field in ["containerPort", "hostPort"] {
            let number = port[field].as_i64().unwrap_or_default();
            if number != 0 {
                for problem in port_number(number) {
                    errors.invalid(&path.child(field), number, problem);
                }
            } else if field == "containerPort" {
                errors.required(&path.child(field), "");
            }
        }
        let protocols = ["SCTP", "TCP", "UDP"];
        errors.one_of(&path.child("protocol"), &port["protocol"], &protocols);
    }
}

/// No two containers may take the same port of the node.
fn validate_host_ports<'a>(
    containers: impl Iterator<Item = (usize, &'a Value)>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers {
        let path = path.index(index);
        let ports = path.child("ports");
        for (index, port) in list(&container["ports"]).iter().enumerate() {
            let number = port["hostPort"].as_i64().unwrap_or_default();
            if number == 0 {
                continue;
            }
            let (protocol, ip) = (text(&port["protocol"]), text(&port["hostIP"]));
            let address = format!("{protocol}/{ip}/{number}");
            if taken.contains(&address) {
                errors.duplicate(&ports.index(index).child("hostPort"), address);
            } else {
                taken.insert(address);
            }
        }
    }
}

/// A restart policy of the container's own, with rules by exit code.
fn validate_restart_policy(container: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (policy, rules) = (
        &container["restartPolicy"],
        list(&container["restartPolicyRules"]),
    );
    let policies = ["Always", "Never", "OnFailure"];
    if policy.is_null() && !rules.is_empty() {
        let detail = "must specify restartPolicy when restart rules are used";
        errors.required(&path.child("restartPolicy"), detail);
    }
    errors.one_of_if_set(&path.child("restartPolicy"), policy, &policies);
    let rules_path = path.child("restartPolicyRules");
    if rules.len() > 20 {
        errors.too_many(&rules_path, rules.len(), 20);
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = rules_path.index(index);
        let actions = ["Restart", "RestartAllContainers"];
        errors.one_of_if_set(&path.child("action"), &rule["action"], &actions);
        let codes = &rule["exitCodes"];
        let path = path.child("exitCodes");
        if codes.is_null() {
            errors.required(&path, "must be specified");
            continue;
        }
        errors.one_of_if_set(
            &path.child("operator"),
            &codes["operator"],
            &["In", "NotIn"],
        );
        let count = list(&codes["values"]).len();
        if count > 255 {
            errors.too_many(&path.child("values"), count, 255);
        }
    }
}

/// What a pod asks beyond a template: no spaces around the image.
pub(super) fn validate_image_spaces(container: &Value, path: &Path<'_>, errors: &mut Errors) {
    let image = text(&container["image"]);
    if image.trim() != image {
        let detail = "must not have leading or trailing whitespace";
        errors.invalid(&path.child("image"), image, detail);
    }
}
