//! The history of old ReplicaSets is kept short (deployment-controller section 17).

use super::Pass;
use super::replica_sets::older_first;
use super::revision::revision;
use super::working_copy::WorkingCopy;
use crate::controller::action::{Action, Kind, RefusalReason, Target};
use crate::controller::api::ReplicaSet;
use crate::controller::plan::SyncError;
use crate::controller::why::Why;

/// "No limit", spelt as a number.
const NO_LIMIT: i32 = i32::MAX;

impl<'a> Pass<'a> {
    /// Deletes the oldest empty ReplicaSets beyond the limit. One among them that is not empty, or whose last change
    /// nobody has acted on yet, is passed over and no other is taken in its place.
    /// `old` holds the old ReplicaSets in the order of their age, either way round.
    pub(super) fn cleanup_deployment<'s>(
        &mut self,
        old: impl Iterator<Item = &'s WorkingCopy<'a>>,
    ) -> Result<(), SyncError>
    where
        'a: 's,
    {
        let Some(limit) = self
            .deployment
            .spec
            .revision_history_limit
            .filter(|limit| *limit != NO_LIMIT)
        else {
            return Ok(());
        };
        let kept: Vec<&ReplicaSet> = old
            .map(|set| &**set)
            .filter(|set| !set.meta.is_deleting())
            .collect();
        let count = i32::try_from(kept.len()).unwrap_or(i32::MAX);
        let Some(excess) = count
            .checked_sub(limit)
            .and_then(|n| usize::try_from(n).ok())
            .filter(|excess| *excess > 0)
        else {
            return Ok(());
        };
        let oldest = sort_by_revision(kept).into_iter().take(excess);
        for set in oldest.filter(|set| is_idle(set)) {
            let action = Action::DeleteReplicaSet {
                target: Target::new(Kind::ReplicaSet, &set.meta),
            };
            let why = Why::HistoryLimit { limit, count };
            match self.recorder.perform(action, why) {
                Err(refusal) if refusal.reason != RefusalReason::NotFound => {
                    return Err(refusal.into());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn is_idle(set: &ReplicaSet) -> bool {
    set.status.replicas == 0
        && set.spec.replicas == 0
        && set.meta.generation <= set.status.observed_generation
}

/// Sorts by revision; by age where two share one, or where one of them has a revision that is no number.
///
/// With such a one that is no consistent order: what comes out hangs on the algorithm, and the standard library's may
/// panic. Insertion sort takes any comparison, and is what upstream comes to for the few ReplicaSets that there are.
fn sort_by_revision(sets: Vec<&ReplicaSet>) -> Vec<&ReplicaSet> {
    let is_before =
        |a: &(Option<i64>, &ReplicaSet), b: &(Option<i64>, &ReplicaSet)| match (a.0, b.0) {
            (Some(a), Some(b)) if a != b => a < b,
            _ => older_first(a.1, b.1).is_lt(),
        };
    let mut sorted: Vec<(Option<i64>, &ReplicaSet)> = Vec::with_capacity(sets.len());
    for set in sets {
        let entry = (revision(set), set);
        let place = sorted.iter().rposition(|other| !is_before(&entry, other));
        sorted.insert(place.map_or(0, |place| place + 1), entry);
    }
    sorted.into_iter().map(|(_, set)| set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::keys;

    fn sort(revisions_by_age: &[&str]) -> Vec<String> {
        let sets: Vec<ReplicaSet> = revisions_by_age
            .iter()
            .zip('a'..)
            .map(|(revision, name)| {
                let mut set = ReplicaSet::default();
                set.meta.name = name.to_string();
                let annotations = &mut set.meta.annotations;
                annotations.insert(keys::REVISION.to_owned(), (*revision).to_owned());
                set
            })
            .collect();
        let sorted = sort_by_revision(sets.iter().collect());
        let revision = |set: &ReplicaSet| set.meta.annotations[keys::REVISION].clone();
        sorted.into_iter().map(revision).collect()
    }

    #[test]
    fn sorts_by_number_and_age() {
        assert_eq!(sort(&["10", "9", "1"]), ["1", "9", "10"]);
        assert_eq!(sort(&["2", "x", "1"]), ["2", "x", "1"]);
        assert_eq!(sort(&["3", "1", "x"]), ["1", "3", "x"]);
        assert_eq!(sort(&[]), [""; 0]);
    }
}
