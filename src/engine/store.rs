//! What the engine knows of the cluster: slim objects, found by name and by owner.
//!
//! Two sources feed it: lists and watches, and the answers to our own writes. An object is replaced only by a newer
//! version of itself, and one that is known to be gone does not come back, so the two may arrive in any order. That
//! gives every pass its own earlier writes to read, without waiting for a watch to echo them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::controller::action::Kind;
use crate::controller::api::{Deployment, ObjectKey, ObjectMeta, OwnerReference, Pod, ReplicaSet};

use super::apply::Effect;
use super::kind::SlimKind;

/// All objects in view.
#[derive(Debug, Default)]
pub struct Store {
    /// Deployments.
    pub deployments: Table<Deployment>,
    /// ReplicaSets.
    pub replica_sets: Table<ReplicaSet>,
    /// Pods that have no controller, or one that is a ReplicaSet.
    pub pods: Table<Pod>,
    /// Whether garbage is left to others.
    pub(super) leaves_garbage: bool,
    /// Owners of which a fresh read has said that they are gone.
    pub(super) confirmed_gone: Tombstones,
    /// Whether the API server was seen to drop `terminatingReplicas` from a status.
    pub omits_terminating_replicas: bool,
}

/// The objects of one kind.
#[derive(Debug)]
pub struct Table<T> {
    by_key: HashMap<ObjectKey, Arc<T>>,
    by_owner: HashMap<String, BTreeMap<ObjectKey, Arc<T>>>,
    /// By owners that are not the controller.
    by_other_owner: HashMap<String, BTreeMap<ObjectKey, Arc<T>>>,
    orphans: HashMap<String, BTreeMap<ObjectKey, Arc<T>>>,
    gone: Tombstones,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            by_key: HashMap::new(),
            by_owner: HashMap::new(),
            by_other_owner: HashMap::new(),
            orphans: HashMap::new(),
            gone: Tombstones::default(),
        }
    }
}

/// Key, UID and version of an object.
pub type Identity = (ObjectKey, String, String);

impl Store {
    /// Puts an object in place of whatever version is known.
    pub fn preset(&mut self, effect: &Effect) {
        match effect {
            Effect::Deployment(object) => self.deployments.replace(Arc::clone(object)),
            Effect::ReplicaSet(object) => self.replica_sets.replace(Arc::clone(object)),
            Effect::Pod(object) => self.pods.replace(Arc::clone(object)),
            Effect::None | Effect::Gone { .. } => {}
        }
    }

    /// The metadata of an object.
    pub fn meta(&self, kind: Kind, key: &ObjectKey) -> Option<&ObjectMeta> {
        match kind {
            Kind::Deployment => self.deployments.get(key).map(|object| &object.meta),
            Kind::ReplicaSet => self.replica_sets.get(key).map(|object| &object.meta),
            Kind::Pod => self.pods.get(key).map(|object| &object.meta),
        }
    }

    /// Which objects of a kind are known, in one namespace or in all.
    pub fn identities(&self, kind: Kind, namespace: Option<&str>) -> Vec<Identity> {
        match kind {
            Kind::Deployment => self.deployments.identities(namespace),
            Kind::ReplicaSet => self.replica_sets.identities(namespace),
            Kind::Pod => self.pods.identities(namespace),
        }
    }
}

/// UIDs of objects that are gone, the latest few thousand: an answer that is still under way when its object goes is
/// never that late.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    uids: HashSet<String>,
    order: VecDeque<String>,
}

impl Tombstones {
    const MAX: usize = 4096;

    pub(super) fn insert(&mut self, uid: &str) {
        if self.uids.insert(uid.to_owned()) {
            self.order.push_back(uid.to_owned());
        }
        if self.order.len() > Self::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.uids.remove(&oldest);
        }
    }

    pub(super) fn contains(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }
}

/// What a change to the table replaced.
#[derive(Debug)]
pub struct Change<T> {
    /// The object before, if it was known.
    pub before: Option<Arc<T>>,
    /// The object after, unless it is gone.
    pub after: Option<Arc<T>>,
}

impl<T: SlimKind> Table<T> {
    /// Takes in an object, unless a newer version of it is known or it is known to be gone.
    pub fn apply(&mut self, object: Arc<T>) -> Option<Change<T>> {
        let meta = object.meta();
        let key = meta.key();
        if self.knows(&key, &meta.uid, &meta.resource_version) {
            return None;
        }
        let before = self.by_key.get(&key).cloned();
        if let Some(known) = &before {
            object.learn_from(known);
            self.unlink(known);
            if known.meta().uid != meta.uid {
                self.gone.insert(&known.meta().uid);
            }
        }
        self.link(&key, &object);
        self.by_key.insert(key, Arc::clone(&object));
        Some(Change {
            before,
            after: Some(object),
        })
    }

