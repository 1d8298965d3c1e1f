//! Pods, counted one by one while the controllers work in order: what the bounds come to in the end.
//!
//! Upstream's controllers run side by side, and the Deployment's reckons with what ReplicaSets are to have, not with the
//! pods there are, and with statuses that count pods which are about to go. In rounds, every ReplicaSet has been brought
//! to its size, and says so, before the Deployment is looked at again.

use kubectl_rs::controller::deployment::Fenceposts;
use kubectl_rs::controller::keys;
use kubectl_rs::controller::plan::Plan;
use kubectl_rs::controller::why::Why;
use proptest::prelude::*;

use crate::cluster::{Cluster, Fault};
use crate::events::{Edit, PodEvent, crashes, edits, pod_events};
use crate::world::World;

/// What happens while the controllers work in order.
#[derive(Clone, Debug)]
pub(crate) enum Calm {
    /// A round, in which each pass may crash; that ends it.
    Round(Vec<Fault>),
    /// A pod.
    Pod(usize, PodEvent),
    /// A user.
    Edit(Edit),
}

/// Rounds above all.
pub(crate) fn calm_events() -> impl Strategy<Value = Calm> {
    let faults = prop_oneof![4 => Just(Fault::None), 1 => crashes()];
    prop_oneof![
        4 => prop::collection::vec(faults, 0..5).prop_map(Calm::Round),
        4 => (0..8_usize, pod_events()).prop_map(|(index, event)| Calm::Pod(index, event)),
        1 => edits().prop_map(Calm::Edit),
    ]
}

/// A cluster whose pods are counted.
pub(crate) struct Bounded {
    cluster: Cluster,
    /// The most pods there may be until the next edit.
    ceiling: i64,
}

impl Bounded {
    pub(crate) fn new(world: World) -> Self {
        let mut bounded = Self {
            cluster: Cluster::new(world),
            ceiling: 0,
        };
        bounded.set_ceiling();
        bounded
    }

    pub(crate) fn happen(&mut self, event: Calm) {
        match event {
            Calm::Round(faults) => self.round(faults.into_iter()),
            Calm::Pod(index, event) => event.happen(index, &mut self.cluster),
            Calm::Edit(edit) => {
                edit.happen(&mut self.cluster);
                self.set_ceiling();
            }
        }
    }

    fn set_ceiling(&mut self) {
        let world = &self.cluster.world;
        let max_total = i64::from(Fenceposts::of(&world.deployment).max_total());
        self.ceiling = max_total.max(world.active()).max(world.wanted());
    }

    fn round(&mut self, mut faults: impl Iterator<Item = Fault>) {
        let mut fault = || faults.next().unwrap_or(Fault::None);
        for name in self.cluster.replica_sets_in_order() {
            let settled = self.cluster.settle_replica_set(&name, &mut fault);
            self.check_ceiling();
            if settled.is_none() {
                return;
            }
        }
        self.cluster.refresh();
        let before = self.cluster.clone();
        self.cluster.deployment_pass(fault());
        self.check_available(&before);
    }

    fn check_ceiling(&self) {
        let active = self.cluster.world.active();
        let Self { cluster, ceiling } = self;
        assert!(
            active <= *ceiling,
            "{active} pods, {ceiling} allowed: {}",
            cluster.world
        );
    }

    /// What a pass leaves available once ReplicaSets have done as it says.
    fn check_available(&self, before: &Cluster) {
        let deployment = &before.world.deployment;
        let rolling = deployment.spec.strategy.type_ == keys::ROLLING_UPDATE;
        // A ready pod that is not available yet may be deleted after an available one: its deletion cost, or a crowded
        // node, comes first. And a user who scales in the middle of a rollout takes pods from all sides.
        if !rolling
            || deployment.spec.min_ready_seconds > 0
            || keeps_shares(&before.deployment_plan())
        {
            return;
        }
        let min_available = i64::from(Fenceposts::of(deployment).min_available());
        let limit = before.world.ready().min(min_available);
        let mut after = self.cluster.clone();
        for name in after.replica_sets_in_order() {
            after.replica_set_pass(&name, Fault::None);
        }
        let available = after.world.ready();
        assert!(
            available >= limit,
            "{available} available, {limit} needed: {}",
            before.world
        );
    }
}

fn keeps_shares(plan: &Plan) -> bool {
    let mut steps = plan.steps.iter();
    steps.any(|step| matches!(step.why, Why::Proportional { .. }))
}
