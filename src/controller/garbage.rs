//! Garbage: what becomes of objects whose owners are gone or going, and of owners that wait for their dependents.
//!
//! Kubernetes' garbage collector does this for every kind; a cluster without a controller manager has none. Here it is
//! done for Deployments, ReplicaSets and pods, and for owners that are Deployments or ReplicaSets. An owner of another
//! kind can't be seen and so counts as there: nothing is ever deleted on its account.

use serde::Serialize;

use super::action::{Action, Kind, Outcome, Refusal, RefusalReason, Target};
use super::api::{ObjectMeta, OwnerReference};
use super::keys;
use super::plan::{Plan, Recorder, Requeue, SyncError};
use super::why::Why;

/// So many dependents are released at once.
const BURST: usize = 25;

/// What a delete does to the dependents of what it deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Propagation {
    /// They go afterwards.
    Background,
    /// They go first.
    Foreground,
    /// They stay.
    Orphan,
}

/// How an owner stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// It is there, or can't be seen.
    There,
    /// It is being deleted, and goes when it has no dependents left.
    Waiting,
    /// It is gone.
    Gone,
}

/// One owner of an object.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The reference that names it.
    pub reference: OwnerReference,
    /// How it stands.
    pub state: OwnerState,
    /// Whether a fresh read of it said so.
    pub is_confirmed: bool,
}

/// An object that names the one looked at as its owner.
#[derive(Clone, Debug)]
pub struct Dependent {
    /// Which.
    pub target: Target,
    /// Whether its owner has to wait for it.
    pub blocks: bool,
    /// Whether it waits for dependents of its own.
    pub waits: bool,
}

/// What is known around one object.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The object.
    pub target: Target,
    /// Whether it is being deleted.
    pub is_deleting: bool,
    /// Its finalizers.
    pub finalizers: Vec<String>,
    /// Its owners.
    pub owners: Vec<Owner>,
    /// Its dependents, as far as their kinds are known here.
    pub dependents: Vec<Dependent>,
}

/// The kind of an owner that can be seen here.
pub fn kind_of(owner: &OwnerReference) -> Option<Kind> {
    let (group, _) = owner.api_version.split_once('/')?;
    match (group, owner.kind.as_str()) {
        ("apps", "Deployment") => Some(Kind::Deployment),
        ("apps", "ReplicaSet") => Some(Kind::ReplicaSet),
        _ => None,
    }
}

/// Whether an object goes only when it has no dependents left.
pub fn waits_for_dependents(meta: &ObjectMeta) -> bool {
    meta.is_deleting() && has(&meta.finalizers, keys::FOREGROUND_DELETION)
}

/// Whether an object is held for a garbage collector.
pub fn is_held(meta: &ObjectMeta) -> bool {
    waits_for_dependents(meta) || (meta.is_deleting() && has(&meta.finalizers, keys::ORPHAN))
}

fn has(finalizers: &[String], finalizer: &str) -> bool {
    finalizers.iter().any(|one| one == finalizer)
}

/// Plans what to do about one object. `answers` are the outcomes of the first steps, where they were already sent.
///
/// Steps that rely on an owner's state which was not confirmed must not be sent: see [`Snapshot::unconfirmed`].
pub fn collect(snapshot: &Snapshot, answers: &[Outcome]) -> Plan {
    let mut recorder = Recorder::new(answers);
    let end = if snapshot.is_deleting {
        snapshot.let_go(&mut recorder)
    } else {
        snapshot.follow_owners(&mut recorder)
    };
    recorder.finish(end.map(|()| Requeue::No).map_err(SyncError::Refused))
}

impl Snapshot {
    /// The owners that must be read afresh before anything is done on their account.
    pub fn unconfirmed(&mut self) -> impl Iterator<Item = &mut Owner> {
        let relies_on_owners = !self.is_deleting;
        let owners = self.owners.iter_mut();
        owners.filter(move |owner| {
            relies_on_owners && owner.state != OwnerState::There && !owner.is_confirmed
        })
    }

    /// An object that is being deleted goes once its dependents are nobody's, or gone, as was asked.
    fn let_go(&self, recorder: &mut Recorder<'_>) -> Result<(), Refusal> {
        if has(&self.finalizers, keys::ORPHAN) {
            self.release_dependents(recorder)?;
            return self.remove_finalizer(keys::ORPHAN, Why::DependentsReleased, recorder);
        }
        let is_blocked = self.dependents.iter().any(|dependent| dependent.blocks);
        if has(&self.finalizers, keys::FOREGROUND_DELETION) && !is_blocked {
            let why = Why::DependentsGone;
            return self.remove_finalizer(keys::FOREGROUND_DELETION, why, recorder);
        }
        Ok(())
    }

