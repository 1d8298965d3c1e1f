//! One state for each rule that the recordings don't show alone.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::api::{Autoscaler, Node, Quota};
use super::super::{Budgets, Change, Code, Diagnosis, Phase, Presence, Snapshot, diagnose};
use super::world::{World, at, told};
use crate::controller::api::Deployment;

const NOW: &str = "2026-11-29T16:40:00Z";

pub(super) fn world() -> World {
    World::new(at(NOW))
}

/// A pod of the new ReplicaSet with one container in this state.
pub(super) fn pod(name: &str, status: &Value) -> Value {
    let mut status_of_web = status.clone();
    status_of_web["name"] = json!("web");
    status_of_web["image"] = json!("reg.example.com/web:2");
    json!({
        "metadata": {"name": name, "creationTimestamp": "2026-11-29T16:39:00Z"},
        "spec": {"nodeName": "node-1", "containers": [{"name": "web", "image": "reg.example.com/web:2"}]},
        "status": {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-29T16:39:00Z"},
                {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
            ],
            "containerStatuses": [status_of_web],
        },
    })
}

pub(super) fn waiting(reason: &str, message: &str) -> Value {
    json!({"state": {"waiting": {"reason": reason, "message": message}}})
}

fn crashed(exits: i32) -> Value {
    let end = json!({"exitCode": 1, "reason": "Error",
        "startedAt": "2026-11-29T16:39:50Z", "finishedAt": "2026-11-29T16:39:55Z"});
    json!({"restartCount": exits - 1, "state": {"terminated": end}, "lastState": {}})
}

pub(super) fn event(kind: &str, name: &str, reason: &str, message: &str, count: i32) -> Value {
    json!({
        "type": "Warning", "reason": reason, "message": message, "count": count,
        "firstTimestamp": "2026-11-29T16:39:10Z", "lastTimestamp": "2026-11-29T16:39:58Z",
        "involvedObject": {"kind": kind, "name": name, "fieldPath": "spec.containers{web}"},
    })
}

const NOT_FOUND: &str = "rpc error: code = NotFound desc = reg.example.com/web:2: not found";

/// A Deployment of 5 in the midst of a rolling update: 2 new pods, 4 old ones.
pub(super) fn rolling() -> World {
    let mut world = world();
    world.deployment["spec"]["replicas"] = json!(5);
    world.deployment["spec"]["strategy"]["rollingUpdate"] =
        json!({"maxSurge": 1, "maxUnavailable": 1});
    world.deployment["status"] = json!({"observedGeneration": 1, "replicas": 6, "updatedReplicas": 2,
        "readyReplicas": 4, "availableReplicas": 4, "conditions": [
            {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated",
             "lastUpdateTime": "2026-11-29T16:39:30Z", "message": "ReplicaSet \"web-1\" is progressing."}]});
    world.set["spec"]["replicas"] = json!(2);
    world.set["status"] = json!({"replicas": 2, "observedGeneration": 1});
    world.old_sets.push(json!({
        "metadata": {"namespace": "shop", "name": "web-0", "uid": "old-0", "labels": {"app": "web"},
            "creationTimestamp": "2026-11-29T15:00:00Z",
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "deployment", "controller": true}]},
        "spec": {"replicas": 4, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "reg.example.com/web:1"}]}}},
        "status": {"replicas": 4, "readyReplicas": 4, "availableReplicas": 4, "observedGeneration": 1},
    }));
    world
}

fn phase_of(diagnosis: &Diagnosis) -> Phase {
    diagnosis.verdict.phase
}

#[test]
fn blocked_rollouts_show_the_arithmetic() {
    insta::assert_snapshot!(told(&rolling().diagnosis()));
}

#[test]
fn the_deadline_runs_down() {
    let verdict = rolling().diagnosis().verdict;
    assert_eq!(verdict.deadline_left_seconds, Some(570));
}

