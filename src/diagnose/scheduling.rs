//! Pods without a node (failure-states section 9).

use std::collections::BTreeSet;
use std::time::Duration;

use super::case::{Case, between};
use super::code::Code;
use super::finding::{Class, Finding};
use crate::controller::api::ConditionStatus;

/// A scheduler looks at a new pod within this time.
const NOTICE: Duration = Duration::from_secs(10);
/// What the scheduler of 1.36 puts behind a sentence that holds for all nodes.
const ODD_TAIL: &str = ". not found";

/// Why a pod that has no node has none.
pub(super) fn examine(case: Case<'_>) -> Finding {
    let created = case.pod.meta.created();
    let overdue = case.snapshot.is_overdue(case.budgets.pending, created);
    let condition = case
        .pod
        .condition("PodScheduled")
        .filter(|condition| condition.status == ConditionStatus::False);
    let Some(condition) = condition else {
        return unnoticed(case, overdue);
    };
    let since = condition.last_transition_time.as_ref().map(|time| time.0);
    let finding = match condition.reason.as_str() {
        "SchedulingGated" => Finding::new(
            Code::SchedulingGate,
            Class::Waiting,
            "the pod's scheduling gates are set",
        ),
        _ => unschedulable(case, &condition.message),
    };
    finding
        .evidence(&condition.message)
        .since(since.or(created))
        .ending(overdue)
}

/// No scheduler has said anything.
fn unnoticed(case: Case<'_>, overdue: bool) -> Finding {
    let pod = case.pod;
    let since = pod.meta.created();
    if !pod.nominated_node.is_empty() && !pod.claims.is_empty() {
        let message = format!("a volume is being made for node {}", pod.nominated_node);
        return with_claim_events(
            case,
            Finding::new(Code::VolumeClaim, Class::Waiting, message),
        )
        .since(since)
        .ending(overdue);
    }
    if case.age() < NOTICE {
        return Finding::new(Code::Starting, Class::Note, "waits to be scheduled").since(since);
    }
    let message = match pod.scheduler_name.as_str() {
        "" | "default-scheduler" => "no scheduler looks at the pod".to_owned(),
        name => format!("no scheduler named {name:?} looks at the pod"),
    };
    Finding::new(Code::NoScheduler, Class::Waiting, message)
        .since(since)
        .ending(overdue)
}

fn unschedulable(case: Case<'_>, message: &str) -> Finding {
    if message == "no nodes available to schedule pods" {
        return Finding::new(Code::NoNodes, Class::Waiting, "the cluster has no nodes");
    }
    let reasons = reasons(message);
    if is_about_claims(reasons) {
        // The controller manager makes the claims of ephemeral volumes, a moment after the pod.
        let is_made_soon = reasons.contains("ephemeral volume controller") && case.age() < NOTICE;
        let class = if is_made_soon {
            Class::Transient
        } else {
            Class::Waiting
        };
        return with_claim_events(case, Finding::new(Code::VolumeClaim, class, reasons));
    }
    if !case.pod.nominated_node.is_empty() {
        let node = &case.pod.nominated_node;
        let message = format!("waits for pods of lower priority to leave node {node}");
        return Finding::new(Code::Unschedulable, Class::Transient, message).next_step("");
    }
    let mut finding = Finding::new(
        Code::Unschedulable,
        Class::Waiting,
        format!("no node takes the pod: {reasons}"),
    );
    if reasons.contains("untolerated taint") || reasons.contains("were unschedulable") {
        for text in obstacles(case) {
            finding = finding.evidence(text);
        }
    }
    if reasons.contains("Insufficient ") && !message.contains("No preemption victims found") {
        finding = finding.next_step(
            "the pod asks for more than any node has: lower its requests, or add larger nodes",
        );
    }
    finding
}

/// What keeps the pod from the nodes, without what preemption could do about it.
fn reasons(message: &str) -> &str {
    let reasons = message
        .split_once(" nodes are available: ")
        .map_or(message, |(_, reasons)| reasons);
    let reasons = reasons.strip_suffix(ODD_TAIL).unwrap_or(reasons);
    let end = [". no new claims to deallocate", ". preemption: "]
        .iter()
        .filter_map(|start| reasons.find(start))
        .min();
    reasons[..end.unwrap_or(reasons.len())].trim_end_matches('.')
}

fn is_about_claims(reasons: &str) -> bool {
    // A count in front means that nodes were looked at one by one.
    !reasons.starts_with(|first: char| first.is_ascii_digit())
        && (reasons.contains("persistentvolumeclaim") || reasons.contains("PersistentVolumeClaims"))
}

/// Adds what the cluster says about the pod's claims; what is normal is left out.
fn with_claim_events(case: Case<'_>, finding: Finding) -> Finding {
    let named = between(&finding.message, "persistentvolumeclaim \"", "\"").map(str::to_owned);
    let claims = case.pod.claims.iter().chain(&named);
    let events = claims.filter_map(|claim| {
        case.snapshot
            .events_about("PersistentVolumeClaim", claim)
            .filter(|event| {
                !matches!(
                    event.reason.as_str(),
                    "WaitForFirstConsumer" | "WaitForPodScheduled"
                )
            })
            .max_by_key(|event| event.last_seen)
    });
    events.fold(finding, |finding, event| finding.evidence(&event.message))
}

/// The nodes' taints and cordons, which the scheduler's message no longer names.
fn obstacles(case: Case<'_>) -> BTreeSet<String> {
    let nodes = &case.snapshot.surroundings.nodes;
    nodes
        .iter()
        .flat_map(|node| {
            let name = &node.meta.name;
            let cordon = node
                .spec
                .unschedulable
                .then(|| format!("node {name} is cordoned"));
            let taints = node.spec.taints.iter().filter(|taint| {
                taint.effect != "PreferNoSchedule"
                    && taint.key != "node.kubernetes.io/unschedulable"
            });
            let taints = taints.map(move |taint| {
                let value = match taint.value.as_str() {
                    "" => String::new(),
                    value => format!("={value}"),
                };
                format!(
                    "node {name} has taint {}{value}:{}",
                    taint.key, taint.effect
                )
            });
            cordon.into_iter().chain(taints)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_come_without_preemption_and_odd_tails() {
        let cases = [
            (
                "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
                "3 Insufficient cpu",
            ),
            (
                "0/3 nodes are available: persistentvolumeclaim \"data\" not found. not found",
                "persistentvolumeclaim \"data\" not found",
            ),
            (
                "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
                "1 Too many pods",
            ),
            (
                "no nodes available to schedule pods",
                "no nodes available to schedule pods",
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(reasons(message), expected);
        }
    }
}
