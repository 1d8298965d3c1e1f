//! What must hold for a Deployment's plan.

use std::collections::HashMap;

use super::{Violation, actions, check_target, ensure, is_controlled_by};
use crate::controller::action::{Action, Kind, Step, Target};
use crate::controller::api::ReplicaSet;
use crate::controller::deployment::{Fenceposts, Snapshot};
use crate::controller::keys;
use crate::controller::plan::{Outcomes, Plan};
use crate::controller::selector::Selector;
use crate::controller::why::Why;

/// Checks a plan of [`deployment::reconcile`](crate::controller::deployment::reconcile).
///
/// **Surge.** After each step, the ReplicaSets' `spec.replicas` sum up to at most `replicas` + maxSurge, or to what
/// they were before if that is more (a user who scales down or cuts the surge puts them above it).
///
/// **Availability.** A ReplicaSet of `n` pods with `a` available ones keeps min(n, a) of them available, since others
/// are deleted first. In a rolling update, after each step, the sum is at least `replicas` − maxUnavailable, or what
/// it was before if that is less. This holds where the statuses have caught up, so that none reports more available
/// pods than its ReplicaSet is to have: upstream counts pods that are about to go as available.
///
/// **Scaling in the middle of a rollout** keeps the shares of the ReplicaSets, whether their pods are available or not.
/// Its sum is that of all its steps: one ReplicaSet may grow before another shrinks. The surge is kept while pods are
/// added; while pods are taken away, only if each ReplicaSet was last sized for at least as many as are allowed now
/// (one with a smaller max-replicas annotation, which somebody scaled by hand, grows nevertheless).
///
/// **Ownership.** No ReplicaSet of another owner is touched; an orphan only to adopt it if it is selected, an own one
/// to release it if it is not (after which upstream still takes it for the new one, if it has its name and template).
/// For a Deployment that is being deleted, nothing is created, scaled, adopted, released or deleted. Only empty
/// ReplicaSets are deleted, and none that is being deleted already.
///
/// # Errors
/// The first rule that is broken.
pub fn check_deployment(
    snapshot: &Snapshot,
    plan: &Plan,
    answers: &Outcomes,
) -> Result<(), Violation> {
    let Ok(selector) = Selector::compile(snapshot.deployment.spec.selector.as_ref()) else {
        ensure!(plan.steps.is_empty(), "steps without a selector");
        return Ok(());
    };
    let is_share = |step: &Step| matches!(step.why, Why::Proportional { .. });
    let by_shares = plan.steps.iter().any(is_share);
    let mut checker = Checker::new(snapshot, &selector);
    let mut all_done = true;
    for (action, done) in actions(plan, answers) {
        checker.check_objects(action)?;
        if done {
            checker.apply(action);
        }
        if !by_shares {
            checker.check_surge()?;
            checker.check_availability()?;
        }
        all_done &= done;
    }
    if by_shares && all_done && checker.shares_keep_the_surge() {
        checker.check_surge()?;
    }
    Ok(())
}

/// What a pass does to the sizes of ReplicaSets.
struct Checker<'a> {
    snapshot: &'a Snapshot,
    selector: &'a Selector,
    bounds: Fenceposts,
    /// `spec.replicas` of the Deployment's ReplicaSets as the steps change them, with their available pods.
    sizes: HashMap<&'a str, Size>,
    /// The sums before the pass.
    before: Size,
    /// Whether no status counts pods that are about to go.
    caught_up: bool,
}

#[derive(Clone, Copy, Default)]
struct Size {
    replicas: i64,
    available: i64,
}

impl Size {
    fn of(set: &ReplicaSet) -> Self {
        Self {
            replicas: set.spec.replicas.into(),
            available: set.status.available_replicas.into(),
        }
    }

    /// How many pods stay available when the others go first.
    fn kept(self) -> i64 {
        self.available.min(self.replicas)
    }
}

impl<'a> Checker<'a> {
    fn new(snapshot: &'a Snapshot, selector: &'a Selector) -> Self {
        let mut checker = Self {
            snapshot,
            selector,
            bounds: Fenceposts::of(&snapshot.deployment),
            sizes: HashMap::new(),
            before: Size::default(),
            caught_up: true,
        };
        for set in &snapshot.replica_sets {
            if checker.is_owned(set) && selector.matches(&set.meta.labels) {
                checker.claim(set);
            }
        }
        checker
    }

    fn claim(&mut self, set: &'a ReplicaSet) {
        let size = Size::of(set);
        self.sizes.insert(&set.meta.name, size);
        self.before = self.sum();
        self.caught_up &= size.kept() == size.available;
    }

    fn sum(&self) -> Size {
        Size {
            replicas: self.sizes.values().map(|size| size.replicas).sum(),
            available: self.sizes.values().map(|size| size.kept()).sum(),
        }
    }

    fn apply(&mut self, action: &'a Action) {
        match action {
            Action::CreateReplicaSet(new) => {
                let size = Size {
                    replicas: new.replicas.into(),
                    available: 0,
                };
                self.sizes.insert(&new.key.name, size);
            }
            Action::AdoptReplicaSet { target, .. } => {
                if let Some(set) = self.find(target) {
                    self.claim(set);
                }
            }
            Action::ScaleReplicaSet { target, to, .. } => {
                let name = target.key.name.as_str();
                if !self.sizes.contains_key(name)
                    && let Some(released) = self.find(target)
                {
                    self.claim(released);
                }
                if let Some(size) = self.sizes.get_mut(name) {
                    size.replicas = (*to).into();
                }
            }
            _ => {}
        }
    }

