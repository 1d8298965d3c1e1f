//! Revision numbers, and the annotations that travel between a Deployment and its ReplicaSets (deployment-controller
//! sections 1 and 7.2).

use std::collections::BTreeMap;

use crate::controller::action::AnnotationChanges;
use crate::controller::api::ReplicaSet;
use crate::controller::keys;

/// Longest text of former revision numbers that a ReplicaSet keeps, in bytes.
const HISTORY_LIMIT: usize = 2000;

/// Annotations that are never copied between a Deployment and its ReplicaSets, in either direction.
const SKIPPED: [&str; 6] = [
    keys::LAST_APPLIED,
    keys::REVISION,
    keys::REVISION_HISTORY,
    keys::DESIRED_REPLICAS,
    keys::MAX_REPLICAS,
    keys::ROLLBACK_TO,
];

/// Whether an annotation belongs to one object alone: it is never copied between a Deployment and its ReplicaSets.
pub fn skip_copy_annotation(key: &str) -> bool {
    SKIPPED.contains(&key)
}

/// A ReplicaSet's revision number: 0 without one, `None` where the annotation is no number.
pub fn revision(set: &ReplicaSet) -> Option<i64> {
    match set.meta.annotation(keys::REVISION) {
        None => Some(0),
        Some(text) => text.parse().ok(),
    }
}

/// The numbers that a ReplicaSet had before, oldest first. What is not a number is left out.
pub fn revision_history(set: &ReplicaSet) -> Vec<i64> {
    set.meta
        .annotation(keys::REVISION_HISTORY)
        .unwrap_or_default()
        .split(',')
        .filter_map(|number| number.parse().ok())
        .collect()
}

/// The largest revision number; 0 without any.
pub(super) fn max_revision<'a>(sets: impl Iterator<Item = &'a ReplicaSet>) -> i64 {
    sets.filter_map(revision).fold(0, i64::max)
}

/// The second-largest revision number, which is the largest again where two sets share it; 0 without any.
pub(super) fn last_revision<'a>(sets: impl Iterator<Item = &'a ReplicaSet>) -> i64 {
    let (_, second) = sets
        .filter_map(revision)
        .fold((0, 0), |(largest, second), number| {
            if number >= largest {
                (number, largest)
            } else {
                (largest, second.max(number))
            }
        });
    second
}

/// What following its Deployment changes in a ReplicaSet's annotations.
#[derive(Debug, Default, PartialEq)]
pub(super) struct AnnotationSync {
    /// The changes.
    pub(super) changes: AnnotationChanges,
    /// Whether they are worth a write of their own. A revision that is no number stops the synchronisation after
    /// copying, and then nothing is reported.
    pub(super) reported: bool,
}

/// Copies a Deployment's annotations to its new ReplicaSet and raises the revision to `new_revision`, keeping the
/// former number in the history. Nothing is ever removed.
pub(super) fn set_new_replica_set_annotations(
    from: &BTreeMap<String, String>,
    to: &BTreeMap<String, String>,
    new_revision: i64,
) -> AnnotationSync {
    let mut changes: AnnotationChanges = from
        .iter()
        .filter(|(key, value)| !skip_copy_annotation(key) && to.get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), Some(value.clone())))
        .collect();
    let former = to.get(keys::REVISION).map(String::as_str);
    let current = match former.unwrap_or_default() {
        "" => 0,
        text => match text.parse() {
            Ok(number) => number,
            Err(_) => {
                return AnnotationSync {
                    changes,
                    reported: false,
                };
            }
        },
    };
    if current < new_revision {
        changes.insert(keys::REVISION.to_owned(), Some(new_revision.to_string()));
        let history = to.get(keys::REVISION_HISTORY).map(String::as_str);
        if let Some(longer) =
            former.and_then(|former| append_history(history.unwrap_or_default(), former))
        {
            changes.insert(keys::REVISION_HISTORY.to_owned(), Some(longer));
        }
    }
    AnnotationSync {
        reported: !changes.is_empty(),
        changes,
    }
}

