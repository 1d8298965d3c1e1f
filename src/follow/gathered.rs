//! Everything that was read, and the snapshots that it makes.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::kind::Deployed;
use super::list::ReadError;
use crate::controller::api::{Deployment, ObjectKey, ReplicaSet};
use crate::controller::deployment::is_complete;
use crate::diagnose::api::{Autoscaler, Event, Node, Pod, Quota};
use crate::diagnose::{Change, Presence, Snapshot, Surroundings, Unreadable};
use crate::engine::options::Scope;

/// Up to so many Deployments are compared with all others of their namespace: for many it would take too long, and
/// nobody asks about overlaps then.
const NEIGHBOURS_FOR: usize = 16;
/// A controller manager that can't renew its Lease writes nothing any more after this time.
const LEASE: SignedDuration = SignedDuration::from_secs(15);

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    pub(super) deployments: Vec<Arc<Deployed>>,
    pub(super) replica_sets: Vec<Arc<ReplicaSet>>,
    pub(super) pods: Vec<Arc<Pod>>,
    pub(super) events: Vec<Arc<Event>>,
    pub(super) quotas: Vec<Arc<Quota>>,
    pub(super) nodes: Vec<Arc<Node>>,
    pub(super) autoscalers: Vec<Arc<Autoscaler>>,
    /// Namespaces that are being deleted.
    pub(super) terminating: Vec<String>,
    pub(super) denied: Vec<ReadError>,
    /// What the controller manager's Lease says.
    pub(super) manager: Presence,
}

/// A selected Deployment as it was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which one.
    pub key: ObjectKey,
    /// Its UID: a Deployment that was deleted and made anew is another one.
    pub uid: String,
    /// The generation of its spec.
    pub generation: i64,
    /// Who changed its spec last.
    pub last_change: Option<Change>,
    /// What a diagnosis needs.
    pub snapshot: Snapshot,
}

impl Gathered {
    /// The selected Deployments, in the order of names. Where it is not known whether a `controller` acts, the controller
    /// manager's Lease may say so.
    pub fn seen(&self, scope: &Scope, controller: Presence, now: Timestamp) -> Vec<Seen> {
        let index = Index::of(self);
        let controller = match controller {
            Presence::Unknown => self.manager,
            known => known,
        };
        let selected: Vec<&Arc<Deployed>> = self
            .deployments
            .iter()
            .filter(|it| scope.selects_deployment(&it.deployment))
            .collect();
        let with_neighbours = selected.len() <= NEIGHBOURS_FOR;
        let mut seen: Vec<Seen> = selected
            .into_iter()
            .map(|it| self.see(it, &index, controller, now))
            .collect();
        if with_neighbours {
            for one in &mut seen {
                one.snapshot.surroundings.neighbours = index.beside(&one.key.namespace);
            }
        }
        seen.sort_by(|a, b| a.key.cmp(&b.key));
        seen
    }

    /// What could not be read, in a sentence each.
    pub fn missing(&self) -> Vec<Unreadable> {
        let unreadable = |error: &ReadError| Unreadable {
            resource: format!("{}{}", error.plural, error.scope),
            why: error.cause.clone(),
        };
        self.denied.iter().map(unreadable).collect()
    }

    /// Takes in what the controller manager's Lease says.
    pub fn learn(&mut self, manager: Presence) {
        self.manager = manager;
    }

    /// Whether there is work left for a controller.
    pub fn has_work(&self, scope: &Scope) -> bool {
        let selected = self.deployments.iter().map(|it| &it.deployment);
        selected
            .filter(|deployment| scope.selects_deployment(deployment))
            .any(|deployment| {
                let is_done =
                    deployment.is_observed() && is_complete(deployment, &deployment.status);
                !deployment.spec.paused && !is_done
            })
    }

    /// Takes in what another look found.
    pub(super) fn add(&mut self, more: &Self) {
        self.deployments.extend(more.deployments.iter().cloned());
        self.replica_sets.extend(more.replica_sets.iter().cloned());
        self.pods.extend(more.pods.iter().cloned());
        self.events.extend(more.events.iter().cloned());
        self.quotas.extend(more.quotas.iter().cloned());
        self.nodes.extend(more.nodes.iter().cloned());
        self.autoscalers.extend(more.autoscalers.iter().cloned());
        self.terminating.extend(more.terminating.iter().cloned());
        self.denied.extend(more.denied.iter().cloned());
    }

