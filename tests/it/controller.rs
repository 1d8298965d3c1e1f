//! `--watch`: a controller that goes on, in virtual time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kubectl_rs::controller::action::Kind;
use kubectl_rs::controller::api::ObjectKey;
use kubectl_rs::controller::label_selector::LabelSelector;
use kubectl_rs::engine::event::{End, Happening};
use kubectl_rs::engine::options::{Goal, Options, Scope, Which};
use kubectl_rs::engine::run::{Engine, StoppedBy, Summary};
use kubectl_rs::engine::store::Item;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::world::World;

fn deployment(name: &str, replicas: i32) -> Value {
    json!({
        "metadata": { "name": name, "labels": { "tier": name } },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
            },
        },
    })
}

struct Controller {
    stop: oneshot::Sender<()>,
    running: JoinHandle<Summary>,
}

impl Controller {
    fn start(world: &World, scope: Scope) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let options = Options::new(scope, Goal::Forever);
        let engine = Engine::new(
            world.sandbox.client(),
            world.clock,
            options,
            Arc::new(|_| {}),
        );
        let running = tokio::spawn(async move {
            let signal = async move {
                let _ = stopped.await;
            };
            engine
                .run(signal)
                .await
                .expect("the embedded cluster answers")
        });
        Self { stop, running }
    }

    async fn stop(self) -> Summary {
        self.stop.send(()).expect("it still runs");
        self.running.await.expect("it ends")
    }
}

fn ready(world: &World, name: &str) -> i64 {
    let objects = world.objects("deployments");
    let found = objects
        .iter()
        .find(|object| object["metadata"]["name"] == name);
    found
        .and_then(|object| object["status"]["readyReplicas"].as_i64())
        .unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn it_follows_what_people_do_until_it_is_stopped() {
    let world = World::with_nodes();
    let controller = Controller::start(&world, Scope::everything(None));
    sleep(Duration::from_secs(1)).await;
    world.create("deployments", deployment("web", 3));
    sleep(Duration::from_secs(30)).await;
    assert_eq!(
        ready(&world, "web"),
        3,
        "what is created later is picked up"
    );

    let pods = world.sandbox.list("pods", Some("default"));
    world
        .sandbox
        .delete("pods", "default", pods[0].name(), Some(0))
        .expect("it is there");
    sleep(Duration::from_secs(30)).await;
    assert_eq!(ready(&world, "web"), 3, "a pod that goes is replaced");

    let scaled = world
        .sandbox
        .update("deployments", "default", "web", |web| {
            web["spec"]["replicas"] = json!(1);
        });
    scaled.expect("it is valid");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(world.objects("pods").len(), 1, "what is too many goes");

    let summary = controller.stop().await;
    assert_eq!(summary.stopped, Some(StoppedBy::Signal));
    sleep(Duration::from_secs(1)).await;
    world.create("deployments", deployment("late", 1));
    sleep(Duration::from_secs(30)).await;
    assert_eq!(ready(&world, "late"), 0, "nobody acts after that");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_is_gone_has_no_other_end() {
    let world = World::with_nodes();
    world.create("deployments", deployment("web", 2));
    let gone = async {
        sleep(Duration::from_secs(30)).await;
        let deleted = world.sandbox.delete("deployments", "default", "web", None);
        deleted.expect("it is there");
        // Its ReplicaSet is still there, and a pod of it goes.
        let pods = world.sandbox.list("pods", Some("default"));
        let deleted = world
            .sandbox
            .delete("pods", "default", pods[0].name(), Some(0));
        deleted.expect("it is there");
        sleep(Duration::from_secs(30)).await;
    };
    let options = Options::new(Scope::everything(None), Goal::Forever);
    world.run_until(options, gone).await;
    let ends: Vec<End> = world
        .events()
        .into_iter()
        .filter_map(|event| match event.what {
            Happening::Ended(end) if event.kind == Kind::Deployment => Some(end),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [End::Complete, End::Deleted]);
}

#[tokio::test(start_paused = true)]
async fn only_what_is_selected_is_touched() {
    let world = World::with_nodes();
    world.create("deployments", deployment("web", 1));
    world.create("deployments", deployment("db", 1));
    let selector = LabelSelector::parse("tier in (web, api)").expect("a selector");
    let scope = Scope {
        namespaces: Some(BTreeSet::from(["default".to_owned()])),
        which: Which::Matching {
            kinds: None,
            labels: Some(selector),
        },
    };
    let summary = world.run(Options::new(scope, Goal::Complete)).await;
    let web = Item::deployment(ObjectKey::new("default", "web"));
    assert_eq!(
        summary.ends.into_iter().collect::<Vec<_>>(),
        [(web, Some(End::Complete))]
    );
    assert_eq!((ready(&world, "web"), ready(&world, "db")), (1, 0));
    assert_eq!(world.objects("replicasets").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn history_that_was_compacted_away_does_not_stop_it() {
    let world = World::with_nodes();
    let controller = Controller::start(&world, Scope::everything(None));
    world.create("deployments", deployment("web", 2));
    sleep(Duration::from_secs(30)).await;
    for replicas in 3..6 {
        world.sandbox.compact();
        let scaled = world
            .sandbox
            .update("deployments", "default", "web", |web| {
                web["spec"]["replicas"] = json!(replicas);
            });
        scaled.expect("it is valid");
        // Longer than any watch lives, so that each has to begin anew.
        sleep(Duration::from_secs(600)).await;
        assert_eq!(ready(&world, "web"), i64::from(replicas));
        assert_eq!(
            world.objects("pods").len(),
            usize::try_from(replicas).expect("positive")
        );
    }
    controller.stop().await;
}
