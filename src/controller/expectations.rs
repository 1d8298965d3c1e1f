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
    /// How many creations the pass was about to send.
    planned: i64,
    /// How many of these are not seen yet. Negative when more were seen than expected.
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

    /// Expects the creations or deletions of a pass, if its next batch sends the first of them. Call it before each
    /// batch; `sent` is the number of steps that are answered. What was expected before is forgotten then.
    pub fn expect(&mut self, replica_set: &ObjectKey, plan: &Plan, sent: usize, now: Timestamp) {
        let (answered, coming) = plan.steps.split_at(sent);
        let next = coming.chunk_by(|a, b| a.batch == b.batch).next();
        if answered.iter().any(changes_pods) || !next.is_some_and(|it| it.iter().any(changes_pods))
        {
            return;
        }
        let creations = coming.iter().filter(|step| is_creation(step));
        let deletions = coming.iter().filter_map(deleted_pod);
        self.replace(
            replica_set,
            creations.map(|_| 1).sum(),
            deletions.map(str::to_owned).collect(),
            now,
        );
    }

    /// Expects this many creations. What was expected before is forgotten.
    pub fn expect_creations(&mut self, replica_set: &ObjectKey, creations: i64, now: Timestamp) {
        self.replace(replica_set, creations, BTreeSet::new(), now);
    }

    /// Expects the deletions of these pods. What was expected before is forgotten.
    pub fn expect_deletions(
        &mut self,
        replica_set: &ObjectKey,
        pods: BTreeSet<String>,
        now: Timestamp,
    ) {
        self.replace(replica_set, 0, pods, now);
    }

    /// Takes back what a pass did not do in the end. `plan` is its last one, with the answers there are.
    pub fn settle(&mut self, replica_set: &ObjectKey, plan: &Plan, answers: &Outcomes) {
        let answered = || plan.steps.iter().zip(answers);
        let Some(open) = self.0.get_mut(replica_set) else {
            return;
        };
        if !answered().any(|(step, _)| changes_pods(step)) {
            // What is open is an earlier pass's.
            return;
        }
        let created = answered().filter(|(step, answer)| is_creation(step) && is_created(answer));
        open.creations -= open.planned - created.map(|_| 1).sum::<i64>();
        for (index, step) in plan.steps.iter().enumerate() {
            if let Some(pod) = deleted_pod(step)
                && !matches!(answers.get(index), Some(Outcome::Applied(_)))
            {
                open.deletions.remove(pod);
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

    fn replace(
        &mut self,
        replica_set: &ObjectKey,
        creations: i64,
        deletions: BTreeSet<String>,
        since: Timestamp,
    ) {
        let open = Open {
            planned: creations,
            creations,
            deletions,
            since,
        };
        self.0.insert(replica_set.clone(), open);
    }
}

fn changes_pods(step: &Step) -> bool {
    is_creation(step) || deleted_pod(step).is_some()
}

fn is_creation(step: &Step) -> bool {
    matches!(step.action, Action::CreatePod { .. })
}

fn deleted_pod(step: &Step) -> Option<&str> {
    match &step.action {
        Action::DeletePod { target } => Some(&target.key.name),
        _ => None,
    }
}

/// A refusal because the namespace goes counts as success, though the pod will never be seen (section 7.1).
fn is_created(answer: &Outcome) -> bool {
    match answer {
        Outcome::Applied(_) => true,
        Outcome::Refused(refusal) => refusal.reason == RefusalReason::NamespaceTerminating,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
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
            annotations: BTreeMap::default(),
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
        expectations.expect(&key(), &creating(3), 0, START);
        for still_open in [2, 1, 0, -1] {
            expectations.creation_observed(&key());
            assert_eq!(expectations.pending(&key()), (still_open, 0));
            assert_eq!(expectations.are_met(&key(), START), still_open <= 0);
        }
    }

    #[test]
    fn a_pod_that_goes_is_counted_once() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &deleting(&["a", "b"]), 0, START);
        for (seen, still_open) in [("other", 2), ("a", 1), ("a", 1), ("b", 0)] {
            expectations.deletion_observed(&key(), seen);
            assert_eq!(expectations.pending(&key()), (0, still_open), "{seen}");
        }
        assert!(expectations.are_met(&key(), START));
    }

    #[test]
    fn what_is_not_seen_for_five_minutes_is_given_up() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(1), 0, START);
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
        expectations.expect(&key(), &creating(3), 0, START);
        expectations.expect(&key(), &deleting(&["a"]), 0, after(301));
        assert_eq!(expectations.pending(&key()), (0, 1));
        expectations.expect(&key(), &plan([]), 0, after(302));
        assert_eq!(expectations.pending(&key()), (0, 1));
        expectations.forget(&key());
        assert_eq!(expectations.pending(&key()), (0, 0));
    }

    /// Ten wanted, the quota admits five: two refused and three not tried are taken back (section 7.1).
    #[test]
    fn refused_and_untried_creations_are_taken_back() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(10), 0, START);
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
        expectations.settle(&key(), &creating(7), &answers);
        assert_eq!(expectations.pending(&key()), (5, 0));
    }

    /// An adoption comes first, and only its answer tells how many pods are missing.
    #[test]
    fn the_plan_at_the_first_creation_counts() {
        let adopt = || Action::AdoptPod {
            target: target(Kind::Pod, "orphan"),
            owner: OwnerReference::default(),
        };
        let with_adoption = |mut rest: Plan| {
            let mut plan = plan([adopt()]);
            plan.steps[0].batch = 0;
            plan.steps.append(&mut rest.steps);
            plan
        };
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &with_adoption(creating(1)), 0, START);
        assert_eq!(expectations.pending(&key()), (0, 0));
        expectations.expect(&key(), &with_adoption(creating(2)), 1, START);
        assert_eq!(expectations.pending(&key()), (2, 0));
        expectations.expect(&key(), &with_adoption(creating(3)), 2, START);
        assert_eq!(expectations.pending(&key()), (2, 0));
    }

    #[test]
    fn a_pass_that_changes_no_pod_takes_nothing_back() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(2), 0, START);
        expectations.settle(&key(), &plan([]), &[]);
        assert_eq!(expectations.pending(&key()), (2, 0));
    }

    #[test]
    fn a_terminating_namespace_leaves_creations_expected() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(2), 0, START);
        let answers = [applied(), refused(RefusalReason::NamespaceTerminating)];
        expectations.settle(&key(), &creating(2), &answers);
        assert_eq!(expectations.pending(&key()), (2, 0));
    }

    #[test]
    fn events_that_come_before_the_answers_count() {
        let mut expectations = Expectations::default();
        expectations.expect(&key(), &creating(3), 0, START);
        expectations.creation_observed(&key());
        expectations.settle(&key(), &creating(1), &[applied()]);
        assert_eq!(expectations.pending(&key()), (0, 0));
    }

    #[test]
    fn refused_and_unsent_deletions_are_taken_back() {
        let mut expectations = Expectations::default();
        let plan = deleting(&["a", "b", "c", "d"]);
        expectations.expect(&key(), &plan, 0, START);
        let answers = [
            applied(),
            refused(RefusalReason::NotFound),
            refused(RefusalReason::Timeout),
        ];
        expectations.settle(&key(), &plan, &answers);
        assert_eq!(expectations.pending(&key()), (0, 1));
        expectations.deletion_observed(&key(), "a");
        assert!(expectations.are_met(&key(), START));
    }
}
