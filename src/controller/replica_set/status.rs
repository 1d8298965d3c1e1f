//! What is written about a ReplicaSet (replicaset-controller section 10).

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::controller::action::{Action, Kind, Refusal, Target};
use crate::controller::api::{Condition, ConditionStatus, Pod, ReplicaSet, ReplicaSetStatus};
use crate::controller::condition::{get_condition, remove_condition, set_condition};
use crate::controller::keys::REPLICA_FAILURE;
use crate::controller::plan::{Recorder, SyncError};
use crate::controller::selector::Selector;
use crate::controller::why::Why;

use super::count;

/// The status, by the pods as they were when the pass began.
pub(super) fn calculate(
    replica_set: &ReplicaSet,
    active: &[&Pod],
    terminating: usize,
    failure: Option<&SyncError>,
    now: Timestamp,
) -> ReplicaSetStatus {
    let further_labels = further_labels(replica_set);
    let mut status = ReplicaSetStatus {
        replicas: count(active.len()),
        terminating_replicas: Some(count(terminating)),
        observed_generation: replica_set.meta.generation,
        conditions: replica_set.status.conditions.clone(),
        ..ReplicaSetStatus::default()
    };
    for pod in active {
        let is_available = pod.is_available(replica_set.spec.min_ready_seconds, now);
        status.fully_labeled_replicas += i32::from(further_labels.matches(&pod.meta.labels));
        status.ready_replicas += i32::from(pod.is_ready());
        status.available_replicas += i32::from(is_available);
    }
    let failed_before = get_condition(&status.conditions, REPLICA_FAILURE).is_some();
    match failure {
        // The first failure stays until a pass goes through, even when the next fails for another reason.
        Some(error) if !failed_before => {
            let condition = failure_condition(replica_set, active, error, now);
            set_condition(&mut status.conditions, condition);
        }
        None => remove_condition(&mut status.conditions, REPLICA_FAILURE),
        Some(_) => {}
    }
    status
}

/// Labels of the template that the selector does not demand anyway: with many pods, looking only at what may be missing
/// is most of the work saved.
fn further_labels(replica_set: &ReplicaSet) -> Selector {
    let mut labels = replica_set.spec.template.labels();
    let selector = replica_set.spec.selector.as_ref();
    if let Some(demanded) = selector.and_then(|selector| selector.match_labels.as_ref()) {
        labels.retain(|key, value| demanded.get(key) != Some(value));
    }
    Selector::from_labels(labels)
}

fn failure_condition(
    replica_set: &ReplicaSet,
    active: &[&Pod],
    error: &SyncError,
    now: Timestamp,
) -> Condition {
    let too_few = count(active.len()) < replica_set.spec.replicas;
    Condition {
        type_: REPLICA_FAILURE.to_owned(),
        status: ConditionStatus::True,
        reason: if too_few {
            "FailedCreate"
        } else {
            "FailedDelete"
        }
        .to_owned(),
        message: error.to_string(),
        last_transition_time: Some(Time(now)),
        ..Condition::default()
    }
}

/// Writes the status unless the server has it already. A refused write is tried once more, over whatever the server
/// has by then; the observed generation stays the one that this pass acted on.
pub(super) fn write(
    replica_set: &ReplicaSet,
    status: &ReplicaSetStatus,
    recorder: &mut Recorder<'_>,
) -> Result<(), Refusal> {
    if *status == replica_set.status {
        return Ok(());
    }
    let update = |reread| Action::UpdateReplicaSetStatus {
        target: Target::new(Kind::ReplicaSet, &replica_set.meta),
        status: Box::new(status.clone()),
        reread,
    };
    if recorder.perform(update(false), Why::StatusChanged).is_err() {
        recorder.perform(update(true), Why::StatusChanged)?;
    }
    Ok(())
}

/// How long until the next ready pod has been ready for minReadySeconds. Without such a pod, the counters say that one
/// is ready and not available all the same: then after minReadySeconds.
pub(super) fn next_available(active: &[&Pod], min_ready_seconds: i32, now: Timestamp) -> Duration {
    let min_ready = SignedDuration::from_secs(min_ready_seconds.into());
    active
        .iter()
        .filter_map(|pod| pod.ready_since())
        .map(|since| min_ready - now.duration_since(since))
        .filter(SignedDuration::is_positive)
        .min()
        .unwrap_or(min_ready)
        .unsigned_abs()
}
