//! The Deployment controller: one pass over one Deployment (deployment-controller section 4).
//!
//! `mod` holds the order of the steps; each concern has a file of its own, named as upstream's. Steps change working
//! copies only, so a pass goes on as if the API had answered at once.

mod cleanup;
mod fenceposts;
mod history;
pub mod overview;
mod progress;
mod recreate;
mod replica_sets;
mod revision;
mod rollback;
mod rolling;
mod scale;
mod status;
mod waiting;
mod working_copy;

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use self::replica_sets::{Claimed, ReplicaSets};
use super::action::{Action, AnnotationChanges, EventType, Kind, Refusal, Target};
use super::api::{Deployment, DeploymentStatus, Pod, ReplicaSet};
use super::claim::Claimer;
use super::keys;
use super::plan::{LiveOwner, Outcomes, Plan, Recorder, Requeue, SyncError};
use super::selector::Selector;
use super::why::{WaitingOn, Why};

pub use self::fenceposts::{FencepostError, Fenceposts, resolve_fenceposts};
pub use self::history::history;
pub use self::progress::{has_progress_deadline, is_complete, is_progressing, is_timed_out};
pub use self::replica_sets::find_new_replica_set;
pub use self::revision::{revision, revision_history, skip_copy_annotation};

/// What one pass may see.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The instant of the whole pass.
    pub now: Timestamp,
    /// The Deployment.
    pub deployment: Arc<Deployment>,
    /// All ReplicaSets of its namespace, in the order of names.
    pub replica_sets: Vec<Arc<ReplicaSet>>,
    /// Pods controlled by those ReplicaSets. Only `Recreate` looks at them.
    pub pods: Vec<Arc<Pod>>,
    /// A fresh read of the Deployment, for adoptions.
    pub live_owner: LiveOwner,
    /// Whether the API server leaves `terminatingReplicas` out of every status, as those do that don't know it yet: then
    /// it is neither written nor missed.
    pub omits_terminating_replicas: bool,
}

/// Plans one pass. `answers` are the outcomes of the first steps, where they were already sent.
pub fn reconcile(snapshot: &Snapshot, answers: &Outcomes) -> Plan {
    let mut pass = Pass::new(snapshot, Recorder::new(answers));
    let end = pass.sync_deployment();
    if let Err(SyncError::Refused(refusal)) = &end {
        pass.recorder.wait_for(WaitingOn::Refused {
            message: refusal.message.clone(),
        });
    }
    pass.recorder.finish(end)
}

/// One pass: the snapshot, the steps so far, and working copies of what they change.
struct Pass<'a> {
    snapshot: &'a Snapshot,
    deployment: &'a Deployment,
    bounds: Fenceposts,
    recorder: Recorder<'a>,
    /// The Deployment's status as this pass has written it, or is about to.
    status: DeploymentStatus,
    /// The Deployment's revision annotation, likewise.
    revision: String,
    /// Changes to the Deployment's annotations that no write has carried yet.
    unwritten: AnnotationChanges,
}

impl<'a> Pass<'a> {
    fn new(snapshot: &'a Snapshot, recorder: Recorder<'a>) -> Self {
        let deployment = &*snapshot.deployment;
        let revision = deployment.meta.annotation(keys::REVISION);
        Self {
            snapshot,
            deployment,
            bounds: Fenceposts::of(deployment),
            recorder,
            status: deployment.status.clone(),
            revision: revision.unwrap_or_default().to_owned(),
            unwritten: AnnotationChanges::new(),
        }
    }

    /// The steps of a pass, in order. Being deleted wins over paused, paused over rollback, rollback over scaling,
    /// scaling over the rollout.
    fn sync_deployment(&mut self) -> Result<Requeue, SyncError> {
        let spec = &self.deployment.spec;
        let selector = Selector::compile(spec.selector.as_ref()).map_err(|cause| {
            SyncError::InvalidSelector {
                key: self.deployment.meta.key().to_string(),
                cause,
            }
        })?;
        if selector.selects_all() {
            self.refuse_to_select_all();
            return Ok(Requeue::No);
        }
        let claimed = self.claim_replica_sets(&selector)?;
        if self.deployment.meta.is_deleting() {
            return self.sync_status_only(&claimed);
        }
        self.check_paused_conditions()?;
        if spec.paused {
            return self.sync(&claimed);
        }
        if let Some(revision) = self.rollback_to() {
            return self.rollback(&claimed, revision);
        }
        if self.is_scaling_event(&claimed)? {
            return self.sync(&claimed);
        }
        match spec.strategy.type_.as_str() {
            keys::RECREATE => self.rollout_recreate(&claimed),
            keys::ROLLING_UPDATE => self.rollout_rolling(&claimed),
            other => Err(SyncError::UnexpectedStrategy(other.to_owned())),
        }
    }

