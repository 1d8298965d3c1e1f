//! Who acts: beside a controller manager, beside other clients, and when either comes or goes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, Request};
use k8s_openapi::jiff::SignedDuration;
use kube::Client;
use kube::client::Body;
use kubectl_rs::clock::Clock;
use kubectl_rs::controller::why::WaitingOn;
use kubectl_rs::engine::actor::{Finding, find};
use kubectl_rs::engine::event::{End, EngineEvent, Happening};
use kubectl_rs::engine::mandate::{Claim, Mandate, MandateError, Release};
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::sandbox::managed_fields::Tracking;
use kubectl_rs::sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower::Service as _;

use crate::faults::{bounds, control, deployment, set_image};
use crate::witness::Witness;
use crate::world::World;

const REPLICAS: usize = 4;

/// A client that counts writes other than those to Leases, and may be kept from reading Leases.
fn counting(sandbox: &Sandbox, writes: &Arc<AtomicUsize>, hides_leases: bool) -> Client {
    let (service, writes) = (sandbox.service(), Arc::clone(writes));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (mut service, writes) = (service.clone(), Arc::clone(&writes));
        async move {
            let is_lease = request.uri().path().contains("/leases");
            if is_lease && hides_leases {
                let body = json!({
                    "kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden",
                    "message": "leases is forbidden",
                });
                let body = http_body_util::Full::new(body.to_string().into());
                let refused = http::Response::builder().status(403);
                let body = http_body_util::BodyExt::boxed_unsync(body);
                return Ok(refused.body(body).expect("a response"));
            }
            if *request.method() != Method::GET && !is_lease {
                writes.fetch_add(1, Ordering::Relaxed);
            }
            service.call(request).await
        }
    });
    Client::new(service, "default")
}

fn lease(world: &World, holder: &str, renewed_ago: i64) -> Value {
    let renewed = world.clock.now() - SignedDuration::from_secs(renewed_ago);
    json!({
        "metadata": { "name": "kube-controller-manager" },
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "renewTime": format!("{renewed:.6}"),
        },
    })
}

/// A controller manager's Lease, renewed every two seconds by a clock that may be off.
fn keep_fresh(world: &World, renewed_ago: i64) -> JoinHandle<()> {
    let sandbox = world.sandbox.clone();
    let clock = world.clock;
    let created = sandbox.create("leases", "kube-system", lease(world, "cp-1", renewed_ago));
    created.expect("it is valid");
    tokio::spawn(async move {
        loop {
            sleep(Duration::from_secs(2)).await;
            let renewed = clock.now() - SignedDuration::from_secs(renewed_ago);
            let kept = sandbox.update(
                "leases",
                "kube-system",
                "kube-controller-manager",
                |lease| lease["spec"]["renewTime"] = json!(format!("{renewed:.6}")),
            );
            kept.expect("it is there");
        }
    })
}

async fn found(world: &World) -> Finding {
    let namespaces = BTreeSet::from(["default".to_owned()]);
    find(&world.sandbox.client(), world.clock, Some(&namespaces))
        .await
        .expect("it answers")
}

fn claim(identity: &str, is_patient: bool) -> Claim {
    Claim {
        scope: Scope::everything(Some(BTreeSet::from(["default".to_owned()]))),
        labels: String::new(),
        identity: identity.to_owned(),
        force: false,
        patient: is_patient,
    }
}

async fn acquire(world: &World, claim: Claim) -> Result<Mandate, MandateError> {
    Mandate::acquire(world.sandbox.client(), world.clock, claim, |_| {}).await
}

/// A controller that acts under a mandate. What is written goes into `writes`.
fn act(world: &World, mandate: Mandate, writes: &Arc<AtomicUsize>) -> (JoinHandle<()>, Release) {
    let options = Options::new(Scope::everything(None), Goal::Forever);
    let client = counting(&world.sandbox, writes, false);
    let (standings, release) = mandate.split();
    let engine = Engine::new(client, world.clock, options, Arc::new(|_| {})).under(standings);
    let running = tokio::spawn(async move {
        engine.run(std::future::pending()).await.expect("it runs");
    });
    (running, release)
}

