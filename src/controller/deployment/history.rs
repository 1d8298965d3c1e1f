//! The ReplicaSets behind a Deployment's revisions, as `rollout history` and `rollout undo` see them.

use super::replica_sets::Claimed;
use crate::controller::api::{Deployment, ReplicaSet};
use crate::controller::selector::Selector;

/// A Deployment's ReplicaSets: old ones oldest first, then the one with its template (rollout-commands section 1.5).
/// Only those that it owns already and selects; none where the selector can't be read.
pub fn history<'a>(
    deployment: &Deployment,
    replica_sets: impl IntoIterator<Item = &'a ReplicaSet>,
) -> Vec<&'a ReplicaSet> {
    let Ok(selector) = Selector::compile(deployment.spec.selector.as_ref()) else {
        return Vec::new();
    };
    let is_ours = |set: &&ReplicaSet| {
        let owner = set.meta.controller();
        owner.is_some_and(|owner| owner.uid == deployment.meta.uid)
            && selector.matches(&set.meta.labels)
    };
    let sets = replica_sets.into_iter().filter(is_ours).collect();
    Claimed::tell_apart(sets, &deployment.spec.template).in_order()
}
