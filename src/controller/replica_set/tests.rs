//! What the recorded cases do not show: batches, contents of new pods, reasons, and what is waited for.

use insta::assert_snapshot;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    LabelSelector, LabelSelectorRequirement, Time,
};
use k8s_openapi::jiff::SignedDuration;
use serde_json::{Value, json};

use super::*;
use crate::controller::action::{Action, Applied, Outcome, Refusal, RefusalReason};
use crate::controller::api::{ConditionStatus, OwnerReference, Phase, ReadyCondition};
use crate::controller::plan::End;
use crate::controller::template::Template;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// `web-1` with so many replicas, owned by a Deployment.
fn replica_set(replicas: i32) -> ReplicaSet {
    ReplicaSet::from_json(&json!({
        "metadata": {
            "namespace": "default", "name": "web-1", "uid": "uid-web-1", "resourceVersion": "7",
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "uid-web", "controller": true}],
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(),
        },
        "status": {"replicas": 0, "terminatingReplicas": 0},
    }))
    .unwrap()
}

fn template() -> Value {
    json!({
        "metadata": {
            "labels": {"app": "web", "tier": "front"},
            "annotations": {"note": "n"},
            "finalizers": ["example.com/hold"],
        },
        "spec": {"containers": [{"name": "web", "image": "web:1", "fieldOfTomorrow": {"kept": true}}]},
    })
}

/// A pod of `web-1`, ready since so many seconds.
fn pod(name: &str, ready_since: Option<i64>) -> Pod {
    let mut pod = Pod {
        node_name: "n".into(),
        phase: Phase::Running,
        ..Pod::default()
    };
    pod.meta.namespace = "default".into();
    pod.meta.name = name.into();
    pod.meta.uid = format!("uid-{name}");
    pod.meta.labels = Template::new(template()).labels().into();
    pod.meta.owner_references = vec![OwnerReference {
        uid: "uid-web-1".into(),
        controller: true,
        ..OwnerReference::default()
    }]
    .into();
    pod.ready = ready_since.map(|seconds| ReadyCondition {
        status: ConditionStatus::True,
        last_transition_time: Some(NOW - SignedDuration::from_secs(seconds)),
    });
    pod
}

fn snapshot(replica_set: ReplicaSet, pods: impl IntoIterator<Item = Pod>) -> Snapshot {
    Snapshot {
        now: NOW,
        replica_set: Arc::new(replica_set),
        pods: pods.into_iter().map(Arc::new).collect(),
        expectations_met: true,
        ..Snapshot::default()
    }
}

/// One line a step: its batch, what it does, why; then the end, and what is waited for.
fn show(plan: &Plan) -> String {
    let mut lines: Vec<String> = Vec::new();
    for step in &plan.steps {
        let what = match &step.action {
            Action::CreatePod { pod, .. } => format!("create {}", pod.generate_name),
            Action::DeletePod { target } => format!("delete {}", target.key.name),
            Action::AdoptPod { target, .. } => format!("adopt {}", target.key.name),
            Action::ReleasePod { target, .. } => format!("release {}", target.key.name),
            Action::RecordEvent {
                reason, message, ..
            } => format!("event {reason}: {message}"),
            Action::UpdateReplicaSetStatus { status, reread, .. } => format!(
                "status {}/{}/{}{}",
                status.replicas,
                status.ready_replicas,
                status.available_replicas,
                if *reread { " over a fresh read" } else { "" }
            ),
            other => panic!("not a ReplicaSet's action: {other:?}"),
        };
        lines.push(format!("{} {what} ({})", step.batch, step.why));
    }
    lines.push(match &plan.end {
        End::Done(requeue) => format!("done, requeue {requeue:?}"),
        End::Failed(error) => format!("failed: {error}"),
    });
    lines.extend(plan.waiting.iter().map(|what| format!("waits for: {what}")));
    lines.join("\n")
}

fn applied(name: &str) -> Outcome {
    Outcome::Applied(Applied {
        name: name.into(),
        ..Applied::default()
    })
}

fn refused(reason: RefusalReason) -> Outcome {
    Outcome::Refused(Refusal {
        reason,
        message: format!("{reason:?}"),
    })
}

