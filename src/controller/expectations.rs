//! What the ReplicaSet controller still expects to see of its own writes (replicaset-controller section 4).
//!
//! A watch shows a new pod some time after it was created. Until then, counting pods would create it again. So each
//! pass notes how many creations and which deletions it sent, the watch ticks them off, and the next pass creates and
//! deletes nothing before all were seen or five minutes have passed. The engine drives this; whoever reads the API
//! afresh for each pass needs none of it.

use std::collections::{BTreeSet, HashMap};

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::action::{Action, Outcome, RefusalReason, Step};
use super::api::ObjectKey;
use super::plan::{Outcomes, Plan};

/// After this long, expectations count as met: an event that is this late will not come.
pub const LIFETIME: SignedDuration = SignedDuration::from_mins(5);

/// Open expectations of all ReplicaSets.
#[derive(Clone, Debug, Default)]
pub struct Expectations(HashMap<ObjectKey, Open>);

#[derive(Clone, Debug, Default)]
struct Open {
    /// Negative when more were seen than expected.
    creations: i64,
    /// Names of pods. A pod is seen off twice, when it gets a deletionTimestamp and when it is gone; the first counts.
    deletions: BTreeSet<String>,
    since: Timestamp,
}

impl Expectations {
    /// Whether everything was seen, or will not be seen any more.
    pub fn are_met(&self, replica_set: &ObjectKey, now: Timestamp) -> bool {
        self.0.get(replica_set).is_none_or(|open| {
            open.creations <= 0 && open.deletions.is_empty()
                || now.duration_since(open.since) > LIFETIME
        })
    }

    /// Creations and deletions not seen yet.
    pub fn pending(&self, replica_set: &ObjectKey) -> (i64, usize) {
        self.0
            .get(replica_set)
            .map_or((0, 0), |open| (open.creations, open.deletions.len()))
    }

    /// Expects the creations or deletions of a pass, before it sends the first of them: `plan` is the one made without
    /// answers. What was expected before is forgotten, unless the plan has neither.
    pub fn expect(&mut self, replica_set: &ObjectKey, plan: &Plan, now: Timestamp) {
        let creations = creations(plan);
        let deletions: BTreeSet<String> = deletions(plan).map(str::to_owned).collect();
        if creations > 0 || !deletions.is_empty() {
            self.0.insert(
                replica_set.clone(),
                Open {
                    creations,
                    deletions,
                    since: now,
                },
            );
        }
    }

    /// Takes back what a pass did not do in the end. `planned` is the plan given to [`expect`](Self::expect), `sent` the
    /// last one, with as many steps answered as there are `answers`.
    pub fn settle(
        &mut self,
        replica_set: &ObjectKey,
        planned: &Plan,
        sent: &Plan,
        answers: &Outcomes,
    ) {
        let Some(open) = self.0.get_mut(replica_set) else {
            return;
        };
        // After a refusal the last plan has fewer creations than the first: the others were not tried.
        open.creations -= creations(planned) - created(sent, answers);
        for (index, step) in sent.steps.iter().enumerate() {
            if let Action::DeletePod { target } = &step.action
                && !matches!(answers.get(index), Some(Outcome::Applied(_)))
            {
                open.deletions.remove(&target.key.name);
            }
        }
    }

    /// A pod of this ReplicaSet appeared.
    pub fn creation_observed(&mut self, replica_set: &ObjectKey) {
        if let Some(open) = self.0.get_mut(replica_set) {
            open.creations -= 1;
        }
    }

    /// A pod of this ReplicaSet is being deleted, or gone.
    pub fn deletion_observed(&mut self, replica_set: &ObjectKey, pod: &str) {
        if let Some(open) = self.0.get_mut(replica_set) {
            open.deletions.remove(pod);
        }
    }

    /// The ReplicaSet is gone.
    pub fn forget(&mut self, replica_set: &ObjectKey) {
        self.0.remove(replica_set);
    }
}

fn creations(plan: &Plan) -> i64 {
    let steps = plan.steps.iter();
    steps.filter(|step| is_creation(step)).map(|_| 1).sum()
}

fn deletions(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.steps.iter().filter_map(|step| match &step.action {
        Action::DeletePod { target } => Some(target.key.name.as_str()),
        _ => None,
    })
}

fn created(sent: &Plan, answers: &Outcomes) -> i64 {
    let answered = sent.steps.iter().zip(answers);
    answered
        .filter(|(step, answer)| is_creation(step) && counts_as_created(answer))
        .map(|_| 1)
        .sum()
}

fn is_creation(step: &Step) -> bool {
    matches!(step.action, Action::CreatePod { .. })
}

