//! Following by watches: what it costs, and what it survives. In virtual time, on the embedded cluster.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Either, Full};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower::timeout::TimeoutLayer;
use tower::{Layer as _, ServiceExt as _, service_fn};

use super::super::{Aim, Ending, Told, Waited, Waiting, wait};
use crate::clock::Clock;
use crate::controller::api::ObjectKey;
use crate::diagnose::{Budgets, Presence};
use crate::engine::options::{Goal, Options, Scope};
use crate::engine::run::Engine;
use crate::engine::store::Item;
use crate::sandbox::{FaultLayer, FaultPlan, NodeOptions, Nodes, Sandbox, SandboxOptions};

/// How long the pods take to become ready.
const READY_AFTER: Duration = Duration::from_secs(60);

fn deployment() -> Value {
    let annotations = json!({"sandbox.kubectl-rs.dev/ready-after": "60s"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": annotations},
            "spec": {"containers": [{"name": "web", "image": "web:2"}]},
        }},
    })
}

/// A cluster whose Deployment of two pods is being rolled out.
struct World {
    sandbox: Sandbox,
    clock: Clock,
    began: Instant,
    _nodes: Nodes,
}

impl World {
    fn new() -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        let nodes = sandbox.start_nodes(NodeOptions::default()).unwrap();
        sandbox
            .create("deployments", "default", deployment())
            .unwrap();
        Self {
            sandbox,
            clock,
            began: Instant::now(),
            _nodes: nodes,
        }
    }

    /// Follows through `client` while the controllers run; what was told of trouble comes along.
    async fn follow(&self, client: &Client) -> (Waited, Vec<String>) {
        let options = Options::new(Scope::everything(None), Goal::Forever);
        let engine = Engine::new(self.sandbox.client(), self.clock, options, Arc::new(|_| {}));
        let waiting = Waiting {
            scope: Scope::named([Item::deployment(ObjectKey::new("default", "web"))]),
            budgets: Budgets::default(),
            aim: Aim {
                settle: Some(Duration::ZERO),
                ..Aim::default()
            },
            pins: BTreeMap::new(),
            timeout: Some(Duration::from_secs(300)),
            controller: Presence::Acting,
        };
        let mut troubles = Vec::new();
        let tell = |told: Told<'_>| {
            if let Told::Trouble(error) = told {
                troubles.push(error.to_string());
            }
        };
        let waited = tokio::select! {
            ended = engine.run(pending()) => panic!("the engine ended: {ended:?}"),
            waited = wait(client, self.clock, &waiting, tell, pending()) => waited.unwrap(),
        };
        (waited, troubles)
    }

    /// A client whose requests are noted; those that `is_refused` says so of are answered with 403.
    fn noting(&self, log: &Arc<Mutex<Vec<String>>>, is_refused: fn(&str) -> bool) -> Client {
        let (service, log) = (self.sandbox.service(), Arc::clone(log));
        let noted = service_fn(move |request: Request<kube::client::Body>| {
            let line = request.uri().to_string();
            let is_refused = is_refused(&line);
            log.lock().unwrap().push(line);
            let service = service.clone();
            async move {
                if is_refused {
                    return Ok::<_, Infallible>(forbidden());
                }
                Ok(service.oneshot(request).await?.map(Either::Left))
            }
        });
        Client::new(noted, "default")
    }
}

fn forbidden<B>() -> Response<Either<B, Full<Bytes>>> {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
        "reason": "Forbidden", "message": "you may not"});
    Response::builder()
        .status(403)
        .body(Either::Right(Full::from(status.to_string())))
        .unwrap()
}

fn ending(waited: &Waited) -> Option<Ending> {
    waited.followed[0].ending.clone()
}

