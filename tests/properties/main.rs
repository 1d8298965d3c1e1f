//! What must always hold, tried on random clusters with random things happening to them.
//!
//! Each property says exactly what it promises. The bounds of a Deployment are those of the Deployment that a pass sees:
//! a user who scales down, or makes maxSurge smaller, puts the world above them, and then no pass may take it higher.
//! proptest prints a failing case with its seed, and keeps it in `proptest-regressions`.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bounded;
mod cluster;
mod events;
mod rest;
mod server;
mod world;

use kubectl_rs::controller::api::IntOrPercent;
use proptest::prelude::*;

use crate::bounded::{Bounded, calm_events};
use crate::cluster::{Cluster, Fault};
use crate::events::{Edit, Event, crashes, events, starts};
use crate::rest::Downtime;
use crate::world::{Start, World};

/// What a cluster is like after all that.
fn cluster_after(start: &Start, events: Vec<Event>) -> Cluster {
    let mut cluster = Cluster::new(World::new(start));
    for event in events {
        event.happen(&mut cluster);
    }
    cluster
}

fn many<T: Strategy>(events: T) -> impl Strategy<Value = Vec<T::Value>> {
    prop::collection::vec(events, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// Whatever happens, in whatever order, with caches however late: every plan keeps the rules of
    /// `controller::invariants` (checked inside each pass), no ReplicaSet gets more pods than the pass meant it to
    /// have, and what belongs to others stays as it was.
    #[test]
    fn no_pass_breaks_a_rule(start in starts(), events in many(events())) {
        let before = World::new(&start);
        let after = cluster_after(&start, events).world;
        prop_assert_eq!(after.strangers(), before.strangers());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// When edits stop and all pods become ready, the rollout completes, also where the process is killed again and again and
    /// pods become ready and go meanwhile; then nothing is left to do, however often one looks.
    #[test]
    fn rollouts_complete(
        start in starts(),
        events in many(events()),
        crashes in prop::collection::vec(crashes(), 0..20),
    ) {
        let mut cluster = cluster_after(&start, events);
        cluster.restart();
        let mut crashes = crashes.into_iter();
        cluster.come_to_rest(Downtime::Long, || crashes.next().unwrap_or(Fault::None));
        cluster.check_complete();
        cluster.check_rest();
    }

    /// Killed before or after any write and started again at once, any number of times: the end is the same, to the last
    /// annotation. At once: what comes first, a pod that becomes ready or a pass, decides what a paused Deployment ends as
    /// and which sizes are noted, crash or no crash (deployment-controller sections 11 and 12).
    ///
    /// Left out is what upstream does in two writes that contradict each other, where only a crash between them would keep
    /// the ReplicaSet: see [`Cluster::has_deleted_what_it_scaled`].
    #[test]
    fn crashes_change_nothing_in_the_end(
        start in starts(),
        events in many(events()),
        crashes in prop::collection::vec(crashes(), 1..20),
    ) {
        let mut cluster = cluster_after(&start, events);
        cluster.restart();
        let mut crashing = cluster.clone();
        let mut crashes = crashes.into_iter();
        crashing.come_to_rest(Downtime::None, || crashes.next().unwrap_or(Fault::None));
        cluster.come_to_rest(Downtime::None, || Fault::None);
        prop_assume!(!cluster.has_deleted_what_it_scaled && !crashing.has_deleted_what_it_scaled);
        prop_assert_eq!(crashing.outcome(), cluster.outcome());
    }

    /// Acting alone and in order, with crashes but nothing refused, and between two edits: there are never more pods
    /// than there were, than ReplicaSets were to have already, or than `replicas` + maxSurge. And no rolling update takes
    /// the available ones below `replicas` − maxUnavailable, or below what was left of them.
    #[test]
    fn pods_keep_the_bounds(start in starts(), events in many(calm_events())) {
        let mut bounded = Bounded::new(World::new(&start));
        for event in events {
            bounded.happen(event);
        }
    }
}

/// Why the property above leaves time standing still for paused Deployments: upstream spreads what surge allows over the
/// active ReplicaSets of a paused one until the new one is saturated, so what comes first decides.
#[test]
fn a_paused_rollout_ends_as_its_pods_came() {
    let start = Start {
        replicas: 1,
        max_surge: IntOrPercent::Int(2),
        max_unavailable: IntOrPercent::Int(0),
        min_ready_seconds: 0,
        history_limit: 0,
    };
    let mut cluster = Cluster::new(World::new(&start));
    cluster.deployment_pass(Fault::None);
    Edit::Image(2).happen(&mut cluster);
    for _ in 0..2 {
        cluster.round(|| Fault::None);
    }
    Edit::Pause(true).happen(&mut cluster);
    let sizes = |mut cluster: Cluster| {
        cluster.come_to_rest(Downtime::None, || Fault::None);
        let sets = cluster.world.own_replica_sets();
        sets.map(|set| set.spec.replicas).collect::<Vec<_>>()
    };

    let pass_first = sizes(cluster.clone());
    cluster.world.let_pods_go_on();
    let ready_first = sizes(cluster);

    assert_eq!(pass_first, [1, 2]);
    assert_eq!(ready_first, [1]);
}

/// Upstream cleans up a paused Deployment with the sizes of before it scaled: where its only ReplicaSet is an empty old one
/// and no history is kept, it is brought to size and deleted (deployment-controller sections 11, 17 and 19).
#[test]
fn a_paused_deployment_without_history_loses_its_only_replica_set() {
    let start = Start {
        replicas: 2,
        max_surge: IntOrPercent::Int(1),
        max_unavailable: IntOrPercent::Int(0),
        min_ready_seconds: 0,
        history_limit: 0,
    };
    let mut cluster = Cluster::new(World::new(&start));
    Edit::Recreate(true).happen(&mut cluster);
    cluster.come_to_rest(Downtime::None, || Fault::None);
    Edit::Image(1).happen(&mut cluster);
    cluster.round(|| Fault::None);
    Edit::Pause(true).happen(&mut cluster);

    cluster.come_to_rest(Downtime::None, || Fault::None);

    assert!(cluster.has_deleted_what_it_scaled);
    assert_eq!(cluster.world.own_replica_sets().count(), 0);
}
