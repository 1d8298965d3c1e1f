//! Sections 14 to 17: counters, conditions, deadlines, requeue and history.

use super::*;
use crate::controller::api::{Condition, DeploymentStatus};
use crate::controller::condition::get_condition;
use crate::controller::deployment::{is_complete, is_progressing, is_timed_out, overview};
use crate::controller::plan::{End, Requeue};

/// The status that the pass writes last.
fn written(world: &World) -> DeploymentStatus {
    let steps = world.plan().steps;
    let status = steps.into_iter().rev().find_map(|step| match step.action {
        Action::UpdateDeploymentStatus { status, .. } => Some(*status),
        _ => None,
    });
    status.unwrap()
}

fn condition<'a>(status: &'a DeploymentStatus, type_: &str) -> &'a Condition {
    get_condition(&status.conditions, type_).unwrap()
}

fn progressing(reason: &str, status: &str, seconds_ago: i64) -> Value {
    let time = (noon() - SignedDuration::from_secs(seconds_ago)).to_string();
    json!([{"type": "Progressing", "status": status, "reason": reason, "lastUpdateTime": time, "lastTransitionTime": time}])
}

#[test]
fn unavailable_counts_wanted_pods() {
    for (sets, expected) in [
        (&[(5, 5, 5), (3, 3, 0)][..], (8, 3)),
        (&[(2, 5, 5)], (5, 0)),
    ] {
        let mut world = World::rolling(8, 1, 1).deployment("spec", json!({"paused": true}));
        for (i, (replicas, current, available)) in sets.iter().enumerate() {
            world = world
                .set(["new", "old"][i], *replicas, *available)
                .with_status(json!({"replicas": current}));
        }
        let status = written(&world);
        assert_eq!((status.replicas, status.unavailable_replicas), expected);
    }
}

#[test]
fn terminating_is_unknown_as_soon_as_one_synced_set_does_not_say() {
    let world = |status| {
        World::rolling(2, 1, 1)
            .set("new", 2, 2)
            .with_status(json!({"terminatingReplicas": 2}))
            .set("old", 0, 0)
            .with_status(status)
    };
    let never_synced = json!({"terminatingReplicas": null, "observedGeneration": 0});
    assert_eq!(written(&world(never_synced)).terminating_replicas, Some(2));
    let synced = json!({"terminatingReplicas": null, "observedGeneration": 1});
    assert_eq!(written(&world(synced)).terminating_replicas, None);
}

#[test]
fn availability_is_judged_against_the_bounds() {
    for (world, available, expected) in [
        (World::rolling(10, 3, 2), 8, "True"),
        (World::rolling(10, 3, 2), 7, "False"),
        (World::rolling(0, "25%", "25%"), 0, "True"),
        (World::rolling(1, "25%", "25%"), 0, "False"),
        (World::recreate(4), 3, "False"),
        (World::recreate(4), 4, "True"),
    ] {
        let size = world.deployment["spec"]["replicas"].as_i64().unwrap();
        let status = written(&world.set("new", i32::try_from(size).unwrap(), available));
        assert_eq!(
            condition(&status, keys::AVAILABLE).status.to_string(),
            expected
        );
    }
}

#[test]
fn predicates_follow_the_specification() {
    let status = |replicas, updated, ready, available| DeploymentStatus {
        observed_generation: 1,
        replicas,
        updated_replicas: updated,
        ready_replicas: ready,
        available_replicas: available,
        ..DeploymentStatus::default()
    };
    for (before, after, expected) in [
        (status(5, 2, 0, 0), status(5, 3, 0, 0), true),
        (status(8, 3, 0, 0), status(7, 3, 0, 0), true),
        (status(5, 5, 4, 4), status(5, 5, 3, 4), false),
        (status(5, 5, 3, 3), status(5, 5, 4, 3), true),
        (status(5, 5, 4, 3), status(5, 5, 4, 4), true),
        (status(5, 5, 5, 5), status(5, 5, 5, 5), false),
    ] {
        assert_eq!(
            is_progressing(&before, &after),
            expected,
            "{before:?} {after:?}"
        );
    }
    let deployment = World::rolling(5, 1, 1).snapshot().deployment;
    assert!(is_complete(&deployment, &status(5, 5, 5, 5)));
    assert!(!is_complete(&deployment, &status(6, 5, 5, 5)));
    assert!(!is_complete(&deployment, &status(5, 5, 5, 4)));
    assert!(!is_complete(
        &deployment,
        &DeploymentStatus {
            observed_generation: 0,
            ..status(5, 5, 5, 5)
        }
    ));
}