#[test]
fn one_failed_pull_fails_nothing_the_second_does() {
    let mut world = world();
    world
        .pods
        .push(pod("web-1-a", &waiting("ErrImagePull", NOT_FOUND)));
    let failed = |count| {
        event(
            "Pod",
            "web-1-a",
            "Failed",
            &format!("Failed to pull image \"x\": {NOT_FOUND}"),
            count,
        )
    };
    world.events = vec![failed(1)];
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.events = vec![failed(2)];
    insta::assert_snapshot!(told(&world.diagnosis()));
    let patient = Budgets {
        pulls: Some(3),
        ..Budgets::default()
    };
    assert_eq!(
        phase_of(&diagnose(&world.snapshot(), &patient)),
        Phase::Progressing
    );
}

/// Without events, the time that the back-off takes counts the pulls.
#[test]
fn pulls_are_counted_by_time_where_events_cannot_be_read() {
    let mut world = world();
    world.pods.push(pod(
        "web-1-a",
        &waiting(
            "ImagePullBackOff",
            &format!("Back-off pulling image \"x\": ErrImagePull: {NOT_FOUND}"),
        ),
    ));
    world.now = at("2026-11-29T16:39:20Z");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.now = at("2026-11-29T16:39:35Z");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Failed);
}

#[test]
fn registries_have_five_minutes() {
    let mut world = world();
    world.pods.push(pod(
        "web-1-a",
        &waiting("ErrImagePull", "dial tcp 10.0.0.1:443: i/o timeout"),
    ));
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.now = at("2026-11-29T16:44:00Z");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Failed);
}

#[test]
fn the_third_crash_fails_and_a_recovery_is_believed() {
    for (exits, phase) in [
        (1, Phase::Progressing),
        (2, Phase::Progressing),
        (3, Phase::Failed),
    ] {
        let mut world = world();
        world.pods.push(pod("web-1-a", &crashed(exits)));
        assert_eq!(phase_of(&world.diagnosis()), phase, "{exits} crashes");
    }
    let mut world = world();
    let end = &crashed(1)["state"];
    let status = json!({"restartCount": 4, "ready": true, "lastState": end,
        "state": {"running": {"startedAt": "2026-11-29T16:39:56Z"}}});
    world.pods.push(pod("web-1-a", &status));
    world.pods[0]["status"]["conditions"][1]["status"] = json!("True");
    assert_eq!(
        phase_of(&world.diagnosis()),
        Phase::Failed,
        "4 s say nothing"
    );
    world.now = at("2026-11-29T16:40:10Z");
    insta::assert_snapshot!(told(&world.diagnosis()));
}

/// A command that can't be found will not be found the third time.
#[test]
fn hopeless_commands_fail_the_second_time() {
    let mut world = world();
    let mut status = crashed(2);
    status["state"]["terminated"]["exitCode"] = json!(127);
    world.pods.push(pod("web-1-a", &status));
    assert_eq!(phase_of(&world.diagnosis()), Phase::Failed);
}

#[test]
fn what_ails_old_pods_too_is_not_blamed_on_the_new_version() {
    let mut world = rolling();
    world.pods.push(pod("web-1-a", &crashed(5)));
    world.old_pods.push(pod("web-0-a", &crashed(9)));
    insta::assert_snapshot!(told(&world.diagnosis()));
}

#[test]
fn refused_pods_are_a_storm_from_the_second_on() {
    let mut world = world();
    let rejected = |name: &str| {
        json!({"metadata": {"name": name}, "status": {"phase": "Failed",
        "reason": "SysctlForbidden", "message": "Pod was rejected: forbidden sysctl: \"a\" not allowlisted"}})
    };
    world.pods = vec![rejected("web-1-a")];
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.pods.push(rejected("web-1-b"));
    assert_eq!(phase_of(&world.diagnosis()), Phase::Failed);
}

