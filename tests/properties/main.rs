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

use proptest::prelude::*;

use crate::bounded::{Bounded, calm_events};
use crate::cluster::{Cluster, Fault};
use crate::events::{Event, crashes, events, starts};
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

    /// When edits stop and all pods become ready, the rollout completes; then nothing is left to do, however often one
    /// looks.
    #[test]
    fn rollouts_complete(start in starts(), events in many(events())) {
        let mut cluster = cluster_after(&start, events);
        cluster.restart();
        cluster.come_to_rest(|| Fault::None);
        cluster.check_complete();
        cluster.check_rest();
    }

    /// Killed before or after any write and started again, any number of times: the end is the same.
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
        crashing.come_to_rest(|| crashes.next().unwrap_or(Fault::None));
        cluster.come_to_rest(|| Fault::None);
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
