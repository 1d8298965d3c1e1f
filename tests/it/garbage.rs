//! What deleted Deployments and ReplicaSets leave behind, where nobody but us takes it away.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use kube::Client;
use kube::client::Body;
use kubectl_rs::controller::label_selector::LabelSelector;
use kubectl_rs::engine::event::{End, Happening};
use kubectl_rs::engine::options::{Goal, Options, Scope, Which};
use kubectl_rs::engine::run::Engine;
use serde_json::{Value, json};
use tokio::time::sleep;
use tower::Service as _;

use crate::faults::{control, deployment};
use crate::world::World;

const REPLICAS: usize = 3;

async fn delete(world: &World, plural: &str, name: &str, policy: &str) {
    let group = if plural == "pods" { "api" } else { "apis/apps" };
    let path = format!("/{group}/v1/namespaces/default/{plural}/{name}");
    let options = json!({ "propagationPolicy": policy });
    let request = Request::delete(path)
        .header("content-type", "application/json")
        .body(options.to_string().into_bytes())
        .expect("a request");
    let client = world.sandbox.client();
    let _: Value = client.request(request).await.expect("it is deleted");
}

/// A Deployment with its pods, and a controller that has made them and goes on.
async fn rolled_out() -> (World, tokio::task::JoinHandle<()>) {
    let world = World::with_nodes();
    world.create("deployments", deployment(REPLICAS));
    let controller = control(world.sandbox.client(), world.clock);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [1, 1, REPLICAS]);
    (world, controller)
}

/// How many Deployments, ReplicaSets and pods there are.
fn left(world: &World) -> [usize; 3] {
    ["deployments", "replicasets", "pods"].map(|plural| world.objects(plural).len())
}

/// Lines as they are told: steps other than bookkeeping, and ends.
fn told(world: &World) -> Vec<String> {
    let events = world.events().into_iter();
    events
        .filter_map(|event| match event.what {
            Happening::Stepped { step, outcome, .. } if !step.action.is_bookkeeping() => {
                assert!(
                    matches!(outcome, kubectl_rs::controller::action::Outcome::Applied(_)),
                    "{outcome:?}"
                );
                let kind = step.action.kind().word();
                Some(format!(
                    "{}/{}: {kind}: {}",
                    event.kind.word(),
                    event.key,
                    step.why
                ))
            }
            Happening::Ended(end) => Some(format!("{}/{}: {end:?}", event.kind.word(), event.key)),
            _ => None,
        })
        .collect()
}

fn everything(goal: Goal) -> Options {
    Options::new(Scope::everything(None), goal)
}

fn owners(object: &Value) -> Vec<&str> {
    let owners = object["metadata"]["ownerReferences"].as_array();
    let kinds = owners.into_iter().flatten();
    kinds.filter_map(|owner| owner["kind"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn all_that_a_deployment_owns_goes_after_it() {
    let (world, controller) = rolled_out().await;
    delete(&world, "deployments", "web", "Background").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [0, 0, 0]);
    controller.abort();
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_it_goes_last() {
    let (world, controller) = rolled_out().await;
    // Held by something else, one pod takes its time.
    let pod = world.objects("pods").remove(0);
    let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
    let finalizers = |finalizers: Value| {
        let changed = world.sandbox.update("pods", "default", &name, |pod| {
            pod["metadata"]["finalizers"] = finalizers;
        });
        changed.expect("the cluster takes it");
    };
    finalizers(json!(["example.com/hold"]));
    delete(&world, "deployments", "web", "Foreground").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [1, 1, 1], "the owners wait for the pod");
    finalizers(json!([]));
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [0, 0, 0]);
    controller.abort();
}

#[tokio::test(start_paused = true)]
async fn dependents_that_were_to_stay_stay_and_are_nobodys() {
    let (world, controller) = rolled_out().await;
    delete(&world, "deployments", "web", "Orphan").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [0, 1, REPLICAS]);
    let set = world.objects("replicasets").remove(0);
    assert_eq!(owners(&set), [""; 0]);
    for pod in world.objects("pods") {
        assert_eq!(owners(&pod), ["ReplicaSet"], "these were not asked about");
    }
    let name = set["metadata"]["name"].as_str().expect("a name");
    delete(&world, "replicasets", name, "Orphan").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [0, 0, REPLICAS]);
    assert!(
        world
            .objects("pods")
            .iter()
            .all(|pod| owners(pod).is_empty())
    );
    controller.abort();
}

