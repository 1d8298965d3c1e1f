//! How soon a Deployment that was created has its pods, in milliseconds and beside what one request takes.

use std::time::Duration;

use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cluster::api_server::ApiServer;

const REPLICAS: usize = 3;
const TIMES: u32 = 20;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Medians.
pub(crate) struct Latency {
    /// From the answer to the create until all pods are there.
    pub(crate) pods: Duration,
    /// One create.
    pub(crate) request: Duration,
}

/// Creates one Deployment after the other while a controller acts.
pub(crate) async fn measure(server: &ApiServer) -> Latency {
    let client = server.client();
    let (mut pods, mut requests) = (Vec::new(), Vec::new());
    for number in 0..TIMES {
        let name = format!("soon-{number}");
        let began = Instant::now();
        create(&client, &name).await;
        let created = Instant::now();
        while pods_of(&client, &name).await < REPLICAS {
            sleep(PAUSE).await;
        }
        requests.push(created - began);
        pods.push(created.elapsed());
    }
    Latency {
        pods: median(pods),
        request: median(requests),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn create(client: &Client, name: &str) {
    let template = json!({
        "metadata": { "labels": { "app": name } },
        "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
    });
    let body = json!({
        "metadata": { "name": name },
        "spec": { "replicas": REPLICAS, "selector": { "matchLabels": { "app": name } }, "template": template },
    });
    let request = Request::post("/apis/apps/v1/namespaces/default/deployments")
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes());
    let answer = client.request_text(request.expect("a request")).await;
    answer.expect("the server takes it");
}

async fn pods_of(client: &Client, name: &str) -> usize {
    let path = format!("/api/v1/namespaces/default/pods?labelSelector=app%3D{name}");
    let request = Request::get(path).body(Vec::new()).expect("a request");
    let list: Value = client.request(request).await.expect("a list");
    list["items"].as_array().map_or(0, Vec::len)
}
