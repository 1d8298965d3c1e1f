//! What must hold for a ReplicaSet's plan.

use std::collections::{HashMap, HashSet};

use super::{Violation, actions, check_target, ensure, is_controlled_by};
use crate::controller::action::{Action, Kind, Target};
use crate::controller::api::Pod;
use crate::controller::plan::{Outcomes, Plan};
use crate::controller::replica_set::{BURST, Snapshot};
use crate::controller::selector::Selector;

/// Checks a plan of [`replica_set::reconcile`](crate::controller::replica_set::reconcile).
///
/// A pass brings the number of active pods towards `spec.replicas` and never past it, in either direction; it creates
/// and deletes nothing while earlier writes are unseen or the ReplicaSet is being deleted; and it touches no pod but
/// its own and the orphans it selects, and of these only active ones.
///
/// # Errors
/// The first rule that is broken.
pub fn check_replica_set(
    snapshot: &Snapshot,
    plan: &Plan,
    answers: &Outcomes,
) -> Result<(), Violation> {
    let Ok(selector) = Selector::compile(snapshot.replica_set.spec.selector.as_ref()) else {
        ensure!(plan.steps.is_empty(), "steps without a selector");
        return Ok(());
    };
    let mut checker = Checker::new(snapshot, selector);
    for (action, done) in actions(plan, answers) {
        checker.check_action(action, done)?;
    }
    checker.check_counts()
}

struct Checker<'a> {
    snapshot: &'a Snapshot,
    selector: Selector,
    pods: HashMap<&'a str, &'a Pod>,
    /// Active pods that belong to the ReplicaSet, adopted ones among them.
    claimed: HashSet<&'a str>,
    created: usize,
    deleted: HashSet<&'a str>,
}

impl<'a> Checker<'a> {
    fn new(snapshot: &'a Snapshot, selector: Selector) -> Self {
        let pods = snapshot.pods.iter();
        let mut checker = Self {
            snapshot,
            selector,
            pods: pods.map(|pod| (pod.meta.name.as_str(), &**pod)).collect(),
            claimed: HashSet::new(),
            created: 0,
            deleted: HashSet::new(),
        };
        let pods = checker.pods.iter();
        let claimed = pods.filter(|(_, pod)| {
            pod.is_active() && checker.is_owned(pod) && checker.selector.matches(&pod.meta.labels)
        });
        checker.claimed = claimed.map(|(name, _)| *name).collect();
        checker
    }

    fn check_action(&mut self, action: &'a Action, done: bool) -> Result<(), Violation> {
        let meta = &self.snapshot.replica_set.meta;
        match action {
            Action::AdoptPod { target, owner } => {
                ensure!(owner.uid == meta.uid, "adopts for {owner:?}");
                self.check_adoption(target, done)
            }
            Action::ReleasePod { target, owner_uid } => {
                ensure!(*owner_uid == meta.uid, "releases from {owner_uid}");
                self.check_release(target)
            }
            Action::CreatePod {
                replica_set: target,
                pod,
            } => {
                ensure!(pod.owner.uid == meta.uid, "creates for {:?}", pod.owner);
                ensure!(self.may_change_pods(), "creates a pod");
                self.created += 1;
                check_target(target, Kind::ReplicaSet, Some(meta))
            }
            Action::DeletePod { target } => self.check_deletion(target),
            Action::UpdateReplicaSetStatus { target, .. }
            | Action::RecordEvent {
                regarding: target, ..
            } => check_target(target, Kind::ReplicaSet, Some(meta)),
            other => Err(Violation(format!("not a ReplicaSet's action: {other:?}"))),
        }
    }

    fn check_adoption(&mut self, target: &'a Target, done: bool) -> Result<(), Violation> {
        let pod = self.active_pod(target)?;
        ensure!(
            pod.meta.controller().is_none()
                && self.selector.matches(&pod.meta.labels)
                && !self.snapshot.replica_set.meta.is_deleting(),
            "adopts pod {}",
            target.key
        );
        if done {
            self.claimed.insert(&target.key.name);
        }
        Ok(())
    }

    fn check_release(&self, target: &Target) -> Result<(), Violation> {
        let pod = self.active_pod(target)?;
        ensure!(
            self.is_owned(pod)
                && !self.selector.matches(&pod.meta.labels)
                && !self.snapshot.replica_set.meta.is_deleting(),
            "releases pod {}",
            target.key
        );
        Ok(())
    }

    fn check_deletion(&mut self, target: &'a Target) -> Result<(), Violation> {
        self.active_pod(target)?;
        let name = target.key.name.as_str();
        ensure!(
            self.may_change_pods() && self.claimed.contains(name),
            "deletes pod {name}"
        );
        ensure!(self.deleted.insert(name), "deletes pod {name} twice");
        Ok(())
    }

    fn check_counts(&self) -> Result<(), Violation> {
        let desired = usize::try_from(self.snapshot.replica_set.spec.replicas).unwrap_or(0);
        let active = self.claimed.len();
        let (created, deleted) = (self.created, self.deleted.len());
        let missing = desired.saturating_sub(active);
        ensure!(
            created <= missing.min(BURST),
            "creates {created} pods where {active} of {desired} are active"
        );
        let surplus = active.saturating_sub(desired);
        ensure!(
            deleted <= surplus.min(BURST),
            "deletes {deleted} pods where {active} are active and {desired} wanted"
        );
        Ok(())
    }

    fn active_pod(&self, target: &Target) -> Result<&'a Pod, Violation> {
        let pod = self.pods.get(target.key.name.as_str()).copied();
        check_target(target, Kind::Pod, pod.map(|pod| &pod.meta))?;
        pod.filter(|pod| pod.is_active())
            .ok_or_else(|| Violation(format!("touches pod {}, which is not active", target.key)))
    }

    fn is_owned(&self, pod: &Pod) -> bool {
        is_controlled_by(&pod.meta, &self.snapshot.replica_set.meta.uid)
    }

    fn may_change_pods(&self) -> bool {
        self.snapshot.expectations_met && !self.snapshot.replica_set.meta.is_deleting()
    }
}
