//! Pods that a node rejects as soon as they are there.

use std::time::Duration;

use kubectl_rs::controller::why::WaitingOn;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::sandbox::Sandbox;
use serde_json::json;

use crate::faults::deployment;
use crate::world::World;

/// Rejects every pod as a kubelet does that has no room for it.
async fn reject(sandbox: Sandbox) {
    let (_, mut changes) = sandbox.subscribe("pods").expect("pods are served");
    while let Some(batch) = changes.next().await {
        for change in batch {
            let (None, Some(pod)) = (change.before, change.after) else {
                continue;
            };
            let rejected = sandbox.update_status("pods", "default", pod.name(), |status| {
                *status = json!({ "phase": "Failed", "reason": "OutOfcpu" });
            });
            rejected.expect("the pod is there");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_pods_are_replaced_later_and_later() {
    let world = World::new();
    let kubelet = tokio::spawn(reject(world.sandbox.clone()));
    world.create("deployments", deployment(2));
    let options = Options {
        timeout: Some(Duration::from_secs(30)),
        ..Options::new(Scope::everything(None), Goal::Forever)
    };
    world.run(options).await;
    // Two at once, two more, and two after each of 1, 2, 4, 8 s; the next would come after 16 s.
    assert_eq!(world.objects("pods").len(), 12);
    let said = world.last_waiting();
    let brake = said
        .iter()
        .find(|wait| matches!(wait, WaitingOn::FailingPods { failed: 12, .. }));
    let text = brake.expect("it says what it waits for").to_string();
    assert_eq!(
        text,
        "16s more before pods are created again: 12 pods failed right after creation"
    );
    kubelet.abort();
}
