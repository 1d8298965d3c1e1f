//! Containers that end (failure-states section 4, rules 1 and 2).
//!
//! Most of the time a crash loop looks like `terminated`, or like a container that runs and has run before: the words
//! `CrashLoopBackOff` are never relied on.

use std::time::Duration;

use super::api::{Container, State, Terminated};
use super::budget::is_spent;
use super::case::Case;
use super::code::Code;
use super::finding::{Class, Finding};
use super::start::{post_start, since_last_end, start_error};

/// A container that has run this long again has recovered, if its run before was not half as long.
const RECOVERED_LEAST: Duration = Duration::from_secs(10);
/// And one that has run this long has recovered in any case: kubelets forget the back-off then.
const RECOVERED_MOST: Duration = Duration::from_secs(600);
/// How often a command that can't have run, or that ends well, needs to end.
const HOPELESS_ENDS: u32 = 2;

/// How a container ends, unless it has recovered.
pub(super) fn examine(case: Case<'_>, container: &Container) -> Option<Finding> {
    let end = container.latest_end()?;
    if is_done(container) || has_recovered(case, container, end) || waits_otherwise(container) {
        return None;
    }
    Some(describe(case, container, end))
}

/// How a container that runs now has ended before, whether or not it has recovered.
pub(super) fn past(case: Case<'_>, container: &Container) -> Option<Finding> {
    let end = container.last.as_ref()?;
    (container.restarts > 0 && !is_done(container)).then(|| describe(case, container, end))
}

/// Whether it waits for something that has nothing to do with how it ended before.
fn waits_otherwise(container: &Container) -> bool {
    container.waiting().is_some_and(|(reason, _)| {
        !matches!(
            reason,
            "" | "CrashLoopBackOff"
                | "RunContainerError"
                | "PostStartHookError"
                | "ContainerCreating"
                | "PodInitializing"
        )
    })
}

fn describe(case: Case<'_>, container: &Container, end: &Terminated) -> Finding {
    if let Some(("PostStartHookError", message)) = container.waiting() {
        return post_start(case, container).evidence(message);
    }
    if end.reason == "StartError" || end.reason == "ContainerCannotRun" {
        return start_error(case.budgets, container, &end.message);
    }
    if let Some(finding) = killed(case, container, end) {
        return finding;
    }
    let (code, class) = classify(end);
    let limit = match class {
        Class::TerminalNow => case.budgets.crashes.map(|limit| limit.min(HOPELESS_ENDS)),
        _ => case.budgets.crashes,
    };
    let is_final = class != Class::Transient && is_spent(limit, container.exits());
    Finding::new(code, class, sentence(code, container, end))
        .evidence(&end.message)
        .evidence(container.waiting().map_or("", |(_, message)| message))
        .since(since_last_end(container))
        .ending(is_final)
}

/// An init container that did what it was to do.
fn is_done(container: &Container) -> bool {
    matches!(&container.state, State::Terminated(end) if end.exit_code == 0 && container.is_ready)
}

fn has_recovered(case: Case<'_>, container: &Container, end: &Terminated) -> bool {
    let Some(since) = container.running_since() else {
        return container.is_running() && container.is_ready;
    };
    let before = end.run_time().unwrap_or_default();
    let enough = before
        .saturating_mul(2)
        .clamp(RECOVERED_LEAST, RECOVERED_MOST);
    container.is_ready && case.snapshot.age(since) >= enough
}

/// A container that a probe or a failed hook had killed. The exit code is the signal's, so only the event tells.
fn killed(case: Case<'_>, container: &Container, end: &Terminated) -> Option<Finding> {
    if !matches!(end.exit_code, 137 | 143) || end.reason == "OOMKilled" {
        return None;
    }
    let killing = case.newest_event(|event| {
        event.reason == "Killing" && event.is_about_container(&container.name)
    })?;
    let (code, kind) = if killing.message.contains("failed liveness probe") {
        (Code::LivenessProbe, "Liveness")
    } else if killing.message.contains("failed startup probe") {
        (Code::StartupProbe, "Startup")
    } else if killing.message == "FailedPostStartHook" {
        return Some(post_start(case, container));
    } else {
        return None;
    };
    let unhealthy = case.newest_event(|event| {
        event.reason == "Unhealthy"
            && event.is_about_container(&container.name)
            && event.message.starts_with(kind)
    });
    Some(
        Finding::new(
            code,
            Class::TerminalAfterBudget,
            format!(
                "container {} is killed by its {} probe",
                container.name,
                kind.to_lowercase()
            ),
        )
        .evidence(unhealthy.map_or(killing.message.as_str(), |event| event.message.as_str()))
        .since(since_last_end(container))
        .ending(is_spent(case.budgets.crashes, container.exits())),
    )
}

fn classify(end: &Terminated) -> (Code, Class) {
    match (end.reason.as_str(), end.exit_code) {
        ("OOMKilled", _) => (Code::OutOfMemory, Class::TerminalAfterBudget),
        ("ContainerStatusUnknown", _) => (Code::CrashLoop, Class::Transient),
        (_, 0) => (Code::CommandEnds, Class::TerminalNow),
        (_, 126 | 127) => (Code::CrashLoop, Class::TerminalNow),
        _ => (Code::CrashLoop, Class::TerminalAfterBudget),
    }
}

fn sentence(code: Code, container: &Container, end: &Terminated) -> String {
    let name = &container.name;
    match code {
        Code::OutOfMemory => format!("container {name} is killed: out of memory"),
        Code::CommandEnds => format!("container {name} ends by itself, with exit code 0"),
        _ => format!(
            "container {name} ends with exit code {}{}",
            end.exit_code,
            meaning(end.exit_code)
        ),
    }
}

/// What an exit code usually means.
fn meaning(code: i32) -> &'static str {
    match code {
        1 => " (application error)",
        2 => " (wrong usage, or a panic)",
        126 => " (command can't be executed)",
        127 => " (command not found)",
        129 => " (SIGHUP)",
        130 => " (SIGINT)",
        131 => " (SIGQUIT)",
        132 => " (SIGILL)",
        134 => " (SIGABRT)",
        135 => " (SIGBUS)",
        136 => " (SIGFPE)",
        137 => " (SIGKILL)",
        139 => " (SIGSEGV)",
        141 => " (SIGPIPE)",
        143 => " (SIGTERM)",
        255 => " (runtime trouble, or the wrong architecture)",
        _ => "",
    }
}
