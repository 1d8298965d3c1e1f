//! What the server of the bench holds: Deployments with the ReplicaSets and pods that a cluster would have made of them.

use futures::stream::{StreamExt as _, iter};
use kube::Client;
use serde_json::{Value, json};

/// Pods of each Deployment.
const PODS: usize = 10;
/// Revisions of each Deployment; the last has the pods.
const REVISIONS: usize = 3;
/// One Deployment in so many has pods whose image can't be pulled.
const STUCK: usize = 50;
const NAMESPACES: usize = 10;
/// Requests under way at once.
const PARALLEL: usize = 16;
const NOW: &str = "2023-11-14T22:13:20Z";

/// The Deployment that the short commands are about.
pub(crate) async fn one(client: &Client) {
    deployment(client, "default", "web", false).await;
}

/// So many Deployments over several namespaces; how many pods they have.
pub(crate) async fn many(client: &Client, deployments: usize) -> usize {
    for number in 0..NAMESPACES {
        let name = json!({ "metadata": { "name": namespace(number) } });
        send(client, "POST", "/api/v1/namespaces", &name).await;
    }
    iter(0..deployments)
        .for_each_concurrent(PARALLEL, |number| async move {
            let name = format!("web-{number}");
            deployment(client, &namespace(number), &name, number % STUCK == 0).await;
        })
        .await;
    deployments * PODS
}

fn namespace(number: usize) -> String {
    format!("team-{}", number % NAMESPACES)
}

async fn deployment(client: &Client, namespace: &str, name: &str, is_stuck: bool) {
    let apps = format!("/apis/apps/v1/namespaces/{namespace}");
    let available = if is_stuck { 0 } else { PODS };
    let selector = json!({ "app": name });
    let body = json!({
        "metadata": {
            "name": name,
            "labels": selector,
            "annotations": { "deployment.kubernetes.io/revision": REVISIONS.to_string() },
        },
        "spec": {
            "replicas": PODS,
            "selector": { "matchLabels": selector },
            "template": template(name, REVISIONS, None),
        },
    });
    let made = send(client, "POST", &format!("{apps}/deployments"), &body).await;
    let status = json!({ "status": {
        "observedGeneration": 1, "replicas": PODS, "updatedReplicas": PODS,
        "readyReplicas": available, "availableReplicas": available, "unavailableReplicas": PODS - available,
        "conditions": [
            condition("Available", !is_stuck, "MinimumReplicasAvailable"),
            condition("Progressing", true, if is_stuck { "ReplicaSetUpdated" } else { "NewReplicaSetAvailable" }),
        ],
    }});
    let path = format!("{apps}/deployments/{name}/status");
    send(client, "PATCH", &path, &status).await;
    for revision in 1..=REVISIONS {
        replica_set(client, namespace, &made, revision, is_stuck).await;
    }
}

/// A revision of the Deployment; the last one has the pods.
async fn replica_set(
    client: &Client,
    namespace: &str,
    deployment: &Value,
    revision: usize,
    is_stuck: bool,
) {
    let apps = format!("/apis/apps/v1/namespaces/{namespace}/replicasets");
    let core = format!("/api/v1/namespaces/{namespace}/pods");
    let app = deployment["metadata"]["name"].as_str().unwrap_or_default();
    let count = if revision == REVISIONS { PODS } else { 0 };
    let hash = format!("{:010x}", 0x5_a1b2_c3d4 + revision);
    let name = format!("{app}-{hash}");
    let labels = json!({ "app": app, "pod-template-hash": hash });
    let set = json!({
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {
                "deployment.kubernetes.io/revision": revision.to_string(),
                "deployment.kubernetes.io/desired-replicas": PODS.to_string(),
                "deployment.kubernetes.io/max-replicas": (PODS + 3).to_string(),
            },
            "ownerReferences": [owner("Deployment", deployment)],
        },
        "spec": {
            "replicas": count,
            "selector": { "matchLabels": labels },
            "template": template(app, revision, Some(&hash)),
        },
    });
    let set = send(client, "POST", &apps, &set).await;
    let available = if is_stuck { 0 } else { count };
    let status = json!({ "status": {
        "observedGeneration": 1, "replicas": count, "fullyLabeledReplicas": count,
        "readyReplicas": available, "availableReplicas": available,
    }});
    send(client, "PATCH", &format!("{apps}/{name}/status"), &status).await;
    for number in 0..count {
        let mut pod = template(app, revision, Some(&hash));
        let pod_name = format!("{name}-{number:05}");
        pod["metadata"]["name"] = json!(pod_name);
        pod["metadata"]["ownerReferences"] = json!([owner("ReplicaSet", &set)]);
        pod["spec"]["nodeName"] = json!(format!("node-{number}"));
        send(client, "POST", &core, &pod).await;
        let path = format!("{core}/{pod_name}/status");
        send(client, "PATCH", &path, &pod_status(number, is_stuck)).await;
    }
}

