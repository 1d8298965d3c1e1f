//! Random rollouts whose failures heal: they never count as failed, and count as done only when they are.

use std::sync::Arc;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::gathered::Seen;
use super::super::{Aim, Ending, Follower};
use crate::controller::api::{Deployment, ReplicaSet};
use crate::diagnose::api::{Event, Pod};
use crate::diagnose::{Budgets, Presence, Snapshot, diagnose};

/// What is wrong with a pod until it heals. Times are seconds since the pod was made.
#[derive(Clone, Debug)]
enum Ailment {
    /// Without a node.
    Unschedulable,
    /// No word from a scheduler.
    Silent,
    /// A ConfigMap is missing.
    Config,
    /// The kubelet has not read it yet.
    Cache,
    /// One pull says that there is no such image.
    OnePull,
    /// The registry is away, for less than five minutes.
    Registry,
    /// It ends so often, less than three times.
    Crashes(i32),
    /// The readiness probe fails.
    Probe,
    /// The node does not answer.
    Node,
    /// A volume waits for another pod to go.
    MultiAttach,
    /// A readiness gate is not set.
    Gate,
}

#[derive(Clone, Debug)]
struct Life {
    ailment: Ailment,
    heals_at: i64,
    /// Whether an evicted pod lies beside it.
    evicted: bool,
}

fn lives() -> impl Strategy<Value = Vec<Life>> {
    let ailment = prop_oneof![
        Just(Ailment::Unschedulable),
        Just(Ailment::Silent),
        Just(Ailment::Config),
        Just(Ailment::Cache),
        Just(Ailment::OnePull),
        Just(Ailment::Registry),
        (1..3).prop_map(Ailment::Crashes),
        Just(Ailment::Probe),
        Just(Ailment::Node),
        Just(Ailment::MultiAttach),
        Just(Ailment::Gate),
    ];
    let life = (ailment, 1_i64..280, any::<bool>()).prop_map(|(ailment, heals_at, evicted)| Life {
        ailment,
        heals_at,
        evicted,
    });
    prop::collection::vec(life, 1..3)
}

fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("an instant")
}

fn second(second: i64) -> Timestamp {
    start() + SignedDuration::from_secs(second)
}

/// A run that ended a second after it began.
fn ended(at: i64) -> Value {
    json!({"terminated": {"exitCode": 1, "reason": "Error",
        "startedAt": second(at - 1).to_string(), "finishedAt": second(at).to_string()}})
}

/// A pod as it looks at one second.
struct Look {
    name: String,
    now: i64,
    /// Since when it is as it is.
    since: i64,
    node: &'static str,
    /// The `Ready` condition: status, reason and message.
    ready: [&'static str; 3],
    conditions: Vec<Value>,
    status: Value,
    events: Vec<Value>,
}

impl Look {
    fn condition(&mut self, type_: &str, [status, reason, message]: [&str; 3]) {
        self.conditions
            .push(json!({"type": type_, "status": status, "reason": reason,
            "message": message, "lastTransitionTime": second(self.since).to_string()}));
    }

    fn event(&mut self, reason: &str, message: &str, count: i32) {
        self.events.push(json!({"type": "Warning", "reason": reason, "message": message, "count": count,
            "metadata": {"namespace": "shop"}, "firstTimestamp": start().to_string(),
            "lastTimestamp": second(self.now).to_string(),
            "involvedObject": {"kind": "Pod", "name": self.name, "fieldPath": "spec.containers{web}"}}));
    }

    fn wait(&mut self, reason: &str, message: &str) {
        self.status["state"] = json!({"waiting": {"reason": reason, "message": message}});
    }

    /// In good health, with the scars of what was.
    fn heal(&mut self, life: &Life) {
        self.ready = ["True", "", ""];
        if let Ailment::Crashes(count) = life.ailment {
            self.status["restartCount"] = json!(count);
            self.status["lastState"] = ended(life.heals_at);
        }
    }

