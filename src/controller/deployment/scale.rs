//! Sizes: writing one ReplicaSet's size, and spreading a changed replica count over ReplicaSets (deployment-controller
//! sections 8.3, 11 and 12).

use std::cmp::Ordering;

use super::fenceposts::{resolve_surge, saturate};
use super::replica_sets::{Claimed, ReplicaSets, is_active, older_first, replica_count};
use super::working_copy::WorkingCopy;
use super::{Fenceposts, Pass};
use crate::controller::action::{Action, AnnotationChanges, EventType, Refusal};
use crate::controller::api::ReplicaSet;
use crate::controller::keys;
use crate::controller::plan::SyncError;
use crate::controller::why::Why;

impl<'a> Pass<'a> {
    /// How large the new ReplicaSet should be when it must grow: `total` pods are wanted now, `size` of them by it
    /// (section 8.3).
    pub(super) fn new_rs_new_replicas(&self, total: i32, size: i32) -> Result<i32, SyncError> {
        let desired = self.bounds.desired;
        let strategy = &self.deployment.spec.strategy;
        match strategy.type_.as_str() {
            keys::RECREATE => Ok(desired),
            keys::ROLLING_UPDATE => {
                let surge = resolve_surge(strategy.max_surge.as_ref(), desired)?;
                let room = desired.saturating_add(surge).saturating_sub(total);
                Ok(size + room.max(0).min(desired.saturating_sub(size)))
            }
            other => Err(SyncError::UnsupportedStrategy(other.to_owned())),
        }
    }

    /// The annotations that record what a ReplicaSet was last sized for.
    pub(super) fn replicas_annotations(&self) -> AnnotationChanges {
        [
            (keys::DESIRED_REPLICAS, self.bounds.desired),
            (keys::MAX_REPLICAS, self.bounds.max_total()),
        ]
        .map(|(key, number)| (key.to_owned(), Some(number.to_string())))
        .into()
    }

    /// Lazy scaling: a ReplicaSet of the right size is left alone, even with annotations out of date. Whether it was
    /// scaled.
    pub(super) fn scale_replica_set_and_record_event(
        &mut self,
        set: &mut WorkingCopy<'a>,
        size: i32,
        why: Why,
    ) -> Result<bool, Refusal> {
        if set.spec.replicas == size {
            return Ok(false);
        }
        self.scale_replica_set(set, size, why)
    }

    /// Forced scaling: the annotations are refreshed even where the size is right. Whether the size changed.
    fn scale_replica_set(
        &mut self,
        set: &mut WorkingCopy<'a>,
        size: i32,
        why: Why,
    ) -> Result<bool, Refusal> {
        let from = set.spec.replicas;
        let mut outdated = self.replicas_annotations();
        outdated.retain(|key, text| set.meta.annotations.get(key) != text.as_ref());
        if from == size && outdated.is_empty() {
            return Ok(false);
        }
        let annotations = set.changes(outdated);
        let action = Action::ScaleReplicaSet {
            target: set.target(),
            from,
            to: size,
            annotations: annotations.clone(),
        };
        self.recorder.perform(action, why)?;
        set.apply(annotations, |spec| spec.replicas = size);
        if from == size {
            return Ok(false);
        }
        let direction = if from < size { "up" } else { "down" };
        let name = &set.meta.name;
        self.event(
            EventType::Normal,
            "ScalingReplicaSet",
            format!("Scaled {direction} replica set {name} from {from} to {size}"),
        );
        Ok(true)
    }

    /// Whether the replica count has changed since the active ReplicaSets were last sized (section 11.1). Brings the
    /// new ReplicaSet up to date, as every pass does.
    pub(super) fn is_scaling_event(&mut self, claimed: &Claimed<'a>) -> Result<bool, SyncError> {
        let sets = self.get_all_replica_sets_and_sync_revision(claimed)?;
        Ok(sets.all().filter(|set| is_active(set)).any(|set| {
            number_annotation(set, keys::DESIRED_REPLICAS)
                .is_some_and(|desired| desired != self.bounds.desired)
        }))
    }

    /// Brings the ReplicaSets to the Deployment's replica count (section 11.2).
    pub(super) fn scale(&mut self, sets: &ReplicaSets<'a>) -> Result<(), SyncError> {
        let desired = self.bounds.desired;
        if let Some(set) = find_active_or_latest(sets) {
            let why = Why::Scaled { desired };
            self.scale_replica_set_and_record_event(&mut set.clone(), desired, why)?;
        } else if sets
            .new
            .as_ref()
            .is_some_and(|new| is_saturated(new, desired))
        {
            for set in sets.old.iter().filter(|set| is_active(set)).rev() {
                let why = Why::Saturated;
                self.scale_replica_set_and_record_event(&mut set.clone(), 0, why)?;
            }
        } else if self.deployment.spec.strategy.type_ == keys::ROLLING_UPDATE {
            self.scale_proportionally(sets)?;
        }
        Ok(())
    }

