//! The status of a Deployment as its ReplicaSets make it (deployment-controller section 14).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use super::Pass;
use super::replica_sets::{ReplicaSets, replica_count, sum};
use crate::controller::api::{Condition, ConditionStatus, DeploymentStatus, ReplicaSet};
use crate::controller::condition::set_condition;
use crate::controller::keys;
use crate::controller::plan::{Requeue, SyncError};
use crate::controller::why::Why;

impl Pass<'_> {
    /// Writes the counters and the Available condition where they changed (section 14.3). Progress is not judged.
    pub(super) fn sync_deployment_status(
        &mut self,
        sets: &ReplicaSets<'_>,
    ) -> Result<Requeue, SyncError> {
        let status = self.calculate_status(sets);
        if status != self.status {
            self.status = status;
            self.update_status(Why::StatusChanged)?;
        }
        Ok(Requeue::No)
    }

    /// Counters summed over the ReplicaSets as they were when the pass began, and the Available condition (sections
    /// 14.1 and 14.2). `unavailableReplicas` alone counts wanted pods.
    pub(super) fn calculate_status(&self, sets: &ReplicaSets<'_>) -> DeploymentStatus {
        let available = sum(sets.all(), |set| set.status.available_replicas);
        let wanted = replica_count(sets.all());
        let new = sets.new.as_ref();
        let mut conditions = self.status.conditions.clone();
        set_condition(&mut conditions, self.availability(available));
        DeploymentStatus {
            observed_generation: self.deployment.meta.generation,
            replicas: sum(sets.all(), |set| set.status.replicas),
            updated_replicas: new.map_or(0, |set| set.status.replicas),
            ready_replicas: sum(sets.all(), |set| set.status.ready_replicas),
            available_replicas: available,
            unavailable_replicas: wanted.saturating_sub(available).max(0),
            terminating_replicas: terminating(sets.all())
                .filter(|_| !self.snapshot.omits_terminating_replicas),
            collision_count: self.status.collision_count,
            conditions,
        }
    }

    fn availability(&self, available: i32) -> Condition {
        let (status, reason, message) = if available >= self.bounds.min_available() {
            (
                ConditionStatus::True,
                keys::MINIMUM_REPLICAS_AVAILABLE,
                "Deployment has minimum availability.",
            )
        } else {
            (
                ConditionStatus::False,
                keys::MINIMUM_REPLICAS_UNAVAILABLE,
                "Deployment does not have minimum availability.",
            )
        };
        let message = message.to_owned();
        new_condition(keys::AVAILABLE, status, reason, message, self.snapshot.now)
    }
}

/// Pods that are shutting down. Unknown as soon as one ReplicaSet's controller does not count them; a ReplicaSet that
/// no controller has seen yet has none.
fn terminating<'s>(sets: impl Iterator<Item = &'s ReplicaSet>) -> Option<i32> {
    sets.map(|set| match set.status.terminating_replicas {
        None if set.status.observed_generation == 0 => Some(0),
        count => count,
    })
    .try_fold(0, |total: i32, count| Some(total.saturating_add(count?)))
}

/// A condition made now.
pub(super) fn new_condition(
    type_: &str,
    status: ConditionStatus,
    reason: &str,
    message: String,
    now: Timestamp,
) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status,
        last_update_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
        reason: reason.to_owned(),
        message,
        ..Condition::default()
    }
}