fn template(name: &str, revision: usize, hash: Option<&str>) -> Value {
    let probe = json!({ "httpGet": { "path": "/healthz", "port": 8080 }, "periodSeconds": 10 });
    let mut template = json!({
        "metadata": {
            "labels": { "app": name },
            "annotations": {
                "prometheus.io/scrape": "true",
                "prometheus.io/port": "8080",
                "checksum/config": "3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed",
            },
        },
        "spec": {
            "automountServiceAccountToken": false,
            "containers": [{
                "name": "web",
                "image": format!("registry.example.com/team/web:1.{revision}"),
                "args": ["--listen=:8080", "--log-format=json", "--config=/etc/web/config.yaml"],
                "ports": [{ "name": "http", "containerPort": 8080 }],
                "env": [
                    { "name": "LOG_LEVEL", "value": "info" },
                    { "name": "POD_NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
                    { "name": "POD_IP", "valueFrom": { "fieldRef": { "fieldPath": "status.podIP" } } },
                    { "name": "DATABASE_URL", "valueFrom": { "secretKeyRef": { "name": "database", "key": "url" } } },
                ],
                "resources": {
                    "requests": { "cpu": "100m", "memory": "128Mi" },
                    "limits": { "memory": "256Mi" },
                },
                "readinessProbe": probe,
                "livenessProbe": probe,
                "volumeMounts": [{ "name": "config", "mountPath": "/etc/web" }],
            }],
            "volumes": [{ "name": "config", "configMap": { "name": "web" } }],
        },
    });
    if let Some(hash) = hash {
        template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
    }
    template
}

fn pod_status(number: usize, is_stuck: bool) -> Value {
    let state = if is_stuck {
        json!({ "waiting": {
            "reason": "ImagePullBackOff",
            "message": "Back-off pulling image \"registry.example.com/team/web:1.3\"",
        }})
    } else {
        json!({ "running": { "startedAt": NOW } })
    };
    let id = "sha256:3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed";
    json!({ "status": {
        "phase": if is_stuck { "Pending" } else { "Running" },
        "hostIP": "10.0.0.1",
        "podIP": format!("10.1.0.{number}"),
        "podIPs": [{ "ip": format!("10.1.0.{number}") }],
        "startTime": NOW,
        "conditions": [
            condition("Initialized", true, ""),
            condition("Ready", !is_stuck, ""),
            condition("ContainersReady", !is_stuck, ""),
            condition("PodScheduled", true, ""),
        ],
        "containerStatuses": [{
            "name": "web",
            "image": "registry.example.com/team/web:1.3",
            "imageID": format!("registry.example.com/team/web@{id}"),
            "containerID": if is_stuck { String::new() } else { format!("containerd://{id}") },
            "ready": !is_stuck,
            "started": !is_stuck,
            "restartCount": 0,
            "state": state,
        }],
    }})
}

fn condition(kind: &str, holds: bool, reason: &str) -> Value {
    json!({
        "type": kind,
        "status": if holds { "True" } else { "False" },
        "reason": reason,
        "lastTransitionTime": NOW,
    })
}

fn owner(kind: &str, object: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "controller": true, "blockOwnerDeletion": true,
        "name": object["metadata"]["name"], "uid": object["metadata"]["uid"],
    })
}

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Value {
    let kind = if method == "PATCH" {
        "application/merge-patch+json"
    } else {
        "application/json"
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, kind)
        .body(body.to_string().into_bytes())
        .expect("a request");
    client.request(request).await.expect("the server takes it")
}
