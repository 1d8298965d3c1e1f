//! Steps in words: `scale down web-abc (revision 1) 5→4`.
//!
//! `--dry-run`, the `--step` prompt and all progress views take their words from here, so a step is called the same
//! wherever it shows. Pure.

use std::collections::BTreeMap;
use std::fmt;

use crate::controller::action::{Action, Kind, Target};
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::count;

/// The revision number of each ReplicaSet, as far as it was seen.
#[derive(Clone, Debug, Default)]
pub struct Revisions(BTreeMap<String, i64>);

impl Revisions {
    /// Learns from how a Deployment stands.
    pub fn learn(&mut self, overview: &Overview) {
        for revision in &overview.revisions {
            if let Some(number) = revision.revision {
                self.0.insert(revision.replica_set.clone(), number);
            }
        }
    }

    /// Learns from a step: what is created, or gets a new number, is in no overview yet.
    pub fn learn_step(&mut self, action: &Action) {
        let (name, revision) = match action {
            Action::CreateReplicaSet(new) => {
                (&new.key.name, new.annotations.get(keys::REVISION).cloned())
            }
            Action::UpdateReplicaSet {
                target,
                annotations,
                ..
            } => (
                &target.key.name,
                annotations.get(keys::REVISION).cloned().flatten(),
            ),
            _ => return,
        };
        if let Some(number) = revision.and_then(|revision| revision.parse().ok()) {
            self.0.insert(name.clone(), number);
        }
    }

    /// The revision of the ReplicaSet of that name.
    pub fn of(&self, replica_set: &str) -> Option<i64> {
        self.0.get(replica_set).copied()
    }

    /// The ReplicaSet that a pod belongs to by its name, which the server made from the ReplicaSet's.
    pub fn owner_of_pod(&self, pod: &str) -> Option<&str> {
        let (replica_set, _) = pod.rsplit_once('-')?;
        self.0
            .get_key_value(replica_set)
            .map(|(name, _)| name.as_str())
    }
}

/// How a ReplicaSet is called. One without a known revision goes by its name in every style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// `web-abc (revision 2)`.
    Full,
    /// `revision 2`.
    Revision,
    /// `r2`.
    Short,
}

/// How much a step matters to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It moves the rollout.
    Step,
    /// One of many pods: told by their number.
    Pod,
    /// Status, annotations, events: shown when verbose.
    Bookkeeping,
}

/// How much `action` matters.
pub fn weight(action: &Action) -> Weight {
    match action {
        Action::CreateReplicaSet(_)
        | Action::DeleteReplicaSet { .. }
        | Action::AdoptReplicaSet { .. }
        | Action::ReleaseReplicaSet { .. }
        | Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::Disown { .. }
        | Action::Unblock { .. }
        | Action::RemoveFinalizer { .. }
        | Action::UpdateDeployment {
            template: Some(_), ..
        } => Weight::Step,
        Action::Collect { target, .. } if target.kind != Kind::Pod => Weight::Step,
        Action::ScaleReplicaSet { from, to, .. } if from != to => Weight::Step,
        Action::CreatePod { .. } | Action::DeletePod { .. } | Action::Collect { .. } => Weight::Pod,
        Action::ScaleReplicaSet { .. }
        | Action::UpdateReplicaSet { .. }
        | Action::UpdateDeployment { template: None, .. }
        | Action::UpdateDeploymentStatus { .. }
        | Action::UpdateReplicaSetStatus { .. }
        | Action::RecordEvent { .. } => Weight::Bookkeeping,
    }
}

/// An action in words.
pub struct Words<'a> {
    action: &'a Action,
    revisions: &'a Revisions,
    naming: Naming,
}

impl<'a> Words<'a> {
    /// The words for `action`, which `revisions` must have learned from.
    pub fn new(action: &'a Action, revisions: &'a Revisions, naming: Naming) -> Self {
        Self {
            action,
            revisions,
            naming,
        }
    }

    /// What to do: `scale down web-abc (revision 1) 5→4`.
    pub fn to_do(&self) -> String {
        let (to_do, _) = verbs(self.action);
        format!("{to_do} {}", self.object())
    }

    /// What was done: `scaled down web-abc (revision 1) 5→4`.
    pub fn done(&self) -> String {
        let (_, done) = verbs(self.action);
        format!("{done} {}", self.object())
    }

