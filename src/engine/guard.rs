//! What keeps passes from doing twice what was done: expectations, answers that were lost, and the brake on pod storms.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::controller::action::{Action, Kind, Outcome, RefusalReason, Step};
use crate::controller::api::{OBSERVED_WITHIN, ObjectKey, Pod};
use crate::controller::deployment::overview;
use crate::controller::expectations::Expectations;
use crate::controller::plan::{Plan, Requeue};
use crate::controller::why::WaitingOn;

use super::apply::Effect;
use super::brake::Brakes;
use super::error::EngineError;
use super::feed::Synced;
use super::list::list;
use super::options::DryRun;
use super::pass::Context;
use super::passed::PassEnd;
use super::silence::Silences;
use super::snapshot::{self, Snapshot};
use super::store::{Change, Item};
use super::track::stage_reached;

/// What earlier passes left open.
#[derive(Default)]
pub struct Guards {
    expectations: Expectations,
    brakes: Brakes,
    /// ReplicaSets whose pods must be read anew, since a create or delete was not answered.
    unsure: HashSet<ObjectKey>,
    silences: Silences,
}

impl Context {
    fn guards(&self) -> MutexGuard<'_, Guards> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether passes may go on writing.
    pub(super) fn may_write(&self, subject: &Item) -> bool {
        self.acting.load(Ordering::Relaxed)
            && !self.stopping.load(Ordering::Relaxed)
            && !self.is_at_stage(subject)
    }

    /// Whether the object has reached its stage, as of the newest answers: a pass may know before the run has judged.
    fn is_at_stage(&self, subject: &Item) -> bool {
        let Some(stage) = self.until else {
            return false;
        };
        let snapshot = snapshot::without_pods(&self.store(), subject, self.clock.now());
        snapshot.is_some_and(|snapshot| stage_reached(&overview::of(&snapshot), stage).is_some())
    }

    /// A pass that writes nothing: it tells what the object waits for.
    pub(super) fn look(&self, item: &Item) -> PassEnd {
        let Some(snapshot) = Snapshot::of(&self.store(), item, self.clock.now()) else {
            return PassEnd::Gone;
        };
        let (requeue, waiting) = match self.silence(&snapshot) {
            Some((generation, silence)) if silence >= OBSERVED_WITHIN => {
                (Requeue::No, vec![WaitingOn::Unobserved { generation }])
            }
            Some((_, silence)) => (
                Requeue::After(OBSERVED_WITHIN.saturating_sub(silence)),
                snapshot.plan(&[]).waiting,
            ),
            None => (Requeue::No, snapshot.plan(&[]).waiting),
        };
        PassEnd::Done {
            requeue,
            waiting,
            wrote: false,
        }
    }

    /// The generation that nobody has looked at, and for how long.
    fn silence(&self, snapshot: &Snapshot) -> Option<(i64, Duration)> {
        let Snapshot::Deployment(snapshot) = snapshot else {
            return None;
        };
        let deployment = &snapshot.deployment;
        let silence = self.guards().silences.look(deployment, Instant::now())?;
        Some((deployment.meta.generation, silence))
    }

    /// Enters into a snapshot what must hold back its pass.
    pub(super) fn guard(&self, item: &Item, snapshot: &mut Snapshot) {
        let Snapshot::ReplicaSet(snapshot) = snapshot else {
            return;
        };
        let mut guards = self.guards();
        let uid = &snapshot.replica_set.meta.uid;
        let own = snapshot.pods.iter().filter(|pod| {
            let controller = pod.meta.controller();
            controller.is_some_and(|owner| owner.uid == *uid)
        });
        snapshot.limits.brake = guards.brakes.look(uid, own, Instant::now());
        snapshot.expectations_met = guards.expectations.are_met(&item.key, snapshot.now);
    }

    /// Expects what the next batch of a pass is going to do.
    pub(super) fn expect(&self, item: &Item, plan: &Plan, sent: usize) {
        if item.kind == Kind::ReplicaSet && self.dry_run == DryRun::None {
            let now = self.clock.now();
            self.guards()
                .expectations
                .expect(&item.key, plan, sent, now);
        }
    }

    /// Takes back what a pass did not do in the end.
    pub(super) fn settle(&self, item: &Item, plan: &Plan, answers: &[Outcome]) {
        if item.kind == Kind::ReplicaSet && self.dry_run == DryRun::None {
            self.guards().expectations.settle(&item.key, plan, answers);
        }
    }

    /// Remembers that nobody knows whether a step was done.
    pub(super) fn note_unsure(&self, item: &Item, step: &Step, outcome: &Outcome) {
        let Outcome::Refused(refusal) = outcome else {
            return;
        };
        let changes_pods = matches!(
            step.action,
            Action::CreatePod { .. } | Action::DeletePod { .. }
        );
        // A server that failed, or that nobody heard from, may have done it all the same.
        let is_unsure = matches!(
            refusal.reason,
            RefusalReason::Timeout | RefusalReason::Busy | RefusalReason::Other
        );
        if changes_pods && is_unsure {
            self.guards().unsure.insert(item.key.clone());
        }
    }

    /// Reads a ReplicaSet's pods anew where a write to them was not answered: until then none is created or deleted.
    pub(super) async fn make_sure(&self, item: &Item) -> Result<Vec<Effect>, EngineError> {
        if item.kind != Kind::ReplicaSet || !self.guards().unsure.contains(&item.key) {
            return Ok(Vec::new());
        }
        let namespace = &item.key.namespace;
        let pods = list::<Pod>(self.sender.client(), Some(namespace)).await?;
        let synced = Synced {
            kind: Kind::Pod,
            namespace: Some(namespace.clone()),
            uids: pods.iter().map(|pod| pod.meta.uid.clone()).collect(),
            newest: pods
                .iter()
                .filter_map(|pod| pod.meta.resource_version.parse().ok())
                .max()
                .unwrap_or(0),
        };
        let missing = self.not_shown(&synced).await;
        let shown = pods.into_iter().map(Effect::Pod);
        let news = shown
            .chain(missing)
            .filter_map(|effect| self.absorb(effect))
            .collect();
        self.guards().unsure.remove(&item.key);
        Ok(news)
    }

    /// Ticks off what was expected.
    pub(super) fn observe(&self, change: &Change<Pod>) {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        let Some(owner) = after.or(before).and_then(|pod| pod.meta.controller()) else {
            return;
        };
        let Some(pod) = after.or(before) else { return };
        let replica_set = ObjectKey::new(&pod.meta.namespace, &owner.name);
        let is_going = |pod: Option<&Pod>| pod.is_none_or(|pod| pod.meta.is_deleting());
        let mut guards = self.guards();
        match (before, after) {
            (None, Some(pod)) if !pod.meta.is_deleting() => {
                guards.expectations.creation_observed(&replica_set);
            }
            _ if is_going(after) => {
                let expectations = &mut guards.expectations;
                expectations.deletion_observed(&replica_set, &pod.meta.name);
            }
            _ => {}
        }
    }

    /// Forgets what was expected of a ReplicaSet that is gone.
    pub(super) fn forget_replica_set(&self, key: &ObjectKey, uid: &str) {
        let mut guards = self.guards();
        guards.expectations.forget(key);
        guards.brakes.forget(uid);
        guards.unsure.remove(key);
    }
}