/// A Deployment that an engine of ours has brought to its end.
struct Kept {
    world: World,
    running: JoinHandle<()>,
    release: Release,
    writes: Arc<AtomicUsize>,
}

impl Kept {
    async fn set_up() -> Self {
        let world = World::with_nodes();
        let mandate = acquire(&world, claim("us", false))
            .await
            .expect("it is free");
        let writes = Arc::default();
        let (running, release) = act(&world, mandate, &writes);
        world.create("deployments", deployment(REPLICAS));
        sleep(Duration::from_secs(30)).await;
        Self {
            world,
            running,
            release,
            writes,
        }
    }
}

fn ready(world: &World) -> usize {
    let web = world.objects("deployments").remove(0);
    let ready = web["status"]["readyReplicas"].as_u64().unwrap_or(0);
    usize::try_from(ready).expect("small")
}

#[tokio::test(start_paused = true)]
async fn a_lease_tells_whether_a_controller_manager_is_alive() {
    let world = World::new();
    assert_eq!(found(&world).await, Finding::Nobody);
    let live = |age| Finding::Lease {
        holder: "cp-1".to_owned(),
        age,
    };
    // Holder, seconds since the renewal, what is found.
    let cases = [
        ("cp-1", 3, live(3)),
        ("cp-1", -600, live(0)),
        ("cp-1", 600, Finding::Nobody),
        ("", 3, Finding::Nobody),
    ];
    for (holder, ago, expected) in cases {
        let lease = lease(&world, holder, ago);
        world
            .sandbox
            .create("leases", "kube-system", lease)
            .expect("it is valid");
        assert_eq!(found(&world).await, expected, "{holder} {ago}");
        world
            .sandbox
            .delete("leases", "kube-system", "kube-controller-manager", None)
            .expect("it is there");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_off_by_ten_minutes_does_not_hide_a_live_lease() {
    let world = World::new();
    let keeper = keep_fresh(&world, 600);
    assert!(found(&world).await.is_live());
    keeper.abort();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(found(&world).await, Finding::Nobody, "it is not renewed");
}

#[tokio::test(start_paused = true)]
async fn a_hidden_lease_is_doubt() {
    let world = World::new();
    let client = counting(&world.sandbox, &Arc::default(), true);
    let finding = find(&client, world.clock, None).await.expect("it answers");
    assert!(matches!(finding, Finding::Doubt { .. }), "{finding:?}");
    assert_eq!(
        finding.to_string(),
        "whether a controller manager is in charge can't be told (the Lease kube-system/kube-controller-manager: \
         leases is forbidden)"
    );
}

#[tokio::test(start_paused = true)]
async fn statuses_that_somebody_keeps_are_evidence() {
    let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().expect("a timestamp"));
    let sandbox = Sandbox::new(SandboxOptions {
        managed_fields: Tracking::FromCreation,
        ..SandboxOptions::new(clock)
    });
    let kept_by = |manager: &'static str| {
        let written =
            sandbox
                .as_manager(manager)
                .update_status("deployments", "default", "web", |status| {
                    let replicas = status["replicas"].as_i64().unwrap_or(0);
                    *status = json!({ "observedGeneration": 1, "replicas": replicas + 1 });
                });
        written.expect("it is valid");
    };
    sandbox
        .create("deployments", "default", deployment(1))
        .expect("it is valid");
    let client = sandbox.client();
    let look = || async { find(&client, clock, None).await.expect("it answers") };
    assert_eq!(look().await, Finding::Nobody);
    kept_by("kubectl-rs");
    assert_eq!(look().await, Finding::Nobody);
    sleep(Duration::from_secs(5)).await;
    kept_by("kube-controller-manager");
    let finding = look().await;
    assert_eq!(
        finding.to_string(),
        "kube-controller-manager is in charge (it keeps the status of deployment default/web)"
    );
    // Nobody has seen the newest change: they did once.
    let edit = |web: &mut Value| web["spec"]["replicas"] = json!(2);
    sandbox
        .update("deployments", "default", "web", edit)
        .expect("it is valid");
    assert_eq!(look().await, Finding::Nobody);
}

