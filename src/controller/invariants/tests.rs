//! The checkers find what they are there for: each case is one broken rule.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, Time};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::controller::action::{
    AnnotationChanges, NewPod, NewReplicaSet, Refusal, RefusalReason, Step,
};
use crate::controller::api::{Deployment, ObjectKey, OwnerReference, Pod, ReplicaSet};
use crate::controller::plan::{End, Requeue};
use crate::controller::template::Template;
use crate::controller::why::Why;
use crate::controller::{deployment, replica_set};

fn plan(why: &Why, actions: impl IntoIterator<Item = Action>) -> Plan {
    let steps = actions.into_iter().map(|action| Step {
        action,
        why: why.clone(),
        batch: 1,
    });
    Plan {
        steps: steps.collect(),
        end: End::Done(Requeue::No),
        waiting: Vec::new(),
    }
}

fn meta(name: &str, owner: Option<&str>) -> Value {
    let owner = owner.map(|uid| json!({"uid": uid, "controller": true}));
    json!({
        "namespace": "default", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "1",
        "labels": {"app": "web"}, "ownerReferences": owner.into_iter().collect::<Vec<_>>(),
    })
}

fn owner(uid: &str) -> OwnerReference {
    OwnerReference {
        uid: uid.into(),
        controller: true,
        ..OwnerReference::default()
    }
}

/// `web-1` wants two pods: it has a, b and c; d is an orphan, e somebody else's, f is finished, g has another label.
fn pods_of_web_1() -> replica_set::Snapshot {
    let pod = |name: &str, owner: Option<&str>, phase: &str| {
        let json = json!({"metadata": meta(name, owner), "status": {"phase": phase}});
        Arc::new(Pod::from_json(&json).unwrap())
    };
    let ours = Some("uid-web-1");
    let mut mislabeled = pod("g", ours, "Running");
    Arc::make_mut(&mut mislabeled).meta.labels.clear();
    let set = json!({
        "metadata": meta("web-1", Some("uid-web")),
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}},
    });
    replica_set::Snapshot {
        replica_set: Arc::new(ReplicaSet::from_json(&set).unwrap()),
        pods: vec![
            pod("a", ours, "Running"),
            pod("b", ours, "Running"),
            pod("c", ours, "Running"),
            pod("d", None, "Running"),
            pod("e", Some("uid-other"), "Running"),
            pod("f", ours, "Failed"),
            mislabeled,
        ],
        expectations_met: true,
        ..replica_set::Snapshot::default()
    }
}

fn target(kind: Kind, name: &str) -> Target {
    Target {
        kind,
        key: ObjectKey::new("default", name),
        uid: format!("uid-{name}"),
        resource_version: "1".into(),
    }
}

fn delete(pod: &str) -> Action {
    Action::DeletePod {
        target: target(Kind::Pod, pod),
    }
}

fn adopt(pod: &str) -> Action {
    Action::AdoptPod {
        target: target(Kind::Pod, pod),
        owner: owner("uid-web-1"),
    }
}

fn release(pod: &str) -> Action {
    Action::ReleasePod {
        target: target(Kind::Pod, pod),
        owner_uid: "uid-web-1".into(),
    }
}

fn create(owner_uid: &str) -> Action {
    Action::CreatePod {
        replica_set: target(Kind::ReplicaSet, "web-1"),
        pod: Arc::new(NewPod {
            namespace: "default".into(),
            generate_name: "web-1-".into(),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            annotations: [].into(),
            finalizers: Vec::new(),
            owner: owner(owner_uid),
            spec: json!({}),
        }),
    }
}

fn verdict(result: Result<(), Violation>) -> String {
    result.map_or_else(|violation| violation.to_string(), |()| "fine".to_owned())
}

