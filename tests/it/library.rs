//! The code that `docs/envtest.md` shows for tests written in Rust.

// docs: begin
use std::sync::Arc;

use kubectl_rs::clock::Clock;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::simulate::Simulation;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Controllers and pods for a cluster that has neither, until what comes back is dropped.
fn look_after(client: kube::Client) -> JoinSet<()> {
    let clock = Clock::system();
    let options = Options::new(Scope::everything(None), Goal::Forever);
    let engine = Engine::new(client.clone(), clock, options, Arc::new(|_| {}));
    let simulation = Simulation {
        client,
        clock,
        namespaces: None,
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(async { drop(engine.run(std::future::pending()).await) });
    tasks.spawn(async {
        let (_acting, is_acting) = watch::channel(true);
        drop(simulation.run(is_acting).await);
    });
    tasks
}
// docs: end

use std::time::Duration;

use tokio::time::sleep;

use crate::faults::deployment;
use crate::world::World;

#[tokio::test(start_paused = true)]
async fn it_makes_pods_and_makes_them_ready() {
    let world = World::new();
    let tasks = look_after(world.sandbox.client());
    world.create("deployments", deployment(3));
    sleep(Duration::from_secs(60)).await;
    let web = world.objects("deployments").remove(0);
    assert_eq!(web["status"]["availableReplicas"], 3);
    drop(tasks);
}

#[test]
fn the_page_shows_this_code() {
    let page = include_str!("../../docs/envtest.md");
    let code = include_str!("library.rs");
    let (_, shown) = code.split_once("// docs: begin\n").expect("a mark");
    let (shown, _) = shown.split_once("// docs: end\n").expect("a mark");
    assert!(page.contains(shown), "docs/envtest.md shows other code");
}
