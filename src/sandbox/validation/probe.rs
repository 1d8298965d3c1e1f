//! Probes, lifecycle hooks and what they do.

use serde_json::Value;

use super::errors::Errors;
use super::format::{header_name, port_name, port_number};
use super::path::Path;
use crate::sandbox::json::{list, text};

const SIGNALS_LINUX: [&str; 65] = [
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];

/// The three probes of a container that may have them.
pub(super) fn validate_probes(
    container: &Value,
    grace: Option<i64>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let (probe, path) = (&container[field], path.child(field));
        if probe.is_null() {
            continue;
        }
        validate_probe(probe, grace, &path, errors);
        if field == "readinessProbe" {
            let grace = &probe["terminationGracePeriodSeconds"];
            if !grace.is_null() {
                errors.invalid(
                    &path.child("terminationGracePeriodSeconds"),
                    grace.clone(),
                    "must not be set for readinessProbes",
                );
            }
        } else if probe["successThreshold"] != 1 {
            let threshold = probe["successThreshold"].as_i64().unwrap_or_default();
            errors.invalid(&path.child("successThreshold"), threshold, "must be 1");
        }
    }
}

fn validate_probe(probe: &Value, grace: Option<i64>, path: &Path<'_>, errors: &mut Errors) {
    validate_handler(
        probe,
        &["exec", "httpGet", "tcpSocket", "grpc"],
        grace,
        path,
        errors,
    );
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        errors.not_negative(&path.child(field), &probe[field]);
    }
    let grace = &probe["terminationGracePeriodSeconds"];
    if grace.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.invalid(
            &path.child("terminationGracePeriodSeconds"),
            grace.clone(),
            "must be greater than 0",
        );
    }
}

/// `lifecycle` of a container, where it is set.
pub(super) fn validate_lifecycle(
    container: &Value,
    grace: Option<i64>,
    os: Option<&str>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let lifecycle = &container["lifecycle"];
    let path = path.child("lifecycle");
    for hook in ["postStart", "preStop"] {
        if !lifecycle[hook].is_null() {
            let handlers = ["exec", "httpGet", "tcpSocket", "sleep"];
            validate_handler(
                &lifecycle[hook],
                &handlers,
                grace,
                &path.child(hook),
                errors,
            );
        }
    }
    let signal = &lifecycle["stopSignal"];
    if signal.is_null() {
        return;
    }
    let path = path.child("stopSignal");
    match os {
        None => errors.forbidden(
            &path,
            "may not be set for containers with empty `spec.os.name`",
        ),
        Some("windows") => errors.one_of_if_set(&path, signal, &["SIGKILL", "SIGTERM"]),
        Some(_) => errors.one_of_if_set(&path, signal, &SIGNALS_LINUX),
    }
}

fn validate_handler(
    handler: &Value,
    kinds: &[&str],
    grace: Option<i64>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut set = kinds.iter().filter(|kind| !handler[**kind].is_null());
    let Some(first) = set.next() else {
        errors.required(path, "must specify a handler type");
        return;
    };
    validate_action(first, &handler[*first], grace, &path.child(first), errors);
    for other in set {
        let detail = "may not specify more than 1 handler type";
        errors.forbidden(&path.child(other), detail);
    }
}

fn validate_action(
    kind: &str,
    action: &Value,
    grace: Option<i64>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    match kind {
        "exec" => {
            if list(&action["command"]).is_empty() {
                errors.required(&path.child("command"), "");
            }
        }
        "httpGet" => validate_http_get(action, path, errors),
        "sleep" => {
            let seconds = action["seconds"].as_i64().unwrap_or_default();
            if let Some(grace) = grace.filter(|grace| seconds < 0 || seconds > *grace) {
                let detail = format!(
                    "must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                );
                errors.invalid(path, seconds, detail);
            }
        }
        _ => validate_port(&action["port"], &path.child("port"), errors),
    }
}

fn validate_http_get(action: &Value, path: &Path<'_>, errors: &mut Errors) {
    if text(&action["path"]).is_empty() {
        errors.required(&path.child("path"), "");
    }
    validate_port(&action["port"], &path.child("port"), errors);
    errors.one_of_if_set(&path.child("scheme"), &action["scheme"], &["HTTP", "HTTPS"]);
    for header in list(&action["httpHeaders"]) {
        let name = text(&header["name"]);
        errors.all_invalid(&path.child("httpHeaders"), name, header_name(name));
    }
}

/// A port by number or by name; absent is number 0.
pub(super) fn validate_port(port: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(name) = port.as_str() {
        errors.all_invalid(path, name, port_name(name));
        return;
    }
    let number = port.as_i64().unwrap_or_default();
    for problem in port_number(number) {
        errors.invalid(path, number, problem);
    }
}
