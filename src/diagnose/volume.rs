//! Pods that have a node and whose containers can't begin: volumes and the sandbox (failure-states section 10).

use super::api::{Container, Event};
use super::case::{Case, between};
use super::code::Code;
use super::finding::{Class, Finding};
use super::start::missing;

/// Warnings of what comes before containers.
const REASONS: [&str; 7] = [
    "FailedMount",
    "FailedMapVolume",
    "FailedAttachVolume",
    "FailedCreatePodSandBox",
    "NetworkNotReady",
    "FailedCreatePodContainer",
    "FailedPrepareDynamicResources",
];

/// Why no container of the pod has begun, as far as an event says.
pub(super) fn examine(case: Case<'_>) -> Option<Finding> {
    if !case.pod.all_containers().all(is_yet_to_begin) {
        return None;
    }
    let event = case.newest_of(&REASONS)?;
    let finding = describe(event);
    let since = event.first_seen;
    let limit = match finding.class {
        Class::TerminalAfterBudget => case.budgets.start,
        _ => case.budgets.waiting,
    };
    let is_final = finding.class != Class::Transient && case.snapshot.is_overdue(limit, since);
    Some(
        finding
            .evidence(&event.message)
            .since(since)
            .ending(is_final),
    )
}

fn is_yet_to_begin(container: &Container) -> bool {
    matches!(
        container.waiting(),
        Some(("ContainerCreating" | "PodInitializing" | "", _))
    ) && container.last.is_none()
}

fn describe(event: &Event) -> Finding {
    let text = &event.message;
    match event.reason.as_str() {
        "FailedAttachVolume" if text.starts_with("Multi-Attach error") => Finding::new(
            Code::MultiAttach,
            Class::Waiting,
            format!("volume {} is attached to another node", volume(text)),
        ),
        "FailedAttachVolume" => Finding::new(
            Code::VolumeAttach,
            Class::TerminalAfterBudget,
            format!("volume {} can't be attached", volume(text)),
        ),
        "FailedMount" | "FailedMapVolume" => mount(text),
        "NetworkNotReady" => Finding::new(
            Code::PodSandbox,
            Class::TerminalAfterBudget,
            "the node's network is not ready",
        ),
        _ => Finding::new(
            Code::PodSandbox,
            Class::TerminalAfterBudget,
            "the pod's sandbox can't be made",
        ),
    }
}

fn mount(text: &str) -> Finding {
    // The kubelet writes a blank before the colon.
    let cause = text.split_once(" : ").map_or("", |(_, cause)| cause);
    let volume = volume(text);
    if cause.contains("\"kube-root-ca.crt\" not found") {
        return missing(&format!("volume {volume}: {cause}")).next_step(
            "the controller manager publishes kube-root-ca.crt: start it, or set automountServiceAccountToken: false",
        );
    }
    let is_missing = (cause.starts_with("configmap ") || cause.starts_with("secret "))
        && cause.ends_with(" not found")
        || cause.contains("references non-existent");
    if is_missing {
        return missing(&format!("volume {volume}: {cause}"));
    }
    if cause.ends_with(" not registered") || cause.starts_with("failed to sync ") {
        return Finding::new(
            Code::ConfigNotReady,
            Class::Transient,
            "the kubelet has not read the configuration yet",
        );
    }
    if cause.contains("not found in the list of registered CSI drivers") {
        return Finding::new(
            Code::VolumeMount,
            Class::Waiting,
            format!("the node has no driver for volume {volume}"),
        )
        .next_step("install the volume's CSI driver on the node");
    }
    Finding::new(
        Code::VolumeMount,
        Class::TerminalAfterBudget,
        format!("volume {volume} can't be mounted"),
    )
}

/// The volume that a message names, in quotes.
fn volume(text: &str) -> String {
    let name = between(text, "volume \"", "\"").unwrap_or("?");
    format!("{name:?}")
}