#[tokio::test(start_paused = true)]
async fn watches_tell_at_once_and_ask_little() {
    let world = World::new();
    let log = Arc::default();
    let (waited, troubles) = world.follow(&world.noting(&log, |_| false)).await;
    assert_eq!(
        (ending(&waited), troubles),
        (Some(Ending::Complete), vec![])
    );
    let status = &waited.followed[0].seen.snapshot.deployment.status;
    let complete = status
        .conditions
        .iter()
        .filter_map(|it| it.last_update_time.clone())
        .map(|time| time.0);
    let late = world.clock.now().duration_since(complete.max().unwrap());
    assert!(late.unsigned_abs() <= Duration::from_secs(1), "{late:?}");
    let requests = log.lock().unwrap();
    assert!(
        requests.len() < usize::try_from(READY_AFTER.as_secs()).unwrap() * 2,
        "{} in {:?}: {requests:#?}",
        requests.len(),
        world.began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_told_of_and_survived() {
    let world = World::new();
    let faults = FaultLayer::new(FaultPlan::default());
    let client = Client::new(faults.layer(world.sandbox.service()), "default");
    let outage = async {
        sleep(Duration::from_secs(10)).await;
        faults.set_down(true);
        // Longer than the rollout takes; and what happens meanwhile is forgotten, so that watches can't go on.
        sleep(READY_AFTER * 2).await;
        world.sandbox.compact();
        faults.set_down(false);
    };
    let ((waited, troubles), ()) = tokio::join!(world.follow(&client), outage);
    assert_eq!(ending(&waited), Some(Ending::Complete));
    assert!(!troubles.is_empty());
    let longest = READY_AFTER * 2 + Duration::from_secs(20);
    assert!(
        world.began.elapsed() <= longest,
        "{:?}",
        world.began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn watches_that_are_cut_again_and_again_lose_nothing() {
    for seed in 0..20 {
        let world = World::new();
        let client = world.sandbox.faulty_client(FaultPlan {
            seed,
            cut_watch: 1000,
            ..FaultPlan::default()
        });
        let (waited, troubles) = world.follow(&client).await;
        assert_eq!(
            (ending(&waited), troubles),
            (Some(Ending::Complete), vec![]),
            "seed {seed}"
        );
        let longest = READY_AFTER + Duration::from_secs(20);
        assert!(
            world.began.elapsed() <= longest,
            "seed {seed}: {:?}",
            world.began.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn where_watching_is_refused_lists_take_its_place() {
    let world = World::new();
    let log = Arc::default();
    let client = world.noting(&log, |uri| uri.contains("watch=true"));
    let (waited, troubles) = world.follow(&client).await;
    assert_eq!(
        (ending(&waited), troubles),
        (Some(Ending::Complete), vec![])
    );
    assert!(world.began.elapsed() <= READY_AFTER + Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_read_pods_the_rest_is_followed() {
    let world = World::new();
    let log = Arc::default();
    let client = world.noting(&log, |uri| uri.contains("/pods"));
    let (waited, troubles) = world.follow(&client).await;
    assert_eq!(
        (ending(&waited), troubles),
        (Some(Ending::Complete), vec![])
    );
    let unreadable = &waited.followed[0].unreadable;
    assert_eq!(unreadable[0].resource, "pods in namespace default");
}

#[tokio::test(start_paused = true)]
async fn a_request_timeout_cuts_no_watch() {
    let world = World::new();
    let limited = TimeoutLayer::new(Duration::from_secs(2)).layer(world.sandbox.service());
    let (waited, troubles) = world.follow(&Client::new(limited, "default")).await;
    assert_eq!(
        (ending(&waited), troubles),
        (Some(Ending::Complete), vec![])
    );
}

#[tokio::test(start_paused = true)]
async fn a_deployment_made_anew_ends_the_following() {
    let world = World::new();
    let replace = async {
        sleep(Duration::from_secs(10)).await;
        let params = kube::api::DeleteParams::default();
        let request = kube::core::Request::new("/apis/apps/v1/namespaces/default/deployments");
        let request = request.delete("web", &params).unwrap();
        world.sandbox.client().request_text(request).await.unwrap();
        let made = world.sandbox.create("deployments", "default", deployment());
        made.unwrap();
    };
    let client = world.sandbox.client();
    let ((waited, _), ()) = tokio::join!(world.follow(&client), replace);
    assert_eq!(ending(&waited), Some(Ending::Deleted));
}

/// Whoever stops the following knows of an end; that it had not looked yet does not mean that there is nothing.
#[tokio::test(start_paused = true)]
async fn what_is_stopped_before_its_first_look_takes_one() {
    let world = World::new();
    let waiting = Waiting {
        scope: Scope::named([Item::deployment(ObjectKey::new("default", "web"))]),
        budgets: Budgets::default(),
        aim: Aim::default(),
        pins: BTreeMap::new(),
        timeout: None,
        controller: Presence::Acting,
    };
    // Answers take a while.
    let service = world.sandbox.service();
    let slow = service_fn(move |request: Request<kube::client::Body>| {
        let service = service.clone();
        async move {
            sleep(Duration::from_millis(100)).await;
            service.oneshot(request).await
        }
    });
    let client = Client::new(slow, "default");
    let stop = sleep(Duration::from_millis(1));
    let waited = wait(&client, world.clock, &waiting, |_| {}, stop).await;
    let followed = waited.unwrap().followed;
    assert_eq!(followed.len(), 1);
    assert_eq!(followed[0].ending, None);
}