#[test]
fn the_deadline_passes_strictly_after_its_time() {
    let timed_out = |reason: &str, after: SignedDuration, deadline: Value| {
        let world = World::rolling(5, 1, 1)
            .deployment("spec", json!({"progressDeadlineSeconds": deadline}))
            .deployment(
                "status",
                json!({"conditions": progressing(reason, "True", 0)}),
            );
        let deployment = world.snapshot().deployment;
        is_timed_out(&deployment, &deployment.status, noon() + after)
    };
    let minutes = |n: i64| SignedDuration::from_secs(60 * n);
    let instant = SignedDuration::from_millis(1);
    for (reason, after, deadline, expected) in [
        ("ReplicaSetUpdated", minutes(10), json!(600), false),
        ("ReplicaSetUpdated", minutes(10) + instant, json!(600), true),
        ("NewReplicaSetAvailable", minutes(99), json!(600), false),
        ("ProgressDeadlineExceeded", minutes(0), json!(600), true),
        ("ReplicaSetUpdated", minutes(99), json!(null), false),
        ("ReplicaSetUpdated", minutes(99), json!(i32::MAX), false),
    ] {
        assert_eq!(
            timed_out(reason, after, deadline.clone()),
            expected,
            "{reason} {after:?} {deadline}"
        );
    }
}

#[test]
fn a_stuck_deployment_asks_to_be_looked_at_after_the_deadline() {
    let requeue = |seconds_ago: i64| {
        let world = World::rolling(5, 1, 1)
            .set("old", 4, 4)
            .set("new", 2, 0)
            .deployment("spec", json!({"progressDeadlineSeconds": 600}))
            .deployment("metadata", json!({"annotations": {(keys::REVISION): "2"}}));
        let mut conditions = json!([]);
        for condition in [
            json!({"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}),
            progressing("ReplicaSetUpdated", "True", seconds_ago)[0].clone(),
        ] {
            conditions.as_array_mut().unwrap().push(condition);
        }
        let world = world.deployment(
            "status",
            json!({
                "replicas": 6, "updatedReplicas": 2, "readyReplicas": 4, "availableReplicas": 4,
                "unavailableReplicas": 2, "terminatingReplicas": 0, "conditions": conditions,
            }),
        );
        world.plan().end
    };
    let after = |seconds| End::Done(Requeue::After(std::time::Duration::from_secs(seconds)));
    assert_eq!(requeue(180), after(421));
    assert_eq!(requeue(599), after(2));
    assert_eq!(requeue(600), End::Done(Requeue::RateLimited));
    assert_eq!(
        requeue(1200),
        End::Done(Requeue::No),
        "timed out: the status is written"
    );
}

#[test]
fn history_keeps_what_the_limit_allows() {
    let deleted = |limit: i32, with_pod: &str, count: usize| {
        let mut world = World::rolling(1, 1, 1)
            .deployment("spec", json!({"revisionHistoryLimit": limit}))
            .deployment(
                "status",
                json!({"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}),
            );
        for name in &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][..count] {
            world = world.set(name, 0, 0);
            if *name == with_pod {
                world = world.with_status(json!({"replicas": 1}));
            }
        }
        let steps = world.set("new", 1, 1).plan().steps.into_iter();
        let names: Vec<String> = steps
            .filter_map(|step| match step.action {
                Action::DeleteReplicaSet { target } => Some(target.key.name),
                _ => None,
            })
            .collect();
        names.join(" ")
    };
    assert_eq!(deleted(2, "", 4), "a b");
    assert_eq!(deleted(2, "a", 4), "b");
    assert_eq!(deleted(0, "", 4), "a b c d");
    assert_eq!(deleted(10, "", 10), "");
    assert_eq!(deleted(i32::MAX, "", 10), "");
}

#[test]
fn the_overview_shows_the_numbers_that_decide() {
    let world = World::rolling(5, 1, 1)
        .set("a", 0, 0)
        .annotated(&[("revision", "odd")])
        .set("b", 4, 4)
        .set("new", 2, 0)
        .annotated(&[("revision", "4"), ("revision-history", "1,3")])
        .deployment("spec", json!({"progressDeadlineSeconds": 600}))
        .deployment(
            "status",
            json!({"conditions": progressing("ReplicaSetUpdated", "True", 60)}),
        );
    let overview = overview::of(&world.snapshot());
    let (total, available) = (overview.total, overview.available);
    assert_eq!((total, overview.max_total()), (6, 6));
    assert_eq!((available, overview.min_available()), (4, 4));
    assert_eq!(
        overview.deadline,
        Some(noon() + SignedDuration::from_secs(540))
    );
    let lines = overview
        .revisions
        .iter()
        .map(|revision| json!(revision).to_string());
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    {"available":0,"created":"2026-01-01T11:43:22Z","current":2,"desired":2,"images":["new"],"new":true,"ready":0,"replicaSet":"new","reusedFrom":[1,3],"revision":4}
    {"available":4,"created":"2026-01-01T11:43:21Z","current":4,"desired":4,"images":["b"],"new":false,"ready":4,"replicaSet":"b","reusedFrom":[],"revision":2}
    {"available":0,"created":"2026-01-01T11:43:20Z","current":0,"desired":0,"images":["a"],"new":false,"ready":0,"replicaSet":"a","reusedFrom":[],"revision":null}
    "#);
}
