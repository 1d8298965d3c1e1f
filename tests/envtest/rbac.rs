//! The rights that `deploy/kubectl-rs.yaml` grants are enough, and are needed to be granted.

use kubectl_rs::clock::Clock;
use kubectl_rs::simulate::Simulation;
use tokio::sync::watch;

use crate::bench::{Bench, TIMEOUT, images};

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/kubectl-rs.yaml");
const ACCOUNT: &str = "--as=system:serviceaccount:kubectl-rs:kubectl-rs";

/// A rollout, adoption, release, and deletions of all kinds: whatever takes a right.
async fn work(bench: &Bench) {
    let web = "deployment/web";
    bench
        .kubectl(&[
            "create",
            "deployment",
            "web",
            "--image=nginx",
            "--replicas=3",
        ])
        .await;
    bench.rolled_out(web).await;
    bench
        .kubectl(&["set", "image", web, "nginx=nginx:1.27"])
        .await;
    bench.rolled_out(web).await;
    bench
        .until("rolled", |_, pods| images(pods) == ["nginx:1.27"; 3])
        .await;
    bench
        .kubectl(&["delete", web, "--cascade=orphan", TIMEOUT])
        .await;
    bench
        .kubectl(&[
            "create",
            "deployment",
            "web",
            "--image=nginx:1.27",
            "--replicas=3",
        ])
        .await;
    bench.rolled_out(web).await;
    bench
        .kubectl(&["label", "pods", "--all", "app=other", "--overwrite"])
        .await;
    bench.until("released", |_, pods| pods.len() == 6).await;
    bench
        .kubectl(&["delete", web, "--cascade=foreground", TIMEOUT])
        .await;
    bench
        .until("deleted", |sets, pods| sets.is_empty() && pods.len() == 3)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_account_may_do_all_that_is_done() {
    let Some(bench) = Bench::set_up(&["--authorization-mode=RBAC"]).await else {
        return;
    };
    bench.kubectl(&["apply", "-f", MANIFEST]).await;
    let (_acting, is_acting) = watch::channel(true);
    let simulation = Simulation {
        client: bench.client.clone(),
        clock: Clock::system(),
        namespaces: None,
    };
    let pods = tokio::spawn(simulation.run(is_acting));
    let program = bench.start(&["sync", "-A", "--watch", "--leader-elect", "--v=2", ACCOUNT]);
    work(&bench).await;
    let own = [
        "rollout",
        "status",
        "-n",
        "kubectl-rs",
        "deployment/kubectl-rs",
        TIMEOUT,
    ];
    bench.kubectl(&own).await;
    let events = bench.list("/api/v1/namespaces/default/events").await;
    let told = |reason: &str| events.iter().any(|event| event["reason"] == reason);
    assert!(
        told("ScalingReplicaSet") && told("SuccessfulCreate"),
        "{events:?}"
    );

    let (code, said) = program.stop().await;
    assert_eq!(code, Some(130), "{said}");
    let lines = said.lines();
    let forbidden: Vec<_> = lines
        .filter(|line| line.to_lowercase().contains("forbidden"))
        .collect();
    assert!(forbidden.is_empty(), "{forbidden:#?}");
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    let leases = bench.list(leases).await;
    assert!(leases.is_empty(), "the Lease was given up: {leases:?}");
    pods.abort();
    bench.tear_down();
}
