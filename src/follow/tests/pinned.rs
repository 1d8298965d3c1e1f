//! What ends the waiting beside completion and failure.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::super::gathered::Seen;
use super::super::{Aim, Ending, Follower};
use crate::controller::api::{Deployment, ReplicaSet};
use crate::diagnose::api::Pod;
use crate::diagnose::{Budgets, Change, Phase, Snapshot, diagnose};

fn second(second: i64) -> Timestamp {
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("an instant");
    start + SignedDuration::from_secs(second)
}

/// A Deployment of two pods, of which `available` are, with this many restarts in the first one.
fn seen(image: &str, available: i32, restarts: i32, at: i64) -> Seen {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}});
    let meta = |name: &str| json!({"namespace": "shop", "name": name, "uid": name, "labels": {"app": "web"}});
    let counters = json!({"replicas": 2, "updatedReplicas": 2, "readyReplicas": available, "availableReplicas": available});
    let mut set_meta = meta("web-1");
    set_meta["ownerReferences"] = json!([{"kind": "Deployment", "uid": "web", "controller": true}]);
    let deployment = json!({"metadata": meta("web"), "status": counters, "spec": {"replicas": 2,
        "selector": {"matchLabels": {"app": "web"}}, "strategy": {"type": "Recreate"}, "template": template}});
    let set = json!({"metadata": set_meta, "status": counters, "spec": {"replicas": 2, "template": template}});
    let running: Value = json!({"running": {"startedAt": second(at).to_string()}});
    let pod = json!({
        "metadata": {"namespace": "shop", "name": "web-1-a", "uid": "a",
            "ownerReferences": [{"kind": "ReplicaSet", "uid": "web-1", "controller": true}]},
        "spec": {"nodeName": "node-1", "containers": [{"name": "web", "image": image}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "web", "ready": true, "restartCount": restarts, "state": running,
                "lastState": if restarts == 0 { json!({}) } else { json!({"terminated": {"exitCode": 1, "reason": "Error"}}) }}]},
    });
    let snapshot = Snapshot {
        now: second(at),
        deployment: Arc::new(Deployment::from_json(&deployment).expect("a Deployment")),
        replica_sets: vec![Arc::new(ReplicaSet::from_json(&set).expect("a ReplicaSet"))],
        pods: vec![Arc::new(serde_json::from_value::<Pod>(pod).expect("a pod"))],
        ..Snapshot::default()
    };
    Seen {
        key: snapshot.deployment.meta.key(),
        uid: "web".to_owned(),
        generation: 1,
        last_change: Some(Change {
            manager: "kubectl-edit".to_owned(),
            at: second(at),
        }),
        snapshot,
    }
}

fn look(follower: &mut Follower, seen: &Seen) -> Option<Ending> {
    follower.look(seen, &mut diagnose(&seen.snapshot, &Budgets::default()))
}

#[test]
fn another_template_overtakes_and_its_author_is_named() {
    let mut follower = Follower::new(Aim::default(), None);
    assert_eq!(look(&mut follower, &seen("web:2", 1, 0, 0)), None);
    let by = Some("kubectl-edit".to_owned());
    assert_eq!(
        look(&mut follower, &seen("web:3", 1, 0, 1)),
        Some(Ending::Overtaken { by })
    );
}

#[test]
fn a_deployment_made_anew_is_another_one() {
    let mut follower = Follower::new(Aim::default(), None);
    assert_eq!(look(&mut follower, &seen("web:2", 1, 0, 0)), None);
    let again = Seen {
        uid: "another".to_owned(),
        ..seen("web:2", 2, 0, 1)
    };
    assert_eq!(look(&mut follower, &again), Some(Ending::Deleted));
}

/// Without a readiness probe a container is ready whenever it runs, so completion alone proves nothing.
#[test]
fn a_crash_after_completion_fails() {
    let mut follower = Follower::new(Aim::default(), None);
    assert_eq!(look(&mut follower, &seen("web:2", 2, 0, 0)), None);
    assert_eq!(look(&mut follower, &seen("web:2", 2, 0, 9)), None);
    let crashed = seen("web:2", 2, 1, 9);
    let mut diagnosis = diagnose(&crashed.snapshot, &Budgets::default());
    assert_eq!(
        follower.look(&crashed, &mut diagnosis),
        Some(Ending::Failed)
    );
    assert_eq!(diagnosis.verdict.phase, Phase::Failed);
    assert_eq!(
        diagnosis.verdict.message,
        "1 pod: container web ends with exit code 1 (application error)"
    );
}

#[test]
fn settling_takes_as_long_as_is_asked_for() {
    let mut follower = Follower::new(Aim::default(), None);
    assert_eq!(look(&mut follower, &seen("web:2", 2, 0, 0)), None);
    assert_eq!(
        look(&mut follower, &seen("web:2", 2, 0, 10)),
        Some(Ending::Complete)
    );
    let settle = Some(Duration::ZERO);
    let mut follower = Follower::new(
        Aim {
            settle,
            ..Aim::default()
        },
        None,
    );
    assert_eq!(
        look(&mut follower, &seen("web:2", 2, 0, 0)),
        Some(Ending::Complete)
    );
}