    fn check_surge(&self) -> Result<(), Violation> {
        let total = self.sum().replicas;
        let limit = self.before.replicas.max(self.bounds.max_total().into());
        ensure!(
            total <= limit,
            "{total} pods in total, {limit} are allowed: {:?}",
            self.bounds
        );
        Ok(())
    }

    fn check_availability(&self) -> Result<(), Violation> {
        let rolling = self.snapshot.deployment.spec.strategy.type_ == keys::ROLLING_UPDATE;
        let available = self.sum().available;
        let limit = self
            .before
            .available
            .min(self.bounds.min_available().into());
        ensure!(
            available >= limit || !self.caught_up || !rolling,
            "{available} available pods are left, at least {limit} must be: {:?}",
            self.bounds
        );
        Ok(())
    }

    /// Whether a pass that keeps shares keeps to the surge, too.
    fn shares_keep_the_surge(&self) -> bool {
        let allowed = i64::from(self.bounds.max_total());
        let mut sets = self.snapshot.replica_sets.iter();
        self.before.replicas <= allowed
            || sets.all(|set| {
                let is_active = set.spec.replicas > 0 && self.sizes.contains_key(&*set.meta.name);
                let sized_for = set.meta.annotation(keys::MAX_REPLICAS);
                let sized_for = sized_for.and_then(|text| text.parse::<i64>().ok());
                !is_active || sized_for.is_some_and(|sized_for| sized_for >= allowed)
            })
    }

    fn check_objects(&self, action: &Action) -> Result<(), Violation> {
        let deployment = &self.snapshot.deployment;
        match action {
            Action::UpdateDeployment { target, .. }
            | Action::UpdateDeploymentStatus { target, .. }
            | Action::RecordEvent {
                regarding: target, ..
            } => check_target(target, Kind::Deployment, Some(&deployment.meta)),
            Action::UpdateReplicaSet { target, .. } => self.check_claimed(target),
            _ if deployment.meta.is_deleting() => Err(Violation(format!(
                "goes on though it is being deleted: {action:?}"
            ))),
            Action::CreateReplicaSet(new) => {
                let uid = &new.owner.uid;
                ensure!(*uid == deployment.meta.uid, "creates for {uid}");
                ensure!(!deployment.spec.paused, "creates {} while paused", new.key);
                Ok(())
            }
            Action::ScaleReplicaSet { target, to, .. } => {
                ensure!(*to >= 0, "scales {} to {to}", target.key);
                self.check_claimed(target)
            }
            Action::DeleteReplicaSet { target } => self.check_deletion(target),
            Action::AdoptReplicaSet { target, owner } => {
                let may_adopt = self.find(target).is_some_and(|set| {
                    set.meta.controller().is_none()
                        && self.is_selected(set)
                        && !set.meta.is_deleting()
                });
                ensure!(may_adopt, "adopts {}", target.key);
                ensure!(owner.uid == deployment.meta.uid, "adopts for {owner:?}");
                self.check_version(target)
            }
            Action::ReleaseReplicaSet { target, owner_uid } => {
                let set = self.find(target);
                let may_release =
                    set.is_some_and(|set| self.is_owned(set) && !self.is_selected(set));
                ensure!(may_release, "releases {}", target.key);
                ensure!(
                    *owner_uid == deployment.meta.uid,
                    "releases from {owner_uid}"
                );
                self.check_version(target)
            }
            other => Err(Violation(format!("not a Deployment's action: {other:?}"))),
        }
    }

    /// A ReplicaSet that this pass may write: its own, adopted or created by it.
    fn check_claimed(&self, target: &Target) -> Result<(), Violation> {
        let set = self.find(target);
        let is_claimed = self.sizes.contains_key(target.key.name.as_str());
        ensure!(
            is_claimed || set.is_some_and(|set| self.is_owned(set)),
            "writes {}, which is not ours",
            target.key
        );
        match set {
            Some(_) => self.check_version(target),
            None => Ok(()),
        }
    }

    fn check_deletion(&self, target: &Target) -> Result<(), Violation> {
        self.check_claimed(target)?;
        let is_empty = self.find(target).is_some_and(|set| {
            set.spec.replicas == 0 && set.status.replicas == 0 && !set.meta.is_deleting()
        });
        ensure!(is_empty, "deletes {}, which is not empty", target.key);
        Ok(())
    }

    fn check_version(&self, target: &Target) -> Result<(), Violation> {
        let set = self.find(target);
        check_target(target, Kind::ReplicaSet, set.map(|set| &set.meta))
    }

    fn find(&self, target: &Target) -> Option<&'a ReplicaSet> {
        let sets = &self.snapshot.replica_sets;
        sets.iter()
            .map(AsRef::as_ref)
            .find(|set| set.meta.name == target.key.name)
    }

    fn is_owned(&self, set: &ReplicaSet) -> bool {
        is_controlled_by(&set.meta, &self.snapshot.deployment.meta.uid)
    }

    fn is_selected(&self, set: &ReplicaSet) -> bool {
        self.selector.matches(&set.meta.labels)
    }
}