/// A refusal because the namespace goes counts as success, though the pod will never be seen (section 7.1).
fn counts_as_created(answer: &Outcome) -> bool {
    match answer {
        Outcome::Applied(_) => true,
        Outcome::Refused(refusal) => refusal.reason == RefusalReason::NamespaceTerminating,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::controller::action::{Applied, Kind, NewPod, Refusal, Target};
    use crate::controller::api::OwnerReference;
    use crate::controller::plan::{End, Requeue};
    use crate::controller::why::Why;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn key() -> ObjectKey {
        ObjectKey::new("default", "web-1")
    }

    fn target(kind: Kind, name: &str) -> Target {
        Target {
            kind,
            key: ObjectKey::new("default", name),
            uid: format!("uid-{name}"),
            resource_version: "1".into(),
        }
    }

    fn plan(actions: impl IntoIterator<Item = Action>) -> Plan {
        let steps = actions.into_iter().map(|action| Step {
            action,
            why: Why::Tells,
            batch: 1,
        });
        Plan {
            steps: steps.collect(),
            end: End::Done(Requeue::No),
            waiting: Vec::new(),
        }
    }

    fn creating(count: usize) -> Plan {
        let pod = Arc::new(NewPod {
            namespace: "default".into(),
            generate_name: "web-1-".into(),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            annotations: Default::default(),
            finalizers: Vec::new(),
            owner: OwnerReference::default(),
            spec: serde_json::json!({}),
        });
        plan((0..count).map(|_| Action::CreatePod {
            replica_set: target(Kind::ReplicaSet, "web-1"),
            pod: Arc::clone(&pod),
        }))
    }

    fn deleting(names: &[&str]) -> Plan {
        plan(names.iter().map(|name| Action::DeletePod {
            target: target(Kind::Pod, name),
        }))
    }

    fn applied() -> Outcome {
        Outcome::Applied(Applied::default())
    }

    fn refused(reason: RefusalReason) -> Outcome {
        let message = "no".into();
        Outcome::Refused(Refusal { reason, message })
    }

    fn after(seconds: i64) -> Timestamp {
        START + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn nothing_is_expected_at_first() {
        assert!(Expectations::default().are_met(&key(), START));
    }

    #[test]
    fn creations_are_counted() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(3), START);
        for still_open in [2, 1, 0, -1] {
            expectations.creation_observed(&key());
            assert_eq!(expectations.pending(&key()), (still_open, 0));
            assert_eq!(expectations.are_met(&key(), START), still_open <= 0);
        }
    }

    #[test]
    fn a_pod_that_goes_is_counted_once() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &deleting(&["a", "b"]), START);
        for (seen, still_open) in [("other", 2), ("a", 1), ("a", 1), ("b", 0)] {
            expectations.deletion_observed(&key(), seen);
            assert_eq!(expectations.pending(&key()), (0, still_open), "{seen}");
        }
        assert!(expectations.are_met(&key(), START));
    }

    #[test]
    fn what_is_not_seen_for_five_minutes_is_given_up() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(1), START);
        for (seconds, met) in [(0, false), (299, false), (300, false), (301, true)] {
            assert_eq!(
                expectations.are_met(&key(), after(seconds)),
                met,
                "{seconds}"
            );
        }
    }

    #[test]
    fn a_later_pass_replaces_what_was_expected() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(3), START);
        expectations.expect(&key(), &deleting(&["a"]), after(301));
        assert_eq!(expectations.pending(&key()), (0, 1));
        expectations.expect(&key(), &plan([]), after(302));
        assert_eq!(expectations.pending(&key()), (0, 1));
        expectations.forget(&key());
        assert_eq!(expectations.pending(&key()), (0, 0));
    }

    /// Ten wanted, the quota admits five: two refused and three not tried are taken back (section 7.1).
    #[test]
    fn refused_and_untried_creations_are_taken_back() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(10), START);
        let quota = || refused(RefusalReason::Forbidden);
        let answers = [
            applied(),
            applied(),
            applied(),
            applied(),
            applied(),
            quota(),
            quota(),
        ];
        expectations.settle(&key(), &creating(10), &creating(7), &answers);
        assert_eq!(expectations.pending(&key()), (5, 0));
    }

    #[test]
    fn a_terminating_namespace_leaves_creations_expected() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(2), START);
        let answers = [applied(), refused(RefusalReason::NamespaceTerminating)];
        expectations.settle(&key(), &creating(2), &creating(2), &answers);
        assert_eq!(expectations.pending(&key()), (2, 0));
    }

    #[test]
    fn events_that_come_before_the_answers_count() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(3), START);
        expectations.creation_observed(&key());
        expectations.settle(&key(), &creating(3), &creating(1), &[applied()]);
        assert_eq!(expectations.pending(&key()), (0, 0));
    }

    #[test]
    fn refused_and_unsent_deletions_are_taken_back() {
        let mut expectations = Expectations::default();
        let plan = deleting(&["a", "b", "c", "d"]);
        expectations.expect(&key(), &plan, START);
        let answers = [
            applied(),
            refused(RefusalReason::NotFound),
            refused(RefusalReason::Timeout),
        ];
        expectations.settle(&key(), &plan, &plan, &answers);
        assert_eq!(expectations.pending(&key()), (0, 1));
        expectations.deletion_observed(&key(), "a");
        assert!(expectations.are_met(&key(), START));
    }
}
