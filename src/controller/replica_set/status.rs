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
    let min_ready_seconds = replica_set.spec.min_ready_seconds;
    let fully_labeled = Selector::from_labels(replica_set.spec.template.labels());
    let count_if =
        |test: &dyn Fn(&Pod) -> bool| count(active.iter().filter(|pod| test(pod)).count());
    let mut conditions = replica_set.status.conditions.clone();
    let failed_before = get_condition(&conditions, REPLICA_FAILURE).is_some();
    match failure {
        // The first failure stays until a pass goes through, even when the next fails for another reason.
        Some(error) if !failed_before => {
            set_condition(
                &mut conditions,
                failure_condition(replica_set, active, error, now),
            );
        }
        None => remove_condition(&mut conditions, REPLICA_FAILURE),
        Some(_) => {}
    }
    ReplicaSetStatus {
        replicas: count(active.len()),
        fully_labeled_replicas: count_if(&|pod| fully_labeled.matches(&pod.meta.labels)),
        ready_replicas: count_if(&Pod::is_ready),
        available_replicas: count_if(&|pod| pod.is_available(min_ready_seconds, now)),
        terminating_replicas: Some(count(terminating)),
        observed_generation: replica_set.meta.generation,
        conditions,
    }
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
