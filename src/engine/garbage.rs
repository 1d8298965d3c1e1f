//! Where garbage may be: which objects a change concerns, and what is known around one of them.

use foldhash::HashMap;

use crate::controller::action::{Kind, Target};
use crate::controller::api::{ObjectKey, ObjectMeta, OwnerReference};
use crate::controller::garbage::{
    Dependent, Owner, OwnerState, Snapshot, is_held, kind_of, waits_for_dependents,
};

use super::apply::Effect;
use super::options::Scope;
use super::pass::Context;
use super::store::{Item, Store};
use super::trigger::Concern;

/// How far a chain of owners is followed.
const MOST_OWNERS: usize = 4;

impl Store {
    /// What is known around an object that may be garbage, or wait for a garbage collector.
    pub(super) fn garbage(&self, item: &Item) -> Option<Snapshot> {
        let meta = self.meta(item.kind, &item.key)?;
        if !self.may_be_garbage(meta) {
            return None;
        }
        let owners = meta.owner_references.iter().map(|reference| Owner {
            state: self.state_of(&meta.namespace, reference),
            is_confirmed: self.confirmed_gone.contains(&reference.uid),
            reference: reference.clone(),
        });
        let dependents = self.dependents(&meta.uid).map(|(kind, dependent)| {
            let mut owners = dependent.owner_references.iter();
            Dependent {
                target: Target::new(kind, dependent),
                blocks: owners.any(|owner| owner.uid == meta.uid && owner.block_owner_deletion),
                waits: waits_for_dependents(dependent),
            }
        });
        Some(Snapshot {
            target: Target::new(item.kind, meta),
            is_deleting: meta.is_deleting(),
            finalizers: meta.finalizers.to_vec(),
            owners: owners.collect(),
            dependents: dependents.collect(),
        })
    }

    fn may_be_garbage(&self, meta: &ObjectMeta) -> bool {
        if self.leaves_garbage {
            return false;
        }
        if meta.is_deleting() {
            return is_held(meta);
        }
        let mut owners = meta.owner_references.iter();
        owners.any(|owner| self.state_of(&meta.namespace, owner) != OwnerState::There)
    }

    fn state_of(&self, namespace: &str, reference: &OwnerReference) -> OwnerState {
        if kind_of(reference).is_none() {
            return OwnerState::There;
        }
        match self.owner(namespace, reference) {
            None => OwnerState::Gone,
            Some((_, owner)) if waits_for_dependents(owner) => OwnerState::Waiting,
            Some(_) => OwnerState::There,
        }
    }

    /// The owner that a reference names, where it is known.
    fn owner(&self, namespace: &str, reference: &OwnerReference) -> Option<(Item, &ObjectMeta)> {
        let item = item_of(namespace, reference)?;
        let meta = self.meta(item.kind, &item.key)?;
        (meta.uid == reference.uid).then_some((item, meta))
    }

    /// Everything that has this UID among its owners.
    fn dependents(&self, uid: &str) -> impl Iterator<Item = (Kind, &ObjectMeta)> {
        let deployments = self.deployments.dependents(uid);
        let sets = self.replica_sets.dependents(uid);
        let pods = self.pods.dependents(uid);
        let deployments = deployments.map(|object| (Kind::Deployment, &object.meta));
        let sets = sets.map(|object| (Kind::ReplicaSet, &object.meta));
        let pods = pods.map(|object| (Kind::Pod, &object.meta));
        deployments.chain(sets).chain(pods)
    }
}

fn item_of(namespace: &str, owner: &OwnerReference) -> Option<Item> {
    Some(Item {
        kind: kind_of(owner)?,
        key: ObjectKey::new(namespace, &owner.name),
    })
}

/// Which selected object each item belongs to.
pub(super) type Subjects = HashMap<Item, Item>;

impl Context {
    /// The objects that a change may have made garbage of, or brought nearer to their end: itself, what it owns, and
    /// owners that wait for it. Of selected objects only, those among them that are gone by now included.
    pub(super) fn litter(&self, news: &Effect, scope: &Scope, subjects: &Subjects) -> Vec<Concern> {
        let (kind, meta) = match news {
            Effect::Deployment(object) => (Kind::Deployment, &object.meta),
            Effect::ReplicaSet(object) => (Kind::ReplicaSet, &object.meta),
            Effect::Pod(object) => (Kind::Pod, &object.meta),
            Effect::None | Effect::Gone { .. } => return Vec::new(),
        };
        let item = |kind, meta: &ObjectMeta| Item {
            kind,
            key: meta.key(),
        };
        let store = self.store();
        if store.leaves_garbage {
            return Vec::new();
        }
        let known = store.meta(kind, &meta.key());
        let known = known.filter(|known| known.uid == meta.uid);
        let mut items = Vec::new();
        let references = meta.owner_references.iter();
        let owners = references.filter_map(|owner| store.owner(&meta.namespace, owner));
        items.extend(
            owners
                .filter(|(_, owner)| is_held(owner))
                .map(|(item, _)| item),
        );
        if known.is_some_and(|known| store.may_be_garbage(known)) {
            items.push(item(kind, meta));
        }
        if known.is_none_or(waits_for_dependents) {
            let dependents = store.dependents(&meta.uid);
            let left = dependents.filter(|(_, dependent)| !dependent.is_deleting());
            items.extend(left.map(|(kind, dependent)| item(kind, dependent)));
        }
        let selection = Selection {
            store: &store,
            scope,
            subjects,
        };
        let concern = |item: Item| Some((selection.subject(&item, MOST_OWNERS)?, item));
        items.into_iter().filter_map(concern).collect()
    }
}

/// What is selected, and what of it is known.
struct Selection<'a> {
    store: &'a Store,
    scope: &'a Scope,
    subjects: &'a Subjects,
}

impl Selection<'_> {
    /// The selected object that an item belongs to; `None`: it is none of our business.
    fn subject(&self, item: &Item, most_owners: usize) -> Option<Item> {
        if let Some(subject) = self.subjects.get(item) {
            return Some(subject.clone());
        }
        let meta = self.store.meta(item.kind, &item.key)?;
        let owners = meta.owner_references.iter();
        let mut owners = owners.take(most_owners);
        let of_owner =
            owners.find_map(|owner| self.subject_of_owner(&meta.namespace, owner, most_owners));
        of_owner.or_else(|| {
            let is_selected = match item.kind {
                Kind::Deployment => {
                    let object = self.store.deployments.get(&item.key);
                    object.is_some_and(|object| self.scope.selects_deployment(object))
                }
                Kind::ReplicaSet => {
                    let object = self.store.replica_sets.get(&item.key);
                    let alone = object.filter(|object| object.meta.controller().is_none());
                    alone.is_some_and(|object| self.scope.selects_replica_set(object))
                }
                Kind::Pod => false,
            };
            is_selected.then(|| item.clone())
        })
    }

    fn subject_of_owner(
        &self,
        namespace: &str,
        owner: &OwnerReference,
        most_owners: usize,
    ) -> Option<Item> {
        let item = item_of(namespace, owner)?;
        if self.store.owner(namespace, owner).is_some() {
            return self.subject(&item, most_owners.checked_sub(1)?);
        }
        let known = self.subjects.get(&item).cloned();
        known.or_else(|| self.scope.selects_by_name(&item).then_some(item))
    }
}
