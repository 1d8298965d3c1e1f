//! The rollout that this project began with: 5 replicas, maxSurge 1, maxUnavailable 1, and an image whose pods never
//! become ready.

use std::time::Duration;

use kubectl_rs::controller::why::WaitingOn;
use kubectl_rs::engine::event::{End, Happening};
use kubectl_rs::engine::options::{Goal, Options, Scope};
use serde_json::{Value, json};

use crate::world::World;

fn deployment() -> Value {
    json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": 5,
            "strategy": { "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 1 } },
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
            },
        },
    })
}

fn set_image(world: &World, image: &str) {
    let changed = world
        .sandbox
        .update("deployments", "default", "web", |object| {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        });
    changed.expect("the cluster takes it");
}

/// Runs for two minutes of the cluster's time, long enough for anything that moves to have moved.
async fn watch(world: &World) -> Option<End> {
    let options = Options {
        timeout: Some(Duration::from_secs(120)),
        ..Options::new(Scope::everything(None), Goal::Complete)
    };
    let summary = world.run(options).await;
    summary.ends.into_values().next().flatten()
}

/// Sizes by revision: desired, current, ready.
fn sizes(world: &World) -> Vec<(String, i64, i64, i64)> {
    let mut sizes: Vec<_> = world
        .objects("replicasets")
        .iter()
        .map(|set| {
            let number = |pointer: &str| set.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
            let revision = &set["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
            (
                revision.as_str().unwrap_or_default().to_owned(),
                number("/spec/replicas"),
                number("/status/replicas"),
                number("/status/readyReplicas"),
            )
        })
        .collect();
    sizes.sort();
    sizes
}

#[tokio::test(start_paused = true)]
async fn it_comes_to_rest_blocked_says_why_and_recovers_after_undo() {
    let world = World::with_nodes();
    world.create("deployments", deployment());
    assert_eq!(watch(&world).await, Some(End::Complete));
    assert_eq!(sizes(&world), [("1".to_owned(), 5, 5, 5)]);

    set_image(&world, "registry.example/web:never-ready");
    assert_eq!(
        watch(&world).await,
        None,
        "it neither completes nor fails within two minutes"
    );
    assert_eq!(
        sizes(&world),
        [("1".to_owned(), 4, 4, 4), ("2".to_owned(), 2, 2, 0)]
    );
    let blocked = WaitingOn::Blocked {
        total: 6,
        desired: 5,
        max_surge: 1,
        available: 4,
        max_unavailable: 1,
        new_unavailable: 2,
    };
    let said = world.last_waiting();
    assert!(said.contains(&blocked), "{said:?}");
    assert_eq!(
        blocked.to_string(),
        "total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods \
         is ready"
    );

    set_image(&world, "registry.example/web:1");
    assert_eq!(watch(&world).await, Some(End::Complete));
    assert_eq!(
        sizes(&world),
        [("2".to_owned(), 0, 0, 0), ("3".to_owned(), 5, 5, 5)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_never_gets_ready_fails_at_its_deadline() {
    let world = World::with_nodes();
    world.create("deployments", deployment());
    watch(&world).await;
    set_image(&world, "registry.example/web:never-ready");
    let summary = world
        .run(Options::new(Scope::everything(None), Goal::Complete))
        .await;
    let end = summary.ends.into_values().next().flatten();
    assert!(
        matches!(&end, Some(End::Failed { reason, .. }) if reason == "ProgressDeadlineExceeded"),
        "{end:?}"
    );
    let steps = world
        .events()
        .into_iter()
        .filter(|event| matches!(event.what, Happening::Stepped { .. }));
    assert!(steps.count() < 200, "nothing spins while it waits");
}
