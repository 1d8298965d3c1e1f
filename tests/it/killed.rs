//! The built program is killed with SIGKILL after any one of its writes, before it learns of it, and started again: the
//! end is the same, and no pod was ever one too many.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use http::{Method, Request};
use hyper::body::Incoming;
use kubectl_rs::sandbox::Served;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tower::Service as _;

use crate::faults::{bounds, deployment, end_state, rolled_out, set_image};
use crate::program::Program;
use crate::witness::Witness;
use crate::world::World;

/// How many pods the Deployment has.
const REPLICAS: usize = 2;
/// Clusters that live at the same time.
const AT_ONCE: usize = 4;
/// How long a rollout may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers writes, but not the last one, which is done all the same, nor any that comes after it.
struct Leash {
    writes: AtomicUsize,
    last: AtomicUsize,
    reached: Notify,
}

impl Leash {
    async fn serve(self: &Arc<Self>, world: &World) -> Served {
        let (leash, service) = (Arc::clone(self), world.sandbox.service());
        let service = tower::service_fn(move |request: Request<Incoming>| {
            let (leash, mut service) = (Arc::clone(&leash), service.clone());
            async move {
                if *request.method() == Method::GET {
                    return service.call(request).await;
                }
                let number = leash.writes.fetch_add(1, Ordering::SeqCst) + 1;
                let last = leash.last.load(Ordering::SeqCst);
                if number > last {
                    return pending().await;
                }
                let answer = service.call(request).await;
                if number == last {
                    leash.reached.notify_one();
                    return pending().await;
                }
                answer
            }
        });
        Served::start(0, service).await.expect("a free port")
    }

    /// From here on everything is answered.
    fn release(&self) {
        self.last.store(usize::MAX, Ordering::SeqCst);
    }
}

fn start(served: &Served) -> Program {
    Program::start([format!("--server=http://{}", served.address())])
}

/// A Deployment whose pods lose no time.
pub(crate) fn quick() -> Value {
    let mut deployment = deployment(REPLICAS);
    deployment["spec"]["template"]["metadata"]["annotations"] = json!({
        "sandbox.kubectl-rs.dev/ready-after": "10ms",
        "sandbox.kubectl-rs.dev/terminates-after": "10ms",
    });
    deployment
}

pub(crate) async fn wait_until(holds: impl Fn() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !holds() && Instant::now() < give_up {
        sleep(Duration::from_millis(5)).await;
    }
}

async fn roll_out(world: &World) {
    set_image(world, "registry.example/web:2");
    wait_until(|| end_state(world) == rolled_out(REPLICAS)).await;
}

pub(crate) fn available(world: &World) -> Option<u64> {
    world.objects("deployments")[0]["status"]["availableReplicas"].as_u64()
}

/// Creates the Deployment, rolls it, and kills the program at its `last` write. Whether there was such a write.
async fn crash_at(last: usize) -> bool {
    let world = World::live();
    let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
    let leash = Arc::new(Leash {
        writes: AtomicUsize::new(0),
        last: AtomicUsize::new(last),
        reached: Notify::new(),
    });
    let served = leash.serve(&world).await;
    world.create("deployments", quick());
    let first = start(&served);
    let crashed = tokio::select! {
        () = leash.reached.notified() => true,
        () = async {
            wait_until(|| available(&world) == Some(2)).await;
            roll_out(&world).await;
        } => false,
    };
    drop(first);
    if crashed {
        leash.release();
        // That a dead client's Lease is waited out is shown elsewhere; here it would only take time.
        let _ = world
            .sandbox
            .delete("leases", "kube-system", "kubectl-rs-all", Some(0));
        let _second = start(&served);
        wait_until(|| available(&world) == Some(2)).await;
        roll_out(&world).await;
    }
    assert_eq!(end_state(&world), rolled_out(REPLICAS), "write {last}");
    assert_eq!(witness.objections(), Vec::<String>::new(), "write {last}");
    crashed
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_may_be_killed_after_any_write() {
    let crashes = stream::iter(1..).map(crash_at).buffered(AT_ONCE);
    let crashes = crashes.take_while(|crashed| ready(*crashed)).count().await;
    assert!(crashes > 20, "a rollout takes more than {crashes} writes");
}
