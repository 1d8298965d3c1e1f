//! What the controller manager's Lease says about a rollout that does not move. In virtual time, on the embedded cluster.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower::{ServiceExt as _, service_fn};

use super::super::{Aim, Told, Waiting, presence, wait};
use crate::clock::Clock;
use crate::controller::api::ObjectKey;
use crate::diagnose::{Budgets, Code, Presence};
use crate::engine::options::Scope;
use crate::engine::store::Item;
use crate::sandbox::managed_fields::Tracking;
use crate::sandbox::{Sandbox, SandboxOptions};

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const STATUS: &str = "/apis/apps/v1/namespaces/default/deployments/web/status";

/// A Deployment that a controller has looked at, and a controller manager's Lease.
struct World {
    sandbox: Sandbox,
    clock: Clock,
}

impl World {
    async fn new() -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
        let mut options = SandboxOptions::new(clock);
        // Who wrote a status is told by managed fields.
        options.managed_fields = Tracking::FromCreation;
        let sandbox = Sandbox::new(options);
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:2"}]},
            }},
        });
        let made = sandbox.create("deployments", "default", deployment);
        made.unwrap();
        let system = json!({"metadata": {"name": "kube-system"}});
        let _ = sandbox.create("namespaces", "", system);
        let world = Self { sandbox, clock };
        world.report().await;
        world
    }

    async fn patch(&self, path: &str, body: &Value) {
        let request = http::Request::patch(path)
            .header("content-type", "application/merge-patch+json")
            .body(body.to_string().into_bytes());
        let client = self.sandbox.client();
        client.request_text(request.unwrap()).await.unwrap();
    }

    /// A controller writes the Deployment's status.
    async fn report(&self) {
        let conditions = json!([{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated",
            "message": self.clock.now().to_string()}]);
        let status = json!({"status": {"observedGeneration": 1, "conditions": conditions}});
        self.patch(STATUS, &status).await;
    }

    /// A controller manager holds the Lease, and renews it for so many seconds.
    async fn manage(&self, seconds: u64) {
        let now = || json!(format!("{:.6}", self.clock.now()));
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "kube-controller-manager"},
            "spec": {"holderIdentity": "master-0", "leaseDurationSeconds": 15, "renewTime": now()},
        });
        let made = self.sandbox.create("leases", "kube-system", lease);
        made.unwrap();
        for _ in 0..seconds / 2 {
            sleep(Duration::from_secs(2)).await;
            let path = format!("{LEASE}/kube-controller-manager");
            self.patch(&path, &json!({"spec": {"renewTime": now()}}))
                .await;
        }
    }

    /// Follows for five minutes; when it was first told that no controller acts.
    async fn follow(&self, client: &Client) -> Option<Duration> {
        let began = Instant::now();
        let waiting = Waiting {
            scope: Scope::named([Item::deployment(ObjectKey::new("default", "web"))]),
            budgets: Budgets::default(),
            aim: Aim::default(),
            pins: BTreeMap::new(),
            timeout: Some(Duration::from_secs(300)),
            controller: Presence::Unknown,
        };
        let mut missing = None;
        let tell = |told: Told<'_>| {
            if let Told::Looked(followed) = told
                && followed.diagnosis.verdict.code == Some(Code::ControllerMissing)
            {
                missing.get_or_insert(began.elapsed());
            }
        };
        wait(client, self.clock, &waiting, tell, pending())
            .await
            .unwrap();
        missing
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_renewed_no_more_is_told_of() {
    let world = World::new().await;
    let client = world.sandbox.client();
    let manage = async {
        world.manage(60).await;
        // The last thing that it does.
        sleep(Duration::from_secs(2)).await;
        world.report().await;
    };
    let (missing, ()) = tokio::join!(world.follow(&client), manage);
    let missing = missing.expect("it is told");
    // Twice the Lease's duration after its last renewal, and what lies between two looks.
    let (soonest, latest) = (Duration::from_secs(90), Duration::from_secs(102));
    assert!((soonest..=latest).contains(&missing), "{missing:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_is_renewed_or_not_there_says_nothing() {
    let world = World::new().await;
    let client = world.sandbox.client();
    assert_eq!(world.follow(&client).await, None);
    let (missing, ()) = tokio::join!(world.follow(&client), world.manage(300));
    assert_eq!(missing, None);
}

/// Another client of this tool acts, say: it writes statuses, and no Lease of a controller manager.
#[tokio::test(start_paused = true)]
async fn whoever_writes_statuses_acts() {
    let world = World::new().await;
    let client = world.sandbox.client();
    let act = async {
        world.manage(0).await;
        sleep(Duration::from_secs(20)).await;
        world.report().await;
    };
    let (missing, ()) = tokio::join!(world.follow(&client), act);
    assert_eq!(missing, None);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_may_not_be_read_is_asked_for_once() {
    let world = World::new().await;
    let asked = std::sync::Arc::new(AtomicU32::new(0));
    let (service, count) = (world.sandbox.service(), asked.clone());
    let client = Client::new(
        service_fn(move |mut request: http::Request<kube::client::Body>| {
            if request.uri().path().contains("/leases/") {
                count.fetch_add(1, Ordering::Relaxed);
                // Nothing is served there, which is refused like what is forbidden.
                *request.uri_mut() = "/nowhere".parse().unwrap();
            }
            let service = service.clone();
            service.oneshot(request)
        }),
        "default",
    );
    let (missing, ()) = tokio::join!(world.follow(&client), world.manage(0));
    assert_eq!(missing, None);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn one_look_takes_a_second_one_where_clocks_may_differ() {
    let world = World::new().await;
    let client = world.sandbox.client();
    world.manage(0).await;
    assert_eq!(presence(&client, world.clock).await, Presence::Unknown);
    // A clock that is ten minutes ahead makes every Lease look expired.
    let ahead = Clock::starting_at("2026-01-01T00:10:00Z".parse::<Timestamp>().unwrap());
    let renew = async {
        sleep(Duration::from_secs(2)).await;
        let path = format!("{LEASE}/kube-controller-manager");
        let renewed = json!({"spec": {"renewTime": format!("{:.6}", world.clock.now())}});
        world.patch(&path, &renewed).await;
    };
    let (live, ()) = tokio::join!(presence(&client, ahead), renew);
    assert_eq!(live, Presence::Unknown);
    sleep(Duration::from_secs(60)).await;
    assert!(matches!(
        presence(&client, world.clock).await,
        Presence::Missing(_)
    ));
}