#[test]
fn events_travel_beside_the_next_batch() {
    let snapshot = snapshot(replica_set(4), []);
    assert_snapshot!(show(&reconcile(&snapshot, &[])), @r"
    2 create web-1- (0 of 4 pods)
    3 event SuccessfulCreate: Created pod: web-1-<generated> (tells what was done)
    3 create web-1- (0 of 4 pods)
    3 create web-1- (0 of 4 pods)
    4 event SuccessfulCreate: Created pod: web-1-<generated> (tells what was done)
    4 event SuccessfulCreate: Created pod: web-1-<generated> (tells what was done)
    4 create web-1- (0 of 4 pods)
    5 event SuccessfulCreate: Created pod: web-1-<generated> (tells what was done)
    done, requeue No
    waits for: 4 pods to become ready
    ");
    let answers = ["web-1-a", "", "web-1-b", "web-1-c"].map(applied);
    assert_snapshot!(show(&reconcile(&snapshot, &answers)), @r"
    2 create web-1- (0 of 4 pods)
    3 event SuccessfulCreate: Created pod: web-1-a (tells what was done)
    3 create web-1- (0 of 4 pods)
    3 create web-1- (0 of 4 pods)
    4 event SuccessfulCreate: Created pod: web-1-b (tells what was done)
    4 event SuccessfulCreate: Created pod: web-1-c (tells what was done)
    4 create web-1- (0 of 4 pods)
    5 event SuccessfulCreate: Created pod: web-1-<generated> (tells what was done)
    done, requeue No
    waits for: 4 pods to become ready
    ");
}

#[test]
fn a_refused_batch_ends_creation() {
    let snapshot = snapshot(replica_set(9), []);
    let (yes, no) = (applied("web-1-a"), refused(RefusalReason::Forbidden));
    let answers = [yes.clone(), yes.clone(), no, yes];
    assert_snapshot!(show(&reconcile(&snapshot, &answers)), @r"
    2 create web-1- (0 of 9 pods)
    3 event SuccessfulCreate: Created pod: web-1-a (tells what was done)
    3 create web-1- (0 of 9 pods)
    3 create web-1- (0 of 9 pods)
    4 event FailedCreate: Error creating: Forbidden (tells what was done)
    4 event SuccessfulCreate: Created pod: web-1-a (tells what was done)
    5 status 0/0/0 (status is out of date)
    failed: Forbidden
    waits for: Forbidden
    waits for: 9 pods to become ready
    ");
}

#[test]
fn a_refused_status_is_written_over_a_fresh_read_once() {
    let snapshot = snapshot(replica_set(1), [pod("a", Some(9))]);
    let conflicts = [(); 2].map(|()| refused(RefusalReason::Conflict));
    assert_snapshot!(show(&reconcile(&snapshot, &conflicts[..1])), @r"
    2 status 1/1/1 (status is out of date)
    3 status 1/1/1 over a fresh read (status is out of date)
    done, requeue No
    ");
    assert_snapshot!(show(&reconcile(&snapshot, &conflicts)), @r"
    2 status 1/1/1 (status is out of date)
    3 status 1/1/1 over a fresh read (status is out of date)
    failed: Conflict
    ");
}

#[test]
fn deletes_go_at_once_and_missing_pods_are_no_error() {
    let pods = [
        pod("a", Some(9)),
        pod("b", None),
        pod("c", None),
        pod("d", Some(5)),
    ];
    let snapshot = snapshot(replica_set(1), pods);
    let answers = [
        refused(RefusalReason::NotFound),
        refused(RefusalReason::Other),
        applied("d"),
    ];
    assert_snapshot!(show(&reconcile(&snapshot, &answers)), @r"
    2 delete b (4 pods, 1 wanted)
    2 delete c (4 pods, 1 wanted)
    2 delete d (4 pods, 1 wanted)
    3 event FailedDelete: Error deleting: Other (tells what was done)
    3 event SuccessfulDelete: Deleted pod: d (tells what was done)
    4 status 4/2/2 (status is out of date)
    failed: unable to delete pods: Other
    waits for: unable to delete pods: Other
    waits for: 3 pods to shut down
    ");
}

#[test]
fn a_new_pod_is_the_template_verbatim() {
    let plan = reconcile(&snapshot(replica_set(1), []), &[]);
    let Action::CreatePod { replica_set, pod } = &plan.steps[0].action else {
        panic!("{plan:?}");
    };
    assert_eq!(replica_set.uid, "uid-web-1");
    assert_eq!(pod.namespace, "default");
    assert_eq!(pod.generate_name, "web-1-");
    let made = json!({
        "metadata": {"labels": pod.labels, "annotations": pod.annotations, "finalizers": pod.finalizers},
        "spec": pod.spec,
    });
    assert_eq!(made, template());
    let owner = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "uid-web-1",
        "controller": true, "blockOwnerDeletion": true,
    });
    assert_eq!(serde_json::to_value(&pod.owner).unwrap(), owner);
}

#[test]
fn a_template_without_labels_makes_no_pod() {
    let mut replica_set = replica_set(2);
    replica_set.spec.template = Template::new(json!({"spec": {"containers": []}}));
    let plan = reconcile(&snapshot(replica_set, []), &[]);
    assert_snapshot!(show(&plan), @r"
    2 status 0/0/0 (status is out of date)
    failed: unable to create pods, no labels
    waits for: unable to create pods, no labels
    waits for: 2 pods to become ready
    ");
    let Action::UpdateReplicaSetStatus { status, .. } = &plan.steps[0].action else {
        panic!("{plan:?}");
    };
    assert_eq!(
        status.conditions[0].message,
        "unable to create pods, no labels"
    );
}

#[test]
fn a_selector_that_cannot_be_read_ends_the_pass_quietly() {
    let mut replica_set = replica_set(2);
    replica_set.spec.selector = Some(LabelSelector {
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: "app".into(),
            operator: "Near".into(),
            values: None,
        }]),
        match_labels: None,
    });
    let plan = reconcile(&snapshot(replica_set, [pod("a", None)]), &[]);
    assert_snapshot!(show(&plan), @"done, requeue No");
}

#[test]
fn ready_pods_wait_out_min_ready_seconds() {
    let mut replica_set = replica_set(4);
    replica_set.spec.min_ready_seconds = 30;
    let mut shutting_down = pod("e", Some(60));
    shutting_down.meta.deletion_timestamp = Some(Time(NOW));
    let mut pods = [
        pod("a", Some(60)),
        pod("b", Some(20)),
        pod("c", Some(10)),
        pod("d", None),
        shutting_down,
    ];
    let later = |pod: &mut Pod| {
        let ready = pod.ready.as_mut().unwrap();
        ready.last_transition_time = ready
            .last_transition_time
            .map(|t| t + SignedDuration::from_millis(1));
    };
    assert_snapshot!(show(&reconcile(&snapshot(replica_set.clone(), pods.clone()), &[])), @r"
    2 status 4/3/1 (status is out of date)
    done, requeue After(10s)
    waits for: 1 of 4 pods to become ready
    waits for: 2 ready pods to stay ready, the next for 10s more
    waits for: 1 pod to shut down
    ");
    later(&mut pods[1]);
    assert_snapshot!(show(&reconcile(&snapshot(replica_set, pods), &[])), @r"
    2 status 4/3/1 (status is out of date)
    done, requeue After(10.001s)
    waits for: 1 of 4 pods to become ready
    waits for: 2 ready pods to stay ready, the next for 11s more
    waits for: 1 pod to shut down
    ");
}

#[test]
fn unseen_writes_and_deletion_hold_everything_but_the_status() {
    let mut held = snapshot(replica_set(3), [pod("a", Some(1))]);
    held.expectations_met = false;
    assert_snapshot!(show(&reconcile(&held, &[])), @r"
    2 status 1/1/1 (status is out of date)
    done, requeue No
    waits for: earlier creations and deletions to be seen
    waits for: 2 of 3 pods to become ready
    ");
    let mut replica_set = replica_set(3);
    replica_set.meta.deletion_timestamp = Some(Time(NOW));
    assert_snapshot!(show(&reconcile(&snapshot(replica_set, [pod("a", Some(1))]), &[])), @r"
    2 status 1/1/1 (status is out of date)
    done, requeue No
    waits for: being deleted
    ");
}

#[test]
fn a_complete_replica_set_is_settled_and_waits_for_nothing() {
    let pods = || [pod("a", Some(9)), pod("b", Some(9))];
    let first = reconcile(&snapshot(replica_set(2), pods()), &[]);
    let Action::UpdateReplicaSetStatus { status, .. } = &first.steps[0].action else {
        panic!("{first:?}");
    };
    let mut replica_set = replica_set(2);
    replica_set.status = (**status).clone();
    let second = reconcile(&snapshot(replica_set, pods()), &[]);
    assert!(second.is_settled());
    assert_eq!(second.steps, []);
    assert_eq!(second.waiting, []);
}