    /// The verb alone, of what was done: `created`.
    pub fn verb_done(&self) -> &'static str {
        verbs(self.action).1
    }

    fn object(&self) -> String {
        match self.action {
            Action::CreateReplicaSet(new) => format!(
                // The name is news, whatever the naming.
                "{} with {}",
                ReplicaSetName::new(&new.key.name, self.revisions, Naming::Full),
                count(new.replicas, "pod")
            ),
            Action::ScaleReplicaSet {
                target, from, to, ..
            } if from != to => format!("{} {from}→{to}", self.name(&target.key.name)),
            Action::ScaleReplicaSet { target, .. } | Action::UpdateReplicaSet { target, .. } => {
                format!("annotations of {}", self.name(&target.key.name))
            }
            Action::DeleteReplicaSet { target }
            | Action::AdoptReplicaSet { target, .. }
            | Action::ReleaseReplicaSet { target, .. } => self.name(&target.key.name).to_string(),
            Action::UpdateDeployment {
                target,
                template: Some(_),
                ..
            } => format!("deployment {}", target.key.name),
            Action::UpdateDeployment { target, .. } => {
                format!("annotations of deployment {}", target.key.name)
            }
            Action::UpdateDeploymentStatus { target, .. } => {
                format!("status of deployment {}", target.key.name)
            }
            Action::UpdateReplicaSetStatus { target, .. } => {
                format!("status of {}", self.name(&target.key.name))
            }
            Action::CreatePod { replica_set, .. } => {
                format!("pod for {}", self.name(&replica_set.key.name))
            }
            Action::DeletePod { target }
            | Action::AdoptPod { target, .. }
            | Action::ReleasePod { target, .. } => format!("pod {}", target.key.name),
            Action::Collect { target, .. }
            | Action::Disown { target, .. }
            | Action::Unblock { target, .. } => self.whole(target),
            Action::RemoveFinalizer {
                target, finalizer, ..
            } => format!("finalizer {finalizer} of {}", self.whole(target)),
            Action::RecordEvent {
                regarding,
                reason,
                message,
                ..
            } => format!(
                "event {reason} for {} {}: {message}",
                regarding.kind.word(),
                regarding.key.name
            ),
        }
    }

    /// An object of whatever kind.
    fn whole(&self, target: &'a Target) -> String {
        match target.kind {
            Kind::ReplicaSet => self.name(&target.key.name).to_string(),
            kind => format!("{} {}", kind.word(), target.key.name),
        }
    }

    fn name(&self, replica_set: &'a str) -> ReplicaSetName<'a> {
        ReplicaSetName::new(replica_set, self.revisions, self.naming)
    }
}

fn verbs(action: &Action) -> (&'static str, &'static str) {
    match action {
        Action::CreateReplicaSet(_) | Action::CreatePod { .. } => ("create", "created"),
        Action::ScaleReplicaSet { from, to, .. } if to > from => ("scale up", "scaled up"),
        Action::ScaleReplicaSet { from, to, .. } if to < from => ("scale down", "scaled down"),
        Action::DeleteReplicaSet { .. } | Action::DeletePod { .. } | Action::Collect { .. } => {
            ("delete", "deleted")
        }
        Action::AdoptReplicaSet { .. } | Action::AdoptPod { .. } => ("adopt", "adopted"),
        Action::ReleaseReplicaSet { .. } | Action::ReleasePod { .. } | Action::Disown { .. } => {
            ("release", "released")
        }
        Action::Unblock { .. } => ("unblock", "unblocked"),
        Action::RemoveFinalizer { .. } => ("remove", "removed"),
        Action::UpdateDeployment {
            template: Some(_), ..
        } => ("roll back", "rolled back"),
        Action::ScaleReplicaSet { .. }
        | Action::UpdateReplicaSet { .. }
        | Action::UpdateDeployment { .. }
        | Action::UpdateDeploymentStatus { .. }
        | Action::UpdateReplicaSetStatus { .. } => ("update", "updated"),
        Action::RecordEvent { .. } => ("record", "recorded"),
    }
}

/// A ReplicaSet as it is called in a line.
pub struct ReplicaSetName<'a> {
    name: &'a str,
    revision: Option<i64>,
    naming: Naming,
}

impl<'a> ReplicaSetName<'a> {
    /// The name of `replica_set` in the given style.
    pub fn new(replica_set: &'a str, revisions: &Revisions, naming: Naming) -> Self {
        Self {
            name: replica_set,
            revision: revisions.of(replica_set),
            naming,
        }
    }
}

impl fmt::Display for ReplicaSetName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.revision, self.naming) {
            (None, _) => f.write_str(self.name),
            (Some(revision), Naming::Full) => write!(f, "{} (revision {revision})", self.name),
            (Some(revision), Naming::Revision) => write!(f, "revision {revision}"),
            (Some(revision), Naming::Short) => write!(f, "r{revision}"),
        }
    }
}

#[cfg(test)]
mod tests;
