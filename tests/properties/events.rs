//! What can happen to a cluster, at random: passes, pod events, user edits.

use k8s_openapi::jiff::SignedDuration;
use kubectl_rs::controller::action::RefusalReason;
use kubectl_rs::controller::api::{IntOrPercent, Phase, Pod};
use kubectl_rs::controller::template::Template;
use kubectl_rs::controller::{expectations, keys};
use proptest::prelude::*;

use crate::cluster::{Cluster, Fault};
use crate::world::{Start, template};

/// One thing that happens. Indices count around among the objects there are.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A pass over the Deployment.
    DeploymentPass(Fault),
    /// A pass over one of its ReplicaSets.
    ReplicaSetPass(usize, Fault),
    /// A pass over each, everything seen.
    Round,
    /// The caches catch up.
    Refresh,
    /// Time goes by.
    Wait(i64),
    /// A pod.
    Pod(usize, PodEvent),
    /// A user.
    Edit(Edit),
}

#[derive(Clone, Debug)]
pub(crate) enum PodEvent {
    Ready,
    Unready,
    Fail,
    /// It disappears, as when its node is deleted.
    Vanish,
    /// A terminating pod is gone at last.
    Gone,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Scale(i32),
    Image(u8),
    /// Back to the template of some ReplicaSet.
    Undo(usize),
    Pause(bool),
    Bounds(IntOrPercent, IntOrPercent),
    Recreate(bool),
    /// Takes a pod's or ReplicaSet's owner away.
    OrphanPod(usize),
    OrphanSet(usize),
    /// Takes a pod out of its ReplicaSet by its label, and puts it back.
    Quarantine(usize),
    Release(usize),
}

impl Event {
    pub(crate) fn happen(self, cluster: &mut Cluster) {
        match self {
            Self::DeploymentPass(fault) => {
                cluster.deployment_pass(fault);
            }
            Self::ReplicaSetPass(index, fault) => {
                let names = own_sets(cluster);
                if let Some(name) = pick(&names, index) {
                    cluster.replica_set_pass(name, fault);
                }
            }
            Self::Round => {
                cluster.round(|| Fault::None);
            }
            Self::Refresh => cluster.refresh(),
            Self::Wait(seconds) => {
                cluster.world.now += SignedDuration::from_secs(seconds);
                // Expectations end after that long: a cache that is later would double pods.
                if cluster.world.now.duration_since(cluster.seen.now) > expectations::LIFETIME {
                    cluster.refresh();
                }
            }
            Self::Pod(index, event) => event.happen(index, cluster),
            Self::Edit(edit) => edit.happen(cluster),
        }
    }
}

impl PodEvent {
    pub(crate) fn happen(self, index: usize, cluster: &mut Cluster) {
        let world = &mut cluster.world;
        match self {
            Self::Ready => world.make_ready(index),
            Self::Unready => world.change_pod(index, Pod::is_ready, |pod| pod.ready = None),
            Self::Fail => world.change_pod(index, Pod::is_active, |pod| {
                pod.phase = Phase::Failed;
                pod.ready = None;
            }),
            Self::Vanish => world.remove_pod(index, |_| true),
            Self::Gone => world.remove_pod(index, |pod| pod.meta.is_deleting()),
        }
    }
}

impl Edit {
    pub(crate) fn happen(self, cluster: &mut Cluster) {
        let world = &mut cluster.world;
        match self {
            Self::Scale(replicas) => world.edit(|d| d.spec.replicas = replicas),
            Self::Image(image) => {
                world.edit(|d| d.spec.template = Template::new(template(image)));
            }
            Self::Undo(index) => {
                let names = own_sets(cluster);
                if let Some(name) = pick(&names, index) {
                    let set = &cluster.world.replica_sets[name];
                    let template = set.spec.template.without_hash_label();
                    cluster.world.edit(|d| d.spec.template = template);
                }
            }
            Self::Pause(paused) => world.edit(|d| d.spec.paused = paused),
            Self::Bounds(surge, unavailable) => world.edit(|d| {
                let strategy = &mut d.spec.strategy;
                strategy.max_surge = Some(surge);
                strategy.max_unavailable = Some(unavailable);
            }),
            Self::Recreate(recreate) => world.edit(|d| {
                let type_ = if recreate {
                    keys::RECREATE
                } else {
                    keys::ROLLING_UPDATE
                };
                type_.clone_into(&mut d.spec.strategy.type_);
            }),
            Self::OrphanSet(index) => {
                let names = own_sets(cluster);
                if let Some(name) = pick(&names, index) {
                    cluster.world.orphan_set(name);
                }
            }
            Self::OrphanPod(index) => {
                let orphan = |pod: &mut Pod| pod.meta.owner_references.clear();
                world.change_pod(index, Pod::is_active, orphan);
                cluster.refresh();
            }
            Self::Quarantine(index) => {
                world.relabel_pod(index, "web", "quarantine");
                cluster.refresh();
            }
            // Seen at once: nothing guards a ReplicaSet against pods that it is given behind its back.
            Self::Release(index) => {
                world.relabel_pod(index, "quarantine", "web");
                cluster.refresh();
            }
        }
    }
}

