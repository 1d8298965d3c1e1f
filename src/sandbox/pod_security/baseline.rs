//! The checks of the baseline standard. Those that the restricted standard keeps are used there too.

use std::collections::BTreeSet;

use serde_json::Value;

use super::is_text;
use super::violation::{
    Check, Violation, adding, containers, has_own_users, named, plural, quoted, setters, those,
    values, violation,
};
use crate::sandbox::json::{entries, flag, list, text};

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

const SYSCTLS: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];

const SELINUX_TYPES: [&str; 5] = [
    "",
    "container_t",
    "container_init_t",
    "container_kvm_t",
    "container_engine_t",
];

const PROFILES: [&str; 2] = ["RuntimeDefault", "Localhost"];

/// In the order in which violations are listed.
const CHECKS: [Check; 12] = [
    app_armor,
    added_capabilities,
    host_namespaces,
    host_paths,
    host_ports,
    hosts_of_handlers,
    privileged,
    baseline_proc_mount,
    selinux,
    baseline_seccomp,
    sysctls,
    host_process,
];

/// What a pod does that the standard does not allow.
pub(super) fn violations(pod: &Value) -> Vec<Violation> {
    CHECKS.iter().filter_map(|check| check(pod)).collect()
}

pub(super) fn app_armor(pod: &Value) -> Option<Violation> {
    let is_bad = |context: &Value| {
        let profile = &context["appArmorProfile"];
        !profile.is_null() && !is_text(&profile["type"], &PROFILES)
    };
    let annotations: BTreeSet<String> = entries(&pod["metadata"]["annotations"])
        .filter(|(key, _)| key.starts_with("container.apparmor.security.beta.kubernetes.io/"))
        .map(|(key, profile)| (key, text(profile)))
        .filter(|(_, profile)| {
            !matches!(*profile, "" | "runtime/default") && !profile.starts_with("localhost/")
        })
        .map(|(key, profile)| format!("{key}={profile:?}"))
        .collect();
    let mut setters = Vec::from_iter(setters(pod, is_bad));
    let types: BTreeSet<_> = values(pod, |context| &context["appArmorProfile"]["type"])
        .filter(|kind| !PROFILES.contains(kind))
        .collect();
    if !annotations.is_empty() {
        setters.push(plural(annotations.len(), "annotation", "annotations").to_owned());
    }
    if setters.is_empty() {
        return None;
    }
    let bad: Vec<_> = types
        .into_iter()
        .chain(annotations.iter().map(String::as_str))
        .collect();
    Some(violation(
        plural(
            bad.len(),
            "forbidden AppArmor profile",
            "forbidden AppArmor profiles",
        ),
        format!(
            "{} must not set AppArmor profile type to {}",
            setters.join(" and "),
            quoted(&bad)
        ),
    ))
}

fn added_capabilities(pod: &Value) -> Option<Violation> {
    Some(violation(
        "non-default capabilities",
        adding(pod, &CAPABILITIES)?,
    ))
}

pub(super) fn host_namespaces(pod: &Value) -> Option<Violation> {
    let used: Vec<_> = ["hostNetwork", "hostPID", "hostIPC"]
        .into_iter()
        .filter(|field| flag(&pod["spec"][*field]))
        .map(|field| format!("{field}=true"))
        .collect();
    if used.is_empty() {
        return None;
    }
    Some(violation("host namespaces", used.join(", ")))
}

fn host_paths(pod: &Value) -> Option<Violation> {
    let volumes = list(&pod["spec"]["volumes"]).iter();
    let names: Vec<_> = volumes
        .filter(|volume| !volume["hostPath"].is_null())
        .map(|volume| text(&volume["name"]))
        .collect();
    if names.is_empty() {
        return None;
    }
    let what = plural(names.len(), "volume", "volumes");
    Some(violation(
        "hostPath volumes",
        format!("{what} {}", quoted(&names)),
    ))
}

pub(super) fn host_ports(pod: &Value) -> Option<Violation> {
    let ports = |container: &Value| -> BTreeSet<String> {
        let ports = list(&container["ports"]).iter();
        let ports = ports.filter_map(|port| port["hostPort"].as_i64());
        ports
            .filter(|port| *port != 0)
            .map(|port| port.to_string())
            .collect()
    };
    let names = those(pod, |container| !ports(container).is_empty());
    if names.is_empty() {
        return None;
    }
    let ports = Vec::from_iter(containers(pod).flat_map(ports).collect::<BTreeSet<_>>());
    let (uses, what) = (
        plural(names.len(), "uses", "use"),
        plural(ports.len(), "hostPort", "hostPorts"),
    );
    let detail = format!("{} {uses} {what} {}", named(&names), ports.join(", "));
    Some(violation("hostPort", detail))
}

