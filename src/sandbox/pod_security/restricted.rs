//! The checks of the restricted standard.

use std::collections::BTreeSet;

use serde_json::Value;

use super::baseline::{
    app_armor, baseline_seccomp, host_namespaces, host_ports, host_process, hosts_of_handlers,
    privileged, proc_mount, selinux, sysctls,
};
use super::is_text;
use super::violation::{
    Check, Violation, adding, has_own_users, named, plural, quoted, setters, those, violation,
};
use crate::sandbox::json::{entries, flag, list, text};

/// Volumes that the restricted standard lets pass.
const UNRESTRICTED_VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Those of the baseline that no stricter check replaces, then the stricter ones.
const CHECKS: [Check; 15] = [
    app_armor,
    host_namespaces,
    host_ports,
    hosts_of_handlers,
    privileged,
    selinux,
    sysctls,
    host_process,
    privilege_escalation,
    capabilities,
    proc_mount,
    restricted_volumes,
    run_as_non_root,
    run_as_user,
    restricted_seccomp,
];

/// What a pod does that the standard does not allow.
pub(super) fn violations(pod: &Value) -> Vec<Violation> {
    CHECKS.iter().filter_map(|check| check(pod)).collect()
}

fn capabilities(pod: &Value) -> Option<Violation> {
    if is_text(&pod["spec"]["os"]["name"], &["windows"]) {
        return None;
    }
    let keeps = |container: &Value| {
        let dropped = list(&container["securityContext"]["capabilities"]["drop"]);
        !dropped.iter().any(|capability| capability == "ALL")
    };
    let keeping = those(pod, keeps);
    let mut details = Vec::new();
    if !keeping.is_empty() {
        details.push(format!(
            "{} must set securityContext.capabilities.drop=[\"ALL\"]",
            named(&keeping)
        ));
    }
    details.extend(adding(pod, &["NET_BIND_SERVICE"]));
    if details.is_empty() {
        return None;
    }
    Some(violation("unrestricted capabilities", details.join("; ")))
}

fn restricted_seccomp(pod: &Value) -> Option<Violation> {
    if is_text(&pod["spec"]["os"]["name"], &["windows"]) {
        return None;
    }
    let explicit = baseline_seccomp(pod);
    if explicit.is_some() || !pod["spec"]["securityContext"]["seccompProfile"].is_null() {
        return explicit;
    }
    let open = those(pod, |container| {
        container["securityContext"]["seccompProfile"].is_null()
    });
    if open.is_empty() {
        return None;
    }
    let detail = format!(
        "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"",
        named(&open)
    );
    Some(violation("seccompProfile", detail))
}

fn privilege_escalation(pod: &Value) -> Option<Violation> {
    if is_text(&pod["spec"]["os"]["name"], &["windows"]) {
        return None;
    }
    let names = those(pod, |container| {
        container["securityContext"]["allowPrivilegeEscalation"] != false
    });
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "{} must set securityContext.allowPrivilegeEscalation=false",
        named(&names)
    );
    Some(violation("allowPrivilegeEscalation != false", detail))
}

fn restricted_volumes(pod: &Value) -> Option<Violation> {
    let plugin = |volume: &Value| {
        let mut fields =
            entries(volume).filter(|(field, value)| *field != "name" && !value.is_null());
        fields
            .next()
            .map_or("unknown", |(field, _)| field)
            .to_owned()
    };
    let volumes: Vec<_> = list(&pod["spec"]["volumes"])
        .iter()
        .map(|volume| (text(&volume["name"]), plugin(volume)))
        .filter(|(_, plugin)| !UNRESTRICTED_VOLUMES.contains(&plugin.as_str()))
        .collect();
    if volumes.is_empty() {
        return None;
    }
    let names: Vec<_> = volumes.iter().map(|(name, _)| *name).collect();
    let plugins: BTreeSet<_> = volumes.iter().map(|(_, plugin)| plugin.as_str()).collect();
    let detail = format!(
        "{} {} {} {} {}",
        plural(names.len(), "volume", "volumes"),
        quoted(&names),
        plural(names.len(), "uses", "use"),
        plural(
            plugins.len(),
            "restricted volume type",
            "restricted volume types"
        ),
        quoted(&plugins)
    );
    Some(violation("restricted volume types", detail))
}

fn run_as_non_root(pod: &Value) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if has_own_users(pod) {
        return None;
    }
    if let Some(setters) = setters(pod, |context| context["runAsNonRoot"] == false) {
        let detail = format!("{setters} must not set securityContext.runAsNonRoot=false");
        return Some(violation(REASON, detail));
    }
    let open = those(pod, |container| {
        container["securityContext"]["runAsNonRoot"].is_null()
    });
    if open.is_empty() || flag(&pod["spec"]["securityContext"]["runAsNonRoot"]) {
        return None;
    }
    let detail = format!(
        "pod or {} must set securityContext.runAsNonRoot=true",
        named(&open)
    );
    Some(violation(REASON, detail))
}

fn run_as_user(pod: &Value) -> Option<Violation> {
    if has_own_users(pod) {
        return None;
    }
    let setters = setters(pod, |context| context["runAsUser"] == 0)?;
    Some(violation(
        "runAsUser=0",
        format!("{setters} must not set runAsUser=0"),
    ))
}
