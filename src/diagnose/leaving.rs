//! Pods that are being deleted (failure-states sections 11 and 13).

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::case::Case;
use super::code::Code;
use super::finding::{Class, Finding};
use super::node;
use crate::controller::plural::agree;

/// Kubelets report the end of a pod within this time after its grace period.
const REPORT: Duration = Duration::from_secs(10);

/// Why a pod that is deleted is still there.
pub(super) fn examine(case: Case<'_>, deleted_by: Timestamp) -> Finding {
    let pod = case.pod;
    let finalizers = &pod.meta.finalizers;
    let finding = if pod.is_finished() && !finalizers.is_empty() {
        let names = finalizers.join(", ");
        let word = agree(
            i64::try_from(finalizers.len()).unwrap_or(i64::MAX),
            "finalizer",
            "finalizers",
        );
        Finding::new(
            Code::Finalizers,
            Class::Waiting,
            format!("deleted, and held by {word} {names}"),
        )
    } else if case.snapshot.now < deleted_by || case.snapshot.age(deleted_by) < REPORT {
        within_grace(case)
    } else {
        overdue(case)
    };
    finding.since(Some(deleted_by))
}

/// On its way out as it should be. Who sent it away is worth knowing.
fn within_grace(case: Case<'_>) -> Finding {
    let Some(target) = case.pod.condition("DisruptionTarget") else {
        return Finding::new(
            Code::Terminating,
            Class::Note,
            "terminating, within its grace period",
        );
    };
    let (code, message) = match target.reason.as_str() {
        "PreemptionByScheduler" => (Code::Preempted, "makes room for a pod of higher priority"),
        "EvictionByEvictionAPI" => (Code::Evicted, "evicted through the API, as a drain does"),
        "DeletionByTaintManager" => (Code::NodeUnreachable, "deleted for a taint of its node"),
        "DeletionByPodGC" => (Code::NodeUnreachable, "its node no longer exists"),
        _ => (Code::Terminating, "terminating, within its grace period"),
    };
    Finding::new(code, Class::Transient, message).evidence(&target.message)
}

fn overdue(case: Case<'_>) -> Finding {
    if let Some(silent) = node::unreachable(case) {
        return Finding {
            class: Class::Waiting,
            message: format!("deleted, but {}", silent.message),
            next_step: "bring the node back, delete the Node, or taint it node.kubernetes.io/out-of-service"
                .to_owned(),
            ..silent
        };
    }
    if case.pod.node_name.is_empty() {
        return Finding::new(
            Code::StuckTerminating,
            Class::Waiting,
            "deleted without ever having had a node",
        )
        .next_step("pod garbage collection removes it where a controller manager runs; else delete it with --force");
    }
    let event = case.newest_of(&["FailedKillPod", "ExceededGracePeriod"]);
    Finding::new(
        Code::StuckTerminating,
        Class::TerminalAfterBudget,
        "deleted, and still there after its grace period",
    )
    .evidence(event.map_or("", |event| event.message.as_str()))
}