/// Hosts that probes and lifecycle handlers turn to instead of the pod.
pub(super) fn hosts_of_handlers(pod: &Value) -> Option<Violation> {
    let hosts = |container: &Value| -> BTreeSet<String> {
        let lifecycle = &container["lifecycle"];
        let handlers = [
            &container["livenessProbe"],
            &container["readinessProbe"],
            &container["startupProbe"],
            &lifecycle["postStart"],
            &lifecycle["preStop"],
        ];
        let actions = handlers
            .iter()
            .flat_map(|handler| [&handler["httpGet"], &handler["tcpSocket"]]);
        let hosts = actions.map(|action| text(&action["host"]));
        hosts
            .filter(|host| !host.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut names = those(pod, |container| !hosts(container).is_empty());
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let hosts: BTreeSet<_> = containers(pod).flat_map(hosts).collect();
    let (uses, what) = (
        plural(names.len(), "uses", "use"),
        plural(
            hosts.len(),
            "probe or lifecycle host",
            "probe or lifecycle hosts",
        ),
    );
    let detail = format!("{} {uses} {what} {}", named(&names), quoted(&hosts));
    Some(violation("probe or lifecycle host", detail))
}

pub(super) fn privileged(pod: &Value) -> Option<Violation> {
    let names = those(pod, |container| {
        flag(&container["securityContext"]["privileged"])
    });
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "{} must not set securityContext.privileged=true",
        named(&names)
    );
    Some(violation("privileged", detail))
}

fn baseline_proc_mount(pod: &Value) -> Option<Violation> {
    if has_own_users(pod) {
        return None;
    }
    proc_mount(pod)
}

pub(super) fn proc_mount(pod: &Value) -> Option<Violation> {
    let mount = |container: &Value| {
        let mount = container["securityContext"]["procMount"].as_str();
        mount.filter(|mount| *mount != "Default").map(str::to_owned)
    };
    let names = those(pod, |container| mount(container).is_some());
    if names.is_empty() {
        return None;
    }
    let mounts: BTreeSet<_> = containers(pod).filter_map(mount).collect();
    let detail = format!(
        "{} must not set securityContext.procMount to {}",
        named(&names),
        quoted(&mounts)
    );
    Some(violation("procMount", detail))
}

pub(super) fn selinux(pod: &Value) -> Option<Violation> {
    let options = |context: &Value| context["seLinuxOptions"].clone();
    let is_set = |context: &Value, field: &str| !text(&options(context)[field]).is_empty();
    let has_bad_type = |context: &Value| !is_text(&options(context)["type"], &SELINUX_TYPES);
    let setters = setters(pod, |context| {
        has_bad_type(context) || is_set(context, "user") || is_set(context, "role")
    })?;
    let types: BTreeSet<_> = values(pod, |context| &context["seLinuxOptions"]["type"])
        .filter(|kind| !SELINUX_TYPES.contains(kind))
        .collect();
    let mut bad = Vec::new();
    if !types.is_empty() {
        let what = plural(types.len(), "type", "types");
        bad.push(format!("{what} {}", quoted(&types)));
    }
    for field in ["user", "role"] {
        if self::setters(pod, |context| is_set(context, field)).is_some() {
            bad.push(format!("{field} may not be set"));
        }
    }
    let bad = bad.join("; ");
    let detail = format!("{setters} set forbidden securityContext.seLinuxOptions: {bad}");
    Some(violation("seLinuxOptions", detail))
}

/// Whether a security context sets a seccomp profile, and a forbidden one.
fn has_bad_seccomp(context: &Value) -> bool {
    let profile = &context["seccompProfile"];
    !profile.is_null() && !is_text(&profile["type"], &PROFILES)
}

pub(super) fn baseline_seccomp(pod: &Value) -> Option<Violation> {
    let setters = setters(pod, has_bad_seccomp)?;
    let types: BTreeSet<_> = values(pod, |context| &context["seccompProfile"]["type"])
        .filter(|kind| !PROFILES.contains(kind))
        .collect();
    let types = quoted(&types);
    let detail = format!("{setters} must not set securityContext.seccompProfile.type to {types}");
    Some(violation("seccompProfile", detail))
}

pub(super) fn sysctls(pod: &Value) -> Option<Violation> {
    let sysctls = list(&pod["spec"]["securityContext"]["sysctls"]).iter();
    let names = sysctls.map(|sysctl| text(&sysctl["name"]));
    let forbidden: Vec<_> = names.filter(|name| !SYSCTLS.contains(name)).collect();
    if forbidden.is_empty() {
        return None;
    }
    Some(violation("forbidden sysctls", forbidden.join(", ")))
}

pub(super) fn host_process(pod: &Value) -> Option<Violation> {
    let setters = setters(pod, |context| {
        flag(&context["windowsOptions"]["hostProcess"])
    })?;
    let detail = format!("{setters} must not set securityContext.windowsOptions.hostProcess=true");
    Some(violation("hostProcess", detail))
}
