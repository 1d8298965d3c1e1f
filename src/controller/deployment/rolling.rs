//! `RollingUpdate`: new pods as far as surge allows, old pods away as far as availability allows (deployment-controller
//! section 9). One direction per pass.

use super::replica_sets::{Claimed, ReplicaSets, is_active, replica_count, sum};
use super::working_copy::WorkingCopy;
use super::{Pass, is_complete};
use crate::controller::api::ReplicaSet;
use crate::controller::plan::{Requeue, SyncError};
use crate::controller::why::{WaitingOn, Why};

impl<'a> Pass<'a> {
    pub(super) fn rollout_rolling(&mut self, claimed: &Claimed<'a>) -> Result<Requeue, SyncError> {
        let new = self.get_or_create_new_replica_set(claimed)?;
        // Stays as it is: the status tells how things stood when the pass began.
        let sets = ReplicaSets {
            new: Some(new.clone()),
            old: claimed.old_copies(),
        };
        if self.reconcile_new_replica_set(&sets, new.clone())? {
            return self.sync_rollout_status(&sets);
        }
        if self.reconcile_old_replica_sets(&sets, &new) {
            return self.sync_rollout_status(&sets);
        }
        if is_complete(self.deployment, &self.status) {
            self.cleanup_deployment(sets.old.iter())?;
        }
        self.wait_for_rollout(&sets);
        self.sync_rollout_status(&sets)
    }

    /// Brings the new ReplicaSet towards what is wanted; whether it was scaled.
    fn reconcile_new_replica_set(
        &mut self,
        sets: &ReplicaSets<'a>,
        mut new: WorkingCopy<'a>,
    ) -> Result<bool, SyncError> {
        let desired = self.bounds.desired;
        let (size, why) = if new.spec.replicas >= desired {
            (desired, Why::AboveDesired { desired })
        } else {
            let total = replica_count(sets.all());
            let max_total = self.bounds.max_total();
            (
                self.new_rs_new_replicas(total, new.spec.replicas)?,
                Why::SurgeRoom { total, max_total },
            )
        };
        Ok(self.scale_replica_set_and_record_event(&mut new, size, why)?)
    }

    /// Takes old pods away as far as the bounds allow (section 9.1); whether any went. Where a step fails the others
    /// are given up and the pass goes on, as if nothing could be done.
    fn reconcile_old_replica_sets(&mut self, sets: &ReplicaSets<'a>, new: &ReplicaSet) -> bool {
        let mut old: Vec<WorkingCopy<'a>> = sets
            .old
            .iter()
            .filter(|set| is_active(set))
            .cloned()
            .collect();
        if old.is_empty() {
            return false;
        }
        let new_unavailable = new
            .spec
            .replicas
            .saturating_sub(new.status.available_replicas);
        let limit = replica_count(sets.all())
            .saturating_sub(self.bounds.min_available())
            .saturating_sub(new_unavailable);
        if limit <= 0 {
            return false;
        }
        let cleaned = self.cleanup_unhealthy_replicas(&mut old, limit);
        let scaled = cleaned
            .and_then(|_| self.scale_down_old_replica_sets_for_rolling_update(&mut old, new));
        cleaned
            .zip(scaled)
            .is_some_and(|(cleaned, scaled)| cleaned.saturating_add(scaled) > 0)
    }

    /// Old pods that are not available go first, oldest ReplicaSets first, up to `limit` of them. How many went;
    /// `None` where the step was given up.
    fn cleanup_unhealthy_replicas(
        &mut self,
        old: &mut [WorkingCopy<'a>],
        limit: i32,
    ) -> Option<i32> {
        let mut done = 0;
        for set in old {
            if done >= limit {
                break;
            }
            let size = set.spec.replicas;
            let unavailable = size.saturating_sub(set.status.available_replicas);
            if unavailable < 0 {
                // An earlier scale-down is still under way. The numbers make no sense until it is through.
                self.recorder.wait_for(WaitingOn::OldPods {
                    count: -unavailable,
                });
                return None;
            }
            let cut = unavailable.min(limit - done);
            self.scale_down_old(set, size - cut, Why::UnhealthyOld { unavailable, limit })?;
            done += cut;
        }
        Some(done)
    }

    /// Available old pods go as far as enough others are available, oldest ReplicaSets first. How many went; `None`
    /// where the step was given up.
    fn scale_down_old_replica_sets_for_rolling_update(
        &mut self,
        old: &mut [WorkingCopy<'a>],
        new: &ReplicaSet,
    ) -> Option<i32> {
        let min_available = self.bounds.min_available();
        let available = available_count(old.iter(), new);
        let budget = available.saturating_sub(min_available);
        let mut done = 0;
        for set in old {
            if done >= budget {
                break;
            }
            let size = set.spec.replicas;
            let cut = size.min(budget - done);
            let why = Why::AvailabilityRoom {
                available: available - done,
                min_available,
            };
            self.scale_down_old(set, size - cut, why)?;
            done += cut;
        }
        Some(done)
    }

    fn scale_down_old(&mut self, set: &mut WorkingCopy<'a>, size: i32, why: Why) -> Option<()> {
        match self.scale_replica_set_and_record_event(set, size, why) {
            Ok(_) => Some(()),
            Err(refusal) => {
                self.recorder.wait_for(WaitingOn::Refused {
                    message: refusal.message,
                });
                None
            }
        }
    }
}

/// Available pods of the new ReplicaSet and of active old ones. Pods of an old one that is to have none are on their
/// way out and don't count.
pub(super) fn available_count<'s, 'a: 's>(
    active_old: impl Iterator<Item = &'s WorkingCopy<'a>>,
    new: &'s ReplicaSet,
) -> i32 {
    let sets = active_old.map(|set| &**set).chain([new]);
    sum(sets, |set| set.status.available_replicas)
}
