//! What a Deployment waits for where a pass found nothing to do, with the numbers. Decides nothing.

use super::Pass;
use super::progress::replica_failure;
use super::replica_sets::{ReplicaSets, is_active, replica_count};
use super::rolling::available_count;
use crate::controller::api::ReplicaSet;
use crate::controller::why::WaitingOn;

impl<'a> Pass<'a> {
    /// Paused. A template without a ReplicaSet is a change that is held back.
    pub(super) fn wait_paused(&mut self, sets: &ReplicaSets<'a>) {
        self.recorder.wait_for(WaitingOn::Paused {
            held_back: sets.new.is_none(),
        });
    }

    /// Pods that can't be created or deleted: the reason behind all else.
    pub(super) fn wait_for_replica_failure(&mut self, sets: &ReplicaSets<'a>) {
        if let Some(failure) = replica_failure(sets) {
            self.recorder.wait_for(WaitingOn::ReplicaFailure {
                message: failure.message.clone(),
            });
        }
    }

    /// A rolling update that can move neither side.
    pub(super) fn wait_for_rollout(&mut self, sets: &ReplicaSets<'a>) {
        self.wait_for_replica_failure(sets);
        let Some(new) = &sets.new else {
            return;
        };
        let active_old = || sets.old.iter().filter(|set| is_active(set));
        let bounds = self.bounds;
        let total = replica_count(sets.all());
        let available = available_count(active_old(), new);
        let is_blocked = active_old().next().is_some()
            && new.spec.replicas < bounds.desired
            && total >= bounds.max_total()
            && available <= bounds.min_available();
        if is_blocked {
            self.recorder.wait_for(WaitingOn::Blocked {
                total,
                desired: bounds.desired,
                max_surge: bounds.max_surge,
                available,
                max_unavailable: bounds.max_unavailable,
                new_unavailable: unavailable(new),
            });
        } else {
            self.wait_for_new_pods(new);
        }
        self.wait_for_leaving_pods(sets);
    }

    /// New pods that are not available yet.
    pub(super) fn wait_for_new_pods(&mut self, new: &ReplicaSet) {
        let unavailable = unavailable(new);
        if unavailable > 0 {
            self.recorder.wait_for(WaitingOn::NewPods {
                unavailable,
                replicas: new.spec.replicas,
            });
        }
    }

    /// Pods beyond what their ReplicaSets are to have.
    fn wait_for_leaving_pods(&mut self, sets: &ReplicaSets<'a>) {
        let leaving = sets
            .all()
            .map(|set| set.status.replicas.saturating_sub(set.spec.replicas).max(0))
            .fold(0, i32::saturating_add);
        if leaving > 0 {
            self.recorder
                .wait_for(WaitingOn::OldPods { count: leaving });
        }
    }
}

fn unavailable(set: &ReplicaSet) -> i32 {
    set.spec
        .replicas
        .saturating_sub(set.status.available_replicas)
}