    /// Whether a version of an object says nothing new.
    pub fn knows(&self, key: &ObjectKey, uid: &str, version: &str) -> bool {
        let is_known = |known: &Arc<T>| {
            let meta = known.meta();
            meta.uid == uid && !is_newer(version, &meta.resource_version)
        };
        self.gone.contains(uid) || self.by_key.get(key).is_some_and(is_known)
    }

    fn replace(&mut self, object: Arc<T>) {
        let key = object.meta().key();
        if let Some(known) = self.by_key.get(&key).cloned() {
            self.unlink(&known);
        }
        self.link(&key, &object);
        self.by_key.insert(key, object);
    }

    /// Forgets an object for good: a late answer does not bring it back.
    pub fn remove(&mut self, key: &ObjectKey, uid: &str) -> Option<Change<T>> {
        self.gone.insert(uid);
        let known = self
            .by_key
            .get(key)
            .filter(|known| known.meta().uid == uid)?
            .clone();
        self.by_key.remove(key);
        self.unlink(&known);
        Some(Change {
            before: Some(known),
            after: None,
        })
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.by_key.get(key)
    }

    /// All objects, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.by_key.values()
    }

    fn identities(&self, namespace: Option<&str>) -> Vec<Identity> {
        self.by_key
            .values()
            .map(|object| object.meta())
            .filter(|meta| namespace.is_none_or(|namespace| meta.namespace == namespace))
            .map(|meta| (meta.key(), meta.uid.clone(), meta.resource_version.clone()))
            .collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Objects whose controller has this UID, in the order of names.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &Arc<T>> {
        self.by_owner
            .get(uid)
            .into_iter()
            .flat_map(BTreeMap::values)
    }

    /// Objects that have this UID among their owners.
    pub fn dependents(&self, uid: &str) -> impl Iterator<Item = &Arc<T>> {
        let others = self.by_other_owner.get(uid);
        self.owned_by(uid)
            .chain(others.into_iter().flat_map(BTreeMap::values))
    }

    /// Objects of a namespace without a controller, in the order of names.
    pub fn orphans(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {
        self.orphans
            .get(namespace)
            .into_iter()
            .flat_map(BTreeMap::values)
    }

    fn link(&mut self, key: &ObjectKey, object: &Arc<T>) {
        let meta = object.meta();
        let group = match meta.controller() {
            Some(owner) => self.by_owner.entry(owner.uid.clone()).or_default(),
            None => self.orphans.entry(meta.namespace.clone()).or_default(),
        };
        group.insert(key.clone(), Arc::clone(object));
        for owner in other_owners(meta) {
            let group = self.by_other_owner.entry(owner.uid.clone()).or_default();
            group.insert(key.clone(), Arc::clone(object));
        }
    }

    fn unlink(&mut self, object: &Arc<T>) {
        let meta = object.meta();
        let key = meta.key();
        match meta.controller() {
            Some(owner) => take_out(&mut self.by_owner, &owner.uid, &key),
            None => take_out(&mut self.orphans, &meta.namespace, &key),
        }
        for owner in other_owners(meta) {
            take_out(&mut self.by_other_owner, &owner.uid, &key);
        }
    }
}

/// The owners that are not the controller.
fn other_owners(meta: &ObjectMeta) -> impl Iterator<Item = &OwnerReference> {
    let controller = meta.controller().map(|owner| &owner.uid);
    let owners = meta.owner_references.iter();
    owners.filter(move |owner| Some(&owner.uid) != controller)
}

/// Takes an object out of its group, and the group away when it was the last.
fn take_out<T>(
    groups: &mut HashMap<String, BTreeMap<ObjectKey, Arc<T>>>,
    name: &str,
    key: &ObjectKey,
) {
    if let Some(group) = groups.get_mut(name) {
        group.remove(key);
        if group.is_empty() {
            groups.remove(name);
        }
    }
}

/// Whether `candidate` is a later version than `known`. Versions of one kind compare as numbers; where they are no
/// numbers, what arrives last counts as newest.
pub fn is_newer(candidate: &str, known: &str) -> bool {
    match (candidate.parse::<u64>(), known.parse::<u64>()) {
        (Ok(candidate), Ok(known)) => candidate > known,
        _ => candidate != known,
    }
}

/// What a pass is run for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// Deployment or ReplicaSet.
    pub kind: Kind,
    /// Its name.
    pub key: ObjectKey,
}

impl Item {
    /// A Deployment's pass.
    pub fn deployment(key: ObjectKey) -> Self {
        Self {
            kind: Kind::Deployment,
            key,
        }
    }

    /// A ReplicaSet's pass.
    pub fn replica_set(key: ObjectKey) -> Self {
        Self {
            kind: Kind::ReplicaSet,
            key,
        }
    }
}