#[test]
fn a_replica_set_touches_its_own_active_pods_only() {
    let snapshot = pods_of_web_1();
    let other_version = Action::DeletePod {
        target: Target {
            resource_version: "2".into(),
            ..target(Kind::Pod, "a")
        },
    };
    let cases = [
        (vec![delete("a")], "fine"),
        (vec![adopt("d"), delete("d"), delete("a")], "fine"),
        (vec![release("g")], "fine"),
        (
            vec![delete("a"), delete("b")],
            "deletes 2 pods where 3 are active and 2 wanted",
        ),
        (vec![delete("a"), delete("a")], "deletes pod a twice"),
        (vec![delete("d")], "deletes pod d"),
        (vec![delete("e")], "deletes pod e"),
        (
            vec![delete("f")],
            "touches pod default/f, which is not active",
        ),
        (vec![delete("g")], "deletes pod g"),
        (
            vec![delete("z")],
            "Pod default/z is not the one in the snapshot",
        ),
        (
            vec![other_version],
            "Pod default/a is not the one in the snapshot",
        ),
        (vec![adopt("a")], "adopts pod default/a"),
        (vec![adopt("e")], "adopts pod default/e"),
        (vec![release("a")], "releases pod default/a"),
        (vec![release("e")], "releases pod default/e"),
        (
            vec![create("uid-web-1")],
            "creates 1 pods where 3 of 2 are active",
        ),
        (vec![create("uid-other")], "creates for "),
    ];
    for (actions, expected) in cases {
        let plan = plan(&Why::Tells, actions);
        let verdict = verdict(check_replica_set(&snapshot, &plan, &[]));
        assert!(
            verdict.starts_with(expected),
            "{verdict}, expected {expected}"
        );
    }
}

#[test]
fn pods_stay_while_writes_are_unseen_and_while_a_replica_set_goes() {
    let mut unseen = pods_of_web_1();
    unseen.expectations_met = false;
    let mut going = pods_of_web_1();
    Arc::make_mut(&mut going.replica_set)
        .meta
        .deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let check = |snapshot, action| {
        verdict(check_replica_set(
            snapshot,
            &plan(&Why::Tells, [action]),
            &[],
        ))
    };
    for snapshot in [&unseen, &going] {
        assert_eq!(check(snapshot, delete("a")), "deletes pod a");
        assert_eq!(check(snapshot, create("uid-web-1")), "creates a pod");
    }
    assert_eq!(check(&going, adopt("d")), "adopts pod default/d");
    assert_eq!(check(&going, release("g")), "releases pod default/g");
}

#[test]
fn a_refused_adoption_gives_no_right_to_delete() {
    let refusal = Refusal {
        reason: RefusalReason::NotFound,
        message: String::new(),
    };
    let plan = plan(&Why::Tells, [adopt("d"), delete("d")]);
    let result = check_replica_set(&pods_of_web_1(), &plan, &[Outcome::Refused(refusal)]);
    assert_eq!(verdict(result), "deletes pod d");
}

/// 4 replicas, surge 1, unavailable 1: `old` has 3 of 3 available, `new` 0 of 2. `orphan` is one, `other` is
/// somebody's, `stray` is ours by owner only.
fn sets_of_web() -> deployment::Snapshot {
    let set = |name: &str, owner: Option<&str>, replicas: i32, available: i32| {
        let json = json!({
            "metadata": meta(name, owner),
            "spec": {"replicas": replicas},
            "status": {"replicas": replicas, "availableReplicas": available},
        });
        Arc::new(ReplicaSet::from_json(&json).unwrap())
    };
    let ours = Some("uid-web");
    let mut stray = set("stray", ours, 0, 0);
    Arc::make_mut(&mut stray).meta.labels.clear();
    let deployment = json!({
        "metadata": meta("web", None),
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
        },
    });
    deployment::Snapshot {
        deployment: Arc::new(Deployment::from_json(&deployment).unwrap()),
        replica_sets: vec![
            set("empty", ours, 0, 0),
            set("new", ours, 2, 0),
            set("old", ours, 3, 3),
            set("orphan", None, 1, 0),
            set("other", Some("uid-other"), 0, 0),
            stray,
        ],
        ..deployment::Snapshot::default()
    }
}

fn scale(name: &str, to: i32) -> Action {
    Action::ScaleReplicaSet {
        target: target(Kind::ReplicaSet, name),
        from: 0,
        to,
        annotations: AnnotationChanges::new(),
    }
}

fn delete_set(name: &str) -> Action {
    Action::DeleteReplicaSet {
        target: target(Kind::ReplicaSet, name),
    }
}

fn adopt_set(name: &str) -> Action {
    Action::AdoptReplicaSet {
        target: target(Kind::ReplicaSet, name),
        owner: owner("uid-web"),
    }
}

fn release_set(name: &str) -> Action {
    Action::ReleaseReplicaSet {
        target: target(Kind::ReplicaSet, name),
        owner_uid: "uid-web".into(),
    }
}