/// The history with one more number at its end; the oldest ones make room. `None` where even that is not enough.
fn append_history(history: &str, former: &str) -> Option<String> {
    if history.is_empty() || history.starts_with(',') {
        return Some(former.to_owned());
    }
    let mut kept = Some(history);
    loop {
        let length = kept.map_or(0, |numbers| numbers.len() + 1) + former.len();
        if length <= HISTORY_LIMIT {
            return Some(kept.map_or_else(
                || former.to_owned(),
                |numbers| format!("{numbers},{former}"),
            ));
        }
        kept = kept?.split_once(',').map(|(_, younger)| younger);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotations(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn sets(revisions: &[&str]) -> Vec<ReplicaSet> {
        revisions
            .iter()
            .map(|text| {
                let mut set = ReplicaSet::default();
                set.meta.annotations = annotations(&[(keys::REVISION, text)]).into();
                set
            })
            .collect()
    }

    /// The revision and history that a ReplicaSet has afterwards.
    fn raise(old: &[&str], revision: &str, history: &str) -> (String, String) {
        let mut to = annotations(&[
            (keys::REVISION, revision),
            (keys::REVISION_HISTORY, history),
        ]);
        let new_revision = max_revision(sets(old).iter()) + 1;
        let sync = set_new_replica_set_annotations(&BTreeMap::new(), &to, new_revision);
        for (key, value) in sync.changes {
            to.insert(key, value.unwrap());
        }
        (
            to[keys::REVISION].clone(),
            to[keys::REVISION_HISTORY].clone(),
        )
    }

    #[test]
    fn raises_the_revision_above_all_old_ones() {
        for (old, revision, history, expected) in [
            (&["1", "2"][..], "3", "", ("3", "")),
            (&["2", "3"], "1", "", ("4", "1")),
            (&["3", "5"], "4", "1", ("6", "1,4")),
            (&[], "7", "", ("7", "")),
            (&["1", "x"], "1", ",9", ("2", "1")),
            (&["1"], "odd", "", ("odd", "")),
        ] {
            let (new, former) = raise(old, revision, history);
            assert_eq!((new.as_str(), former.as_str()), expected, "{old:?}");
        }
    }

    #[test]
    fn history_drops_the_oldest_numbers_to_stay_short() {
        let hundreds = (0..500).map(|_| "123").collect::<Vec<_>>().join(",");
        assert_eq!(hundreds.len(), 1999);
        let longer = append_history(&hundreds, "4567").unwrap();
        assert_eq!(longer.len(), 2000);
        assert!(longer.ends_with(",123,4567"));
        assert_eq!(append_history(&longer, "8").unwrap().len(), 1998);
        // A single entry that alone is too long leaves room for nothing else.
        assert_eq!(append_history(&"1".repeat(2500), "2").as_deref(), Some("2"));
        assert_eq!(append_history("1", &"2".repeat(2500)), None);
    }

    #[test]
    fn second_largest_revision_counts_a_shared_maximum() {
        for (revisions, expected) in [
            (&["1", "3", "2"][..], 2),
            (&["3", "3"], 3),
            (&["1"], 0),
            (&["x", "2", "1"], 1),
            (&[], 0),
        ] {
            assert_eq!(last_revision(sets(revisions).iter()), expected);
        }
    }

    #[test]
    fn copies_annotations_except_those_of_one_object_alone() {
        let from = annotations(&[
            ("team", "blue"),
            ("same", "x"),
            (keys::CHANGE_CAUSE, "edit"),
            (keys::LAST_APPLIED, "{}"),
            (keys::REVISION, "9"),
            (keys::ROLLBACK_TO, "1"),
        ]);
        let to = annotations(&[("same", "x"), ("kept", "y"), (keys::REVISION, "2")]);
        let sync = set_new_replica_set_annotations(&from, &to, 1);
        let changed: Vec<&str> = sync.changes.keys().map(String::as_str).collect();
        assert_eq!(changed, [keys::CHANGE_CAUSE, "team"]);
        assert!(sync.reported);
    }

    #[test]
    fn a_revision_that_is_no_number_is_copied_past_silently() {
        let sync = set_new_replica_set_annotations(
            &annotations(&[("team", "blue")]),
            &annotations(&[(keys::REVISION, "odd")]),
            4,
        );
        assert_eq!(sync.changes.len(), 1);
        assert!(!sync.reported);
    }
}
