//! Pods that are played through the API of a cluster without nodes.

use std::time::Duration;

use kubectl_rs::simulate::{Simulation, ready_nodes};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::faults::{control, deployment};
use crate::world::World;

const REPLICAS: usize = 3;

fn simulate(world: &World, acting: watch::Receiver<bool>) -> JoinHandle<()> {
    let simulation = Simulation {
        client: world.sandbox.client(),
        clock: world.clock,
        namespaces: None,
    };
    tokio::spawn(async move {
        let ended = simulation.run(acting).await;
        ended.expect("pods can be watched");
    })
}

fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "metadata": { "name": name },
        "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    pod
}

/// Names and phases, and whether they are ready.
fn pods(world: &World) -> Vec<(String, String, bool)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pods = world.objects("pods");
    pods.iter()
        .map(|pod| {
            let conditions = pod["status"]["conditions"].as_array();
            let is_ready = conditions
                .into_iter()
                .flatten()
                .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
            (
                text(&pod["metadata"]["name"]),
                text(&pod["status"]["phase"]),
                is_ready,
            )
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_rollout_completes_on_nodes_that_do_not_exist() {
    let world = World::new();
    let (_acting, is_acting) = watch::channel(true);
    let simulation = simulate(&world, is_acting);
    let controller = control(world.sandbox.client(), world.clock);
    world.create("deployments", deployment(REPLICAS));
    sleep(Duration::from_secs(60)).await;
    let web = world.objects("deployments").remove(0);
    assert_eq!(web["status"]["availableReplicas"], REPLICAS);
    assert_eq!(pods(&world).len(), REPLICAS);
    assert!(
        pods(&world)
            .iter()
            .all(|(_, phase, is_ready)| phase == "Running" && *is_ready)
    );
    let client = world.sandbox.client();
    let nodes = ready_nodes(&client).await.expect("they can be listed");
    assert_eq!(nodes, [""; 0]);
    for pod in world.objects("pods") {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        assert!(node.starts_with("simulated-"), "{node}");
    }
    // Pods that are deleted shut down, as kubelets let them.
    let scaled = world
        .sandbox
        .update("deployments", "default", "web", |web| {
            web["spec"]["replicas"] = json!(0);
        });
    scaled.expect("the cluster takes it");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(pods(&world), []);
    simulation.abort();
    controller.abort();
}

#[tokio::test(start_paused = true)]
async fn pods_of_other_nodes_and_schedulers_are_left_alone() {
    let world = World::new();
    let (_acting, is_acting) = watch::channel(true);
    let simulation = simulate(&world, is_acting);
    world.create("pods", pod("bound", &json!({ "nodeName": "real-1" })));
    world.create("pods", pod("free", &json!({})));
    world.create("pods", pod("theirs", &json!({ "schedulerName": "mine" })));
    sleep(Duration::from_secs(60)).await;
    let pending = |name: &str| (name.to_owned(), "Pending".to_owned(), false);
    assert_eq!(
        pods(&world),
        [
            pending("bound"),
            ("free".to_owned(), "Running".to_owned(), true),
            pending("theirs"),
        ]
    );
    let deleted = world.sandbox.delete("pods", "default", "bound", None);
    deleted.expect("it is there");
    sleep(Duration::from_secs(120)).await;
    assert_eq!(
        pods(&world)[0],
        pending("bound"),
        "its own kubelet has to let it go"
    );
    simulation.abort();
}

#[tokio::test(start_paused = true)]
async fn who_does_not_act_simulates_nothing() {
    let world = World::new();
    let (acting, is_acting) = watch::channel(false);
    let simulation = simulate(&world, is_acting);
    world.create("pods", pod("web", &json!({})));
    sleep(Duration::from_secs(60)).await;
    assert!(!pods(&world)[0].2);
    acting.send_replace(true);
    sleep(Duration::from_secs(60)).await;
    assert!(pods(&world)[0].2);
    simulation.abort();
}

#[tokio::test(start_paused = true)]
async fn what_was_simulated_before_goes_on() {
    let world = World::new();
    let (_acting, is_acting) = watch::channel(true);
    let first = simulate(&world, is_acting.clone());
    world.create("pods", pod("web", &json!({})));
    sleep(Duration::from_secs(60)).await;
    first.abort();
    let deleted = world.sandbox.delete("pods", "default", "web", None);
    deleted.expect("it is there");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(pods(&world).len(), 1, "nobody lets it go");
    let second = simulate(&world, is_acting);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(pods(&world), []);
    second.abort();
}

#[tokio::test(start_paused = true)]
async fn nodes_that_are_ready_are_found() {
    let world = World::with_nodes();
    let client = world.sandbox.client();
    let nodes = ready_nodes(&client).await.expect("they can be listed");
    assert_eq!(nodes, ["node-1", "node-2", "node-3"]);
}