    /// Each active ReplicaSet takes its share of the change (section 11.3).
    fn scale_proportionally(&mut self, sets: &ReplicaSets<'a>) -> Result<(), SyncError> {
        let mut active: Vec<&WorkingCopy<'a>> = sets
            .old
            .iter()
            .rev()
            .chain(&sets.new)
            .filter(|set| is_active(set))
            .collect();
        let total = replica_count(active.iter().map(|set| &***set));
        let allowed = match self.bounds.desired {
            0 => 0,
            _ => self.bounds.max_total(),
        };
        let to_add = i64::from(allowed) - i64::from(total);
        // More pods go to the younger of two equal sets, fewer to the older.
        match to_add.signum() {
            1 => active.sort_by(|a, b| larger_first(a, b).then_with(|| older_first(b, a))),
            -1 => active.sort_by(|a, b| larger_first(a, b).then_with(|| older_first(a, b))),
            _ => {}
        }
        let sizes = proportional_sizes(&active, to_add, self.bounds, self.status.replicas);
        for (set, size) in active.into_iter().zip(sizes) {
            let why = Why::Proportional { total, allowed };
            self.scale_replica_set(&mut set.clone(), size, why)?;
        }
        Ok(())
    }
}

fn larger_first(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    b.spec.replicas.cmp(&a.spec.replicas)
}

/// The one ReplicaSet that takes the whole change: the only active one, or with none active the new one, or else the
/// youngest. `None` where several are active, or there is none at all.
fn find_active_or_latest<'s, 'a>(sets: &'s ReplicaSets<'a>) -> Option<&'s WorkingCopy<'a>> {
    let mut active = sets
        .old
        .iter()
        .chain(&sets.new)
        .filter(|set| is_active(set));
    match (active.next(), active.next()) {
        (None, _) => sets.new.as_ref().or(sets.old.last()),
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => None,
    }
}

/// Whether the new ReplicaSet was sized for this replica count, has it, and all of its pods are available.
fn is_saturated(new: &ReplicaSet, desired: i32) -> bool {
    let sized_for: Option<i64> = new
        .meta
        .annotation(keys::DESIRED_REPLICAS)
        .and_then(|text| text.parse().ok());
    sized_for == Some(desired.into())
        && new.spec.replicas == desired
        && new.status.available_replicas == desired
}

/// An annotation that holds a count of pods; `None` where it is absent or no such count.
fn number_annotation(set: &ReplicaSet, key: &str) -> Option<i32> {
    set.meta
        .annotation(key)
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
}

/// The sizes of active ReplicaSets after `to_add` pods were spread over them in their order. What rounding leaves
/// over goes to the first.
fn proportional_sizes(
    active: &[&WorkingCopy<'_>],
    to_add: i64,
    bounds: Fenceposts,
    status_replicas: i32,
) -> Vec<i32> {
    let mut added = 0;
    let mut sizes = Vec::with_capacity(active.len());
    for set in active {
        let share = if added == to_add {
            0
        } else {
            let fraction = replica_set_fraction(set, bounds, status_replicas);
            let remaining = to_add - added;
            if to_add > 0 {
                fraction.min(remaining)
            } else {
                fraction.max(remaining)
            }
        };
        sizes.push(i64::from(set.spec.replicas) + share);
        added += share;
    }
    if let Some(first) = sizes.first_mut() {
        *first = (*first + to_add - added).max(0);
    }
    sizes.into_iter().map(saturate).collect()
}

/// By how much a ReplicaSet changes to keep its share of the total, halves rounded away from zero. Its share was
/// taken of the total it was last sized for, or of the pods that there were. Upstream multiplies in 32 bits, which
/// wraps around for tens of thousands of pods; this does not.
fn replica_set_fraction(set: &ReplicaSet, bounds: Fenceposts, status_replicas: i32) -> i64 {
    let size = i64::from(set.spec.replicas);
    if bounds.desired == 0 {
        return -size;
    }
    let before = number_annotation(set, keys::MAX_REPLICAS)
        .filter(|before| *before > 0)
        .unwrap_or(status_replicas);
    if before <= 0 {
        return 0;
    }
    let before = i64::from(before);
    let share = size * i64::from(bounds.max_total());
    (2 * share + before).div_euclid(2 * before) - size
}
