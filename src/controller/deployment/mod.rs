//! The Deployment controller: one pass over one Deployment (deployment-controller section 4).

pub mod overview;

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use super::api::{Deployment, Pod, ReplicaSet};
use super::plan::{LiveOwner, Outcomes, Plan, Recorder, Requeue};

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
}

/// Plans one pass. `answers` are the outcomes of the first steps, where they were already sent.
pub fn reconcile(_snapshot: &Snapshot, answers: &Outcomes) -> Plan {
    Recorder::new(answers).finish(Ok(Requeue::No))
}
