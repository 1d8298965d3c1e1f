//! What `kubectl rollout history` prints for a Deployment (rollout-commands section 3), character for character.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::controller::api::ReplicaSet;
use crate::controller::deployment::revision;
use crate::controller::keys::CHANGE_CAUSE;
use crate::ui::columns;

/// What is said in place of a table without rows.
pub const NO_HISTORY: &str = "No rollout history found.";

/// The table of revisions with their causes, lowest first. `history` is what
/// [`deployment::history`](crate::controller::deployment::history) returns: of two ReplicaSets with the same revision the
/// later one is shown, and one whose revision is no number is left out.
pub fn table(history: &[&ReplicaSet]) -> String {
    listing(
        history
            .iter()
            .filter_map(|set| Some((revision(set)?, change_cause(set)))),
    )
}

/// The table of numbers and causes; of two with the same number the later one is shown.
pub fn listing(revisions: impl IntoIterator<Item = (i64, String)>) -> String {
    let revisions: BTreeMap<i64, String> = revisions.into_iter().collect();
    if revisions.is_empty() {
        return NO_HISTORY.to_owned();
    }
    let mut text = String::from("REVISION\tCHANGE-CAUSE\n");
    for (revision, cause) in revisions {
        let cause = if cause.is_empty() { "<none>" } else { &cause };
        // Writing to a string can't fail.
        let _ = writeln!(text, "{revision}\t{cause}");
    }
    columns::align(&text, 0, 2)
}

/// The ReplicaSet's own cause, else its template's; empty where there is none.
pub fn change_cause(set: &ReplicaSet) -> String {
    let own = set.meta.annotation(CHANGE_CAUSE).map(str::to_owned);
    own.filter(|cause| !cause.is_empty())
        .or_else(|| set.spec.template.annotations().remove(CHANGE_CAUSE))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A ReplicaSet with this revision, its own cause and its template's.
    fn set(revision: &str, own: Option<&str>, template: Option<&str>) -> ReplicaSet {
        let mut set = ReplicaSet::from_json(&json!({
            "metadata": {"annotations": {"deployment.kubernetes.io/revision": revision}},
            "spec": {"template": {"metadata": {"annotations": {CHANGE_CAUSE: template}}}},
        }))
        .unwrap();
        if let Some(cause) = own {
            set.meta
                .annotations
                .insert(CHANGE_CAUSE.into(), cause.into());
        }
        set
    }

    fn check(sets: &[ReplicaSet], expected: &str) {
        let history: Vec<&ReplicaSet> = sets.iter().collect();
        assert_eq!(table(&history), expected);
    }

    /// As recorded from kubectl.
    #[test]
    fn causes_of_several_lines_and_wide_revisions() {
        check(&[], "No rollout history found.");
        check(&[set("abc", None, None)], "No rollout history found.");
        check(
            &[
                set("2", Some("tab\there"), None),
                set("1", Some("line one\nline two"), None),
            ],
            "REVISION  CHANGE-CAUSE\n1         line one\nline two\n2  tab  here\n",
        );
        check(
            &[set("12", None, None), set("1234567890", None, None)],
            "REVISION    CHANGE-CAUSE\n12          <none>\n1234567890  <none>\n",
        );
    }

    #[test]
    fn the_template_s_cause_stands_in_and_the_later_of_two_wins() {
        check(
            &[
                set("2", Some("old"), None),
                set("2", Some("new"), None),
                set("3", Some(""), Some("template's")),
                set("4", Some("own"), Some("template's")),
                set("5", None, Some("")),
            ],
            "REVISION  CHANGE-CAUSE\n2         new\n3         template's\n4         own\n5         <none>\n",
        );
    }
}
