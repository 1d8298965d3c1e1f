//! Worked examples of the specification, as passes over small worlds.

mod rollout;
mod scaling;
mod status;

use std::sync::Arc;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Snapshot, reconcile};
use crate::controller::action::{Action, Step};
use crate::controller::api::{Deployment, Pod, ReplicaSet};
use crate::controller::keys;
use crate::controller::plan::Plan;

/// The instant of every pass.
fn noon() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

/// A Deployment `web` and its ReplicaSets, to be built up by chained calls.
#[derive(Clone)]
struct World {
    deployment: Value,
    sets: Vec<Value>,
    pods: Vec<Value>,
}

impl World {
    /// A rolling update of `replicas` pods.
    fn rolling(replicas: i32, surge: impl Into<Value>, unavailable: impl Into<Value>) -> Self {
        let mut world = Self::recreate(replicas);
        world.deployment["spec"]["strategy"] = json!({
            "type": keys::ROLLING_UPDATE,
            "rollingUpdate": {"maxSurge": surge.into(), "maxUnavailable": unavailable.into()},
        });
        world
    }

    /// A Deployment that takes all old pods down first.
    fn recreate(replicas: i32) -> Self {
        Self {
            deployment: json!({
                "metadata": {"namespace": "default", "name": "web", "uid": "d", "generation": 1},
                "spec": {
                    "replicas": replicas,
                    "selector": {"matchLabels": {"app": "web"}},
                    "strategy": {"type": keys::RECREATE},
                    "template": template("new"),
                },
                "status": {"observedGeneration": 1},
            }),
            sets: Vec::new(),
            pods: Vec::new(),
        }
    }

    /// Adds a ReplicaSet, younger than those before: so many wanted pods, so many available. The one named `new` has
    /// the Deployment's template.
    fn set(mut self, name: &str, replicas: i32, available: i32) -> Self {
        let age = 1000 - i64::try_from(self.sets.len()).unwrap();
        self.sets.push(json!({
            "metadata": {
                "namespace": "default",
                "name": name,
                "uid": name,
                "creationTimestamp": (noon() - SignedDuration::from_secs(age)).to_string(),
                "labels": {"app": "web"},
                "annotations": {(keys::REVISION): (self.sets.len() + 1).to_string()},
                "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d", "controller": true}],
            },
            "spec": {"replicas": replicas, "template": template(name)},
            "status": {
                "replicas": replicas,
                "readyReplicas": available,
                "availableReplicas": available,
                "terminatingReplicas": 0,
                "observedGeneration": 1,
            },
        }));
        self
    }

    /// Gives a ReplicaSet another size, all pods of which are available at once.
    fn resized(mut self, name: &str, replicas: i32) -> Self {
        let mut sets = self.sets.iter_mut();
        let set = sets.find(|set| set["metadata"]["name"] == name).unwrap();
        set["spec"]["replicas"] = json!(replicas);
        for counter in ["replicas", "readyReplicas", "availableReplicas"] {
            set["status"][counter] = json!(replicas);
        }
        self
    }

    /// Changes the last ReplicaSet: members of its status.
    fn with_status(mut self, members: Value) -> Self {
        merge(&mut self.sets.last_mut().unwrap()["status"], members);
        self
    }

    /// Changes the last ReplicaSet: its annotations, without the prefix that they have in common.
    fn annotated(mut self, annotations: &[(&str, &str)]) -> Self {
        for (key, value) in annotations {
            let key = format!("deployment.kubernetes.io/{key}");
            self.sets.last_mut().unwrap()["metadata"]["annotations"][key] = json!(value);
        }
        self
    }

    /// Changes members of the Deployment, by section.
    fn deployment(mut self, section: &str, members: Value) -> Self {
        merge(&mut self.deployment[section], members);
        self
    }

    /// Adds a pod of a ReplicaSet.
    fn pod(mut self, set: &str, phase: &str, is_deleting: bool) -> Self {
        self.pods.push(json!({
            "metadata": {
                "name": format!("{set}-{}", self.pods.len()),
                "deletionTimestamp": is_deleting.then(|| noon().to_string()),
                "ownerReferences": [{"kind": "ReplicaSet", "name": set, "uid": set, "controller": true}],
            },
            "status": {"phase": phase},
        }));
        self
    }

    fn snapshot(&self) -> Snapshot {
        let mut replica_sets: Vec<_> = self
            .sets
            .iter()
            .map(|set| Arc::new(ReplicaSet::from_json(set).unwrap()))
            .collect();
        replica_sets.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        Snapshot {
            now: noon(),
            deployment: Arc::new(Deployment::from_json(&self.deployment).unwrap()),
            replica_sets,
            pods: self
                .pods
                .iter()
                .map(|pod| Arc::new(Pod::from_json(pod).unwrap()))
                .collect(),
            ..Snapshot::default()
        }
    }

    fn plan(&self) -> Plan {
        reconcile(&self.snapshot(), &[])
    }

    /// What the pass scales: `name from→to: why`.
    fn scales(&self) -> Vec<String> {
        self.plan().steps.iter().filter_map(scale_of).collect()
    }

    /// What the pass waits for, in words.
    fn waits(&self) -> Vec<String> {
        let plan = self.plan();
        plan.waiting.iter().map(ToString::to_string).collect()
    }
}

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}})
}

fn merge(object: &mut Value, members: Value) {
    let Value::Object(members) = members else {
        panic!("members come as an object");
    };
    for (key, value) in members {
        object[key] = value;
    }
}

fn scale_of(step: &Step) -> Option<String> {
    match &step.action {
        Action::ScaleReplicaSet {
            target, from, to, ..
        } if from != to => Some(format!("{} {from}→{to}: {}", target.key.name, step.why)),
        Action::CreateReplicaSet(new) => Some(format!("create at {}: {}", new.replicas, step.why)),
        _ => None,
    }
}
