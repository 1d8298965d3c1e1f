//! Which pods go first.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::SignedDuration;

use super::*;
use crate::controller::api::{ConditionStatus, ReadyCondition};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn ago(seconds: i64) -> Timestamp {
    NOW - SignedDuration::from_secs(seconds)
}

/// A running pod on node `n`, not ready, created an hour ago. Its name is its UID.
fn pod(uid: &str) -> Pod {
    let mut pod = Pod {
        node_name: "n".into(),
        phase: Phase::Running,
        ..Pod::default()
    };
    pod.meta.uid = uid.into();
    pod.meta.name = uid.into();
    pod.meta.creation_timestamp = Some(Time(ago(3600)));
    pod
}

impl Pod {
    fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn ready(self, seconds: i64) -> Self {
        self.ready_at(Some(ago(seconds)))
    }

    fn ready_at(self, last_transition_time: Option<Timestamp>) -> Self {
        self.but(|pod| {
            pod.ready = Some(ReadyCondition {
                status: ConditionStatus::True,
                last_transition_time,
            });
        })
    }

    fn created(self, seconds: i64) -> Self {
        self.but(|pod| pod.meta.creation_timestamp = Some(Time(ago(seconds))))
    }

    fn cost(self, cost: &str) -> Self {
        self.but(|pod| {
            let key = keys::POD_DELETION_COST.to_owned();
            pod.meta.annotations.insert(key, cost.to_owned());
        })
    }

    fn on(self, node: &str) -> Self {
        self.but(|pod| pod.node_name = node.to_owned())
    }

    fn phase(self, phase: Phase) -> Self {
        self.but(|pod| pod.phase = phase)
    }

    fn restarts(self, regular: i32, sidecar: i32) -> Self {
        self.but(|pod| (pod.restarts, pod.sidecar_restarts) = (regular, sidecar))
    }
}

fn order(pods: &[Pod], related: &[Pod]) -> Vec<String> {
    let ranked = victims(pods, related, pods.len(), NOW);
    ranked.iter().map(|pod| pod.meta.uid.clone()).collect()
}

/// Whatever order they come in. In the cases, UIDs are against the rule wherever they would decide otherwise.
fn goes_first(rule: &str, first: Pod, second: Pod) {
    let expected = [first.meta.uid.clone(), second.meta.uid.clone()];
    let mut pods = [first, second];
    assert_eq!(order(&pods, &[]), expected, "{rule}");
    pods.reverse();
    assert_eq!(order(&pods, &[]), expected, "{rule}");
}

#[test]
fn state_and_cost() {
    let (a, b) = (|| pod("a"), || pod("b"));
    goes_first("no node", b().on("").ready(60), a());
    let unknown = || a().phase(Phase::Unknown);
    goes_first("phase", b().phase(Phase::Pending).ready(60), unknown());
    goes_first("phase", b().phase(Phase::Unknown).ready(60), a());
    goes_first("as Pending", b().phase(Phase::Other).ready(60), unknown());
    let dear = b().cost("100");
    goes_first("ready beats cost", dear, a().ready(60).cost("-100"));
    goes_first("cost beats age", b().ready(3600).cost("-1"), a().ready(1));
}

#[test]
fn ages_and_restarts() {
    let (a, b) = (|| pod("a"), || pod("b"));
    goes_first("shorter ready", b().ready(10), a().ready(20));
    goes_first("one age class: UID", a().ready(12), b().ready(10));
    let restarted = b().ready(10).restarts(9, 9);
    goes_first("UID before restarts", a().ready(12), restarted);
    goes_first("ready in the future", b().ready(-5), a().ready(1));
    goes_first("both in the future: UID", a().ready(-5), b().ready(-50));
    goes_first("no ready time", b().ready_at(None), a().ready(1));
    goes_first("restarts", b().restarts(5, 0), a().restarts(2, 1));
    goes_first("sidecars", b().restarts(2, 1), a().restarts(2, 0));
    let restarted = b().ready(9).restarts(1, 0);
    goes_first("restarts at the same ready time", restarted, a().ready(9));
    goes_first("younger", b().created(10), a().created(20));
    goes_first("one age class: UID", a().created(12), b().created(10));
    let timeless = b().but(|pod| pod.meta.creation_timestamp = None);
    goes_first("no creation time", timeless, a());
}

#[test]
fn crowded_nodes_lose_pods_first() {
    let pods = [pod("a").ready(9).on("x"), pod("b").ready(3600).on("y")];
    let finished = pod("3").on("x").phase(Phase::Failed);
    let related = [
        pod("1").on("y"),
        pod("2").on("y"),
        pod("4").on("x"),
        finished.clone(),
        finished,
    ];
    assert_eq!(order(&pods, &related), ["b", "a"]);
    assert_eq!(order(&pods, &[]), ["a", "b"]);
}

#[test]
fn deletion_costs() {
    let cases = [
        ("10", 10),
        ("-5", -5),
        ("0", 0),
        ("-07", -7),
        ("+10", 0),
        ("008", 0),
        ("2147483647", i32::MAX),
        ("2147483648", 0),
        ("-2147483648", i32::MIN),
        ("-", 0),
        ("", 0),
        (" 5", 0),
        ("5 ", 0),
        ("1.5", 0),
    ];
    for (text, cost) in cases {
        assert_eq!(deletion_cost(&pod("a").cost(text)), cost, "{text:?}");
    }
    assert_eq!(deletion_cost(&pod("a")), 0);
}

#[test]
fn age_classes_begin_at_powers_of_two() {
    for log in 0..62 {
        let age = SignedDuration::from_nanos(1 << log);
        assert_eq!(age_class(Some(NOW - age), NOW), Some(Some(log)));
        let less = age - SignedDuration::from_nanos(1);
        assert_eq!(
            age_class(Some(NOW - less), NOW),
            Some(log.checked_sub(1)),
            "{log}"
        );
    }
    assert_eq!(
        age_class(Some(Timestamp::MIN), Timestamp::MAX),
        Some(Some(62))
    );
}

/// a goes before b by restarts, b before c and c before a by UID.
#[test]
fn a_circle_has_one_answer() {
    let mut pods = [
        pod("3").ready(10).restarts(1, 0),
        pod("1").ready(10),
        pod("2").ready(12),
    ];
    for _ in 0..6 {
        assert_eq!(order(&pods, &[]), ["2", "3", "1"]);
        pods.rotate_left(1);
        pods.swap(0, 1);
    }
}

#[test]
fn the_first_few_are_those_of_the_whole_order() {
    let pods: Vec<Pod> = (0..64_u8)
        .map(|i| {
            let pod = pod(&format!("{:03}", u32::from(i) * 37 % 64)).restarts(i32::from(i % 3), 0);
            if i % 4 == 0 {
                pod
            } else {
                pod.ready(i64::from(i % 7) + 8)
            }
        })
        .collect();
    let whole = order(&pods, &[]);
    for count in 0..=pods.len() {
        let few = victims(&pods, [], count, NOW);
        let few: Vec<_> = few.iter().map(|pod| &pod.meta.uid).collect();
        assert_eq!(few, whole[..count].iter().collect::<Vec<_>>());
    }
}