#[test]
fn evictions_pass_until_they_repeat() {
    let mut world = world();
    let evicted = |name: &str| {
        json!({"metadata": {"name": name}, "status": {"phase": "Failed",
        "reason": "Evicted", "message": "The node was low on resource: memory. "}})
    };
    world.pods = vec![evicted("web-1-a"), evicted("web-1-b")];
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.pods.push(evicted("web-1-c"));
    assert_eq!(phase_of(&world.diagnosis()), Phase::Waiting);
}

fn deadline_passed(named: &str) -> Value {
    json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "conditions": [
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
         "message": format!("ReplicaSet \"{named}\" has timed out progressing.")}]})
}

/// The condition of an earlier rollout says nothing about this one, and no condition does before it is observed.
#[test]
fn only_a_deadline_of_this_rollout_counts() {
    let mut world = world();
    world.deployment["status"] = deadline_passed("web-0");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.deployment["status"] = deadline_passed("web-1");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Failed);
    world.deployment["metadata"]["generation"] = json!(2);
    assert_ne!(phase_of(&world.diagnosis()), Phase::Failed);
}

#[test]
fn a_deadline_comes_with_the_cause() {
    let mut world = world();
    world.deployment["status"] = deadline_passed("web-1");
    world.pods.push(pod(
        "web-1-a",
        &waiting("CreateContainerConfigError", "secret \"db\" not found"),
    ));
    let diagnosis = world.diagnosis();
    assert_eq!(diagnosis.verdict.code, Some(Code::DeadlineExceeded));
    insta::assert_snapshot!(told(&diagnosis));
}

#[test]
fn pausing_holds_a_template_back() {
    let mut world = rolling();
    world.deployment["spec"]["paused"] = json!(true);
    world.deployment["spec"]["template"]["spec"]["containers"][0]["image"] =
        json!("reg.example.com/web:3");
    insta::assert_snapshot!(told(&world.diagnosis()));
}

/// The condition keeps the first error of an episode; the newest event has the present one.
#[test]
fn a_refusal_is_judged_by_its_newest_event() {
    let mut world = world();
    world.set["status"] = json!({"replicas": 0, "observedGeneration": 1, "conditions": [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
         "lastTransitionTime": "2026-11-29T16:39:00Z",
         "message": "pods \"web-1-x\" is forbidden: exceeded quota: first, requested: pods=1, used: pods=0, limited: pods=0"}]});
    assert_eq!(phase_of(&world.diagnosis()), Phase::Waiting);
    world.events = vec![event(
        "ReplicaSet",
        "web-1",
        "FailedCreate",
        "(combined from similar events): Error creating: pods \"web-1-y\" is forbidden: [maximum memory usage per Container is 256Mi, but limit is 1Gi, maximum cpu usage per Container is 500m, but limit is 1]",
        7,
    )];
    insta::assert_snapshot!(told(&world.diagnosis()));
}

#[test]
fn a_default_service_account_is_given_its_first_moments() {
    let mut world = world();
    world.set["status"] = json!({"replicas": 0, "observedGeneration": 1, "conditions": [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
         "lastTransitionTime": "2026-11-29T16:39:58Z",
         "message": "pods \"web-1-\" is forbidden: error looking up service account shop/default: serviceaccount \"default\" not found"}]});
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
    world.now = at("2026-11-29T16:40:10Z");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Waiting);
}

#[test]
fn a_change_that_nobody_looks_at_means_that_no_controller_acts() {
    let mut world = world();
    world.deployment["metadata"]["generation"] = json!(4);
    world.deployment["status"]["observedGeneration"] = json!(3);
    let seen = |seconds: i64, controller| {
        let changed = Change {
            manager: "kubectl-edit".to_owned(),
            at: at(NOW) - k8s_openapi::jiff::SignedDuration::from_secs(seconds),
        };
        diagnose(
            &Snapshot {
                last_change: Some(changed),
                controller,
                ..world.snapshot()
            },
            &Budgets::default(),
        )
    };
    let soon = seen(9, Presence::Unknown);
    assert_eq!(phase_of(&soon), Phase::Progressing);
    assert_eq!(soon.verdict.code, Some(Code::NotObserved));
    assert_eq!(phase_of(&seen(60, Presence::Acting)), Phase::Progressing);
    insta::assert_snapshot!(told(&seen(10, Presence::Unknown)));
}

