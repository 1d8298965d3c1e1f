//! What keeps a ReplicaSet from creating all pods that it lacks at once. Upstream knows neither limit; without them a
//! snapshot is reconciled as upstream does.

use std::sync::Arc;
use std::time::Duration;

use crate::controller::api::{Deployment, Pod, ReplicaSet};
use crate::controller::deployment::Fenceposts;

/// Limits on a ReplicaSet's creations, found by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// So many pods may be created before pods of the Deployment's other revisions go; `None`: any number.
    pub room: Option<usize>,
    /// Pods failed right after they were created: none are created for this long.
    pub brake: Option<Brake>,
}

/// A pause in creations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brake {
    /// How many failed pods there are.
    pub failed: i32,
    /// How long it still lasts.
    pub remaining: Duration,
}

/// How many pods a ReplicaSet of this Deployment may create without the total going beyond `replicas + maxSurge`.
///
/// The Deployment plans with the sizes that it gave its ReplicaSets; where an old one's deletions are late or refused,
/// pods beyond the bound would come. Sizes that add up to more than the bound (someone scaled a ReplicaSet by hand)
/// are the Deployment's to correct, not ours to ignore.
pub fn room<'a>(
    deployment: &Deployment,
    replica_sets: impl Iterator<Item = &'a Arc<ReplicaSet>>,
    pods: impl Iterator<Item = &'a Arc<Pod>>,
) -> usize {
    let sizes: i64 = replica_sets.map(|set| i64::from(set.spec.replicas)).sum();
    let bound = i64::from(Fenceposts::of(deployment).max_total()).max(sizes);
    let active = pods.filter(|pod| pod.is_active()).count();
    usize::try_from(bound).unwrap_or(0).saturating_sub(active)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deployment(strategy: &Value) -> Deployment {
        let object = json!({
            "metadata": { "name": "web", "namespace": "default", "uid": "u" },
            "spec": { "replicas": 5, "strategy": strategy },
        });
        Deployment::from_json(&object).expect("a Deployment")
    }

    fn sets(sizes: &[i32]) -> Vec<Arc<ReplicaSet>> {
        let set = |size: &i32| {
            let object = json!({ "metadata": {}, "spec": { "replicas": size } });
            Arc::new(ReplicaSet::from_json(&object).expect("a ReplicaSet"))
        };
        sizes.iter().map(set).collect()
    }

    fn pods(active: usize) -> Vec<Arc<Pod>> {
        let of = |status: &str| {
            let object = json!({ "metadata": {}, "status": { "phase": status } });
            Arc::new(Pod::from_json(&object).expect("a pod"))
        };
        let running = (0..active).map(|_| of("Running"));
        running.chain([of("Failed")]).collect()
    }

    #[test]
    fn room_is_what_the_bound_leaves() {
        let rolling = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 2, "maxUnavailable": 0 } });
        let recreate = json!({ "type": "Recreate" });
        // Strategy, sizes, active pods, room.
        let cases: [(&Value, &[i32], usize, usize); 6] = [
            (&rolling, &[5, 2], 5, 2),
            (&rolling, &[4, 3], 5, 2),
            (&rolling, &[4, 3], 7, 0),
            (&rolling, &[4, 3], 9, 0),
            (&rolling, &[5, 6], 7, 4),
            (&recreate, &[0, 5], 3, 2),
        ];
        for (strategy, sizes, active, expected) in cases {
            let (deployment, sets, pods) = (deployment(strategy), sets(sizes), pods(active));
            let room = room(&deployment, sets.iter(), pods.iter());
            assert_eq!(room, expected, "{strategy} {sizes:?} {active}");
        }
    }
}
