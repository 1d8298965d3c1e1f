//! Pods are created and deleted one by one, and told by their number.

use std::collections::HashMap;

use crate::controller::action::{Action, Kind, Step};
use crate::controller::plural::count;
use crate::controller::why::Why;
use crate::ui::step::{Naming, ReplicaSetName, Revisions};

/// Pods of one ReplicaSet that were created, or deleted, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodBatch {
    created: bool,
    dry_run: bool,
    /// `None`: pods whose names tell no owner.
    replica_set: Option<String>,
    pods: u32,
    /// Why, where no line about a size says it.
    why: Option<Why>,
}

impl PodBatch {
    /// The batch that `step` begins, if it is about a pod's life.
    pub(super) fn begin(step: &Step, dry_run: bool, revisions: &Revisions) -> Option<Self> {
        let (created, replica_set) = match &step.action {
            Action::CreatePod { replica_set, .. } => (true, Some(replica_set.key.name.as_str())),
            Action::DeletePod { target } => (false, revisions.owner_of_pod(&target.key.name)),
            Action::Collect { target, .. } if target.kind == Kind::Pod => {
                (false, revisions.owner_of_pod(&target.key.name))
            }
            _ => return None,
        };
        let is_garbage = matches!(step.action, Action::Collect { .. });
        Some(Self {
            created,
            dry_run,
            replica_set: replica_set.map(str::to_owned),
            pods: 1,
            why: is_garbage.then(|| step.why.clone()),
        })
    }

    /// Adds the pods of `next`, where it goes on with the same.
    pub(super) fn absorb(&mut self, next: &Self) -> bool {
        let same = self.created == next.created
            && self.dry_run == next.dry_run
            && self.replica_set == next.replica_set
            && self.why == next.why;
        if same {
            self.pods += next.pods;
        }
        same
    }

    /// The ReplicaSet, and by how many pods it grows.
    fn growth(&self) -> Option<(&str, i64)> {
        let pods = i64::from(self.pods);
        let replica_set = self.replica_set.as_deref()?;
        Some((replica_set, if self.created { pods } else { -pods }))
    }

    /// `revision 2: created 3 pods`.
    pub(super) fn told(&self, revisions: &Revisions) -> String {
        let verb = match (self.created, self.dry_run) {
            (true, true) => "create",
            (true, false) => "created",
            (false, true) => "delete",
            (false, false) => "deleted",
        };
        let pods = count(self.pods, "pod");
        let why = self.why.as_ref().map(|why| format!(": {why}"));
        let why = why.unwrap_or_default();
        let mark = if self.dry_run { " (dry run)" } else { "" };
        match self.name(revisions, Naming::Revision) {
            Some(name) => format!("{name}: {verb} {pods}{why}{mark}"),
            None => format!("{verb} {pods}{why}{mark}"),
        }
    }

    /// `create 3 pods for r2`.
    pub(super) fn to_do(&self, revisions: &Revisions, naming: Naming) -> String {
        let pods = count(self.pods, "pod");
        let verb = if self.created { "create" } else { "delete" };
        match self.name(revisions, naming) {
            Some(name) if self.created => format!("{verb} {pods} for {name}"),
            Some(name) => format!("{verb} {pods} of {name}"),
            None => format!("{verb} {pods}"),
        }
    }

    fn name<'a>(&'a self, revisions: &Revisions, naming: Naming) -> Option<ReplicaSetName<'a>> {
        let replica_set = self.replica_set.as_deref()?;
        Some(ReplicaSetName::new(replica_set, revisions, naming))
    }
}

/// By how many pods each ReplicaSet has yet to grow, or to shrink, to what was told of its size.
#[derive(Clone, Debug, Default)]
pub(super) struct Announced(HashMap<String, i64>);

impl Announced {
    /// Remembers the pods that a change of size will bring or take.
    pub(super) fn announce(&mut self, action: &Action) {
        let (name, growth) = match action {
            Action::CreateReplicaSet(new) => (&new.key.name, i64::from(new.replicas)),
            Action::ScaleReplicaSet {
                target, from, to, ..
            } => (&target.key.name, i64::from(*to) - i64::from(*from)),
            _ => return,
        };
        *self.0.entry(name.clone()).or_default() += growth;
    }

    /// Whether a change of size that was told stands for these pods; then they count as come.
    pub(super) fn covers(&mut self, batch: &PodBatch) -> bool {
        let announced = batch.growth().and_then(|(replica_set, growth)| {
            let announced = self.0.get_mut(replica_set)?;
            (announced.signum() == growth.signum()).then_some((announced, growth))
        });
        announced.is_some_and(|(announced, growth)| {
            *announced -= growth;
            true
        })
    }
}