    /// An empty selector would claim every ReplicaSet of the namespace.
    fn refuse_to_select_all(&mut self) {
        self.event(
            EventType::Warning,
            "SelectingAll",
            "This deployment is selecting all pods. A non-empty selector is required.".to_owned(),
        );
        if self.status.observed_generation < self.deployment.meta.generation {
            self.status.observed_generation = self.deployment.meta.generation;
            // Only says that the generation was seen; the next pass says it again if this one is refused.
            let _ = self.update_status(Why::StatusChanged);
        }
    }

    /// Claims ReplicaSets (section 5) and tells new from old (section 6).
    fn claim_replica_sets(&mut self, selector: &Selector) -> Result<Claimed<'a>, SyncError> {
        let snapshot = self.snapshot;
        let claimer = Claimer {
            kind: Kind::Deployment,
            meta: &self.deployment.meta,
            selector,
            live: &snapshot.live_owner,
        };
        let sets = claimer.claim(&snapshot.replica_sets, &mut self.recorder)?;
        let sets = sets.into_iter().map(AsRef::as_ref).collect();
        Ok(Claimed::tell_apart(sets, &self.deployment.spec.template))
    }

    /// The pass for a Deployment that is being deleted (section 11).
    fn sync_status_only(&mut self, claimed: &Claimed<'a>) -> Result<Requeue, SyncError> {
        let sets = self.get_all_replica_sets_and_sync_revision(claimed)?;
        self.recorder.wait_for(WaitingOn::Deleting);
        self.sync_deployment_status(&sets)
    }

    /// The pass for a Deployment that is paused, or whose replica count has changed (section 11).
    fn sync(&mut self, claimed: &Claimed<'a>) -> Result<Requeue, SyncError> {
        let sets = self.get_all_replica_sets_and_sync_revision(claimed)?;
        self.scale(&sets)?;
        if self.deployment.spec.paused {
            self.wait_paused(&sets);
            if self.rollback_to().is_none() {
                // Youngest first, as upstream has them here.
                self.cleanup_deployment(sets.old.iter().rev())?;
            }
        }
        self.sync_deployment_status(&sets)
    }

    /// Section 7 without creating anything.
    fn get_all_replica_sets_and_sync_revision(
        &mut self,
        claimed: &Claimed<'a>,
    ) -> Result<ReplicaSets<'a>, SyncError> {
        Ok(ReplicaSets {
            new: self.get_new_replica_set(claimed)?,
            old: claimed.old_copies(),
        })
    }

    fn target(&self) -> Target {
        Target::new(Kind::Deployment, &self.deployment.meta)
    }

    /// Sets the Deployment's revision annotation in the working copy; whether that changed anything.
    fn set_deployment_revision(&mut self, revision: &str) -> bool {
        if self.revision == revision {
            return false;
        }
        revision.clone_into(&mut self.revision);
        self.unwritten
            .insert(keys::REVISION.to_owned(), Some(revision.to_owned()));
        true
    }

    /// Writes the working copy of the status, and the annotations with it.
    fn update_status(&mut self, why: Why) -> Result<(), Refusal> {
        let action = Action::UpdateDeploymentStatus {
            target: self.target(),
            status: Box::new(self.status.clone()),
            annotations: self.unwritten.clone(),
        };
        self.recorder.perform(action, why)?;
        self.unwritten.clear();
        Ok(())
    }

    fn event(&mut self, type_: EventType, reason: &'static str, message: String) {
        let action = Action::RecordEvent {
            regarding: self.target(),
            type_,
            reason,
            message,
        };
        // The failure of an event never matters.
        let _ = self.recorder.perform(action, Why::Tells);
    }
}

#[cfg(test)]
mod tests;
