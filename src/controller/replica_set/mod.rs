//! The ReplicaSet controller: one pass over one ReplicaSet (replicaset-controller section 5).

mod limits;
mod manage;
pub mod ranking;
mod status;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

pub use self::limits::{Brake, Limits, room};
pub use self::manage::BURST;
use self::manage::manage_replicas;
use super::action::Kind;
use super::api::{Pod, ReplicaSet, ReplicaSetStatus};
use super::claim::Claimer;
use super::plan::{LiveOwner, Outcomes, Plan, Recorder, Requeue, SyncError};
use super::selector::Selector;
use super::why::WaitingOn;

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
    /// What keeps it from creating all pods at once.
    pub limits: Limits,
    /// A fresh read of the ReplicaSet, for adoptions.
    pub live_owner: LiveOwner,
    /// Whether the API server leaves `terminatingReplicas` out of every status, as those do that don't know it yet: then
    /// it is neither written nor missed.
    pub omits_terminating_replicas: bool,
}

/// Plans one pass. `answers` are the outcomes of the first steps, where they were already sent.
pub fn reconcile(snapshot: &Snapshot, answers: &Outcomes) -> Plan {
    let mut recorder = Recorder::new(answers);
    let end = sync(snapshot, &mut recorder);
    recorder.finish(end)
}

fn sync(snapshot: &Snapshot, recorder: &mut Recorder<'_>) -> Result<Requeue, SyncError> {
    let replica_set = &snapshot.replica_set;
    let Ok(selector) = Selector::compile(replica_set.spec.selector.as_ref()) else {
        // Only an edit can mend it, and that starts another pass.
        return Ok(Requeue::No);
    };
    let claimer = Claimer {
        kind: Kind::ReplicaSet,
        meta: &replica_set.meta,
        selector: &selector,
        live: &snapshot.live_owner,
    };
    let candidates = Candidates::of(snapshot);
    let active: Vec<&Pod> = claimer
        .claim(candidates.active(), recorder)?
        .into_iter()
        .map(Arc::as_ref)
        .collect();
    let terminating = candidates.count_terminating(&selector);

    let managed = if snapshot.expectations_met && !replica_set.meta.is_deleting() {
        manage_replicas(snapshot, &active, claimer.owner_reference(), recorder)
    } else {
        Ok(())
    };
    let failure = managed.as_ref().err();
    let status = status::calculate(replica_set, &active, terminating, failure, snapshot.now);
    let written = ReplicaSetStatus {
        terminating_replicas: status
            .terminating_replicas
            .filter(|_| !snapshot.omits_terminating_replicas),
        ..status.clone()
    };
    status::write(replica_set, &written, recorder)?;

    let next_available = (status.ready_replicas != status.available_replicas)
        .then(|| status::next_available(&active, replica_set.spec.min_ready_seconds, snapshot.now));
    for what in waiting(snapshot, &status, failure, next_available) {
        recorder.wait_for(what);
    }
    managed?;
    let brake = brake(snapshot).map(|brake| brake.remaining);
    let next = next_available.into_iter().chain(brake).min();
    Ok(next.map_or(Requeue::No, Requeue::After))
}

/// The brake, where it keeps pods from being created.
fn brake(snapshot: &Snapshot) -> Option<Brake> {
    let brake = snapshot.limits.brake?;
    let replica_set = &snapshot.replica_set;
    let active = Candidates::of(snapshot).owned.len();
    let lacks_pods = count(active) < replica_set.spec.replicas;
    (lacks_pods && !replica_set.meta.is_deleting()).then_some(brake)
}

/// Seconds, rounded up.
fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// What keeps the ReplicaSet from having all its pods available, and none besides.
fn waiting(
    snapshot: &Snapshot,
    status: &ReplicaSetStatus,
    failure: Option<&SyncError>,
    next_available: Option<Duration>,
) -> impl Iterator<Item = WaitingOn> {
    let replicas = snapshot.replica_set.spec.replicas;
    let is_deleting = snapshot.replica_set.meta.is_deleting();
    let unready = replicas.saturating_sub(status.ready_replicas);
    let surplus = status.replicas.saturating_sub(replicas).max(0);
    let going = surplus.saturating_add(status.terminating_replicas.unwrap_or(0));
    [
        failure.map(|error| WaitingOn::ReplicaFailure {
            message: error.to_string(),
        }),
        is_deleting.then_some(WaitingOn::Deleting),
        (!snapshot.expectations_met).then_some(WaitingOn::UnseenWrites),
        brake(snapshot).map(|brake| WaitingOn::FailingPods {
            failed: brake.failed,
            next_in_seconds: whole_seconds(brake.remaining),
        }),
        (unready > 0 && !is_deleting).then_some(WaitingOn::Pods { unready, replicas }),
        next_available.map(|next| WaitingOn::MinReadySeconds {
            pods: status.ready_replicas - status.available_replicas,
            next_in_seconds: whole_seconds(next),
        }),
        (going > 0).then_some(WaitingOn::Terminating { count: going }),
    ]
    .into_iter()
    .flatten()
}

/// The pods that a ReplicaSet looks at, in the order of the snapshot. Finished ones are none of its business.
#[derive(Default)]
struct Candidates<'a> {
    owned: Vec<&'a Arc<Pod>>,
    orphans: Vec<&'a Arc<Pod>>,
    /// Owned and shutting down. These are neither adopted nor released.
    terminating: Vec<&'a Arc<Pod>>,
}

impl<'a> Candidates<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        let uid = &snapshot.replica_set.meta.uid;
        let mut candidates = Self::default();
        for pod in snapshot.pods.iter().filter(|pod| !pod.is_finished()) {
            match (pod.meta.controller(), pod.meta.is_deleting()) {
                (Some(owner), false) if owner.uid == *uid => candidates.owned.push(pod),
                (Some(owner), true) if owner.uid == *uid => candidates.terminating.push(pod),
                (None, false) => candidates.orphans.push(pod),
                _ => {}
            }
        }
        candidates
    }

    fn active(&self) -> impl Iterator<Item = &'a Arc<Pod>> {
        self.owned.iter().chain(&self.orphans).copied()
    }

    fn count_terminating(&self, selector: &Selector) -> usize {
        let pods = self.terminating.iter();
        pods.filter(|pod| selector.matches(&pod.meta.labels))
            .count()
    }
}

/// A number of pods as the API writes it.
fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