    fn ail(&mut self, life: &Life) {
        match life.ailment {
            Ailment::Unschedulable => {
                self.node = "";
                let message = "0/1 nodes are available: 1 Insufficient cpu.";
                self.condition("PodScheduled", ["False", "Unschedulable", message]);
            }
            Ailment::Silent => self.node = "",
            Ailment::Config => {
                self.wait("CreateContainerConfigError", "configmap \"a\" not found");
            }
            Ailment::Cache => self.wait(
                "CreateContainerConfigError",
                "failed to sync configmap cache: timed out",
            ),
            Ailment::OnePull => {
                let text = "rpc error: code = NotFound desc = web:2: not found";
                self.wait("ErrImagePull", text);
                self.event(
                    "Failed",
                    &format!("Failed to pull image \"web:2\": {text}"),
                    1,
                );
            }
            Ailment::Registry => self.wait(
                "ImagePullBackOff",
                "Back-off pulling image \"web:2\": ErrImagePull: dial tcp: i/o timeout",
            ),
            Ailment::Crashes(count) => {
                let exits = (1 + self.now * i64::from(count) / life.heals_at).min(i64::from(count));
                self.status["restartCount"] = json!(exits - 1);
                self.status["state"] = ended(self.now);
            }
            Ailment::Probe => {
                let text = "Readiness probe failed: HTTP probe failed with statuscode: 503";
                self.event("Unhealthy", text, 3);
            }
            Ailment::Node => {
                self.ready = ["False", "", ""];
                self.condition("ContainersReady", ["True", "", ""]);
            }
            Ailment::MultiAttach => {
                self.wait("ContainerCreating", "");
                let text = "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) web-0";
                self.event("FailedAttachVolume", text, 4);
            }
            Ailment::Gate => {
                let text = "corresponding condition of pod readiness gate \"lb\" does not exist.";
                self.ready = ["False", "ReadinessGatesNotReady", text];
            }
        }
    }
}

/// How a pod looks at this second; whether it is available.
fn pod(index: usize, life: &Life, now: i64) -> (Value, Vec<Value>, bool) {
    let healed = now >= life.heals_at;
    let since = if healed { life.heals_at } else { 0 };
    let seems_ready = healed || matches!(life.ailment, Ailment::Node | Ailment::Gate);
    let mut look = Look {
        name: format!("web-1-{index}"),
        now,
        since,
        node: "node-1",
        ready: ["False", "ContainersNotReady", ""],
        conditions: Vec::new(),
        status: json!({"name": "web", "ready": seems_ready, "started": healed,
            "state": {"running": {"startedAt": second(since).to_string()}}}),
        events: Vec::new(),
    };
    if healed {
        look.heal(life);
    } else {
        look.ail(life);
    }
    look.condition("Ready", look.ready);
    let statuses: Vec<&Value> = (!look.node.is_empty())
        .then_some(&look.status)
        .into_iter()
        .collect();
    let pod = json!({
        "metadata": {"namespace": "shop", "name": look.name, "uid": look.name,
            "creationTimestamp": start().to_string(),
            "ownerReferences": [{"kind": "ReplicaSet", "uid": "set", "controller": true}]},
        "spec": {"nodeName": look.node, "containers": [{"name": "web", "image": "web:2"}]},
        "status": {"phase": if healed { "Running" } else { "Pending" },
            "conditions": look.conditions, "containerStatuses": statuses},
    });
    (pod, look.events, healed)
}

fn evicted(index: usize) -> Value {
    json!({
        "metadata": {"namespace": "shop", "name": format!("web-1-evicted-{index}"), "uid": format!("evicted-{index}"),
            "creationTimestamp": start().to_string(),
            "ownerReferences": [{"kind": "ReplicaSet", "uid": "set", "controller": true}]},
        "status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. "},
    })
}

/// The Deployment and its ReplicaSet, before anything is counted.
fn rollout(replicas: usize) -> (Deployment, ReplicaSet) {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:2"}]}});
    let meta = |name: &str, uid: &str| {
        json!({"namespace": "shop", "name": name, "uid": uid, "generation": 1,
        "creationTimestamp": start().to_string(), "labels": {"app": "web"}})
    };
    let counters =
        json!({"replicas": replicas, "updatedReplicas": replicas, "observedGeneration": 1});
    let mut set_meta = meta("web-1", "set");
    set_meta["ownerReferences"] = json!([{"kind": "Deployment", "uid": "web", "controller": true}]);
    let deployment = json!({"metadata": meta("web", "web"), "status": counters, "spec": {"replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}}, "strategy": {"type": "Recreate"}, "template": template}});
    let set = json!({"metadata": set_meta, "status": counters, "spec": {"replicas": replicas, "template": template}});
    let deployment = Deployment::from_json(&deployment).expect("a Deployment");
    let set = ReplicaSet::from_json(&set).expect("a ReplicaSet");
    (deployment, set)
}

/// The rollout at this second; whether it is complete.
fn seen((deployment, set): &(Deployment, ReplicaSet), lives: &[Life], now: i64) -> (Seen, bool) {
    let (mut deployment, mut set) = (deployment.clone(), set.clone());
    let mut pods = Vec::new();
    let mut events = Vec::new();
    let mut available = 0;
    for (index, life) in lives.iter().enumerate() {
        let (pod, told, is_available) = pod(index, life, now);
        pods.push(pod);
        events.extend(told);
        available += usize::from(is_available);
        if life.evicted {
            pods.push(evicted(index));
        }
    }
    let count = i32::try_from(available).expect("a few");
    for ready in [
        &mut deployment.status.ready_replicas,
        &mut deployment.status.available_replicas,
        &mut set.status.ready_replicas,
        &mut set.status.available_replicas,
    ] {
        *ready = count;
    }
    let snapshot = Snapshot {
        now: second(now),
        deployment: Arc::new(deployment),
        replica_sets: vec![Arc::new(set)],
        pods: pods
            .into_iter()
            .map(|pod| Arc::new(serde_json::from_value::<Pod>(pod).expect("a pod")))
            .collect(),
        events: events
            .into_iter()
            .map(|event| Arc::new(serde_json::from_value::<Event>(event).expect("an event")))
            .collect(),
        controller: Presence::Acting,
        ..Snapshot::default()
    };
    let seen = Seen {
        key: snapshot.deployment.meta.key(),
        uid: "web".to_owned(),
        generation: 1,
        last_change: None,
        snapshot,
    };
    (seen, available == lives.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_heals_never_fails_and_only_what_is_complete_is_done(
        lives in lives(),
        strides in prop::collection::vec(1_i64..100, 6..12),
    ) {
        let rollout = rollout(lives.len());
        let mut follower = Follower::new(Aim::default(), None);
        let mut now = 0;
        let mut ending = None;
        for stride in strides.iter().cycle().take(400) {
            now += stride;
            let (seen, is_complete) = seen(&rollout, &lives, now);
            let mut diagnosis = diagnose(&seen.snapshot, &Budgets::default());
            ending = follower.look(&seen, &mut diagnosis);
            if let Some(ending) = &ending {
                prop_assert_eq!(ending, &Ending::Complete, "{:?} at {}", diagnosis.verdict, now);
                prop_assert!(is_complete, "not complete at {}", now);
                break;
            }
        }
        prop_assert_eq!(ending, Some(Ending::Complete), "it is never seen to be done");
    }
}
