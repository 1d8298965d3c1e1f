//! Simulated nodes behind the API, in virtual time.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{NodeOptions, Nodes};
use crate::clock::Clock;
use crate::sandbox::{Sandbox, SandboxOptions};

fn cluster(options: NodeOptions) -> (Sandbox, Nodes) {
    let sandbox = Sandbox::new(SandboxOptions::new(Clock::starting_at(
        Timestamp::UNIX_EPOCH,
    )));
    let nodes = sandbox.start_nodes(options).unwrap();
    (sandbox, nodes)
}

fn create_pod(sandbox: &Sandbox, name: &str, spec: &Value, annotations: &Value) {
    let mut pod = json!({
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [{"name": "web", "image": "img:1"}]},
    });
    for (field, value) in spec.as_object().unwrap() {
        pod["spec"][field] = value.clone();
    }
    sandbox.create("pods", "default", pod).unwrap();
}

fn pod(sandbox: &Sandbox, name: &str) -> Option<Value> {
    let stored = sandbox.get("pods", "default", name)?;
    Some(stored.decode().unwrap())
}

fn is_ready(sandbox: &Sandbox, name: &str) -> bool {
    let pod = pod(sandbox, name).unwrap();
    let conditions = pod["status"]["conditions"].as_array().cloned();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

async fn seconds(count: u64) {
    sleep(Duration::from_secs(count)).await;
}

#[tokio::test(start_paused = true)]
async fn pods_are_bound_run_and_go() {
    let (sandbox, _nodes) = cluster(NodeOptions::default());
    assert_eq!(sandbox.list("nodes", None).len(), 3);
    create_pod(&sandbox, "web-1", &json!({}), &json!({}));
    sleep(Duration::from_millis(900)).await;
    let starting = pod(&sandbox, "web-1").unwrap();
    assert_eq!(starting["spec"]["nodeName"], "node-1");
    assert_eq!(
        starting["status"]["containerStatuses"][0]["state"]["waiting"]["reason"],
        "ContainerCreating"
    );
    seconds(2).await;
    assert!(is_ready(&sandbox, "web-1"));

    sandbox.delete("pods", "default", "web-1", None).unwrap();
    seconds(2).await;
    assert_eq!(pod(&sandbox, "web-1"), None);
    let reasons: BTreeSet<String> = sandbox
        .list("events", Some("default"))
        .iter()
        .map(|event| event.decode::<Value>().unwrap()["reason"].to_string())
        .collect();
    for reason in ["Scheduled", "Pulling", "Pulled", "Created", "Started"] {
        assert!(reasons.contains(&format!("{reason:?}")), "{reasons:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_config_map_holds_a_pod_until_it_comes() {
    let (sandbox, _nodes) = cluster(NodeOptions::default());
    let spec = json!({"containers": [{"name": "web", "image": "img:1", "envFrom": [{"configMapRef": {"name": "settings"}}]}]});
    create_pod(&sandbox, "web-1", &spec, &json!({}));
    seconds(60).await;
    let held = pod(&sandbox, "web-1").unwrap();
    let waiting = &held["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(waiting["reason"], "CreateContainerConfigError");
    assert_eq!(waiting["message"], "configmap \"settings\" not found");

    let settings = json!({"metadata": {"name": "settings"}, "data": {"a": "b"}});
    sandbox.create("configmaps", "default", settings).unwrap();
    seconds(14).await;
    assert!(is_ready(&sandbox, "web-1"));
}

#[tokio::test(start_paused = true)]
async fn references_can_be_taken_for_good() {
    let options = NodeOptions {
        check_references: false,
        ..NodeOptions::default()
    };
    let (sandbox, _nodes) = cluster(options);
    let spec = json!({"volumes": [{"name": "v", "secret": {"secretName": "absent"}}]});
    create_pod(&sandbox, "web-1", &spec, &json!({}));
    seconds(3).await;
    assert!(is_ready(&sandbox, "web-1"));
}

#[tokio::test(start_paused = true)]
async fn idle_nodes_write_nothing_and_dropped_ones_stop() {
    let (sandbox, nodes) = cluster(NodeOptions::default());
    for number in 0..20 {
        create_pod(&sandbox, &format!("web-{number}"), &json!({}), &json!({}));
    }
    seconds(5).await;
    let settled = sandbox.server.lock().store.revision();
    seconds(10 * 24 * 3600).await;
    assert_eq!(sandbox.server.lock().store.revision(), settled);

    drop(nodes);
    create_pod(&sandbox, "late", &json!({}), &json!({}));
    seconds(60).await;
    assert_eq!(
        pod(&sandbox, "late").unwrap()["spec"]["nodeName"],
        Value::Null
    );
}

#[tokio::test(start_paused = true)]
async fn changes_that_were_missed_are_made_up_for() {
    let (sandbox, _nodes) = cluster(NodeOptions::default());
    create_pod(&sandbox, "gone", &json!({}), &json!({}));
    seconds(5).await;
    sandbox.delete("pods", "default", "gone", Some(0)).unwrap();
    create_pod(&sandbox, "web-1", &json!({}), &json!({}));
    sandbox.compact();
    seconds(5).await;
    assert!(is_ready(&sandbox, "web-1"));
}