    /// All of them are tried; one that is gone needs no release.
    fn release_dependents(&self, recorder: &mut Recorder<'_>) -> Result<(), Refusal> {
        let owner = format!("{} {}", self.target.kind.word(), self.target.key.name);
        let mut released = Ok(());
        for some in self.dependents.chunks(BURST) {
            recorder.next_batch();
            for dependent in some {
                let action = Action::Disown {
                    target: dependent.target.clone(),
                    owner_uid: self.target.uid.clone(),
                };
                let why = Why::OwnerOrphans {
                    owner: owner.clone(),
                };
                match recorder.perform_in_batch(action, why) {
                    Err(refusal) if refusal.reason != RefusalReason::NotFound => {
                        released = released.and(Err(refusal));
                    }
                    _ => {}
                }
            }
        }
        released
    }

    fn remove_finalizer(
        &self,
        finalizer: &'static str,
        why: Why,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Refusal> {
        let others = self.finalizers.iter().filter(|one| *one != finalizer);
        let action = Action::RemoveFinalizer {
            target: self.target.clone(),
            finalizer,
            remaining: others.cloned().collect(),
        };
        or_gone(recorder.perform(action, why).map(|_| ()))
    }

    /// An object without an owner that is there goes too; where one is, the others are forgotten.
    fn follow_owners(&self, recorder: &mut Recorder<'_>) -> Result<(), Refusal> {
        let lost = || {
            let owners = self.owners.iter();
            owners.filter(|owner| owner.state != OwnerState::There)
        };
        if lost().count() < self.owners.len() {
            for owner in lost() {
                let action = Action::Disown {
                    target: self.target.clone(),
                    owner_uid: owner.reference.uid.clone(),
                };
                or_gone(recorder.perform(action, owner.why()).map(|_| ()))?;
            }
            return Ok(());
        }
        let waiting = lost().find(|owner| owner.state == OwnerState::Waiting);
        let Some(owner) = waiting.or(lost().next()) else {
            return Ok(());
        };
        if waiting.is_some() && self.dependents.iter().any(|dependent| dependent.waits) {
            self.unblock(owner, recorder)?;
        }
        let action = Action::Collect {
            target: self.target.clone(),
            propagation: self.propagation(waiting.is_some()),
        };
        or_gone(recorder.perform(action, owner.why()).map(|_| ()))
    }

    /// An object between an owner and a dependent that both wait may close a circle, in which all would wait for ever. So
    /// none of its owners is to wait for it.
    fn unblock(&self, waiting: &Owner, recorder: &mut Recorder<'_>) -> Result<(), Refusal> {
        let references = self.owners.iter().map(|owner| &owner.reference);
        let blocking = references.filter(|reference| reference.block_owner_deletion);
        let owner_uids: Vec<String> = blocking.map(|reference| reference.uid.clone()).collect();
        if owner_uids.is_empty() {
            return Ok(());
        }
        let action = Action::Unblock {
            target: self.target.clone(),
            owner_uids,
        };
        or_gone(recorder.perform(action, waiting.why()).map(|_| ()))
    }

    /// Where an owner waits, the object's own dependents go before it; otherwise as its finalizers say.
    fn propagation(&self, is_waited_for: bool) -> Propagation {
        if is_waited_for && !self.dependents.is_empty() {
            Propagation::Foreground
        } else if has(&self.finalizers, keys::ORPHAN) {
            Propagation::Orphan
        } else if has(&self.finalizers, keys::FOREGROUND_DELETION) {
            Propagation::Foreground
        } else {
            Propagation::Background
        }
    }
}

impl Owner {
    fn why(&self) -> Why {
        let reference = &self.reference;
        let kind = reference.kind.to_lowercase();
        let owner = format!("{kind} {}", reference.name);
        match self.state {
            OwnerState::Waiting => Why::OwnerWaits { owner },
            OwnerState::There | OwnerState::Gone => Why::OwnerGone { owner },
        }
    }
}

/// What is gone already is as good as done.
fn or_gone(answer: Result<(), Refusal>) -> Result<(), Refusal> {
    match answer {
        Err(refusal) if refusal.reason != RefusalReason::NotFound => Err(refusal),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
