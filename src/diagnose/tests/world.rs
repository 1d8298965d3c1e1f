//! Builds snapshots for the tests: from recorded failure objects, and by hand.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::super::api::{Event, Pod};
use super::super::case::between;
use super::super::{Budgets, Diagnosis, Snapshot, Surroundings, diagnose};
use crate::controller::api::{Deployment, ReplicaSet};

/// A recorded failure: its file, and which stage or variant of it.
pub(super) struct Recorded {
    /// `crash-loop`, `crash-loop/exit-2`.
    pub(super) name: String,
    pub(super) snapshot: Snapshot,
}

/// Every recorded failure with its stages and variants, in the order of names.
pub(super) fn recorded() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/failure-objects");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder of recordings")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    paths.iter().flat_map(|path| of_file(path)).collect()
}

fn of_file(path: &Path) -> Vec<Recorded> {
    let text = fs::read_to_string(path).expect("a recording");
    let file: Value = serde_json::from_str(&text).expect("a recording is JSON");
    let name = file["cause"].as_str().expect("a cause");
    let now = newest_time(&text).unwrap_or_else(|| at("2026-11-29T16:30:30Z"));
    let mut cases = vec![Recorded {
        name: name.to_owned(),
        snapshot: snapshot(&file, &file, now),
    }];
    for (list, key) in [("stages", "stage"), ("variants", "variant")] {
        for case in file[list].as_array().into_iter().flatten() {
            let mut case = case.clone();
            // A stage is the same object at another time.
            if key == "stage" && case["events"].is_null() {
                case["events"] = file["events"].clone();
            }
            let case = &case;
            cases.push(Recorded {
                name: format!("{name}/{}", case[key].as_str().expect("a name")),
                snapshot: snapshot(&file, case, newest_time(&case.to_string()).unwrap_or(now)),
            });
        }
    }
    cases
}

/// The latest time that a recording mentions.
fn newest_time(text: &str) -> Option<Timestamp> {
    let quoted = text.split('"');
    let times = quoted.filter_map(|word| word.parse::<Timestamp>().ok());
    times.max()
}

/// What `case` has, else what the file has.
fn part<'a>(file: &'a Value, case: &'a Value, key: &str) -> Option<&'a Value> {
    [&case[key], &file[key]]
        .into_iter()
        .find(|part| !part.is_null())
}

fn snapshot(file: &Value, case: &Value, now: Timestamp) -> Snapshot {
    // A case with objects of its own does not share the events of the file's.
    let is_sharing = case["pod"].is_null() && case["replicaSet"].is_null();
    let events = if is_sharing || case["events"].is_array() {
        part(file, case, "events")
    } else {
        Some(&case["events"])
    };
    let mut events = events
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let pod = if case["pod"]["status"].is_object() {
        Some(&case["pod"])
    } else {
        Some(&file["pod"])
    }
    .filter(|pod| pod["status"].is_object());
    let name = pod.and_then(|pod| pod["metadata"]["name"].as_str());
    if let Some(name) = name {
        for event in &mut events {
            if event["involvedObject"]["kind"] == "Pod" {
                event["involvedObject"]["name"] = json!(name);
            }
        }
    }
    let mut world = World::new(now);
    if let Some(set) = part(file, case, "replicaSet") {
        let set = if set["status"].is_null() {
            json!({ "status": set })
        } else {
            set.clone()
        };
        world.set = merged(world.set, &set);
    } else if let Some(deployment) = part(file, case, "deployment") {
        // All pods are of the one ReplicaSet, so its numbers are the Deployment's.
        for (number, of_all) in [
            ("replicas", "updatedReplicas"),
            ("readyReplicas", "readyReplicas"),
            ("availableReplicas", "availableReplicas"),
        ] {
            let count = deployment["status"][of_all].as_i64().unwrap_or(0);
            world.set["status"][number] = json!(count);
        }
    }
    if let Some(deployment) = part(file, case, "deployment") {
        world.deployment = merged(world.deployment, deployment);
        world.deployment["metadata"]["generation"] = deployment["status"]["observedGeneration"]
            .as_i64()
            .unwrap_or(1)
            .into();
    }
    let conditions = world.deployment["status"]["conditions"].as_array();
    let is_paused = conditions.is_some_and(|all| {
        all.iter()
            .any(|condition| condition["reason"] == "DeploymentPaused")
    });
    world.deployment["spec"]["paused"] = is_paused.into();
    world.is_namespace_terminating = file["cause"] == "namespace-terminating";
    world.rename(&events);
    world.events = events;
    world.pods = pod.cloned().into_iter().collect();
    world.snapshot()
}

fn merged(mut base: Value, over: &Value) -> Value {
    json_patch::merge(&mut base, over);
    base
}

/// A Deployment `web` with one ReplicaSet of its template, one replica, whatever pods and events.
#[derive(Clone)]
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) deployment: Value,
    pub(super) set: Value,
    pub(super) old_sets: Vec<Value>,
    pub(super) pods: Vec<Value>,
    pub(super) old_pods: Vec<Value>,
    pub(super) events: Vec<Value>,
    pub(super) is_namespace_terminating: bool,
}

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": image}]},
    })
}

