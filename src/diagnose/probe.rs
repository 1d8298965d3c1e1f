//! Containers that run and are not ready (failure-states sections 5, 7 and 8).

use std::time::Duration;

use super::api::{Container, Event, Pod};
use super::case::Case;
use super::code::Code;
use super::finding::{Class, Finding};
use crate::controller::api::ConditionStatus;

/// Until then a probe that has not passed is nothing to tell of.
const FIRST_MINUTE: Duration = Duration::from_secs(60);

/// Why a container that runs is not ready.
pub(super) fn examine(case: Case<'_>, container: &Container) -> Option<Finding> {
    if !container.is_running() || container.is_ready {
        return None;
    }
    let name = &container.name;
    if let Some(event) = unhealthy(case, container, "Startup").filter(|_| !container.is_started) {
        let message = format!("the startup probe of container {name} has not passed yet");
        return Some(probe_failure(Code::StartupProbe, message, event));
    }
    if let Some(event) = unhealthy(case, container, "Readiness") {
        let message = format!("the readiness probe of container {name} fails");
        return Some(probe_failure(Code::ReadinessProbe, message, event));
    }
    if let Some(event) = unhealthy(case, container, "Liveness") {
        let message = format!("the liveness probe of container {name} fails");
        return Some(probe_failure(Code::LivenessProbe, message, event));
    }
    silent(case, container)
}

/// A container that has started is ready unless it has a readiness probe, so that is what is missing, though no event says
/// so: they are thinned at the source, live for an hour, and may not be ours to read. Nobody is alarmed in its first minute.
fn silent(case: Case<'_>, container: &Container) -> Option<Finding> {
    let since = container.running_since();
    let is_late = case.snapshot.is_overdue(Some(FIRST_MINUTE), since);
    let (code, probe) = match (container.is_started, is_late) {
        (true, _) => (Code::ReadinessProbe, "readiness"),
        (false, true) => (Code::StartupProbe, "startup"),
        (false, false) => return None,
    };
    let class = if is_late {
        Class::TerminalAfterBudget
    } else {
        Class::Note
    };
    let message = format!(
        "the {probe} probe of container {} has not passed yet",
        container.name
    );
    let ready = case.pod.condition("Ready");
    Some(
        Finding::new(code, class, message)
            .evidence(ready.map_or("", |ready| ready.message.as_str()))
            .since(since),
    )
}

fn probe_failure(code: Code, message: String, event: &Event) -> Finding {
    Finding::new(code, Class::TerminalAfterBudget, message)
        .evidence(&event.message)
        .since(event.first_seen)
}

/// The newest failure of a probe of the present run.
fn unhealthy<'a>(case: Case<'a>, container: &Container, kind: &str) -> Option<&'a Event> {
    case.newest_event(|event| {
        event.reason == "Unhealthy"
            && event.message.starts_with(kind)
            && event.is_about_container(&container.name)
    })
    .filter(|event| {
        let began = container.running_since();
        began.is_none_or(|began| event.last_seen.is_none_or(|last| last >= began))
    })
}

/// An init container, not a sidecar, that runs on: it waits for something, and nothing says so.
pub(super) fn init_waits(pod: &Pod) -> Option<Finding> {
    if pod.containers.iter().any(Container::is_running) {
        return None;
    }
    let container = pod
        .init
        .iter()
        .find(|container| container.is_running() && !container.is_sidecar)?;
    Some(
        Finding::new(
            Code::InitWaiting,
            Class::Waiting,
            format!("init container {} runs on", container.name),
        )
        .container(&container.name)
        .since(container.running_since()),
    )
}

/// A pod whose containers are ready and that is not, since a readiness gate is not set.
pub(super) fn readiness_gate(case: Case<'_>) -> Option<Finding> {
    let ready = case.pod.condition("Ready")?;
    (ready.status == ConditionStatus::False && ready.reason == "ReadinessGatesNotReady").then(
        || {
            let since = ready.last_transition_time.as_ref().map(|time| time.0);
            Finding::new(
                Code::ReadinessGate,
                Class::Waiting,
                "a readiness gate is not set",
            )
            .evidence(&ready.message)
            .since(since)
            .ending(case.snapshot.is_overdue(case.budgets.waiting, since))
        },
    )
}
