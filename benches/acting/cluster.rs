//! A real API server, the Deployments of the bench, and a scripted kubelet that makes their pods ready.

#[path = "../../tests/support/api_server.rs"]
pub(crate) mod api_server;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::PODS;
use crate::writes::Writes;
use api_server::ApiServer;

/// Requests that the script sends at once.
const AT_ONCE: usize = 8;
/// Between two looks at how things stand.
const PAUSE: Duration = Duration::from_millis(250);
/// With a single Deployment: between two pods that become ready, so that each can be told from the next.
const BREATH: Duration = Duration::from_millis(500);

pub(crate) struct Cluster {
    pub(crate) server: ApiServer,
    client: Client,
    deployments: usize,
    kubelet: JoinHandle<()>,
    awake: watch::Sender<bool>,
    /// Deployments created and changed by the script.
    written: [AtomicU64; 2],
}

impl Cluster {
    pub(crate) async fn start(deployments: usize) -> Self {
        let server = ApiServer::start().await.expect("KUBEBUILDER_ASSETS is set");
        let client = server.client();
        let awake = watch::Sender::new(false);
        let pace = if deployments == 1 {
            BREATH
        } else {
            Duration::ZERO
        };
        let kubelet = tokio::spawn(kubelet(client.clone(), awake.subscribe(), pace));
        Self {
            server,
            client,
            deployments,
            kubelet,
            awake,
            written: Default::default(),
        }
    }

    /// The writes that the server was asked for, but for the script's own.
    pub(crate) async fn writes(&self) -> Writes {
        let request = Request::get("/metrics")
            .body(Vec::new())
            .expect("a request");
        let metrics = self.client.request_text(request).await.expect("metrics");
        let [created, changed] = &self.written;
        let mut writes = Writes::of(&metrics)
            .without("deployments POST", created.load(Ordering::Relaxed))
            .without("deployments PATCH", changed.load(Ordering::Relaxed));
        writes.forget("pods/status PATCH");
        writes
    }

    /// Creates the Deployments, and waits for their pods.
    pub(crate) async fn create(&self) {
        self.for_each(|number| {
            let body = deployment(number).to_string().into_bytes();
            Request::post("/apis/apps/v1/namespaces/default/deployments")
                .header("content-type", "application/json")
                .body(body)
                .expect("a request")
        })
        .await;
        self.written[0].fetch_add(self.deployments as u64, Ordering::Relaxed);
        self.wait(|status| count(status, "replicas") == PODS).await;
    }

    /// Lets the kubelet make pods ready from now on, and waits until all are.
    pub(crate) async fn make_ready(&self) {
        self.awake.send_replace(true);
        self.wait(|status| count(status, "availableReplicas") == PODS)
            .await;
    }

    /// Changes the image, and waits for the end.
    pub(crate) async fn roll(&self) {
        self.for_each(|number| {
            let path = format!("/apis/apps/v1/namespaces/default/deployments/web-{number}");
            let container = json!({ "name": "main", "image": "registry.example/web:2" });
            let template = json!({ "spec": { "containers": [container] } });
            let body = json!({ "spec": { "template": template } }).to_string();
            Request::patch(path)
                .header("content-type", "application/merge-patch+json")
                .body(body.into_bytes())
                .expect("a request")
        })
        .await;
        self.written[1].fetch_add(self.deployments as u64, Ordering::Relaxed);
        self.wait(|status| {
            let is = |name| count(status, name) == PODS;
            status["observedGeneration"] == 2
                && is("replicas")
                && is("updatedReplicas")
                && is("availableReplicas")
        })
        .await;
    }

    async fn for_each(&self, request: impl Fn(usize) -> Request<Vec<u8>>) {
        let requests = stream::iter((0..self.deployments).map(request));
        let sent = requests.map(|request| self.client.request_text(request));
        let answers: Vec<_> = sent.buffer_unordered(AT_ONCE).collect().await;
        for answer in answers {
            answer.expect("the server takes it");
        }
    }

    /// Waits until all Deployments' statuses are like that.
    async fn wait(&self, holds: impl Fn(&Value) -> bool) {
        loop {
            let request =
                Request::get("/apis/apps/v1/namespaces/default/deployments?resourceVersion=0");
            let request = request.body(Vec::new()).expect("a request");
            let list: Value = self.client.request(request).await.expect("a list");
            let items = list["items"].as_array().expect("items");
            if items.iter().filter(|item| holds(&item["status"])).count() == self.deployments {
                return;
            }
            sleep(PAUSE).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kubelet.abort();
    }
}

fn count(status: &Value, name: &str) -> usize {
    let number = status[name].as_u64().unwrap_or_default();
    usize::try_from(number).unwrap_or_default()
}

fn deployment(number: usize) -> Value {
    let name = format!("web-{number}");
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name },
        "spec": {
            "replicas": PODS,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
            },
        },
    })
}

/// Makes pods ready, one after the other, whenever it is awake.
async fn kubelet(client: Client, mut awake: watch::Receiver<bool>, pace: Duration) {
    let done: Arc<std::sync::Mutex<BTreeSet<String>>> = Arc::default();
    let _ = awake.wait_for(|awake| *awake).await;
    loop {
        let request = Request::get("/api/v1/namespaces/default/pods?resourceVersion=0");
        let request = request.body(Vec::new()).expect("a request");
        let list: Value = client.request(request).await.expect("a list");
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        let names = pods
            .iter()
            .filter_map(|pod| pod["metadata"]["name"].as_str());
        let waiting: Vec<String> = names
            .filter(|name| !done.lock().expect("no panic").contains(*name))
            .map(str::to_owned)
            .collect();
        let at_once = if pace.is_zero() { AT_ONCE } else { 1 };
        stream::iter(waiting)
            .for_each_concurrent(at_once, |name| {
                let (client, done) = (client.clone(), Arc::clone(&done));
                async move {
                    // One that is gone by now has nothing to become.
                    let _ = client.request_text(ready(&name)).await;
                    done.lock().expect("no panic").insert(name);
                    sleep(pace).await;
                }
            })
            .await;
        sleep(PAUSE / 2).await;
    }
}

fn ready(pod: &str) -> Request<Vec<u8>> {
    let body = json!({ "status": {
        "phase": "Running",
        "conditions": [{
            "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
    }});
    Request::patch(format!("/api/v1/namespaces/default/pods/{pod}/status"))
        .header("content-type", "application/merge-patch+json")
        .body(body.to_string().into_bytes())
        .expect("a request")
}
