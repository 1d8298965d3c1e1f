//! Security contexts of pods and containers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::errors::Errors;
use super::format::user_id;
use super::mount::validate_descending;
use super::path::Path;
use crate::sandbox::json::{flag, list, text};

const PROFILE_PATH_BYTES: usize = 4095;
const SYSCTL_BYTES: usize = 253;

/// `securityContext` of a container.
pub(super) fn validate_container_security(
    context: &Value,
    has_host_users: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    if context.is_null() {
        return;
    }
    validate_ids(context, &["runAsUser", "runAsGroup"], path, errors);
    let proc_mount = &context["procMount"];
    if !proc_mount.is_null() {
        let path = path.child("procMount");
        errors.one_of_if_set(&path, proc_mount, &["Default", "Unmasked"]);
        if has_host_users && proc_mount == "Unmasked" {
            let detail = "`hostUsers` must be false to use `Unmasked`";
            errors.invalid(&path, proc_mount.clone(), detail);
        }
    }
    validate_seccomp(
        &context["seccompProfile"],
        &path.child("seccompProfile"),
        errors,
    );
    if context["allowPrivilegeEscalation"] == false {
        if flag(&context["privileged"]) {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid(path, context.clone(), detail);
        }
        for capability in list(&context["capabilities"]["add"]) {
            if capability == "CAP_SYS_ADMIN" {
                let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                errors.invalid(path, context.clone(), detail);
            }
        }
    }
    validate_app_armor(
        &context["appArmorProfile"],
        &path.child("appArmorProfile"),
        errors,
    );
}

/// `securityContext` of a pod, with the settings that Kubernetes counts to it.
pub(super) fn validate_pod_security(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let context = &spec["securityContext"];
    let path = path.child("securityContext");
    validate_ids(
        context,
        &["fsGroup", "runAsUser", "runAsGroup"],
        &path,
        errors,
    );
    let groups = path.child("supplementalGroups");
    for (index, group) in list(&context["supplementalGroups"]).iter().enumerate() {
        validate_id(group, &groups.index(index), errors);
    }
    if flag(&spec["hostPID"]) && flag(&spec["shareProcessNamespace"]) {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&path.child("shareProcessNamespace"), true, detail);
    }
    validate_sysctls(spec, &path.child("sysctls"), errors);
    let changes = ["Always", "OnRootMismatch"];
    let field = "fsGroupChangePolicy";
    errors.one_of_if_set(&path.child(field), &context[field], &changes);
    validate_seccomp(
        &context["seccompProfile"],
        &path.child("seccompProfile"),
        errors,
    );
    validate_app_armor(
        &context["appArmorProfile"],
        &path.child("appArmorProfile"),
        errors,
    );
    let field = "supplementalGroupsPolicy";
    errors.one_of_if_set(&path.child(field), &context[field], &["Merge", "Strict"]);
    let field = "seLinuxChangePolicy";
    errors.one_of_if_set(
        &path.child(field),
        &context[field],
        &["MountOption", "Recursive"],
    );
}

fn validate_ids(context: &Value, fields: &[&str], path: &Path<'_>, errors: &mut Errors) {
    for field in fields {
        validate_id(&context[*field], &path.child(field), errors);
    }
}

fn validate_id(id: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(id) = id.as_i64() {
        for problem in user_id(id) {
            errors.invalid(path, id, problem);
        }
    }
}

fn validate_sysctls(spec: &Value, path: &Path<'_>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (index, sysctl) in list(&spec["securityContext"]["sysctls"]).iter().enumerate() {
        let path = path.index(index);
        let path = path.child("name");
        let name = text(&sysctl["name"]);
        if name.is_empty() {
            errors.required(&path, "");
        } else if !is_sysctl(name) {
            let detail = format!(
                "must have at most {SYSCTL_BYTES} characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
            );
            errors.invalid(&path, name, detail);
        } else if !names.insert(name) {
            errors.duplicate(&path, name);
        }
        let normal = name.replace('/', ".");
        let is_ipc = ["kernel.shm", "kernel.msg", "fs.mqueue."]
            .iter()
            .any(|prefix| normal.starts_with(prefix))
            || normal == "kernel.sem";
        if flag(&spec["hostNetwork"]) && normal.starts_with("net.") {
            errors.invalid(
                &path,
                name,
                "may not be specified when 'hostNetwork' is true",
            );
        } else if flag(&spec["hostIPC"]) && is_ipc {
            errors.invalid(&path, name, "may not be specified when 'hostIPC' is true");
        }
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= SYSCTL_BYTES
        && name.split(['.', '/']).all(|part| {
            let bytes = part.as_bytes();
            bytes.first().is_some_and(|byte| is_edge(*byte))
                && bytes.last().is_some_and(|byte| is_edge(*byte))
                && bytes
                    .iter()
                    .all(|byte| is_edge(*byte) || b"-_".contains(byte))
        })
}

fn validate_seccomp(profile: &Value, path: &Path<'_>, errors: &mut Errors) {
    if profile.is_null() {
        return;
    }
    let local = &profile["localhostProfile"];
    let kind = &profile["type"];
    if text(kind).is_empty() {
        let detail = "type is required when seccompProfile is set";
        errors.required(&path.child("type"), detail);
    }
    let kinds = ["Localhost", "RuntimeDefault", "Unconfined"];
    if !text(kind).is_empty() {
        errors.one_of_if_set(&path.child("type"), kind, &kinds);
    }
    let path = path.child("localhostProfile");
    match (kind == "Localhost", local.as_str()) {
        (true, None) => errors.required(&path, "must be set when seccomp type is Localhost"),
        (true, Some(file)) => validate_descending(file, &path, errors),
        (false, Some(_)) => {
            let detail = "can only be set when seccomp type is Localhost";
            errors.invalid(&path, profile.clone(), detail);
        }
        (false, None) => {}
    }
}

fn validate_app_armor(profile: &Value, path: &Path<'_>, errors: &mut Errors) {
    if profile.is_null() {
        return;
    }
    let local = profile["localhostProfile"].as_str();
    let local_path = path.child("localhostProfile");
    let missing = "must be set when AppArmor type is Localhost";
    match (text(&profile["type"]), local) {
        ("Localhost", None) => errors.required(&local_path, missing),
        ("Localhost", Some(file)) => {
            if file.trim() != file {
                errors.invalid(&local_path, file, "must not be padded with whitespace");
            } else if file.is_empty() {
                errors.required(&local_path, missing);
            }
            if file.len() > PROFILE_PATH_BYTES {
                errors.too_long(&local_path, PROFILE_PATH_BYTES);
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(file)) => {
            errors.invalid(
                &local_path,
                file,
                "can only be set when AppArmor type is Localhost",
            );
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => errors.required(
            &path.child("type"),
            "type is required when appArmorProfile is set",
        ),
        _ => errors.not_supported(
            &path.child("type"),
            &profile["type"],
            &["Localhost", "RuntimeDefault", "Unconfined"],
        ),
    }
}