fn own_sets(cluster: &Cluster) -> Vec<String> {
    let sets = cluster.world.own_replica_sets();
    sets.map(|set| set.meta.name.clone()).collect()
}

fn pick(names: &[String], index: usize) -> Option<&String> {
    names.get(index % names.len().max(1))
}

/// Deployments to start with.
pub(crate) fn starts() -> impl Strategy<Value = Start> {
    let min_ready_seconds = prop_oneof![3 => Just(0), 1 => Just(5)];
    (0..8, bounds(), min_ready_seconds, 0..3).prop_map(
        |(replicas, (max_surge, max_unavailable), min_ready_seconds, history_limit)| Start {
            replicas,
            max_surge,
            max_unavailable,
            min_ready_seconds,
            history_limit,
        },
    )
}

fn bounds() -> impl Strategy<Value = (IntOrPercent, IntOrPercent)> {
    let bound = || {
        prop_oneof![
            (0..4).prop_map(IntOrPercent::Int),
            (0..=100).prop_map(|percent| IntOrPercent::Text(format!("{percent}%"))),
        ]
    };
    (bound(), bound())
}

/// Anything that can happen.
pub(crate) fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => faults().prop_map(Event::DeploymentPass),
        12 => (0..8_usize, faults()).prop_map(|(index, fault)| Event::ReplicaSetPass(index, fault)),
        4 => Just(Event::Round),
        4 => Just(Event::Refresh),
        1 => (1..400_i64).prop_map(Event::Wait),
        8 => (0..8_usize, pod_events()).prop_map(|(index, event)| Event::Pod(index, event)),
        4 => edits().prop_map(Event::Edit),
    ]
}

/// No fault most of the time.
pub(crate) fn faults() -> impl Strategy<Value = Fault> {
    let reasons = prop::sample::select(vec![
        RefusalReason::Conflict,
        RefusalReason::Forbidden,
        RefusalReason::Timeout,
        RefusalReason::AlreadyExists,
        RefusalReason::NamespaceTerminating,
        RefusalReason::Busy,
    ]);
    prop_oneof![
        6 => Just(Fault::None),
        2 => (0..8_usize, reasons).prop_map(|(at, reason)| Fault::Refuse(at, reason)),
        1 => (0..8_usize).prop_map(Fault::Gone),
        1 => (0..8_usize).prop_map(Fault::LoseAnswer),
        1 => crashes(),
    ]
}

/// A process that dies at some write.
pub(crate) fn crashes() -> impl Strategy<Value = Fault> {
    prop_oneof![
        (0..8_usize).prop_map(Fault::CrashBefore),
        (0..8_usize).prop_map(Fault::CrashAfter),
    ]
}

/// What happens to pods.
pub(crate) fn pod_events() -> impl Strategy<Value = PodEvent> {
    prop_oneof![
        6 => Just(PodEvent::Ready),
        2 => Just(PodEvent::Unready),
        1 => Just(PodEvent::Fail),
        1 => Just(PodEvent::Vanish),
        2 => Just(PodEvent::Gone),
    ]
}

/// What users do.
pub(crate) fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (0..10).prop_map(Edit::Scale),
        4 => (0..4_u8).prop_map(Edit::Image),
        2 => (0..8_usize).prop_map(Edit::Undo),
        1 => any::<bool>().prop_map(Edit::Pause),
        2 => bounds().prop_map(|(surge, unavailable)| Edit::Bounds(surge, unavailable)),
        1 => any::<bool>().prop_map(Edit::Recreate),
        1 => (0..8_usize).prop_map(Edit::OrphanPod),
        1 => (0..8_usize).prop_map(Edit::OrphanSet),
        1 => (0..8_usize).prop_map(Edit::Quarantine),
        1 => (0..8_usize).prop_map(Edit::Release),
    ]
}
