//! One-shot runs.

use kubectl_rs::engine::event::End;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use serde_json::json;

use crate::world::World;

fn everything() -> Scope {
    Scope::everything(None)
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_that_stands_alone_gets_its_pods() {
    let world = World::new();
    world.create(
        "replicasets",
        json!({
            "metadata": { "name": "web" },
            "spec": {
                "replicas": 3,
                "selector": { "matchLabels": { "app": "web" } },
                "template": {
                    "metadata": { "labels": { "app": "web" } },
                    "spec": { "containers": [{ "name": "main", "image": "nginx:1" }] },
                },
            },
        }),
    );
    let summary = world.run(Options::new(everything(), Goal::AtRest)).await;
    let pods = world.sandbox.list("pods", Some("default"));
    assert_eq!(pods.len(), 3, "{:#?}", world.events());
    assert!(pods.iter().all(|pod| pod.name().starts_with("web-")));
    assert_eq!(summary.ends.len(), 1);
    let end = summary.ends.values().next().cloned().flatten();
    assert_eq!(end, Some(End::AtRest), "three pods are not ready");
}
