//! What people do with Deployments all day, on a control plane that has no controllers and no nodes.

use crate::bench::{Bench, TIMEOUT, images, is_owned};

/// Makes Deployment `web` with that many pods, and waits until they are ready.
async fn create(bench: &Bench, replicas: usize) {
    let replicas = format!("--replicas={replicas}");
    bench
        .kubectl(&["create", "deployment", "web", "--image=nginx", &replicas])
        .await;
    bench.rolled_out("deployment/web").await;
}

async fn change(bench: &Bench) {
    create(bench, 3).await;
    bench
        .kubectl(&["scale", "deployment/web", "--replicas=5"])
        .await;
    bench.rolled_out("deployment/web").await;
    bench
        .until("scaled", |sets, pods| sets.len() == 1 && pods.len() == 5)
        .await;
    bench
        .kubectl(&["set", "image", "deployment/web", "nginx=nginx:1.27"])
        .await;
    bench.rolled_out("deployment/web").await;
    bench
        .until("rolled", |sets, pods| {
            sets.len() == 2 && images(pods) == ["nginx:1.27"; 5]
        })
        .await;
    bench.kubectl(&["rollout", "undo", "deployment/web"]).await;
    bench.rolled_out("deployment/web").await;
    bench
        .until("rolled back", |sets, pods| {
            sets.len() == 2 && images(pods) == ["nginx"; 5]
        })
        .await;
    let history = bench
        .kubectl(&["rollout", "history", "deployment/web"])
        .await;
    assert!(
        history.contains("\n2 ") && history.contains("\n3 "),
        "{history}"
    );
    bench
        .kubectl(&[
            "wait",
            "--for=condition=Available",
            "deployment/web",
            TIMEOUT,
        ])
        .await;
}

async fn delete(bench: &Bench) {
    bench
        .kubectl(&["delete", "deployment", "web", TIMEOUT])
        .await;
    bench
        .until("deleted", |sets, pods| sets.is_empty() && pods.is_empty())
        .await;

    create(bench, 3).await;
    bench
        .kubectl(&[
            "delete",
            "deployment",
            "web",
            "--cascade=foreground",
            TIMEOUT,
        ])
        .await;
    let (sets, pods) = bench.left().await;
    assert!(
        sets.is_empty() && pods.is_empty(),
        "they go first: {sets:?} {pods:?}"
    );

    create(bench, 3).await;
    bench
        .kubectl(&["delete", "deployment", "web", "--cascade=orphan", TIMEOUT])
        .await;
    let (sets, pods) = bench.left().await;
    assert_eq!((sets.len(), pods.len()), (1, 3));
    assert!(!is_owned(&sets[0]), "{sets:?}");
    bench
        .kubectl(&[
            "delete",
            "replicaset",
            "-l",
            "app=web",
            "--cascade=orphan",
            TIMEOUT,
        ])
        .await;
    let (sets, pods) = bench.left().await;
    assert_eq!((sets.len(), pods.len()), (0, 3));
    assert!(pods.iter().all(|pod| !is_owned(pod)), "{pods:?}");
    bench
        .kubectl(&["delete", "pods", "-l", "app=web", TIMEOUT])
        .await;
    let (_, pods) = bench.left().await;
    assert!(pods.is_empty(), "{pods:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_finds_what_it_expects() {
    let Some(bench) = Bench::set_up(&[]).await else {
        return;
    };
    let program = bench.start(&["sync", "-A", "--watch", "--simulate-pods"]);
    change(&bench).await;
    delete(&bench).await;
    let (code, said) = program.stop().await;
    assert_eq!(code, Some(130), "{said}");
    for line in [
        "no controller manager is in charge: acting from here",
        "pods are simulated",
        "deployment web is gone",
        "is being deleted, dependents first",
        "is being deleted without its dependents",
    ] {
        assert!(said.contains(line), "{line:?} is missing: {said}");
    }
    assert!(!said.contains("could not"), "{said}");
    bench.tear_down();
}
