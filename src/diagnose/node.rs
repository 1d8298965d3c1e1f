//! Nodes that don't answer, and pods that ended with their node's or kubelet's doing (failure-states sections 11, 12).

use super::case::Case;
use super::code::Code;
use super::finding::{Class, Finding};
use crate::controller::api::ConditionStatus;

/// Reasons of kubelets that refuse a pod, where trying again elsewhere can't help.
const HOPELESS: [&str; 8] = [
    "SysctlForbidden",
    "NodeAffinity",
    "PodOSNotSupported",
    "PodOSSelectorNodeLabelDoesNotMatch",
    "AppArmor",
    "SupplementalGroupsPolicyNotSupported",
    "PodFeatureUnsupported",
    "PodLevelResourcesNotSupported",
];

/// A pod on a node that does not answer: not ready for no reason, though its containers are.
pub(super) fn unreachable(case: Case<'_>) -> Option<Finding> {
    let ready = case.pod.condition("Ready")?;
    let is_silent = ready.status == ConditionStatus::False && ready.reason.is_empty();
    let containers_ready = case
        .pod
        .has_condition("ContainersReady", ConditionStatus::True);
    (is_silent && containers_ready).then(|| {
        let event = case.newest_of(&["NodeNotReady"]);
        Finding::new(
            Code::NodeUnreachable,
            Class::Transient,
            format!("node {} does not answer", case.pod.node_name),
        )
        .evidence(event.map_or("", |event| event.message.as_str()))
        .since(ready.last_transition_time.as_ref().map(|time| time.0))
    })
}

/// A pod that has failed as a whole. Its ReplicaSet makes another one, so this passes by itself, unless it goes on;
/// whether it does is for whoever sees all of them.
pub(super) fn failed(case: Case<'_>) -> Finding {
    let pod = case.pod;
    let message = pod.message.trim_end();
    let finding = match pod.reason.as_str() {
        "Evicted" => Finding::new(Code::Evicted, Class::Transient, evicted_why(message)),
        "Preempting" => Finding::new(
            Code::Preempted,
            Class::Transient,
            "ended to make room for a critical pod",
        ),
        "Terminated" | "NodeShutdown" => {
            Finding::new(Code::NodeShutdown, Class::Transient, "the node shut down")
        }
        "" => Finding::new(Code::PodFailed, Class::Transient, "the pod has ended"),
        reason => rejected(reason, message),
    };
    let gone = pod.condition("DisruptionTarget");
    finding
        .evidence(message)
        .evidence(gone.map_or("", |condition| condition.message.trim_end()))
        .since(pod.meta.created())
}

fn evicted_why(message: &str) -> String {
    let first = message.split(". ").next().unwrap_or(message);
    let first = first.strip_prefix("Pod was rejected: ").unwrap_or(first);
    format!("evicted: {}", first.trim_end_matches('.'))
}

fn rejected(reason: &str, message: &str) -> Finding {
    let why = message
        .strip_prefix("Pod was rejected: ")
        .unwrap_or(message);
    let class = if HOPELESS.contains(&reason) {
        Class::TerminalNow
    } else {
        Class::TerminalAfterBudget
    };
    Finding::new(
        Code::PodRejected,
        class,
        format!("the kubelet refuses the pod: {why}"),
    )
}
