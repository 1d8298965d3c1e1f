//! How a cluster comes to rest once nobody interferes, and what is true then.

use std::collections::BTreeSet;
use std::fmt::Debug;

use k8s_openapi::jiff::SignedDuration;
use kubectl_rs::controller::deployment::is_complete;
use kubectl_rs::controller::keys;

use crate::cluster::{Cluster, Ended, Fault};

/// More rounds than any rollout of these tests takes.
const ROUNDS: usize = 200;

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Round {
    /// Nothing was left to do.
    Quiet,
    /// Something was.
    Busy,
    /// The process died.
    Crashed,
}

/// How long a process that died is away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Downtime {
    /// It is back before anything else happens.
    None,
    /// Pods become ready, and go, meanwhile.
    Long,
}

impl Cluster {
    /// The ReplicaSets, those with surplus pods before those that lack some.
    pub(crate) fn replica_sets_in_order(&self) -> Vec<String> {
        let mut sets: Vec<(i64, String)> = self
            .world
            .own_replica_sets()
            .map(|set| {
                let active = i64::try_from(self.world.active_pods(set).count()).unwrap();
                (i64::from(set.spec.replicas) - active, set.meta.name.clone())
            })
            .collect();
        sets.sort_unstable();
        sets.into_iter().map(|(_, name)| name).collect()
    }

    /// One round: each ReplicaSet until nothing is left to do for it, then the Deployment. So what the Deployment reckons
    /// with has come true and is told in their statuses, also where a crash has ended the round before.
    pub(crate) fn round(&mut self, mut fault: impl FnMut() -> Fault) -> Round {
        let mut busy = false;
        for name in self.replica_sets_in_order() {
            match self.settle_replica_set(&name, &mut fault) {
                Some(wrote) => busy |= wrote,
                None => return Round::Crashed,
            }
        }
        self.refresh();
        match self.deployment_pass(fault()) {
            Ended::Sent(plan) if busy || !plan.is_settled() => Round::Busy,
            Ended::Sent(_) => Round::Quiet,
            Ended::Crashed => Round::Crashed,
        }
    }

    /// Passes over a ReplicaSet until there is nothing left to do, or it fails. Returns whether there was something, and
    /// nothing where the process died.
    pub(crate) fn settle_replica_set(
        &mut self,
        name: &str,
        mut fault: impl FnMut() -> Fault,
    ) -> Option<bool> {
        let mut busy = false;
        loop {
            self.refresh();
            match self.replica_set_pass(name, fault()) {
                Some(Ended::Crashed) => return None,
                Some(Ended::Sent(plan)) if plan.end.is_done() && !plan.is_settled() => busy = true,
                Some(Ended::Sent(plan)) => return Some(busy || !plan.is_settled()),
                None => return Some(busy),
            }
        }
    }

    /// Round after round, while pods become ready and terminating ones go and time goes by, until two find nothing to do.
    /// `downtime` is what goes on in a round that a crash has ended.
    pub(crate) fn come_to_rest(&mut self, downtime: Downtime, mut fault: impl FnMut() -> Fault) {
        let mut quiet = 0;
        for _ in 0..ROUNDS {
            let round = self.round(&mut fault);
            if round == Round::Crashed && downtime == Downtime::None {
                quiet = 0;
                continue;
            }
            let busy = self.world.let_pods_go_on() || round != Round::Quiet;
            let seconds = self.world.deployment.spec.min_ready_seconds.max(1);
            self.world.now += SignedDuration::from_secs(seconds.into());
            quiet = if busy { 0 } else { quiet + 1 };
            if quiet == 2 {
                return;
            }
        }
        panic!("still busy after {ROUNDS} rounds: {}", self.world);
    }

    /// All pods are of the template and available, as many as wanted, and no others are left: unless the Deployment is
    /// paused, or held.
    pub(crate) fn check_complete(&self) {
        let deployment = &self.world.deployment;
        if deployment.spec.paused || self.is_held_by_stale_sizes() {
            return;
        }
        assert!(
            is_complete(deployment, &deployment.status),
            "not complete: {}",
            self.world
        );
        let desired = usize::try_from(deployment.spec.replicas).unwrap();
        let mut total = 0;
        for set in self.world.own_replica_sets() {
            let pods = self.world.active_pods(set).count();
            let is_new = set.spec.template.is_equal_to(&deployment.spec.template);
            assert!(is_new || pods == 0, "{} has {pods} pods", set.meta.name);
            total += pods;
        }
        assert_eq!(total, desired);
    }

    /// How things stand, without the names of pods and the times, which differ from run to run.
    pub(crate) fn outcome(&self) -> impl PartialEq + Debug {
        let sets = self.world.own_replica_sets().map(|set| {
            let pods = self.world.active_pods(set).count();
            (
                set.meta.name.clone(),
                set.meta.annotations.clone(),
                set.spec.replicas,
                pods,
            )
        });
        let deployment = &self.world.deployment;
        let status = &deployment.status;
        let conditions = status.conditions.iter();
        let conditions: BTreeSet<_> = conditions
            .map(|condition| {
                (
                    condition.type_.clone(),
                    condition.status.to_string(),
                    condition.reason.clone(),
                )
            })
            .collect();
        let counters = (
            status.replicas,
            status.updated_replicas,
            status.available_replicas,
        );
        let generation = status.observed_generation;
        (
            sets.collect::<Vec<_>>(),
            deployment.meta.annotations.clone(),
            conditions,
            counters,
            generation,
        )
    }

    /// Whether upstream takes every pass for a scaling pass with nothing to scale, and never gets to the rollout: some
    /// active ReplicaSet was last sized for another number of pods, but the only one has the right size, or there are
    /// several and the strategy is Recreate, which scales none of them. Only another edit gets it out of there.
    fn is_held_by_stale_sizes(&self) -> bool {
        let deployment = &self.world.deployment;
        let desired = deployment.spec.replicas;
        let active = self
            .world
            .own_replica_sets()
            .filter(|set| set.spec.replicas > 0);
        let active: Vec<_> = active.collect();
        let stale = active.iter().any(|set| {
            let sized_for = set.meta.annotation(keys::DESIRED_REPLICAS);
            sized_for.is_some_and(|text| text != desired.to_string())
        });
        stale
            && match active.as_slice() {
                [only] => only.spec.replicas == desired,
                _ => deployment.spec.strategy.type_ == keys::RECREATE,
            }
    }

    /// Looking again finds nothing to do.
    pub(crate) fn check_rest(&mut self) {
        for _ in 0..2 {
            let round = self.round(|| Fault::None);
            assert_eq!(round, Round::Quiet, "not at rest: {}", self.world);
        }
    }
}
