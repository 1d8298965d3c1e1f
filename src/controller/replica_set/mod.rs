//! The ReplicaSet controller: one pass over one ReplicaSet (replicaset-controller section 5).

pub mod ranking;

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use super::api::{Pod, ReplicaSet};
use super::plan::{LiveOwner, Outcomes, Plan, Recorder, Requeue};

/// What one pass may see.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The instant of the whole pass.
    pub now: Timestamp,
    /// The ReplicaSet.
    pub replica_set: Arc<ReplicaSet>,
    /// Other ReplicaSets of the namespace; those with the same controller count as siblings when pods are ranked.
    pub siblings: Vec<Arc<ReplicaSet>>,
    /// Pods of the namespace, in the order of names: its own, orphans, and those its siblings select.
    pub pods: Vec<Arc<Pod>>,
    /// Whether the effects of earlier creates and deletes have all been seen (section 4). If not, nothing is created
    /// or deleted; claims and status go on.
    pub expectations_met: bool,
    /// A fresh read of the ReplicaSet, for adoptions.
    pub live_owner: LiveOwner,
}

/// Plans one pass. `answers` are the outcomes of the first steps, where they were already sent.
pub fn reconcile(_snapshot: &Snapshot, answers: &Outcomes) -> Plan {
    Recorder::new(answers).finish(Ok(Requeue::No))
}
