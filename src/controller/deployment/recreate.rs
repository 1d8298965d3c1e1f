//! Recreate: all old pods go before new ones start (deployment-controller section 10).

use std::collections::BTreeSet;

use super::replica_sets::{Claimed, ReplicaSets, is_active, sum};
use super::{Pass, is_complete};
use crate::controller::api::Pod;
use crate::controller::plan::{Requeue, SyncError};
use crate::controller::why::{WaitingOn, Why};

impl<'a> Pass<'a> {
    pub(super) fn rollout_recreate(&mut self, claimed: &Claimed<'a>) -> Result<Requeue, SyncError> {
        let mut sets = self.get_all_replica_sets_and_sync_revision(claimed)?;
        if self.scale_down_old_replica_sets_for_recreate(&sets)? {
            return self.sync_rollout_status(&sets);
        }
        let running = self.old_pods_running(&sets);
        if running > 0 {
            self.wait_for_replica_failure(&sets);
            self.recorder
                .wait_for(WaitingOn::OldPods { count: running });
            return self.sync_rollout_status(&sets);
        }
        let new = match sets.new.take() {
            Some(new) => new,
            None => self.create_new_replica_set(claimed)?,
        };
        sets.new = Some(new.clone());
        let desired = self.bounds.desired;
        let why = if new.spec.replicas > desired {
            Why::AboveDesired { desired }
        } else {
            Why::RecreateUp
        };
        self.scale_replica_set_and_record_event(&mut new.clone(), desired, why)?;
        if is_complete(self.deployment, &self.status) {
            self.cleanup_deployment(sets.old.iter())?;
        }
        self.wait_for_replica_failure(&sets);
        self.wait_for_new_pods(&new);
        self.sync_rollout_status(&sets)
    }

    /// Takes every old ReplicaSet to 0; whether any was scaled.
    fn scale_down_old_replica_sets_for_recreate(
        &mut self,
        sets: &ReplicaSets<'a>,
    ) -> Result<bool, SyncError> {
        let mut scaled = false;
        for set in sets.old.iter().filter(|set| is_active(set)) {
            scaled |=
                self.scale_replica_set_and_record_event(&mut set.clone(), 0, Why::RecreateDown)?;
        }
        Ok(scaled)
    }

    /// How many old pods keep new ones from starting. A pod that is shutting down still does; one that has finished
    /// does not.
    fn old_pods_running(&self, sets: &ReplicaSets<'a>) -> i32 {
        let counted = sum(sets.old.iter().map(|set| &**set), |set| set.status.replicas);
        if counted > 0 {
            return counted;
        }
        let old: BTreeSet<(&str, &str)> = sets
            .old
            .iter()
            .map(|set| (set.meta.uid.as_str(), set.meta.name.as_str()))
            .collect();
        let is_old = |pod: &Pod| {
            pod.meta.controller().is_some_and(|owner| {
                owner.kind == "ReplicaSet" && old.contains(&(&owner.uid, &owner.name))
            })
        };
        let pods = self.snapshot.pods.iter();
        let running = pods.filter(|pod| !pod.is_finished() && is_old(pod)).count();
        i32::try_from(running).unwrap_or(i32::MAX)
    }
}
