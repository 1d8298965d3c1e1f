//! The status of a pod, as kubelets and others write it.

use serde_json::Value;

use super::errors::Errors;
use super::format::{dns_subdomain, ip_address, qualified_name};
use super::metadata;
use super::path::Path;
use super::pod::validate_annotation_update;
use crate::sandbox::json::{list, text};

/// An update of a pod's status.
pub(super) fn validate_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_annotation_update(new, old, errors);
    let path = Path::root("status");
    let (new_status, old_status) = (&new["status"], &old["status"]);
    validate_conditions(&new_status["conditions"], &path.child("conditions"), errors);
    if text(&new["spec"]["nodeName"]) != text(&old["spec"]["nodeName"]) {
        errors.forbidden(&path.child("nodeName"), "may not be changed directly");
    }
    validate_nomination(new, old, &path.child("nominatedNodeName"), errors);
    let field = "observedGeneration";
    validate_generation(&new_status[field], &path.child(field), errors);
    let class = text(&new_status["qosClass"]);
    if class != text(&old_status["qosClass"]) {
        errors.invalid(&path.child("qosClass"), class, "field is immutable");
    }
    for (statuses, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
    ] {
        let path = path.child(statuses);
        for (index, was) in list(&old_status[statuses]).iter().enumerate() {
            let is_back = leaves_termination(was, &new_status[statuses]);
            if is_back && !may_restart(&old["spec"], containers, was) {
                let detail = "may not be transitioned to non-terminated state";
                errors.forbidden(&path.index(index).child("state"), detail);
            }
        }
    }
    validate_ips(new_status, &path, errors);
}

/// Whether it takes the spec to judge an update: nominations depend on the node, ended containers on their policy.
pub(super) fn follows_spec(new: &Value, old: &Value) -> bool {
    let is_back = |statuses: &str| {
        let mut before = list(&old[statuses]).iter();
        before.any(|was| leaves_termination(was, &new[statuses]))
    };
    !new["nominatedNodeName"].is_null()
        || is_back("containerStatuses")
        || is_back("initContainerStatuses")
}

fn validate_generation(generation: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(number) = generation.as_i64().filter(|number| *number < 0) {
        errors.invalid(path, number, "must be a non-negative integer");
    }
}

fn validate_conditions(conditions: &Value, path: &Path<'_>, errors: &mut Errors) {
    for (index, condition) in list(conditions).iter().enumerate() {
        let path = path.index(index);
        let field = "observedGeneration";
        validate_generation(&condition[field], &path.child(field), errors);
        let kind = text(&condition["type"]);
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            errors.all_invalid(&path.child("Type"), kind, qualified_name(kind));
        }
    }
}

fn validate_nomination(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let nominated = |pod: &Value| text(&pod["status"]["nominatedNodeName"]).to_owned();
    let node = nominated(new);
    if node.is_empty() || node == nominated(old) {
        return;
    }
    errors.all_invalid(path, &node, dns_subdomain(&node));
    if !text(&old["spec"]["nodeName"]).is_empty() {
        let detail = "may not be set on pods that are already bound to a node";
        errors.forbidden(path, detail);
    }
}

fn leaves_termination(was: &Value, statuses: &Value) -> bool {
    let is_terminated = |status: &Value| !status["state"]["terminated"].is_null();
    let now = list(statuses).iter().find(|now| now["name"] == was["name"]);
    is_terminated(was) && now.is_some_and(|now| !is_terminated(now))
}

/// Whether a container that ended may run again: by the rules of its own, its own policy or the pod's.
fn may_restart(spec: &Value, list_name: &str, status: &Value) -> bool {
    let exit_code = &status["state"]["terminated"]["exitCode"];
    let everything_restarts = ["containers", "initContainers"]
        .iter()
        .flat_map(|containers| list(&spec[*containers]))
        .flat_map(|container| list(&container["restartPolicyRules"]))
        .any(|rule| rule["action"] == "RestartAllContainers");
    if everything_restarts {
        return true;
    }
    let container = list(&spec[list_name])
        .iter()
        .find(|container| container["name"] == status["name"]);
    let Some(container) = container else {
        return false;
    };
    let policy = if container["restartPolicy"].is_null() {
        &spec["restartPolicy"]
    } else {
        let rules = list(&container["restartPolicyRules"]);
        if rules.iter().any(|rule| applies(rule, exit_code)) {
            return true;
        }
        &container["restartPolicy"]
    };
    match text(policy) {
        "Always" => true,
        "OnFailure" => exit_code.as_i64().unwrap_or_default() != 0,
        _ => false,
    }
}

fn applies(rule: &Value, exit_code: &Value) -> bool {
    let codes = &rule["exitCodes"];
    let is_listed = list(&codes["values"]).contains(exit_code);
    rule["action"] == "Restart" && is_listed == (codes["operator"] == "In")
}

fn validate_ips(status: &Value, path: &Path<'_>, errors: &mut Errors) {
    for field in ["podIPs", "hostIPs"] {
        let (ips, path) = (list(&status[field]), path.child(field));
        if field == "hostIPs"
            && let Some(first) = ips.first()
            && text(&first["ip"]) != text(&status["hostIP"])
        {
            let detail = "must be equal to `hostIP`";
            errors.invalid(&path.index(0).child("ip"), text(&first["ip"]), detail);
        }
        for (index, ip) in ips.iter().enumerate() {
            let ip = text(&ip["ip"]);
            errors.all_invalid(&path.index(index), ip, ip_address(ip));
        }
        let is_v6 = |ip: &Value| text(&ip["ip"]).contains(':');
        let is_dual = ips.len() == 2 && is_v6(&ips[0]) != is_v6(&ips[1]);
        if ips.len() > 1 && !is_dual {
            let detail = "may specify no more than one IP for each IP family";
            errors.invalid(&path, status[field].clone(), detail);
        }
    }
}