fn create_set(replicas: i32) -> Action {
    Action::CreateReplicaSet(Box::new(NewReplicaSet {
        key: ObjectKey::new("default", "newest"),
        labels: [].into(),
        annotations: [].into(),
        owner: owner("uid-web"),
        replicas,
        min_ready_seconds: 0,
        selector: LabelSelector::default(),
        template: Template::default(),
    }))
}

#[test]
fn a_deployment_keeps_its_bounds() {
    let snapshot = sets_of_web();
    let cases = [
        (vec![scale("new", 1), scale("new", 2)], "fine"),
        (vec![create_set(0)], "fine"),
        (vec![scale("new", 0), create_set(2)], "fine"),
        (vec![scale("new", 3)], "6 pods in total, 5 are allowed"),
        (
            vec![scale("new", 3), scale("new", 0)],
            "6 pods in total, 5 are allowed",
        ),
        (vec![create_set(1)], "6 pods in total, 5 are allowed"),
        (
            vec![scale("old", 2)],
            "2 available pods are left, at least 3 must be",
        ),
        (vec![scale("new", -1)], "scales default/new to -1"),
    ];
    for (actions, expected) in cases {
        let plan = plan(&Why::Tells, actions);
        let verdict = verdict(check_deployment(&snapshot, &plan, &[]));
        assert!(
            verdict.starts_with(expected),
            "{verdict}, expected {expected}"
        );
    }
}

#[test]
fn shares_are_summed_up_at_the_end() {
    let share = Why::Proportional {
        total: 5,
        allowed: 5,
    };
    let check = |actions: [Action; 2], answers: &Outcomes| {
        verdict(check_deployment(
            &sets_of_web(),
            &plan(&share, actions),
            answers,
        ))
    };
    assert_eq!(check([scale("new", 4), scale("old", 1)], &[]), "fine");
    let exceeded = check([scale("new", 4), scale("old", 2)], &[]);
    assert!(
        exceeded.starts_with("6 pods in total, 5 are allowed"),
        "{exceeded}"
    );
}

#[test]
fn a_deployment_touches_its_own_replica_sets_only() {
    let snapshot = sets_of_web();
    let cases = [
        (
            vec![
                delete_set("empty"),
                adopt_set("orphan"),
                release_set("stray"),
            ],
            "fine",
        ),
        (vec![adopt_set("orphan"), scale("orphan", 0)], "fine"),
        (
            vec![scale("orphan", 0)],
            "writes default/orphan, which is not ours",
        ),
        (
            vec![scale("other", 0)],
            "writes default/other, which is not ours",
        ),
        (
            vec![delete_set("other")],
            "writes default/other, which is not ours",
        ),
        (
            vec![delete_set("old")],
            "deletes default/old, which is not empty",
        ),
        (vec![adopt_set("other")], "adopts default/other"),
        (vec![adopt_set("old")], "adopts default/old"),
        (vec![release_set("old")], "releases default/old"),
        (vec![release_set("other")], "releases default/other"),
        (vec![delete("a")], "not a Deployment's action"),
    ];
    for (actions, expected) in cases {
        let plan = plan(&Why::Tells, actions);
        let verdict = verdict(check_deployment(&snapshot, &plan, &[]));
        assert!(
            verdict.starts_with(expected),
            "{verdict}, expected {expected}"
        );
    }
}

#[test]
fn a_deployment_that_goes_or_is_paused_makes_nothing_new() {
    let mut paused = sets_of_web();
    Arc::make_mut(&mut paused.deployment).spec.paused = true;
    let check = |snapshot, action| {
        verdict(check_deployment(
            snapshot,
            &plan(&Why::Tells, [action]),
            &[],
        ))
    };
    assert_eq!(
        check(&paused, create_set(0)),
        "creates default/newest while paused"
    );
    assert_eq!(check(&paused, scale("new", 1)), "fine");
    let mut going = sets_of_web();
    Arc::make_mut(&mut going.deployment).meta.deletion_timestamp =
        Some(Time(Timestamp::UNIX_EPOCH));
    for action in [
        create_set(0),
        scale("new", 1),
        delete_set("empty"),
        adopt_set("orphan"),
        release_set("stray"),
    ] {
        let verdict = check(&going, action);
        assert!(
            verdict.starts_with("goes on though it is being deleted"),
            "{verdict}"
        );
    }
}