impl World {
    pub(super) fn new(now: Timestamp) -> Self {
        let meta = |name: &str, uid: &str| {
            json!({
                "namespace": "shop", "name": name, "uid": uid, "generation": 1,
                "creationTimestamp": "2026-11-29T16:00:00Z", "labels": {"app": "web"},
            })
        };
        let mut set_meta = meta("web-1", "set");
        set_meta["annotations"] = json!({"deployment.kubernetes.io/revision": "2"});
        set_meta["ownerReferences"] =
            json!([{"kind": "Deployment", "name": "web", "uid": "deployment", "controller": true}]);
        Self {
            now,
            deployment: json!({
                "metadata": meta("web", "deployment"),
                "spec": {
                    "replicas": 1, "progressDeadlineSeconds": 600,
                    "selector": {"matchLabels": {"app": "web"}},
                    "strategy": {"type": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                    "template": template("reg.example.com/web:2"),
                },
                "status": {"observedGeneration": 1},
            }),
            set: json!({
                "metadata": set_meta,
                "spec": {"replicas": 1, "template": template("reg.example.com/web:2")},
                "status": {"replicas": 1, "observedGeneration": 1},
            }),
            old_sets: Vec::new(),
            pods: Vec::new(),
            old_pods: Vec::new(),
            events: Vec::new(),
            is_namespace_terminating: false,
        }
    }

    /// Takes the names that the events use.
    fn rename(&mut self, events: &[Value]) {
        for (kind, object) in [
            ("ReplicaSet", &mut self.set),
            ("Deployment", &mut self.deployment),
        ] {
            let about = events
                .iter()
                .find(|event| event["involvedObject"]["kind"] == kind);
            if let Some(event) = about {
                object["metadata"]["name"] = event["involvedObject"]["name"].clone();
            }
        }
        let status = self.deployment["status"].to_string();
        if let Some(name) = between(&status, "ReplicaSet \\\"", "\\\"") {
            self.set["metadata"]["name"] = json!(name);
        }
        self.deployment["spec"]["replicas"] = self.set["spec"]["replicas"].clone();
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let owned = |pod: &Value, uid: &Value| {
            let mut pod = pod.clone();
            if pod["metadata"]["creationTimestamp"].is_null() {
                pod["metadata"]["creationTimestamp"] = json!("2026-11-29T16:30:00Z");
            }
            pod["metadata"]["namespace"] = json!("shop");
            pod["metadata"]["ownerReferences"] =
                json!([{"kind": "ReplicaSet", "uid": uid, "controller": true}]);
            let bound = pod["spec"].is_null()
                && pod["status"]["conditions"]
                    .as_array()
                    .is_none_or(|all| all.iter().all(|c| c["type"] != "PodScheduled"));
            if bound {
                pod["spec"] = json!({"nodeName": "node-1"});
            }
            Arc::new(serde_json::from_value::<Pod>(pod).expect("a pod"))
        };
        let new = self
            .pods
            .iter()
            .map(|pod| owned(pod, &self.set["metadata"]["uid"]));
        let old_uid = json!("old-0");
        let old = self.old_pods.iter().map(|pod| owned(pod, &old_uid));
        let sets = std::iter::once(&self.set).chain(&self.old_sets);
        Snapshot {
            now: self.now,
            deployment: Arc::new(Deployment::from_json(&self.deployment).expect("a Deployment")),
            replica_sets: sets
                .map(|set| Arc::new(ReplicaSet::from_json(set).expect("a ReplicaSet")))
                .collect(),
            pods: new.chain(old).collect(),
            events: self
                .events
                .iter()
                .map(|event| {
                    Arc::new(serde_json::from_value::<Event>(event.clone()).expect("an event"))
                })
                .collect(),
            surroundings: Surroundings {
                is_namespace_terminating: self.is_namespace_terminating,
                ..Surroundings::default()
            },
            ..Snapshot::default()
        }
    }

    pub(super) fn diagnosis(&self) -> Diagnosis {
        diagnose(&self.snapshot(), &Budgets::default())
    }
}

/// A diagnosis in lines.
pub(super) fn told(diagnosis: &Diagnosis) -> String {
    let verdict = &diagnosis.verdict;
    let mut lines = vec![format!("{}: {}", verdict.phase.name(), verdict.message)];
    for finding in &diagnosis.findings {
        let container = finding
            .container
            .as_ref()
            .map_or_else(String::new, |name| format!(" [{name}]"));
        let end = if finding.is_final { ", final" } else { "" };
        lines.push(format!(
            "  {} ({:?}, {:?}{end}){container}: {}",
            finding.code, finding.class, finding.side, finding.message
        ));
        lines.extend(finding.evidence.iter().map(|text| format!("    « {text}")));
        if !finding.next_step.is_empty() {
            lines.push(format!("    → {}", finding.next_step));
        }
    }
    lines.join("\n")
}
