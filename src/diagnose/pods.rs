//! All pods of a Deployment: for each that is not available the one cause that holds it up, put together by cause.

use std::collections::BTreeMap;

use k8s_openapi::jiff::SignedDuration;

use super::api::{Container, Pod};
use super::budget::{Budgets, is_spent};
use super::case::Case;
use super::code::Code;
use super::finding::{Class, Finding, Side, Subject, grouped};
use super::snapshot::Snapshot;
use super::{crash, image, leaving, node, probe, scheduling, start, volume};
use crate::controller::api::{ConditionStatus, ReplicaSet};

/// Evictions and the like are let pass until so many pods of one template met with the same.
const REPEATED: usize = 3;
/// How often a pod that no kubelet can take needs to be refused.
const HOPELESS_REJECTIONS: u32 = 2;

/// What is the matter with the pods. `new` is the ReplicaSet of the Deployment's template.
pub(super) fn examine(
    snapshot: &Snapshot,
    budgets: &Budgets,
    new: Option<&ReplicaSet>,
) -> Vec<Finding> {
    let sets: BTreeMap<&str, &ReplicaSet> = snapshot
        .replica_sets
        .iter()
        .map(|set| (set.meta.uid.as_str(), set.as_ref()))
        .collect();
    let owned = snapshot.pods.iter().filter_map(|pod| {
        let set = sets.get(pod.meta.controller()?.uid.as_str())?;
        Some((*set, pod.as_ref()))
    });
    let findings = owned.filter_map(|(set, pod)| {
        let is_new = new.is_some_and(|new| new.meta.uid == set.meta.uid);
        let case = Case {
            snapshot,
            budgets,
            pod,
        };
        let mut finding = examine_one(case, set.spec.min_ready_seconds)?;
        finding.side = if is_new { Side::New } else { Side::Old };
        finding.is_final &= is_new;
        finding.pods = vec![Subject {
            name: pod.meta.name.clone(),
            restarts: pod.restarts(),
        }];
        Some(finding)
    });
    let mut groups = grouped(findings);
    for group in &mut groups {
        judge_repetition(group, budgets);
    }
    grouped(groups)
}

/// A pod that ended as a whole is replaced; only when that goes on and on, the rollout can't end well.
fn judge_repetition(group: &mut Finding, budgets: &Budgets) {
    let count = group.pods.len();
    match group.code {
        Code::PodRejected => {
            let limit = match group.class {
                Class::TerminalNow => budgets.rejections.map(|n| n.min(HOPELESS_REJECTIONS)),
                _ => budgets.rejections,
            };
            let count = i32::try_from(count).unwrap_or(i32::MAX);
            group.is_final = group.side == Side::New && is_spent(limit, count);
        }
        Code::Evicted | Code::Preempted if count >= REPEATED => group.class = Class::Waiting,
        _ => {}
    }
}

/// The one cause that holds a pod up; for one that is available, whether it has crashed before.
fn examine_one(case: Case<'_>, min_ready_seconds: i32) -> Option<Finding> {
    let pod = case.pod;
    if let Some(deleted_by) = pod.meta.deletion_timestamp.as_ref() {
        return Some(leaving::examine(case, deleted_by.0));
    }
    if pod.is_finished() {
        return Some(node::failed(case));
    }
    if let Some(crash) = worst(pod, |container| crash::examine(case, container)) {
        return Some(crash);
    }
    if pod.is_available(min_ready_seconds, case.snapshot.now) {
        return recovered(case);
    }
    if pod.node_name.is_empty() {
        return Some(scheduling::examine(case));
    }
    worst(pod, |container| {
        image::examine(case, container).or_else(|| start::examine(case, container))
    })
    .or_else(|| volume::examine(case))
    .or_else(|| probe::init_waits(pod))
    .or_else(|| node::unreachable(case))
    .or_else(|| probe::readiness_gate(case))
    .or_else(|| worst(pod, |container| probe::examine(case, container)))
    .or_else(|| settling(case, min_ready_seconds))
    .or_else(|| Some(starting(case)))
}

/// The most telling finding about a pod's containers: init containers hold up the others, so they come first.
fn worst(pod: &Pod, look: impl Fn(&Container) -> Option<Finding>) -> Option<Finding> {
    pod.all_containers()
        .filter_map(|container| Some(look(container)?.container(&container.name)))
        .min_by_key(|finding| (!finding.is_final, finding.class))
}

/// An available pod that has crashed on its way.
fn recovered(case: Case<'_>) -> Option<Finding> {
    let crash = worst(case.pod, |container| crash::past(case, container))?;
    Some(Finding {
        class: Class::Note,
        is_final: false,
        message: format!("{}, and runs again", crash.message),
        next_step: String::new(),
        ..crash
    })
}

/// Ready, but not for long enough.
fn settling(case: Case<'_>, min_ready_seconds: i32) -> Option<Finding> {
    let ready = case
        .pod
        .has_condition("Ready", ConditionStatus::True)
        .then(|| case.pod.ready_since())?;
    let length = SignedDuration::from_secs(min_ready_seconds.into());
    Some(Finding {
        until: ready.and_then(|ready| ready.checked_add(length).ok()),
        ..Finding::new(
            Code::MinReadySeconds,
            Class::Note,
            format!("ready, and to stay so for {min_ready_seconds}s (minReadySeconds)"),
        )
        .since(ready)
    })
}

fn starting(case: Case<'_>) -> Finding {
    let message = match case.pod.all_containers().find_map(Container::waiting) {
        Some(("ContainerCreating" | "PodInitializing", _)) => "containers are being created",
        _ => "starting",
    };
    Finding::new(Code::Starting, Class::Note, message).since(case.bound_at())
}
