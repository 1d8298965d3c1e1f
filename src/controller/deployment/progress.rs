//! Progress: complete, progressing, timed out; the Progressing and `ReplicaFailure` conditions, and when to look again
//! (deployment-controller sections 15 and 16).

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::Pass;
use super::replica_sets::ReplicaSets;
use super::status::new_condition;
use crate::controller::api::{Condition, ConditionStatus, Deployment, DeploymentStatus};
use crate::controller::condition::{get_condition, remove_condition, set_condition};
use crate::controller::keys;
use crate::controller::plan::{Requeue, SyncError};
use crate::controller::why::{WaitingOn, Why};

/// "No deadline", spelt as a number.
const NO_DEADLINE: i32 = i32::MAX;

/// Whether the rollout has to make progress within a time (section 15.1).
pub fn has_progress_deadline(deployment: &Deployment) -> bool {
    deadline_of(deployment).is_some()
}

/// Whether every pod is of the new template and available, no other is left, and the controller has seen the newest
/// generation (section 15.2). `status` is the stored one or one just computed.
pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let desired = deployment.spec.replicas;
    status.updated_replicas == desired
        && status.replicas == desired
        && status.available_replicas == desired
        && status.observed_generation >= deployment.meta.generation
}

/// Whether there are more new pods, fewer old ones, or more ready or available ones than before (section 15.2).
pub fn is_progressing(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let old = |status: &DeploymentStatus| status.replicas.saturating_sub(status.updated_replicas);
    after.updated_replicas > before.updated_replicas
        || old(after) < old(before)
        || after.ready_replicas > before.ready_replicas
        || after.available_replicas > before.available_replicas
}

/// Whether the deadline has passed without progress (section 15.2). A rollout that was complete never times out.
pub fn is_timed_out(deployment: &Deployment, status: &DeploymentStatus, now: Timestamp) -> bool {
    let Some(condition) = get_condition(&status.conditions, keys::PROGRESSING) else {
        return false;
    };
    match (condition.reason.as_str(), deadline_of(deployment)) {
        (_, None) | (keys::NEW_REPLICA_SET_AVAILABLE, _) => false,
        (keys::PROGRESS_DEADLINE_EXCEEDED, _) => true,
        (_, Some(deadline)) => time_left(condition, deadline, now).is_negative(),
    }
}

