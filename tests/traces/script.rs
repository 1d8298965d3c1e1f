//! Carries out the operations of a trace: what people do, and what a kubelet does where none runs.

use std::cmp::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cluster::{Answer, Cluster, Group, Refused};
use crate::state::{controller_of, is_ready, is_terminating, name_of, revision_of};
use crate::trace::{Create, Operation};

const DEPLOYMENT: &str = "deployments/web";

/// Does one thing; what the API refused comes back as recorded: code and words.
pub(crate) async fn carry_out(cluster: &Cluster, operation: &Operation) -> Result<(), String> {
    let answer = match operation {
        Operation::Create(create) => {
            let body = deployment(create);
            cluster.create(Group::Apps, "deployments", body).await
        }
        Operation::Image { image } => {
            let path = "/spec/template/spec/containers/0/image";
            replace(cluster, path, json!(image)).await
        }
        Operation::Scale { replicas } => patch(cluster, json!({ "replicas": replicas })).await,
        Operation::Pause => patch(cluster, json!({ "paused": true })).await,
        Operation::Resume => patch(cluster, json!({ "paused": false })).await,
        Operation::Surge { surge, unavailable } => {
            let bounds = json!({ "maxSurge": surge, "maxUnavailable": unavailable });
            patch(cluster, json!({ "strategy": { "rollingUpdate": bounds } })).await
        }
        Operation::Strategy { strategy } => {
            let strategy = json!({ "type": strategy, "rollingUpdate": null });
            patch(cluster, json!({ "strategy": strategy })).await
        }
        Operation::Undo { to } => undo(cluster, *to).await,
        Operation::Ready { count, revision } => {
            set_ready(cluster, true, *count, *revision).await;
            return Ok(());
        }
        Operation::Unready { count, revision } => {
            set_ready(cluster, false, *count, *revision).await;
            return Ok(());
        }
        Operation::Phase { phase, count } => {
            set_phase(cluster, phase, *count).await;
            return Ok(());
        }
        Operation::DeletePod { count } => {
            delete_pods(cluster, *count, json!({})).await;
            return Ok(());
        }
        Operation::Reap { count } => {
            reap(cluster, *count).await;
            return Ok(());
        }
        Operation::DeleteRs { revision } => {
            let rest = replica_set_path(cluster, *revision).await;
            let options = json!({ "propagationPolicy": "Orphan" });
            cluster.delete(Group::Apps, &rest, options).await
        }
        Operation::ScaleRs { revision, replicas } => {
            let rest = replica_set_path(cluster, *revision).await;
            let body = json!({ "spec": { "replicas": replicas } });
            cluster.merge(Group::Apps, &rest, body).await
        }
        Operation::Quota { pods } => quota(cluster, *pods).await,
        Operation::Wait { seconds } => {
            sleep(Duration::from_secs(*seconds)).await;
            return Ok(());
        }
    };
    answer
        .map(|_| ())
        .map_err(|Refused { code, message }| format!("{code} {message}"))
}

fn deployment(create: &Create) -> Value {
    let mut spec = json!({
        "replicas": create.replicas,
        "selector": { "matchLabels": { "app": "web" } },
        "template": {
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "main", "image": "app:1" }] },
        },
    });
    let mut set = |pointer: [&str; 3], value: Option<Value>| {
        if let Some(value) = value {
            let place = pointer
                .iter()
                .filter(|part| !part.is_empty())
                .fold(&mut spec, |place, part| &mut place[*part]);
            *place = value;
        }
    };
    set(
        ["strategy", "rollingUpdate", "maxSurge"],
        create.surge.clone(),
    );
    set(
        ["strategy", "rollingUpdate", "maxUnavailable"],
        create.unavailable.clone(),
    );
    set(
        ["strategy", "type", ""],
        create.strategy.clone().map(Value::from),
    );
    set(
        ["revisionHistoryLimit", "", ""],
        create.history.map(Value::from),
    );
    set(
        ["progressDeadlineSeconds", "", ""],
        create.deadline.map(Value::from),
    );
    set(
        ["minReadySeconds", "", ""],
        create.min_ready.map(Value::from),
    );
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web", "labels": { "app": "web" } },
        "spec": spec,
    })
}

async fn patch(cluster: &Cluster, spec: Value) -> Answer {
    let body = json!({ "spec": spec });
    cluster.merge(Group::Apps, DEPLOYMENT, body).await
}

async fn replace(cluster: &Cluster, path: &str, value: Value) -> Answer {
    let body = json!([{ "op": "replace", "path": path, "value": value }]);
    cluster.json_patch(Group::Apps, DEPLOYMENT, body).await
}

