//! Snapshots for the core, taken from the store. Their cost grows with one Deployment's objects, not with the cluster.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use crate::controller::action::{Kind, Outcome};
use crate::controller::api::{ObjectKey, ReplicaSet};
use crate::controller::plan::{LiveOwner, Plan};
use crate::controller::replica_set::{Limits, room};
use crate::controller::{deployment, garbage, replica_set};

use super::kind::SlimKind;
use super::store::{Item, Store};

/// What one pass sees.
#[derive(Clone, Debug)]
pub enum Snapshot {
    /// Of a Deployment.
    Deployment(deployment::Snapshot),
    /// Of a ReplicaSet.
    ReplicaSet(replica_set::Snapshot),
    /// Of an object whose owners are gone or going, or that waits for its dependents.
    Garbage(garbage::Snapshot),
}

impl Snapshot {
    /// What the store knows about an item; `None` when it knows no such object, or nothing is to be done about it.
    pub fn of(store: &Store, item: &Item, now: Timestamp) -> Option<Self> {
        let garbage = store.garbage(item).map(Self::Garbage);
        if let Some(garbage) = garbage.filter(|garbage| !garbage.plan(&[]).steps.is_empty()) {
            return Some(garbage);
        }
        match item.kind {
            Kind::Deployment => of_deployment(store, item, now).map(Self::Deployment),
            Kind::ReplicaSet => of_replica_set(store, item, now).map(Self::ReplicaSet),
            Kind::Pod => None,
        }
    }

    /// Plans the pass, given the answers so far.
    pub fn plan(&self, answers: &[Outcome]) -> Plan {
        match self {
            Self::Deployment(snapshot) => deployment::reconcile(snapshot, answers),
            Self::ReplicaSet(snapshot) => replica_set::reconcile(snapshot, answers),
            Self::Garbage(snapshot) => garbage::collect(snapshot, answers),
        }
    }

    /// UID of the object that the pass is about.
    pub fn uid(&self) -> &str {
        match self {
            Self::Deployment(snapshot) => &snapshot.deployment.meta.uid,
            Self::ReplicaSet(snapshot) => &snapshot.replica_set.meta.uid,
            Self::Garbage(snapshot) => &snapshot.target.uid,
        }
    }

    /// Enters what a fresh read of the object said.
    pub fn set_live_owner(&mut self, live: LiveOwner) {
        match self {
            Self::Deployment(snapshot) => snapshot.live_owner = live,
            Self::ReplicaSet(snapshot) => snapshot.live_owner = live,
            // Its owners are confirmed one by one.
            Self::Garbage(_) => {}
        }
    }

    /// Enters the ReplicaSet that a create ran into, whoever it belongs to.
    pub fn add_replica_set(&mut self, found: Arc<ReplicaSet>) {
        if let Self::Deployment(snapshot) = self {
            let sets = &mut snapshot.replica_sets;
            match sets.binary_search_by(|known| known.meta.name.cmp(&found.meta.name)) {
                Ok(at) => sets[at] = found,
                Err(at) => sets.insert(at, found),
            }
        }
    }
}

/// A Deployment with the ReplicaSets that are its own or nobody's, and their pods.
fn of_deployment(store: &Store, item: &Item, now: Timestamp) -> Option<deployment::Snapshot> {
    let mut snapshot = without_pods(store, item, now)?;
    let sets = snapshot.replica_sets.iter();
    snapshot.pods = by_name(sets.flat_map(|set| store.pods.owned_by(&set.meta.uid)));
    Some(snapshot)
}

/// A Deployment with the ReplicaSets that are its own or nobody's: what an overview is made of.
pub fn without_pods(store: &Store, item: &Item, now: Timestamp) -> Option<deployment::Snapshot> {
    let deployment = store.deployments.get(&item.key)?;
    let owned = store.replica_sets.owned_by(&deployment.meta.uid);
    let orphans = store.replica_sets.orphans(&item.key.namespace);
    Some(deployment::Snapshot {
        now,
        deployment: Arc::clone(deployment),
        replica_sets: by_name(owned.chain(orphans)),
        pods: Vec::new(),
        live_owner: LiveOwner::Unchanged,
        omits_terminating_replicas: store.omits_terminating_replicas,
    })
}

fn of_replica_set(store: &Store, item: &Item, now: Timestamp) -> Option<replica_set::Snapshot> {
    let replica_set = Arc::clone(store.replica_sets.get(&item.key)?);
    let room = room_of(store, &replica_set);
    let siblings: Vec<_> = replica_set
        .meta
        .controller()
        .into_iter()
        .flat_map(|owner| store.replica_sets.owned_by(&owner.uid))
        .filter(|sibling| sibling.meta.uid != replica_set.meta.uid)
        .cloned()
        .collect();
    let owned = store.pods.owned_by(&replica_set.meta.uid);
    let related = siblings
        .iter()
        .flat_map(|sibling| store.pods.owned_by(&sibling.meta.uid));
    let pods = by_name(
        owned
            .chain(related)
            .chain(store.pods.orphans(&item.key.namespace)),
    );
    Some(replica_set::Snapshot {
        now,
        replica_set,
        siblings,
        pods,
        expectations_met: true,
        limits: Limits { room, brake: None },
        live_owner: LiveOwner::Unchanged,
        omits_terminating_replicas: store.omits_terminating_replicas,
    })
}

/// How many pods a ReplicaSet may create, where a known Deployment controls it.
fn room_of(store: &Store, replica_set: &ReplicaSet) -> Option<usize> {
    let owner = replica_set.meta.controller()?;
    let key = ObjectKey::new(&replica_set.meta.namespace, &owner.name);
    let deployment = store.deployments.get(&key)?;
    let sets = || store.replica_sets.owned_by(&owner.uid);
    let pods = sets().flat_map(|set| store.pods.owned_by(&set.meta.uid));
    (deployment.meta.uid == owner.uid).then(|| room(deployment, sets(), pods))
}

fn by_name<'a, T: SlimKind>(objects: impl Iterator<Item = &'a Arc<T>>) -> Vec<Arc<T>> {
    let mut objects: Vec<_> = objects.cloned().collect();
    objects.sort_by(|a, b| a.meta().name.cmp(&b.meta().name));
    objects
}
