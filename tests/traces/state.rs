//! The cluster's state in the words of the traces: what does not depend on timing or chance.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::cluster::{Cluster, Group};

const PREFIX: &str = "deployment.kubernetes.io/";

/// The Deployment, its ReplicaSets and its pods.
pub(crate) async fn state(cluster: &Cluster, names: &mut Names) -> Value {
    let deployment = cluster
        .get(Group::Apps, "deployments/web")
        .await
        .expect("the Deployment is there");
    let mut sets = cluster.list(Group::Apps, "replicasets").await;
    sets.sort_by_key(revision_of);
    let pods = cluster.list(Group::Core, "pods").await;
    names.learn(&sets);
    json!({
        "deployment": deployment_state(&deployment, names),
        "replicaSets": sets.iter().map(|set| replica_set_state(set, &pods)).collect::<Vec<_>>(),
        "orphanPods": pods.iter().filter(|pod| controller_of(pod).is_none()).count(),
    })
}

/// A recorded state as API servers have it that don't know `terminatingReplicas`.
pub(crate) fn without_terminating_replicas(state: &Value) -> Value {
    let mut state = state.clone();
    let forget = |object: &mut Value| {
        if let Some(status) = object["status"].as_object_mut() {
            status.remove("terminatingReplicas");
        }
    };
    forget(&mut state["deployment"]);
    for set in state["replicaSets"].as_array_mut().into_iter().flatten() {
        forget(set);
    }
    state
}

fn deployment_state(deployment: &Value, names: &Names) -> Value {
    let mut status = object(&deployment["status"]);
    let generation = &deployment["metadata"]["generation"];
    let observed = status.get("observedGeneration") == Some(generation);
    status.insert("observedGeneration".into(), json!(observed));
    let mut conditions: Vec<Value> = list(&deployment["status"]["conditions"])
        .iter()
        .map(|condition| condition_state(condition, names))
        .collect();
    conditions.sort_by_key(|condition| condition["type"].to_string());
    status.insert("conditions".into(), json!(conditions));
    json!({
        "replicas": deployment["spec"]["replicas"],
        "revision": deployment["metadata"]["annotations"][format!("{PREFIX}revision")],
        "status": status,
    })
}

fn condition_state(condition: &Value, names: &Names) -> Value {
    const TIMING: [&str; 3] = [
        "NewReplicaSetCreated",
        "FoundNewReplicaSet",
        "ReplicaSetUpdated",
    ];
    let text = |field: &str| condition[field].as_str().unwrap_or_default();
    let progressing = text("type") == "Progressing"
        && text("status") == "True"
        && TIMING.contains(&text("reason"));
    let (reason, message) = if progressing {
        ("<progressing>".to_owned(), "<progressing>".to_owned())
    } else {
        (text("reason").to_owned(), names.hide(text("message")))
    };
    json!({
        "type": condition["type"],
        "status": condition["status"],
        "reason": reason,
        "message": message,
    })
}

fn replica_set_state(set: &Value, pods: &[Value]) -> Value {
    let annotations: Map<String, Value> = object(&set["metadata"]["annotations"])
        .into_iter()
        .filter_map(|(key, value)| Some((key.strip_prefix(PREFIX)?.to_owned(), value)))
        .collect();
    let mut status = object(&set["status"]);
    status.remove("observedGeneration");
    status.remove("conditions");
    let mut state = json!({
        "revision": revision_of(set),
        "image": set["spec"]["template"]["spec"]["containers"][0]["image"],
        "replicas": set["spec"]["replicas"],
        "annotations": annotations,
        "status": status,
        "pods": pods_state(set, pods),
    });
    let conditions: Vec<Value> = list(&set["status"]["conditions"])
        .iter()
        .map(|condition| {
            json!({
                "type": condition["type"],
                "status": condition["status"],
                "reason": condition["reason"],
            })
        })
        .collect();
    if !conditions.is_empty() {
        state["conditions"] = json!(conditions);
    }
    state
}

fn pods_state(set: &Value, pods: &[Value]) -> Value {
    let owned = pods
        .iter()
        .filter(|pod| controller_of(pod) == Some(&set["metadata"]["uid"]));
    let (mut active, mut terminating, mut finished) = (0, 0, 0);
    for pod in owned {
        if is_finished(pod) {
            finished += 1;
        } else if is_terminating(pod) {
            terminating += 1;
        } else {
            active += 1;
        }
    }
    json!({ "active": active, "terminating": terminating, "finished": finished })
}

/// What the Deployment's events have said so far, and how often.
pub(crate) async fn events(cluster: &Cluster) -> BTreeMap<String, i64> {
    let mut said = BTreeMap::new();
    for event in cluster.list(Group::Core, "events").await {
        if event["involvedObject"]["kind"] == "Deployment" {
            let text = |field: &str| event[field].as_str().unwrap_or_default();
            let line = format!("{} {}: {}", text("type"), text("reason"), text("message"));
            *said.entry(line).or_default() += event["count"].as_i64().unwrap_or(1);
        }
    }
    said
}

/// What is new in the second list of sayings, sorted.
pub(crate) fn news(
    names: &Names,
    before: &BTreeMap<String, i64>,
    now: &BTreeMap<String, i64>,
) -> Vec<String> {
    let mut news: Vec<String> = now
        .iter()
        .flat_map(|(line, count)| {
            let new = count - before.get(line).unwrap_or(&0);
            (0..new).map(|_| names.hide(line))
        })
        .collect();
    news.sort();
    news
}

/// ReplicaSets' names, and what traces write in their place. The names of those that are gone are remembered.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<String, i64>);

impl Names {
    fn learn(&mut self, sets: &[Value]) {
        let known = sets
            .iter()
            .map(|set| (name_of(set).to_owned(), revision_of(set)));
        self.0.extend(known);
    }

    fn hide(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, (name, revision)| {
                let placeholder = format!("<rs:{revision}>");
                let mut hidden = String::new();
                let mut rest = text.as_str();
                while let Some(at) = rest.find(name.as_str()) {
                    hidden.push_str(&rest[..at]);
                    hidden.push_str(&placeholder);
                    rest = &rest[at + name.len()..];
                    let ending = rest.strip_prefix('-').and_then(|ending| ending.get(5..));
                    if let Some(ending) = ending.filter(|ending| ending.starts_with('"')) {
                        hidden.push_str("-<pod>");
                        rest = ending;
                    }
                }
                hidden + rest
            })
    }
}

pub(crate) fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

pub(crate) fn revision_of(set: &Value) -> i64 {
    let revision = set["metadata"]["annotations"][format!("{PREFIX}revision")].as_str();
    revision.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// UID of the object's controller.
pub(crate) fn controller_of(object: &Value) -> Option<&Value> {
    list(&object["metadata"]["ownerReferences"])
        .iter()
        .find(|owner| owner["controller"] == true)
        .map(|owner| &owner["uid"])
}

pub(crate) fn is_terminating(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_string()
}

pub(crate) fn is_finished(pod: &Value) -> bool {
    matches!(
        pod["status"]["phase"].as_str(),
        Some("Succeeded" | "Failed")
    )
}

pub(crate) fn is_ready(pod: &Value) -> bool {
    list(&pod["status"]["conditions"])
        .iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