impl Pass<'_> {
    /// Remembers pausing and resuming in the Progressing condition, which also restarts the deadline (section 15.4).
    pub(super) fn check_paused_conditions(&mut self) -> Result<(), SyncError> {
        if !has_progress_deadline(self.deployment) {
            return Ok(());
        }
        let reason = get_condition(&self.status.conditions, keys::PROGRESSING)
            .map_or("", |condition| condition.reason.as_str());
        let (reason, message) = match (self.deployment.spec.paused, reason) {
            (_, keys::PROGRESS_DEADLINE_EXCEEDED) | (true, keys::DEPLOYMENT_PAUSED) => {
                return Ok(());
            }
            (true, _) => (keys::DEPLOYMENT_PAUSED, "Deployment is paused"),
            (false, keys::DEPLOYMENT_PAUSED) => (keys::DEPLOYMENT_RESUMED, "Deployment is resumed"),
            (false, _) => return Ok(()),
        };
        self.set_progressing(ConditionStatus::Unknown, reason, message.to_owned());
        Ok(self.update_status(Why::StatusChanged)?)
    }

    /// Sets the Progressing condition in the working copy of the status.
    pub(super) fn set_progressing(
        &mut self,
        status: ConditionStatus,
        reason: &str,
        message: String,
    ) {
        let condition = self.progressing(status, reason, message);
        set_condition(&mut self.status.conditions, condition);
    }

    /// A Progressing condition made now.
    fn progressing(&self, status: ConditionStatus, reason: &str, message: String) -> Condition {
        new_condition(
            keys::PROGRESSING,
            status,
            reason,
            message,
            self.snapshot.now,
        )
    }

    /// Writes the status with its judgement on the rollout, where it changed; otherwise says when to look again
    /// (section 15.3).
    pub(super) fn sync_rollout_status(
        &mut self,
        sets: &ReplicaSets<'_>,
    ) -> Result<Requeue, SyncError> {
        let mut status = self.calculate_status(sets);
        self.judge_progress(&mut status, sets);
        match replica_failure(sets) {
            Some(failure) => set_condition(
                &mut status.conditions,
                Condition {
                    last_update_time: failure.last_transition_time.clone(),
                    ..failure.clone()
                },
            ),
            None => remove_condition(&mut status.conditions, keys::REPLICA_FAILURE),
        }
        if is_timed_out(self.deployment, &status, self.snapshot.now) {
            self.recorder.wait_for(WaitingOn::DeadlineExceeded);
        }
        if status == self.status {
            return Ok(self.requeue_stuck_deployment(&status));
        }
        self.status = status;
        self.update_status(Why::StatusChanged)?;
        Ok(Requeue::No)
    }

    fn judge_progress(&self, status: &mut DeploymentStatus, sets: &ReplicaSets<'_>) {
        if !has_progress_deadline(self.deployment) {
            remove_condition(&mut status.conditions, keys::PROGRESSING);
            return;
        }
        let current = get_condition(&self.status.conditions, keys::PROGRESSING);
        let was_complete =
            current.is_some_and(|condition| condition.reason == keys::NEW_REPLICA_SET_AVAILABLE);
        if was_complete && status.replicas == status.updated_replicas {
            return;
        }
        let subject = match &sets.new {
            Some(new) => format!("ReplicaSet \"{}\"", new.meta.name),
            None => format!("Deployment \"{}\"", self.deployment.meta.name),
        };
        if is_complete(self.deployment, status) {
            let message = format!("{subject} has successfully progressed.");
            let reason = keys::NEW_REPLICA_SET_AVAILABLE;
            let complete = self.progressing(ConditionStatus::True, reason, message);
            set_condition(&mut status.conditions, complete);
        } else if is_progressing(&self.status, status) {
            let message = format!("{subject} is progressing.");
            let reason = keys::REPLICA_SET_UPDATED;
            let mut renewed = self.progressing(ConditionStatus::True, reason, message);
            if let Some(current) = current
                && current.status == renewed.status
            {
                let since = &current.last_transition_time;
                renewed.last_transition_time.clone_from(since);
            }
            // Progress restarts the deadline, so the condition is renewed even where status and reason stay.
            remove_condition(&mut status.conditions, keys::PROGRESSING);
            status.conditions.push(renewed);
        } else if is_timed_out(self.deployment, status, self.snapshot.now) {
            let message = format!("{subject} has timed out progressing.");
            let reason = keys::PROGRESS_DEADLINE_EXCEEDED;
            let timed_out = self.progressing(ConditionStatus::False, reason, message);
            set_condition(&mut status.conditions, timed_out);
        }
    }

    /// Nothing will happen when the deadline passes, so the Deployment asks to be looked at then (section 16).
    fn requeue_stuck_deployment(&self, status: &DeploymentStatus) -> Requeue {
        let (Some(deadline), Some(condition)) = (
            deadline_of(self.deployment),
            get_condition(&self.status.conditions, keys::PROGRESSING),
        ) else {
            return Requeue::No;
        };
        if is_complete(self.deployment, status)
            || condition.reason == keys::PROGRESS_DEADLINE_EXCEEDED
        {
            return Requeue::No;
        }
        let left = time_left(condition, deadline, self.snapshot.now);
        match Duration::try_from(left) {
            Ok(left) if left >= Duration::from_secs(1) => {
                Requeue::After(left + Duration::from_secs(1))
            }
            _ => Requeue::RateLimited,
        }
    }
}

/// The deadline, where there is one.
fn deadline_of(deployment: &Deployment) -> Option<SignedDuration> {
    deployment
        .spec
        .progress_deadline_seconds
        .filter(|seconds| *seconds != NO_DEADLINE)
        .map(|seconds| SignedDuration::from_secs(seconds.into()))
}

/// When the deadline passes unless there is progress before. `None` where none is running: without one, paused,
/// complete, or passed already.
pub(super) fn deadline_end(deployment: &Deployment) -> Option<Timestamp> {
    let deadline = deadline_of(deployment)?;
    let status = &deployment.status;
    let condition = get_condition(&status.conditions, keys::PROGRESSING)?;
    let is_over = matches!(
        condition.reason.as_str(),
        keys::NEW_REPLICA_SET_AVAILABLE | keys::PROGRESS_DEADLINE_EXCEEDED
    );
    if is_over || deployment.spec.paused || is_complete(deployment, status) {
        return None;
    }
    let updated = condition.last_update_time.as_ref()?;
    updated.0.checked_add(deadline).ok()
}

/// How long the deadline is off; negative when it has passed. A condition without a time is infinitely old.
fn time_left(condition: &Condition, deadline: SignedDuration, now: Timestamp) -> SignedDuration {
    let updated = condition
        .last_update_time
        .as_ref()
        .map_or(Timestamp::MIN, |time| time.0);
    updated.duration_since(now) + deadline
}

/// The first `ReplicaFailure` condition, the new ReplicaSet's before those of old ones.
pub(super) fn replica_failure<'s>(sets: &'s ReplicaSets<'_>) -> Option<&'s Condition> {
    let mut sets = sets.new.iter().chain(&sets.old);
    sets.find_map(|set| get_condition(&set.status.conditions, keys::REPLICA_FAILURE))
}