#[tokio::test(start_paused = true)]
async fn what_was_left_while_nobody_watched_goes_when_somebody_looks_and_that_is_told() {
    let (world, controller) = rolled_out().await;
    controller.abort();
    delete(&world, "deployments", "web", "Background").await;
    let summary = world.run(everything(Goal::AtRest)).await;
    let ends: Vec<_> = summary.ends.into_values().collect();
    assert_eq!(ends, [Some(End::Deleted)]);
    insta::assert_snapshot!(told(&world).join("\n"), @r"
    deployment/default/web: replicaset: deployment web is gone
    deployment/default/web: pod: replicaset web-8597b7f887 is gone
    deployment/default/web: pod: replicaset web-8597b7f887 is gone
    deployment/default/web: pod: replicaset web-8597b7f887 is gone
    deployment/default/web: Deleted
    ");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [0, 0, 0], "the kubelets have let the pods go");
}

/// A client to whom answers are changed: `change` may answer a request itself.
fn tampered(world: &World, change: fn(&Request<Body>) -> Option<(u16, Value)>) -> Client {
    let service = world.sandbox.service();
    Client::new(
        tower::service_fn(move |request: Request<Body>| {
            let mut service = service.clone();
            async move {
                if let Some((code, body)) = change(&request) {
                    let body = Full::new(body.to_string().into()).boxed_unsync();
                    let answer = http::Response::builder().status(code);
                    return Ok(answer.body(body).expect("a response"));
                }
                service.call(request).await
            }
        }),
        "default",
    )
}

async fn run_with(world: &World, client: Client, options: Options) {
    let engine = Engine::new(client, world.clock, options, Arc::new(|_| {}));
    engine.run(std::future::pending()).await.expect("it runs");
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_a_list_has_missed_is_asked_for_by_name() {
    let (world, controller) = rolled_out().await;
    controller.abort();
    let client = tampered(&world, |request| {
        let is_list = request.uri().path().ends_with("/deployments");
        let is_list = is_list && *request.method() == Method::GET;
        is_list.then(|| {
            (
                200,
                json!({ "kind": "DeploymentList", "metadata": {}, "items": [] }),
            )
        })
    });
    run_with(&world, client, everything(Goal::AtRest)).await;
    assert_eq!(left(&world), [1, 1, REPLICAS]);
}

#[tokio::test(start_paused = true)]
async fn what_an_owner_owns_that_may_not_be_read_is_left_alone() {
    let (world, controller) = rolled_out().await;
    controller.abort();
    delete(&world, "deployments", "web", "Background").await;
    let client = tampered(&world, |request| {
        let is_read = request.uri().path().contains("/deployments/");
        is_read.then(|| {
            let refused = json!({ "kind": "Status", "status": "Failure", "code": 403,
                "reason": "Forbidden", "message": "deployments.apps is forbidden" });
            (403, refused)
        })
    });
    run_with(&world, client, everything(Goal::AtRest)).await;
    assert_eq!(left(&world), [0, 1, REPLICAS]);
}

#[tokio::test(start_paused = true)]
async fn owners_of_other_kinds_count_as_there() {
    let world = World::new();
    let owner = |kind: &str, api_version: &str| json!({ "apiVersion": api_version, "kind": kind, "name": "gone", "uid": format!("gone-{kind}") });
    let pod = |name: &str, owners: Value| {
        json!({
            "metadata": { "name": name, "ownerReferences": owners },
            "spec": { "containers": [{ "name": "main", "image": "registry.example/web:1" }] },
        })
    };
    let set = || owner("ReplicaSet", "apps/v1");
    let other = || owner("Widget", "example.com/v1");
    world.create("pods", pod("both", json!([set(), other()])));
    world.create("pods", pod("bare", json!([])));
    world.create("pods", pod("ours", json!([set()])));
    world.create("pods", pod("theirs", json!([other()])));
    world.create(
        "pods",
        pod("stateful", json!([owner("StatefulSet", "apps/v1")])),
    );
    world.run(everything(Goal::AtRest)).await;
    let pods = world.objects("pods");
    let kept: Vec<_> = pods
        .iter()
        .map(|pod| {
            (
                pod["metadata"]["name"].as_str().unwrap_or_default(),
                owners(pod),
            )
        })
        .collect();
    assert_eq!(
        kept,
        [
            ("bare", vec![]),
            ("both", vec!["Widget"]),
            ("stateful", vec!["StatefulSet"]),
            ("theirs", vec!["Widget"]),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_not_selected_is_none_of_our_business() {
    let (world, controller) = rolled_out().await;
    controller.abort();
    delete(&world, "deployments", "web", "Background").await;
    let labels = |text: &str| Some(LabelSelector::parse(text).expect("a selector"));
    let namespaces = |name: &str| Some(BTreeSet::from([name.to_owned()]));
    let matching = |labels| Which::Matching {
        kinds: None,
        labels,
    };
    let scopes = [
        (namespaces("default"), matching(labels("shard=1"))),
        (namespaces("kube-system"), matching(None)),
    ];
    for (namespaces, which) in scopes {
        let options = Options::new(Scope { namespaces, which }, Goal::AtRest);
        world.run(options).await;
        assert_eq!(left(&world), [0, 1, REPLICAS]);
    }
    let named = Scope::named([kubectl_rs::engine::store::Item::deployment(
        kubectl_rs::controller::api::ObjectKey::new("default", "web"),
    )]);
    let summary = world.run(Options::new(named, Goal::Complete)).await;
    assert_eq!(
        summary.ends.into_values().collect::<Vec<_>>(),
        [Some(End::Deleted)]
    );
    sleep(Duration::from_secs(60)).await;
    assert_eq!(left(&world), [0, 0, 0]);
}

fn uid(world: &World, replica_set: &str) -> Value {
    let sets = world.objects("replicasets");
    let set = sets
        .iter()
        .find(|set| set["metadata"]["name"] == replica_set);
    set.expect("it is there")["metadata"]["uid"].clone()
}

/// Two that own each other, and a third around the corner: in the foreground each would wait for the other.
#[tokio::test(start_paused = true)]
async fn circles_of_owners_are_broken() {
    for circle in [&["a", "b"][..], &["a", "b", "c"]] {
        let world = World::with_nodes();
        for name in circle {
            let template = json!({
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "registry.example/web:1"}]},
            });
            world.create("replicasets", json!({
                "metadata": {"name": name},
                "spec": {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": template},
            }));
        }
        for (at, name) in circle.iter().enumerate() {
            let owner = circle[(at + 1) % circle.len()];
            let uid = uid(&world, owner);
            let reference = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": uid,
                "blockOwnerDeletion": true}]);
            let update = world.sandbox.update("replicasets", "default", name, |set| {
                set["metadata"]["ownerReferences"] = reference;
            });
            update.expect("it is valid");
        }
        let controller = control(world.sandbox.client(), world.clock);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(
            left(&world),
            [0, circle.len(), 0],
            "none is gone, so none goes"
        );
        delete(&world, "replicasets", "a", "Foreground").await;
        sleep(Duration::from_secs(10)).await;
        assert_eq!(left(&world), [0, 0, 0], "{circle:?}");
        controller.abort();
    }
}
