//! The program is killed after any one of its writes, and started again: the end is the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use tokio::sync::Notify;
use tokio::time::sleep;
use tower::Service as _;

use crate::faults::{
    bounds, control, deployment, end_state, rolled_out, set_image, wait_for_the_end,
};
use crate::witness::Witness;
use crate::world::World;

/// How many pods the Deployment has.
const REPLICAS: usize = 2;

/// Lets so many writes through, and tells when the last of them is done. What comes after is never answered; the last
/// one's answer arrives or does not.
struct Leash {
    writes: AtomicUsize,
    last: usize,
    is_answered: bool,
    done: Notify,
}

impl Leash {
    fn client(self: &Arc<Self>, world: &World) -> Client {
        let (leash, service) = (Arc::clone(self), world.sandbox.service());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (leash, mut service) = (Arc::clone(&leash), service.clone());
            async move {
                if *request.method() == Method::GET {
                    return service.call(request).await;
                }
                let number = leash.writes.fetch_add(1, Ordering::Relaxed) + 1;
                if number > leash.last {
                    return std::future::pending().await;
                }
                let answer = service.call(request).await;
                if number == leash.last {
                    leash.done.notify_one();
                    if !leash.is_answered {
                        return std::future::pending().await;
                    }
                }
                answer
            }
        });
        Client::new(service, "default")
    }
}

/// Creates the Deployment, rolls it, and kills the controller at its `last` write. Whether there was such a write.
async fn crash_at(last: usize, is_answered: bool) -> bool {
    let world = World::with_nodes();
    let witness = Witness::of(&world.sandbox, bounds(REPLICAS));
    let leash = Arc::new(Leash {
        writes: AtomicUsize::new(0),
        last,
        is_answered,
        done: Notify::new(),
    });
    world.create("deployments", deployment(REPLICAS));
    let first = control(leash.client(&world), world.clock);
    let rolled = async {
        sleep(Duration::from_secs(20)).await;
        set_image(&world, "registry.example/web:2");
        wait_for_the_end(&world, REPLICAS).await;
    };
    let crashed = tokio::select! {
        () = leash.done.notified() => true,
        () = rolled => false,
    };
    first.abort();
    let _ = first.await;
    if crashed {
        let second = control(world.sandbox.client(), world.clock);
        set_image(&world, "registry.example/web:2");
        wait_for_the_end(&world, REPLICAS).await;
        second.abort();
    }
    assert_eq!(end_state(&world), rolled_out(REPLICAS), "write {last}");
    assert_eq!(witness.objections(), Vec::<String>::new(), "write {last}");
    crashed
}

async fn crash_at_each(is_answered: bool) {
    let mut last = 1;
    while crash_at(last, is_answered).await {
        last += 1;
    }
    assert!(last > 30, "a rollout takes more than {last} writes");
}

#[tokio::test(start_paused = true)]
async fn it_may_be_killed_after_any_write() {
    crash_at_each(true).await;
}

#[tokio::test(start_paused = true)]
async fn it_may_be_killed_before_it_learns_of_any_write() {
    crash_at_each(false).await;
}
