//! Bad days: requests that are refused, lost or answered twice, watches that break, a server that is gone for a while,
//! clocks that disagree. Nothing is lost, no pod is one too many, and the rollout gets to its end.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use kube::Client;
use kubectl_rs::clock::Clock;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::sandbox::{FaultLayer, FaultPlan};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tower::Layer as _;

use crate::witness::{Bounds, Witness};
use crate::world::World;

/// How many pods the Deployment of these tests has.
const REPLICAS: usize = 4;

/// What a Deployment of that size keeps to.
pub(crate) fn bounds(replicas: usize) -> Bounds {
    Bounds {
        most: replicas + 1,
        fewest_available: replicas - 1,
    }
}

pub(crate) fn deployment(replicas: usize) -> Value {
    json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": replicas,
            "strategy": { "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 1 } },
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
            },
        },
    })
}

pub(crate) fn set_image(world: &World, image: &str) {
    let changed = world
        .sandbox
        .update("deployments", "default", "web", |object| {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        });
    changed.expect("the cluster takes it");
}

/// Runs a controller until it is aborted. One that can't even begin is started again, as by whoever supervises it.
pub(crate) fn control(client: Client, clock: Clock) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let options = Options::new(Scope::everything(None), Goal::Forever);
            let engine = Engine::new(client.clone(), clock, options, Arc::new(|_| {}));
            let ended = engine.run(std::future::pending()).await;
            ended.expect_err("nobody stops it");
            sleep(Duration::from_secs(1)).await;
        }
    })
}

/// How the pods are spread over images, and what the Deployment says of itself.
pub(crate) fn end_state(world: &World) -> Value {
    let web = world.objects("deployments").remove(0);
    let mut images: Vec<Value> = world
        .objects("pods")
        .iter()
        .map(|pod| pod["spec"]["containers"][0]["image"].clone())
        .collect();
    images.sort_by_key(Value::to_string);
    let mut sets: Vec<Value> = world
        .objects("replicasets")
        .iter()
        .map(|set| {
            let revision = &set["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
            json!([revision, set["spec"]["replicas"], set["status"]["replicas"]])
        })
        .collect();
    sets.sort_by_key(Value::to_string);
    let status = &web["status"];
    json!({
        "images": images,
        "sets": sets,
        "observed": status["observedGeneration"] == web["metadata"]["generation"],
        "counts": [status["replicas"], status["updatedReplicas"], status["availableReplicas"]],
    })
}

/// How it stands when it is rolled out.
pub(crate) fn rolled_out(replicas: usize) -> Value {
    json!({
        "images": vec!["registry.example/web:2"; replicas],
        "sets": [["1", 0, 0], ["2", replicas, replicas]],
        "observed": true,
        "counts": [replicas, replicas, replicas],
    })
}

/// Waits for the rollout's end, but not forever.
pub(crate) async fn wait_for_the_end(world: &World, replicas: usize) {
    for _ in 0..240 {
        sleep(Duration::from_secs(5)).await;
        if end_state(world) == rolled_out(replicas) {
            break;
        }
    }
}

/// Creates and rolls the Deployment while this controller is in charge.
async fn roll_out(world: &World, witness: &Witness, how: &str) {
    world.create("deployments", deployment(REPLICAS));
    sleep(Duration::from_secs(300)).await;
    set_image(world, "registry.example/web:2");
    wait_for_the_end(world, REPLICAS).await;
    assert_eq!(end_state(world), rolled_out(REPLICAS), "{how}");
    assert_eq!(witness.objections(), Vec::<String>::new(), "{how}");
}

#[tokio::test(start_paused = true)]
async fn whatever_fails_now_and_then_the_rollout_ends_well() {
    let everything = FaultPlan {
        conflict: 60,
        throttle: 40,
        unavailable: 40,
        error: 40,
        refused: 40,
        timeout: 20,
        lost_answer: 60,
        reset: 60,
        cut_watch: 300,
        seed: 0,
    };
    for seed in 0..12 {
        let world = World::with_nodes();
        let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
        let client = world
            .sandbox
            .faulty_client(FaultPlan { seed, ..everything });
        let controller = control(client, world.clock);
        let how = format!("seed {seed}");
        roll_out(&world, &witness, &how).await;
        controller.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_alone_and_often_is_survived() {
    let none = FaultPlan::default();
    let plans = [
        FaultPlan {
            conflict: 500,
            ..none
        },
        FaultPlan {
            throttle: 500,
            ..none
        },
        FaultPlan {
            unavailable: 500,
            ..none
        },
        FaultPlan { error: 500, ..none },
        FaultPlan {
            refused: 500,
            ..none
        },
        FaultPlan {
            timeout: 300,
            ..none
        },
        FaultPlan {
            lost_answer: 700,
            ..none
        },
        FaultPlan { reset: 700, ..none },
        FaultPlan {
            cut_watch: 900,
            ..none
        },
    ];
    for plan in plans {
        let world = World::with_nodes();
        let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
        let controller = control(world.sandbox.faulty_client(plan), world.clock);
        let how = format!("{plan:?}");
        roll_out(&world, &witness, &how).await;
        controller.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_for_a_while_is_waited_for() {
    // When it goes, and for how long; milliseconds after the change of image.
    for (after, away) in [(0, 500), (50, 5_000), (700, 60_000), (2_500, 400_000)] {
        let world = World::with_nodes();
        let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
        let faults = FaultLayer::new(FaultPlan::default());
        let client = Client::new(faults.layer(world.sandbox.service()), "default");
        let controller = control(client, world.clock);
        world.create("deployments", deployment(REPLICAS));
        sleep(Duration::from_secs(60)).await;
        set_image(&world, "registry.example/web:2");
        sleep(Duration::from_millis(after)).await;
        faults.set_down(true);
        sleep(Duration::from_millis(away)).await;
        world.sandbox.compact();
        faults.set_down(false);
        sleep(Duration::from_secs(300)).await;
        assert_eq!(end_state(&world), rolled_out(REPLICAS), "{after} {away}");
        assert_eq!(witness.objections(), Vec::<String>::new());
        controller.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn clocks_that_disagree_by_ten_minutes_do_no_harm() {
    for skew in [-600, 600] {
        let world = World::with_nodes();
        let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
        let there = world.clock.now();
        let here = Clock::starting_at(there + SignedDuration::from_secs(skew));
        let controller = control(world.sandbox.client(), here);
        let how = format!("{skew} s");
        roll_out(&world, &witness, &how).await;
        controller.abort();
    }
}