    fn see(
        &self,
        deployed: &Deployed,
        index: &Index<'_>,
        controller: Presence,
        now: Timestamp,
    ) -> Seen {
        let deployment = &deployed.deployment;
        let meta = &deployment.meta;
        let owned = index.sets_by_owner.get(meta.uid.as_str());
        let orphans = index.orphans.get(meta.namespace.as_str());
        let sets = [owned, orphans].into_iter().flatten().flatten();
        let mut replica_sets: Vec<Arc<ReplicaSet>> = sets.map(|set| Arc::clone(set)).collect();
        replica_sets.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        let mut pods: Vec<Arc<Pod>> = replica_sets
            .iter()
            .filter_map(|set| index.pods_by_owner.get(set.meta.uid.as_str()))
            .flatten()
            .map(|pod| Arc::clone(pod))
            .collect();
        pods.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        let names = std::iter::once(("Deployment", meta.name.as_str()))
            .chain(
                replica_sets
                    .iter()
                    .map(|set| ("ReplicaSet", set.meta.name.as_str())),
            )
            .chain(pods.iter().map(|pod| ("Pod", pod.meta.name.as_str())))
            .chain(pods.iter().flat_map(|pod| {
                let claims = pod.claims.iter();
                claims.map(|claim| ("PersistentVolumeClaim", claim.as_str()))
            }));
        let events = names
            .filter_map(|(kind, name)| index.events.get(&(meta.namespace.as_str(), kind, name)))
            .flatten()
            .map(|event| Arc::clone(event))
            .collect();
        Seen {
            key: meta.key(),
            uid: meta.uid.clone(),
            generation: meta.generation,
            last_change: deployed.last_change.clone(),
            snapshot: Snapshot {
                now,
                deployment: Arc::clone(deployment),
                replica_sets,
                pods,
                events,
                surroundings: self.surroundings(&meta.namespace),
                last_change: deployed.last_change.clone(),
                controller: match controller {
                    // Whoever has written since its Lease ran out acts.
                    Presence::Missing(since) if deployed.reported_at > Some(since + LEASE) => {
                        Presence::Unknown
                    }
                    presence => presence,
                },
                unreadable: self.missing(),
            },
        }
    }

    fn surroundings(&self, namespace: &str) -> Surroundings {
        fn here<T>(all: &[Arc<T>], namespace: &str, of: impl Fn(&T) -> &String) -> Vec<Arc<T>> {
            let local = all.iter().filter(|it| of(it) == namespace);
            local.cloned().collect()
        }
        Surroundings {
            quotas: here(&self.quotas, namespace, |it| &it.meta.namespace),
            nodes: self.nodes.clone(),
            autoscalers: here(&self.autoscalers, namespace, |it| &it.meta.namespace),
            neighbours: Vec::new(),
            is_namespace_terminating: self.terminating.iter().any(|name| name == namespace),
        }
    }
}

/// What belongs to whom.
struct Index<'a> {
    sets_by_owner: HashMap<&'a str, Vec<&'a Arc<ReplicaSet>>>,
    orphans: HashMap<&'a str, Vec<&'a Arc<ReplicaSet>>>,
    pods_by_owner: HashMap<&'a str, Vec<&'a Arc<Pod>>>,
    events: HashMap<(&'a str, &'a str, &'a str), Vec<&'a Arc<Event>>>,
    neighbours: HashMap<&'a str, Vec<&'a Arc<Deployed>>>,
}

impl<'a> Index<'a> {
    fn of(gathered: &'a Gathered) -> Self {
        let mut index = Self {
            sets_by_owner: HashMap::new(),
            orphans: HashMap::new(),
            pods_by_owner: HashMap::new(),
            events: HashMap::new(),
            neighbours: HashMap::new(),
        };
        for set in &gathered.replica_sets {
            let group = match set.meta.controller() {
                Some(owner) => index.sets_by_owner.entry(owner.uid.as_str()).or_default(),
                None => index
                    .orphans
                    .entry(set.meta.namespace.as_str())
                    .or_default(),
            };
            group.push(set);
        }
        for pod in &gathered.pods {
            if let Some(owner) = pod.meta.controller() {
                index.pods_by_owner.entry(&owner.uid).or_default().push(pod);
            }
        }
        for event in &gathered.events {
            let about = &event.involved;
            let key = (
                event.namespace.as_str(),
                about.kind.as_str(),
                about.name.as_str(),
            );
            index.events.entry(key).or_default().push(event);
        }
        for it in &gathered.deployments {
            let namespace = it.deployment.meta.namespace.as_str();
            index.neighbours.entry(namespace).or_default().push(it);
        }
        index
    }

    fn beside(&self, namespace: &str) -> Vec<Arc<Deployment>> {
        let all = self.neighbours.get(namespace).into_iter().flatten();
        all.map(|it| Arc::clone(&it.deployment)).collect()
    }
}
