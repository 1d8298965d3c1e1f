//! An API server of before 1.33, which knows no `terminatingReplicas` and drops it from what is written.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubectl_rs::engine::event::End;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::sandbox::{ApiBody, Sandbox};
use serde_json::{Value, json};
use tower::{Service as _, service_fn};

use crate::faults::{deployment, rolled_out, set_image};
use crate::world::World;

/// A client of the cluster as it was before 1.33, and the number of status writes that it has sent.
fn old_client(sandbox: &Sandbox) -> (Client, Arc<AtomicUsize>) {
    let service = sandbox.service();
    let writes = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&writes);
    let old = service_fn(move |request: Request<Body>| {
        let mut service = service.clone();
        let count = Arc::clone(&count);
        async move {
            let (parts, body) = request.into_parts();
            let mut body = body.collect().await.expect("a body in memory").to_bytes();
            if parts.method == Method::PATCH && parts.uri.path().ends_with("/status") {
                count.fetch_add(1, Ordering::Relaxed);
                let mut patch: Value = serde_json::from_slice(&body).expect("a JSON patch");
                let status = patch["status"].as_object_mut().expect("a status");
                status.remove("terminatingReplicas");
                body = serde_json::to_vec(&patch).expect("JSON").into();
            }
            let request = Request::from_parts(parts, Body::from(body));
            let answer: Result<Response<ApiBody>, Infallible> = service.call(request).await;
            answer
        }
    });
    (Client::new(old, "default"), writes)
}

async fn run(world: &World, client: Client, goal: Goal) -> Option<End> {
    let mut options = Options::new(Scope::everything(None), goal);
    options.timeout = Some(Duration::from_secs(600));
    let engine = Engine::new(client, world.clock, options, Arc::new(|_| {}));
    let summary = engine.run(std::future::pending()).await;
    let summary = summary.expect("the cluster answers");
    summary.ends.into_values().next().flatten()
}

#[tokio::test(start_paused = true)]
async fn a_field_that_the_server_drops_is_not_written_over_and_over() {
    let world = World::with_nodes();
    let (client, writes) = old_client(&world.sandbox);
    world.create("deployments", deployment(4));

    assert_eq!(
        run(&world, client.clone(), Goal::AtRest).await,
        Some(End::AtRest)
    );
    let at_rest = writes.load(Ordering::Relaxed);
    assert!(at_rest < 12, "{at_rest} status writes to create 4 pods");

    assert_eq!(
        run(&world, client.clone(), Goal::Complete).await,
        Some(End::Complete)
    );
    set_image(&world, "registry.example/web:2");
    assert_eq!(
        run(&world, client, Goal::Complete).await,
        Some(End::Complete)
    );
    assert_eq!(crate::faults::end_state(&world), rolled_out(4));
    for plural in ["deployments", "replicasets"] {
        for object in world.objects(plural) {
            assert_eq!(object["status"]["terminatingReplicas"], json!(null));
        }
    }
}
