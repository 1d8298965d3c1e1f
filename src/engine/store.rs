//! What the engine knows of the cluster: slim objects, found by name and by owner.
//!
//! Two sources feed it: lists and watches, and the answers to our own writes. An object is replaced only by a newer
//! version of itself, and one that is known to be gone does not come back, so the two may arrive in any order. That
//! gives every pass its own earlier writes to read, without waiting for a watch to echo them.

mod table;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::controller::action::Kind;
use crate::controller::api::{Deployment, ObjectKey, ObjectMeta, Pod, ReplicaSet};

use super::apply::Effect;

pub use table::{Change, Table, is_newer};

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

    /// Takes in a pod, which often has the labels of its ReplicaSet.
    pub(super) fn apply_pod(&mut self, mut pod: Arc<Pod>) -> Option<Change<Pod>> {
        let owner = pod.meta.controller();
        let owner = owner.map(|owner| ObjectKey::new(&pod.meta.namespace, &owner.name));
        let owner = owner.and_then(|key| self.replica_sets.get(&key));
        if let Some((owner, pod)) = owner.zip(Arc::get_mut(&mut pod)) {
            pod.meta.share_with(&owner.meta);
        }
        self.pods.apply(pod)
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
    uids: HashSet<Arc<str>>,
    order: VecDeque<Arc<str>>,
}

impl Tombstones {
    const MAX: usize = 4096;

    pub(super) fn insert(&mut self, uid: &str) {
        let uid: Arc<str> = uid.into();
        if self.uids.insert(Arc::clone(&uid)) {
            self.order.push_back(uid);
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
