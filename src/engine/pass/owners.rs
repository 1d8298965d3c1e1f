//! Fresh reads of owners: before something is made theirs, and before something goes on their account.

use std::time::Duration;

use crate::controller::action::{Action, Kind, Step};
use crate::controller::api::{Deployment, ObjectKey, ReplicaSet};
use crate::controller::garbage::{self, Owner, OwnerState};
use crate::engine::error::EngineError;
use crate::engine::kind::SlimKind;
use crate::engine::queue::Again;
use crate::engine::snapshot::Snapshot;
use crate::engine::store::Item;

use super::{Pass, PassEnd};

impl Pass<'_> {
    /// Whether a batch relies on owners that were not read afresh in this pass.
    pub(super) fn needs_fresh_reads(&mut self, batch: &[Step]) -> bool {
        match &mut self.snapshot {
            Snapshot::Garbage(garbage) => garbage.unconfirmed().next().is_some(),
            Snapshot::Deployment(_) | Snapshot::ReplicaSet(_) => {
                !self.asked_live && batch.iter().any(adopts)
            }
        }
    }

    /// Reads them, and plans anew with what they say.
    pub(super) async fn read_owners(&mut self, item: &Item) -> Option<PassEnd> {
        if let Snapshot::Garbage(garbage) = &self.snapshot {
            let mut garbage = garbage.clone();
            let namespace = item.key.namespace.as_str();
            for owner in garbage.unconfirmed() {
                match self.state_of(namespace, owner).await {
                    Ok(state) => owner.state = state,
                    Err(error) => {
                        let again = Again::Unanswered(Duration::ZERO);
                        return Some(PassEnd::interrupted(&error, again));
                    }
                }
                owner.is_confirmed = true;
            }
            self.snapshot = Snapshot::Garbage(garbage);
        } else {
            self.ask_live_owner(item).await;
        }
        self.plan = self.snapshot.plan(&self.answers);
        None
    }

    async fn ask_live_owner(&mut self, item: &Item) {
        self.asked_live = true;
        let sender = &self.context.sender;
        let uid = self.snapshot.uid();
        let live = match item.kind {
            Kind::Deployment => sender.live_owner::<Deployment>(&item.key, uid).await,
            Kind::ReplicaSet | Kind::Pod => sender.live_owner::<ReplicaSet>(&item.key, uid).await,
        };
        self.snapshot.set_live_owner(live);
    }

    /// How an owner stands. One that may not be read counts as there.
    async fn state_of(
        &mut self,
        namespace: &str,
        owner: &Owner,
    ) -> Result<OwnerState, EngineError> {
        let key = ObjectKey::new(namespace, &owner.reference.name);
        let uid = &owner.reference.uid;
        let read = match garbage::kind_of(&owner.reference) {
            Some(Kind::Deployment) => self.read_owner::<Deployment>(&key, uid).await,
            Some(Kind::ReplicaSet) => self.read_owner::<ReplicaSet>(&key, uid).await,
            Some(Kind::Pod) | None => Ok(OwnerState::There),
        };
        match read {
            Err(error) if !error.is_final() => Err(error),
            Err(error) => {
                tracing::warn!(%error, "an owner may not be read: what it owns is left alone");
                Ok(OwnerState::There)
            }
            state => state,
        }
    }

    async fn read_owner<T: SlimKind>(
        &mut self,
        key: &ObjectKey,
        uid: &str,
    ) -> Result<OwnerState, EngineError> {
        let found = self.context.sender.get::<T>(key).await?;
        let Some(owner) = found.filter(|owner| owner.meta().uid == uid) else {
            self.context.store().confirmed_gone.insert(uid);
            return Ok(OwnerState::Gone);
        };
        let waits = garbage::waits_for_dependents(owner.meta());
        self.absorb(T::effect(owner));
        Ok(if waits {
            OwnerState::Waiting
        } else {
            OwnerState::There
        })
    }
}

fn adopts(step: &Step) -> bool {
    matches!(
        step.action,
        Action::AdoptReplicaSet { .. } | Action::AdoptPod { .. }
    )
}
