//! The built program as the controller of a real API server, where `KUBEBUILDER_ASSETS` names one, which is killed in the
//! middle of rollouts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::api_server::ApiServer;
use crate::faults::deployment;
use crate::program::Program;

const REPLICAS: usize = 6;
/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";

async fn get(client: &Client, path: &str) -> Result<Value, kube::Error> {
    let request = Request::get(path).body(Vec::new());
    client.request(request.expect("a request")).await
}

async fn patch(client: &Client, path: &str, body: Value) -> Result<Value, kube::Error> {
    let request = Request::patch(path)
        .header("content-type", "application/merge-patch+json")
        .body(body.to_string().into_bytes());
    client.request(request.expect("a request")).await
}

/// Who was ever there, and the most active pods at once.
#[derive(Default)]
struct Seen {
    all: BTreeSet<String>,
    most: Vec<Value>,
}

impl Seen {
    fn note(&mut self, pods: &[Value]) {
        let uids = pods
            .iter()
            .filter_map(|pod| pod["metadata"]["uid"].as_str());
        self.all.extend(uids.map(str::to_owned));
        // A server marks a pod as going before it removes it: for a moment, or for good when it is killed in between.
        let active = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
        let active: Vec<Value> = pods.iter().filter(active).cloned().collect();
        if active.len() > self.most.len() {
            self.most = active;
        }
    }
}

/// Makes one pod ready at each look, and counts what it sees.
async fn kubelet(client: Client, seen: Arc<Mutex<Seen>>) {
    loop {
        sleep(Duration::from_millis(50)).await;
        // A server that is away is waited for.
        let Ok(list) = get(&client, "/api/v1/namespaces/default/pods").await else {
            continue;
        };
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        seen.lock().expect("no panic").note(&pods);
        let unready = pods.iter().find(|pod| pod["status"]["phase"] == "Pending");
        if let Some(name) = unready.and_then(|pod| pod["metadata"]["name"].as_str()) {
            let ready = json!({ "status": {
                "phase": "Running",
                "conditions": [{
                    "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
                }],
            }});
            let path = format!("/api/v1/namespaces/default/pods/{name}/status");
            let _ = patch(&client, &path, ready).await;
        }
    }
}

/// Waits until a count of the Deployment's newest generation is as large.
async fn wait_for(client: &Client, count: &str, least: usize) {
    let give_up = Instant::now() + PATIENCE;
    loop {
        sleep(Duration::from_millis(20)).await;
        let web = get(client, DEPLOYMENT).await.unwrap_or_default();
        let is_seen = web["status"]["observedGeneration"] == web["metadata"]["generation"];
        let is = |name: &str, least: usize| {
            let number = web["status"][name].as_u64().unwrap_or_default();
            usize::try_from(number).is_ok_and(|number| number >= least)
        };
        // All of them: and none that is old.
        let is_alone = least < REPLICAS || web["status"]["replicas"] == REPLICAS;
        if web.is_object()
            && is_seen
            && is("updatedReplicas", least)
            && is(count, least)
            && is_alone
        {
            return;
        }
        assert!(Instant::now() < give_up, "{count} {least}: {web:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_the_middle_of_rollouts_is_waited_for() {
    let Some(mut server) = ApiServer::start().await else {
        return;
    };
    let client = server.client();
    let seen = Arc::default();
    let kubelet = tokio::spawn(kubelet(client.clone(), Arc::clone(&seen)));
    let _program = Program::start([
        OsStr::new("--kubeconfig"),
        server.kubeconfig_file().as_ref(),
    ]);
    let create = Request::post("/apis/apps/v1/namespaces/default/deployments")
        .header("content-type", "application/json")
        .body(deployment(REPLICAS).to_string().into_bytes());
    let created: Result<Value, _> = client.request(create.expect("a request")).await;
    created.expect("it is valid");
    wait_for(&client, "availableReplicas", REPLICAS).await;
    for (revision, is_compacted) in [(2, false), (3, true)] {
        let image =
            json!([{ "name": "main", "image": format!("registry.example/web:{revision}") }]);
        let template = json!({ "spec": { "containers": image } });
        let changed = patch(
            &client,
            DEPLOYMENT,
            json!({ "spec": { "template": template } }),
        )
        .await;
        let began = changed.expect("it is valid");
        wait_for(&client, "updatedReplicas", 2).await;
        server.kill();
        if is_compacted {
            let version = began["metadata"]["resourceVersion"].as_str();
            let version: u64 = version
                .and_then(|text| text.parse().ok())
                .expect("a number");
            server.compact(&(version + 1).to_string()).await;
        }
        server.restart().await;
        wait_for(&client, "availableReplicas", REPLICAS).await;
    }
    // What our watches had asked for next was gone.
    let old = get(
        &client,
        "/api/v1/pods?watch=1&resourceVersion=2&timeoutSeconds=5",
    )
    .await;
    let refused = format!("{old:?}");
    assert!(refused.contains("410"), "{refused}");
    kubelet.abort();
    let seen = seen.lock().expect("no panic");
    let most = seen.most.len();
    assert!(
        most <= REPLICAS + 1,
        "{most} pods at once: {:#?}",
        seen.most
    );
    assert_eq!(
        seen.all.len(),
        3 * REPLICAS,
        "each revision's pods, and no other"
    );
}