#[tokio::test(start_paused = true)]
async fn beside_a_controller_manager_it_follows_to_the_end_and_writes_nothing() {
    let world = World::with_nodes();
    let keeper = keep_fresh(&world, 0);
    assert!(found(&world).await.is_live());
    let manager = control(world.sandbox.client(), world.clock);
    world.create("deployments", deployment(REPLICAS));
    let writes = Arc::default();
    let client = counting(&world.sandbox, &writes, false);
    let options = Options::new(Scope::everything(None), Goal::AtRest);
    let engine = Engine::new(client, world.clock, options, Arc::new(|_| {})).following();
    let summary = engine
        .run(std::future::pending())
        .await
        .expect("the cluster answers");
    let ends: Vec<_> = summary.ends.into_values().collect();
    assert_eq!(ends, [Some(End::Complete)]);
    assert_eq!(writes.load(Ordering::Relaxed), 0);
    assert_eq!(ready(&world), REPLICAS);
    manager.abort();
    keeper.abort();
}

/// A Lease that is renewed by somebody who does not look at Deployments.
#[tokio::test(start_paused = true)]
async fn a_change_that_nobody_looks_at_is_told_after_ten_seconds() {
    let world = World::new();
    world.create("deployments", deployment(REPLICAS));
    let told: Arc<Mutex<Vec<(Duration, WaitingOn)>>> = Arc::default();
    let (noted, began) = (Arc::clone(&told), Instant::now());
    let sink = Arc::new(move |event: EngineEvent| {
        if let Happening::Waiting(waiting) = event.what {
            let unobserved = waiting
                .into_iter()
                .filter(|wait| matches!(wait, WaitingOn::Unobserved { .. }));
            let mut told = noted.lock().expect("no panic");
            told.extend(unobserved.map(|wait| (began.elapsed(), wait)));
        }
    });
    let options = Options::new(Scope::everything(None), Goal::Forever);
    let engine = Engine::new(world.sandbox.client(), world.clock, options, sink).following();
    let running = tokio::spawn(engine.run(std::future::pending()));
    let observe = |generation: i64| {
        let seen = world
            .sandbox
            .update_status("deployments", "default", "web", |status| {
                *status = json!({ "observedGeneration": generation });
            });
        seen.expect("it is there");
    };
    sleep(Duration::from_secs(60)).await;
    observe(1);
    sleep(Duration::from_secs(60)).await;
    set_image(&world, "registry.example/web:2");
    sleep(Duration::from_secs(8)).await;
    observe(2);
    sleep(Duration::from_secs(60)).await;
    set_image(&world, "registry.example/web:3");
    sleep(Duration::from_secs(60)).await;
    let told = told.lock().expect("no panic").clone();
    let told: Vec<_> = told
        .into_iter()
        .map(|(after, wait)| (after.as_secs(), wait))
        .collect();
    let unobserved = |generation| WaitingOn::Unobserved { generation };
    assert_eq!(told, [(10, unobserved(1)), (198, unobserved(3))]);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn a_controller_manager_that_comes_back_stops_us() {
    let Kept {
        world,
        running,
        release,
        writes,
    } = Kept::set_up().await;
    assert_eq!(ready(&world), REPLICAS);
    let keeper = keep_fresh(&world, 0);
    sleep(Duration::from_secs(5)).await;
    let before = writes.load(Ordering::Relaxed);
    set_image(&world, "registry.example/web:2");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(writes.load(Ordering::Relaxed), before, "nothing is written");
    let leases = world.sandbox.list("leases", Some("default"));
    assert!(leases.is_empty(), "our own Lease is given up");
    running.abort();
    keeper.abort();
    release.now().await;
}

#[tokio::test(start_paused = true)]
async fn a_second_client_is_refused_while_the_first_is_alive() {
    let world = World::new();
    let first = acquire(&world, claim("first", false)).await.expect("free");
    let Err(MandateError::Taken(rival)) = acquire(&world, claim("second", false)).await else {
        panic!("two would act");
    };
    assert_eq!(rival.holder, "first");
    assert!(rival.age <= 5, "{rival:?}");
    let (_, release) = first.split();
    release.now().await;
    acquire(&world, claim("second", false)).await.expect("free");
}

/// What kill -9 leaves behind is a Lease that nobody renews; how old it is can't be told if clocks disagree.
#[tokio::test(start_paused = true)]
async fn the_lease_of_one_that_died_is_waited_out() {
    let world = World::new();
    let lease = json!({
        "metadata": {
            "name": "kubectl-rs",
            "labels": { "app.kubernetes.io/managed-by": "kubectl-rs" },
            "annotations": { "kubectl-rs.dev/domain": "namespace=default object= labels=" },
        },
        "spec": {
            "holderIdentity": "dead",
            "leaseDurationSeconds": 15,
            "renewTime": "2025-12-31T23:00:00.000000Z",
        },
    });
    let created = world.sandbox.create("leases", "default", lease);
    created.expect("it is valid");
    let began = world.clock.now();
    acquire(&world, claim("next", false))
        .await
        .expect("it expires");
    let waited = world.clock.now().duration_since(began).as_secs();
    assert!((15..20).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_stops_writing_at_once() {
    let Kept {
        world,
        running,
        release,
        writes,
    } = Kept::set_up().await;
    let clock = world.clock;
    let sandbox = world.sandbox.clone();
    let thief = tokio::spawn(async move {
        loop {
            let stolen = sandbox.update("leases", "default", "kubectl-rs", |lease| {
                lease["spec"]["holderIdentity"] = json!("thief");
                lease["spec"]["renewTime"] = json!(format!("{:.6}", clock.now()));
            });
            stolen.expect("it is there");
            sleep(Duration::from_secs(3)).await;
        }
    });
    sleep(Duration::from_secs(6)).await;
    let before = writes.load(Ordering::Relaxed);
    set_image(&world, "registry.example/web:2");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(writes.load(Ordering::Relaxed), before, "nothing is written");
    thief.abort();
    sleep(Duration::from_secs(60)).await;
    assert!(
        writes.load(Ordering::Relaxed) > before,
        "it goes on when the thief is gone"
    );
    assert_eq!(ready(&world), REPLICAS);
    running.abort();
    release.now().await;
}

#[tokio::test(start_paused = true)]
async fn two_at_once_under_random_edits_never_make_a_surplus_pod() {
    let world = World::with_nodes();
    let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
    world.create("deployments", deployment(REPLICAS));
    let counts = [Arc::default(), Arc::default()];
    let mut clients = Vec::new();
    for (identity, writes) in ["a", "b"].into_iter().zip(&counts) {
        let (sandbox, clock, writes) = (world.sandbox.clone(), world.clock, Arc::clone(writes));
        clients.push(tokio::spawn(async move {
            let client = sandbox.client();
            let mandate = Mandate::acquire(client, clock, claim(identity, true), |_| {}).await;
            let (standings, _release) = mandate.expect("it waits").split();
            let options = Options::new(Scope::everything(None), Goal::Forever);
            let client = counting(&sandbox, &writes, false);
            let engine = Engine::new(client, clock, options, Arc::new(|_| {})).under(standings);
            engine.run(std::future::pending()).await.expect("it runs");
        }));
    }
    sleep(Duration::from_secs(20)).await;
    for second in 0_u64..60 {
        sleep(Duration::from_secs(1)).await;
        set_image(&world, &format!("registry.example/web:{}", second * 7 % 4));
        if second == 30 {
            // Whoever acts dies in the middle of it.
            let active = usize::from(counts[0].load(Ordering::Relaxed) == 0);
            clients[active].abort();
        }
    }
    sleep(Duration::from_secs(90)).await;
    assert_eq!(witness.objections(), Vec::<String>::new());
    assert_eq!(ready(&world), REPLICAS);
    for writes in &counts {
        assert!(
            writes.load(Ordering::Relaxed) > 0,
            "one after the other acts"
        );
    }
    for client in clients {
        client.abort();
    }
}