async fn undo(cluster: &Cluster, revision: i64) -> Answer {
    let rest = replica_set_path(cluster, revision).await;
    let set = cluster.get(Group::Apps, &rest).await?;
    let mut template = set["spec"]["template"].clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove("pod-template-hash");
    }
    replace(cluster, "/spec/template", template).await
}

async fn replica_set_path(cluster: &Cluster, revision: i64) -> String {
    let sets = cluster.list(Group::Apps, "replicasets").await;
    let set = sets.iter().find(|set| revision_of(set) == revision);
    let set = set.unwrap_or_else(|| panic!("no ReplicaSet has revision {revision}"));
    format!("replicasets/{}", name_of(set))
}

/// The pods that something is done to, oldest first.
async fn pods(
    cluster: &Cluster,
    count: Option<usize>,
    revision: Option<i64>,
    wanted: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    let mut pods = cluster.list(Group::Core, "pods").await;
    pods.sort_by(oldest_first);
    pods.retain(wanted);
    if let Some(revision) = revision {
        let sets = cluster.list(Group::Apps, "replicasets").await;
        let uid = sets
            .iter()
            .find(|set| revision_of(set) == revision)
            .map(|set| set["metadata"]["uid"].clone());
        pods.retain(|pod| uid.is_some() && controller_of(pod) == uid.as_ref());
    }
    pods.truncate(count.unwrap_or(usize::MAX));
    pods
}

fn oldest_first(a: &Value, b: &Value) -> Ordering {
    let created = |pod: &Value| pod["metadata"]["creationTimestamp"].to_string();
    created(a)
        .cmp(&created(b))
        .then_with(|| name_of(a).cmp(name_of(b)))
}

async fn set_ready(cluster: &Cluster, ready: bool, count: Option<usize>, revision: Option<i64>) {
    let wanted = |pod: &Value| !is_terminating(pod) && is_ready(pod) != ready;
    for pod in pods(cluster, count, revision, wanted).await {
        bind(cluster, &pod).await;
        let status = json!({
            "phase": "Running",
            "conditions": [{
                "type": "Ready",
                "status": if ready { "True" } else { "False" },
                "lastTransitionTime": cluster.now(),
            }],
        });
        set_status(cluster, &pod, status).await;
    }
}

/// Binds a pod to a node, as a scheduler does, unless it is bound.
async fn bind(cluster: &Cluster, pod: &Value) {
    if pod["spec"]["nodeName"].is_string() {
        return;
    }
    let name = name_of(pod);
    let body = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": { "name": name },
        "target": { "apiVersion": "v1", "kind": "Node", "name": "node-1" },
    });
    let bound = cluster
        .create(Group::Core, &format!("pods/{name}/binding"), body)
        .await;
    unless_gone(bound);
}

async fn set_phase(cluster: &Cluster, phase: &str, count: Option<usize>) {
    for pod in pods(cluster, count, None, |pod| !is_terminating(pod)).await {
        let reason = (phase == "Failed").then_some("Evicted");
        set_status(cluster, &pod, json!({ "phase": phase, "reason": reason })).await;
    }
}

async fn set_status(cluster: &Cluster, pod: &Value, status: Value) {
    let rest = format!("pods/{}/status", name_of(pod));
    let body = json!({ "status": status });
    unless_gone(cluster.merge(Group::Core, &rest, body).await);
}

async fn delete_pods(cluster: &Cluster, count: Option<usize>, options: Value) {
    for pod in pods(cluster, count, None, |pod| !is_terminating(pod)).await {
        delete(cluster, &pod, options.clone()).await;
    }
}

/// Removes terminating pods, as a kubelet does when their containers have stopped.
async fn reap(cluster: &Cluster, count: Option<usize>) {
    for pod in pods(cluster, count, None, is_terminating).await {
        delete(cluster, &pod, json!({ "gracePeriodSeconds": 0 })).await;
    }
}

async fn delete(cluster: &Cluster, pod: &Value, options: Value) {
    let rest = format!("pods/{}", name_of(pod));
    unless_gone(cluster.delete(Group::Core, &rest, options).await);
}

/// A pod that is gone meanwhile is passed over.
fn unless_gone(answer: Answer) {
    if let Err(refused) = answer {
        assert!(matches!(refused.code, 404 | 409), "{refused:?}");
    }
}

/// A quota on the number of pods, with its status as a quota controller would have it.
async fn quota(cluster: &Cluster, pods: i32) -> Answer {
    let body = json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": { "name": "q" },
        "spec": { "hard": { "pods": pods.to_string() } },
    });
    cluster.create(Group::Core, "resourcequotas", body).await?;
    let used = cluster.list(Group::Core, "pods").await.len();
    let status = json!({ "status": {
        "hard": { "pods": pods.to_string() },
        "used": { "pods": used.to_string() },
    } });
    cluster
        .merge(Group::Core, "resourcequotas/q/status", status)
        .await
}
