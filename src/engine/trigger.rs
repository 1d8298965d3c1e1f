//! Which passes a change calls for (deployment-controller section 3, replicaset-controller section 3).

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::controller::action::Kind;
use crate::controller::api::{Deployment, ObjectKey, ObjectMeta, Pod, ReplicaSet};
use crate::controller::keys;
use crate::controller::selector::Selector;

use super::apply::Effect;
use super::options::Scope;
use super::pass::Context;
use super::queue::Queue;
use super::store::{Item, Store};

/// A pass, and the selected object that it belongs to.
pub type Concern = (Item, Item);

impl Context {
    /// The passes that a change calls for, of selected objects only.
    pub fn concerned(&self, news: &Effect, scope: &Scope) -> Vec<Concern> {
        let store = self.store();
        match news {
            Effect::None | Effect::Gone { .. } => Vec::new(),
            Effect::Deployment(deployment) => of_deployment(&store, scope, deployment),
            Effect::ReplicaSet(replica_set) => of_replica_set(&store, scope, replica_set),
            Effect::Pod(pod) => of_pod(&store, scope, pod),
        }
    }

    /// Whether a pass of one of a Deployment's ReplicaSets runs: what it brings about is worth waiting for.
    pub fn has_running_set(&self, queue: &Queue, item: &Item) -> bool {
        let mut items = self.items_of(item).into_iter();
        items.any(|set| set != *item && queue.is_running(&set))
    }

    /// The passes that belong to one object: its own and those of its ReplicaSets.
    pub fn items_of(&self, subject: &Item) -> Vec<Item> {
        let store = self.store();
        let mut items = vec![subject.clone()];
        if subject.kind == Kind::Deployment
            && let Some(deployment) = store.deployments.get(&subject.key)
        {
            let owned = store.replica_sets.owned_by(&deployment.meta.uid);
            items.extend(owned.map(|set| Item::replica_set(set.meta.key())));
        }
        items
    }
}

/// A Deployment calls for itself, and for its ReplicaSets: one that was just selected may own some already.
fn of_deployment(store: &Store, scope: &Scope, deployment: &Arc<Deployment>) -> Vec<Concern> {
    if !scope.selects_deployment(deployment) {
        return Vec::new();
    }
    let subject = Item::deployment(deployment.meta.key());
    let owned = store.replica_sets.owned_by(&deployment.meta.uid);
    std::iter::once(subject.clone())
        .chain(owned.map(|set| Item::replica_set(set.meta.key())))
        .map(|item| (subject.clone(), item))
        .collect()
}

fn of_replica_set(store: &Store, scope: &Scope, replica_set: &Arc<ReplicaSet>) -> Vec<Concern> {
    let item = Item::replica_set(replica_set.meta.key());
    match subject_of(store, scope, replica_set) {
        Some(subject) if replica_set.meta.controller().is_some() => {
            let owner = (subject.clone(), subject.clone());
            vec![(subject, item), owner]
        }
        Some(subject) => {
            let mut concerns = matching_deployments(store, scope, replica_set);
            concerns.push((subject, item));
            concerns
        }
        None => matching_deployments(store, scope, replica_set),
    }
}

/// The selected object that a ReplicaSet belongs to: its Deployment, or itself.
fn subject_of(store: &Store, scope: &Scope, replica_set: &ReplicaSet) -> Option<Item> {
    match replica_set.meta.controller() {
        Some(owner) => {
            let key = ObjectKey::new(&replica_set.meta.namespace, &owner.name);
            let deployment = store.deployments.get(&key)?;
            (deployment.meta.uid == owner.uid && scope.selects_deployment(deployment))
                .then(|| Item::deployment(key))
        }
        None => scope
            .selects_replica_set(replica_set)
            .then(|| Item::replica_set(replica_set.meta.key())),
    }
}

/// The Deployments that may adopt an orphan.
fn matching_deployments(store: &Store, scope: &Scope, orphan: &ReplicaSet) -> Vec<Concern> {
    if orphan.meta.controller().is_some() {
        return Vec::new();
    }
    store
        .deployments
        .iter()
        .filter(|deployment| deployment.meta.namespace == orphan.meta.namespace)
        .filter(|deployment| scope.selects_deployment(deployment))
        .filter(|deployment| selects(deployment.spec.selector.as_ref(), &orphan.meta))
        .map(|deployment| Item::deployment(deployment.meta.key()))
        .map(|item| (item.clone(), item))
        .collect()
}

fn of_pod(store: &Store, scope: &Scope, pod: &Arc<Pod>) -> Vec<Concern> {
    let Some(owner) = pod.meta.controller() else {
        return matching_replica_sets(store, scope, pod);
    };
    let key = ObjectKey::new(&pod.meta.namespace, &owner.name);
    let Some(replica_set) = store
        .replica_sets
        .get(&key)
        .filter(|set| owner.kind == "ReplicaSet" && set.meta.uid == owner.uid)
    else {
        return Vec::new();
    };
    let Some(subject) = subject_of(store, scope, replica_set) else {
        return Vec::new();
    };
    let mut concerns = vec![(subject.clone(), Item::replica_set(key))];
    let recreates = store
        .deployments
        .get(&subject.key)
        .is_some_and(|deployment| deployment.spec.strategy.type_ == keys::RECREATE)
        && subject.kind == Kind::Deployment;
    let makes_room = store
        .pods
        .get(&pod.meta.key())
        .is_none_or(|known| !known.is_active());
    if makes_room {
        concerns.extend(held_siblings(store, replica_set, &subject));
    }
    if recreates {
        concerns.push((subject.clone(), subject));
    }
    concerns
}

/// Other ReplicaSets of the same Deployment that lack pods: they may be waiting for room.
fn held_siblings<'a>(
    store: &'a Store,
    replica_set: &'a ReplicaSet,
    subject: &'a Item,
) -> impl Iterator<Item = Concern> {
    let owner = replica_set.meta.controller();
    owner
        .into_iter()
        .flat_map(|owner| store.replica_sets.owned_by(&owner.uid))
        .filter(|set| set.meta.uid != replica_set.meta.uid)
        .filter(|set| set.status.replicas < set.spec.replicas)
        .map(|set| (subject.clone(), Item::replica_set(set.meta.key())))
}

/// The ReplicaSets that may adopt an orphaned pod.
fn matching_replica_sets(store: &Store, scope: &Scope, orphan: &Pod) -> Vec<Concern> {
    store
        .replica_sets
        .iter()
        .filter(|set| set.meta.namespace == orphan.meta.namespace)
        .filter(|set| selects(set.spec.selector.as_ref(), &orphan.meta))
        .filter_map(|set| {
            Some((
                subject_of(store, scope, set)?,
                Item::replica_set(set.meta.key()),
            ))
        })
        .collect()
}

fn selects(selector: Option<&LabelSelector>, meta: &ObjectMeta) -> bool {
    Selector::compile(selector)
        .is_ok_and(|selector| !selector.selects_all() && selector.matches(&meta.labels))
}
