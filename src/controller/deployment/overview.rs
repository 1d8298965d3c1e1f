//! How a Deployment stands: bounds and revisions with their numbers. For people and scripts; decides nothing.

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use super::progress::deadline_end;
use super::replica_sets::{Claimed, replica_count, sum};
use super::{Fenceposts, Snapshot, is_complete, revision, revision_history};
use crate::controller::action::Kind;
use crate::controller::api::{Condition, ObjectKey, ReplicaSet};
use crate::controller::claim::Claimer;
use crate::controller::selector::Selector;

/// A Deployment at one instant; or a ReplicaSet without an owner, which is its own only revision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// Which Deployment (or ReplicaSet).
    #[serde(flatten)]
    pub key: ObjectKey,
    /// `RollingUpdate` or `Recreate`; empty for a ReplicaSet.
    pub strategy: String,
    /// `spec.replicas`.
    pub desired: i32,
    /// Resolved maxSurge.
    pub max_surge: i32,
    /// Resolved maxUnavailable.
    pub max_unavailable: i32,
    /// Pods of all revisions by `spec.replicas` of the ReplicaSets: what the surge bounds.
    pub total: i32,
    /// Pods that exist (status.replicas of all ReplicaSets).
    pub current: i32,
    /// Available pods.
    pub available: i32,
    /// Terminating pods, where known.
    pub terminating: i32,
    /// `spec.paused`.
    pub paused: bool,
    /// Whether the controller has seen the newest generation and the rollout is complete (section 15.2).
    pub complete: bool,
    /// When the progress deadline passes, if there is one and it runs.
    pub deadline: Option<Timestamp>,
    /// Conditions as stored.
    #[serde(skip)]
    pub conditions: Vec<Condition>,
    /// Revisions, the new one first, then old ones by age, youngest first. Empty old ones are included.
    pub revisions: Vec<RevisionOverview>,
}

impl Overview {
    /// The most pods that the rollout may have in total.
    pub fn max_total(&self) -> i32 {
        self.desired.saturating_add(self.max_surge)
    }

    /// The fewest pods that must stay available.
    pub fn min_available(&self) -> i32 {
        self.desired.saturating_sub(self.max_unavailable)
    }

    /// The revision whose template is the Deployment's, once it has a ReplicaSet.
    pub fn new_revision(&self) -> Option<&RevisionOverview> {
        self.revisions.iter().find(|revision| revision.new)
    }
}

/// How the Deployment of a snapshot stands, by the same arithmetic that [`reconcile`](super::reconcile) acts on.
pub fn of(snapshot: &Snapshot) -> Overview {
    let deployment = &*snapshot.deployment;
    let Fenceposts {
        desired,
        max_surge,
        max_unavailable,
    } = Fenceposts::of(deployment);
    let claimed = Claimed::tell_apart(owned(snapshot), &deployment.spec.template);
    let sets = || {
        claimed
            .new
            .into_iter()
            .chain(claimed.old.iter().rev().copied())
    };
    Overview {
        key: deployment.meta.key(),
        strategy: deployment.spec.strategy.type_.clone(),
        desired,
        max_surge,
        max_unavailable,
        total: replica_count(sets()),
        current: sum(sets(), |set| set.status.replicas),
        available: sum(sets(), |set| set.status.available_replicas),
        terminating: sum(sets(), |set| set.status.terminating_replicas.unwrap_or(0)),
        paused: deployment.spec.paused,
        complete: is_complete(deployment, &deployment.status),
        deadline: deadline_end(deployment),
        conditions: deployment.status.conditions.clone(),
        revisions: sets()
            .map(|set| RevisionOverview::of(set, claimed.new))
            .collect(),
    }
}

/// The ReplicaSets that belong to the Deployment already. A selector that can't be read, or selects everything, makes
/// none its own.
fn owned(snapshot: &Snapshot) -> Vec<&ReplicaSet> {
    let deployment = &*snapshot.deployment;
    let Ok(selector) = Selector::compile(deployment.spec.selector.as_ref()) else {
        return Vec::new();
    };
    if selector.selects_all() {
        return Vec::new();
    }
    let claimer = Claimer {
        kind: Kind::Deployment,
        meta: &deployment.meta,
        selector: &selector,
        live: &snapshot.live_owner,
    };
    let sets = snapshot.replica_sets.iter().map(AsRef::as_ref);
    sets.filter(|set: &&ReplicaSet| claimer.owns(&set.meta))
        .collect()
}

/// One ReplicaSet of a Deployment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevisionOverview {
    /// The revision annotation, where it is a number.
    pub revision: Option<i64>,
    /// The ReplicaSet's name.
    pub replica_set: String,
    /// Whether its template is the Deployment's.
    pub new: bool,
    /// Images of its containers.
    pub images: Vec<String>,
    /// `spec.replicas`.
    pub desired: i32,
    /// `status.replicas`.
    pub current: i32,
    /// Ready pods.
    pub ready: i32,
    /// Available pods.
    pub available: i32,
    /// Numbers it had before.
    pub reused_from: Vec<i64>,
    /// When it was made.
    pub created: Option<Timestamp>,
}

impl RevisionOverview {
    fn of(set: &ReplicaSet, new: Option<&ReplicaSet>) -> Self {
        Self {
            revision: revision(set),
            replica_set: set.meta.name.clone(),
            new: new.is_some_and(|new| std::ptr::eq(new, set)),
            images: set.spec.template.images().map(str::to_owned).collect(),
            desired: set.spec.replicas,
            current: set.status.replicas,
            ready: set.status.ready_replicas,
            available: set.status.available_replicas,
            reused_from: revision_history(set),
            created: set.meta.created(),
        }
    }
}