#[test]
fn a_controller_manager_that_is_gone_is_told_of_where_there_is_work_left() {
    let told_of = |world: &World| {
        let snapshot = Snapshot {
            controller: Presence::Missing(at("2026-11-29T16:38:00.123456Z")),
            ..world.snapshot()
        };
        told(&diagnose(&snapshot, &Budgets::default()))
    };
    let mut world = rolling();
    insta::assert_snapshot!(told_of(&world), @"
    waiting: the controller manager is gone: it renews its Lease no more
      controllerMissing (ControllerMissing, Deployment): the controller manager is gone: it renews its Lease no more
        « Lease kube-system/kube-controller-manager: renewTime 2026-11-29T16:38:00Z
        → act from here: kubectl rs sync --controller=client --wait
      blockedByBounds (Note, Deployment): total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready
    ");
    // What is held back on purpose waits for nobody.
    world.deployment["spec"]["paused"] = json!(true);
    assert!(!told_of(&world).contains("controllerMissing"));
    let mut complete = World::new(at(NOW));
    let numbers = json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": 1, "availableReplicas": 1});
    complete.deployment["status"] = numbers.clone();
    complete.set["status"] = numbers;
    assert!(!told_of(&complete).contains("controllerMissing"));
}

#[test]
fn what_surrounds_a_rollout_is_told() {
    let mut snapshot = rolling().snapshot();
    let mut neighbour = Deployment::clone(&snapshot.deployment);
    neighbour.meta.name = "web-canary".to_owned();
    neighbour.meta.uid = "other".to_owned();
    snapshot.surroundings.neighbours.push(Arc::new(neighbour));
    let quota: Quota = serde_json::from_value(json!({"metadata": {"name": "compute"},
        "status": {"hard": {"pods": "10"}, "used": {"pods": "10"}}}))
    .unwrap();
    snapshot.surroundings.quotas.push(Arc::new(quota));
    let scaler: Autoscaler = serde_json::from_value(json!({"metadata": {"name": "web"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 9},
        "status": {"desiredReplicas": 5}}))
    .unwrap();
    snapshot.surroundings.autoscalers.push(Arc::new(scaler));
    let mut deployment = Deployment::clone(&snapshot.deployment);
    deployment.spec.replicas = 7;
    deployment.spec.progress_deadline_seconds = Some(i32::MAX);
    snapshot.deployment = Arc::new(deployment);
    let mut orphan = (*snapshot.replica_sets[1]).clone();
    orphan.meta.owner_references.clear();
    orphan.meta.name = "web-left".to_owned();
    orphan.meta.uid = "left".to_owned();
    snapshot.replica_sets.push(Arc::new(orphan));
    insta::assert_snapshot!(told(&diagnose(&snapshot, &Budgets::default())));
}

#[test]
fn nodes_say_which_taints_keep_pods_away() {
    let mut world = world();
    world.pods.push(json!({"metadata": {"name": "web-1-a"}, "spec": {}, "status": {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
         "message": "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable."}]}}));
    let mut snapshot = world.snapshot();
    for node in [
        json!({"metadata": {"name": "node-1"}, "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}}),
        json!({"metadata": {"name": "node-2"}, "spec": {"unschedulable": true,
            "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}}),
    ] {
        let node: Node = serde_json::from_value(node).unwrap();
        snapshot.surroundings.nodes.push(Arc::new(node));
    }
    insta::assert_snapshot!(told(&diagnose(&snapshot, &Budgets::default())));
    let budgets = Budgets {
        pending: Some(std::time::Duration::from_secs(180)),
        ..Budgets::default()
    };
    assert_eq!(phase_of(&diagnose(&snapshot, &budgets)), Phase::Failed);
}

/// Pods without a node that no scheduler has said anything about.
#[test]
fn silence_of_the_scheduler_is_told_after_ten_seconds() {
    let unnoticed = |spec: Value, status: Value, now: &str| {
        let mut world = World::new(at(now));
        world.pods.push(
            json!({"metadata": {"name": "web-1-a", "creationTimestamp": "2026-11-29T16:39:00Z"},
            "spec": spec, "status": status}),
        );
        told(&world.diagnosis())
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    };
    let pending = json!({"phase": "Pending", "conditions": []});
    insta::assert_snapshot!(
        [
            unnoticed(json!({}), pending.clone(), "2026-11-29T16:39:05Z"),
            unnoticed(json!({}), pending.clone(), "2026-11-29T16:39:10Z"),
            unnoticed(
                json!({"schedulerName": "mine"}),
                pending,
                "2026-11-29T16:39:10Z"
            ),
            unnoticed(
                json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}),
                json!({"phase": "Pending", "nominatedNodeName": "node-1"}),
                "2026-11-29T16:39:10Z"
            ),
        ]
        .join("\n")
    );
}

/// What comes before containers: an event is all the evidence there is.
#[test]
fn volumes_and_sandboxes() {
    let cases = [
        (
            "FailedAttachVolume",
            "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) web-0-a",
        ),
        (
            "FailedAttachVolume",
            "AttachVolume.Attach failed for volume \"pvc-1\" : rpc error: timeout",
        ),
        (
            "FailedMount",
            "MountVolume.SetUp failed for volume \"kube-api-access-x\" : configmap \"kube-root-ca.crt\" not found",
        ),
        (
            "FailedMount",
            "MountVolume.SetUp failed for volume \"v\" : object \"shop\"/\"conf\" not registered",
        ),
        (
            "FailedMount",
            "MountVolume.MountDevice failed for volume \"v\" : wrong fs type",
        ),
        (
            "NetworkNotReady",
            "network is not ready: container runtime network not ready",
        ),
        (
            "FailedCreatePodSandBox",
            "Failed to create pod sandbox: no IP addresses available",
        ),
    ];
    let lines = cases.map(|(reason, message)| {
        let mut world = world();
        world
            .pods
            .push(pod("web-1-a", &waiting("ContainerCreating", "")));
        world.events = vec![event("Pod", "web-1-a", reason, message, 1)];
        told(&world.diagnosis())
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    });
    insta::assert_snapshot!(lines.join("\n"));
}

/// A pod that is deleted and stays: who holds it, or who has to act.
#[test]
fn stuck_deletions() {
    let deleted = |spec: Value, conditions: Value, events: Vec<Value>| {
        let mut world = world();
        world.pods.push(json!({
            "metadata": {"name": "web-1-a", "deletionTimestamp": "2026-11-29T16:39:00Z", "deletionGracePeriodSeconds": 30},
            "spec": spec, "status": {"phase": "Running", "conditions": conditions},
        }));
        world.events = events;
        told(&world.diagnosis())
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    };
    let node = json!({"nodeName": "node-1"});
    insta::assert_snapshot!([
        deleted(node.clone(), json!([]), vec![event("Pod", "web-1-a", "FailedKillPod", "error killing pod: busy", 3)]),
        deleted(node, json!([{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "True"}]), vec![]),
        deleted(json!({}), json!([]), vec![]),
    ].join("\n"));
}

#[test]
fn configuration_that_is_not_read_yet_fails_nothing() {
    let mut world = world();
    world.pods.push(pod(
        "web-1-a",
        &waiting(
            "CreateContainerConfigError",
            "failed to sync configmap cache: timed out",
        ),
    ));
    world.now = at("2026-11-29T17:40:00Z");
    assert_eq!(phase_of(&world.diagnosis()), Phase::Progressing);
}

#[test]
fn with_no_budgets_only_the_deadline_ends_a_rollout() {
    let mut world = world();
    world.pods.push(pod("web-1-a", &crashed(50)));
    assert_eq!(
        phase_of(&diagnose(&world.snapshot(), &Budgets::NONE)),
        Phase::Progressing
    );
}
