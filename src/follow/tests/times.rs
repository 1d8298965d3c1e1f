//! How soon a failure is known, in the cluster's time. The progress deadline of 600 s is never needed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::{Aim, Ending, Followed, Told, Waiting, wait};
use crate::clock::Clock;
use crate::controller::api::ObjectKey;
use crate::diagnose::{Budgets, Phase, Presence};
use crate::engine::options::{Goal, Options, Scope};
use crate::engine::run::Engine;
use crate::engine::store::Item;
use crate::sandbox::{NodeOptions, Sandbox, SandboxOptions};

/// A rollout that was followed to its end, or for five minutes.
struct Run {
    followed: Followed,
    took: Duration,
    /// When somebody was first said to be waited for.
    waited_from: Option<Duration>,
}

/// Rolls out a Deployment of two pods on a fresh cluster.
async fn run(image: &str, annotations: Value, others: &[(&str, Value)]) -> Run {
    let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap());
    let sandbox = Sandbox::new(SandboxOptions::new(clock));
    let _nodes = sandbox.start_nodes(NodeOptions::default()).unwrap();
    let _quotas = sandbox.start_quota_controller().unwrap();
    sandbox
        .create("namespaces", "", json!({"metadata": {"name": "shop"}}))
        .unwrap();
    for (plural, object) in others {
        sandbox.create(plural, "shop", object.clone()).unwrap();
    }
    // Quotas are counted a moment after they were made.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": annotations},
            "spec": {"containers": [{"name": "web", "image": image}]},
        }},
    });
    sandbox.create("deployments", "shop", deployment).unwrap();
    let began = Instant::now();
    let scope = Scope::named([Item::deployment(ObjectKey::new("shop", "web"))]);
    let options = Options::new(scope.clone(), Goal::Forever);
    let engine = Engine::new(sandbox.client(), clock, options, Arc::new(|_| {}));
    let waiting = Waiting {
        scope,
        budgets: Budgets::default(),
        aim: Aim::default(),
        pins: BTreeMap::new(),
        timeout: Some(Duration::from_secs(300)),
        controller: Presence::Acting,
    };
    let waited_from = Cell::new(None);
    let tell = |told: Told<'_>| {
        if let Told::Looked(followed) = told
            && followed.diagnosis.verdict.phase == Phase::Waiting
        {
            waited_from.set(waited_from.get().or(Some(began.elapsed())));
        }
    };
    let client = sandbox.client();
    let mut acting = pin!(engine.run(std::future::pending()));
    let mut following = pin!(wait(&client, clock, &waiting, tell, std::future::pending()));
    let waited = tokio::select! {
        ended = &mut acting => panic!("the engine ended: {ended:?}"),
        waited = &mut following => waited.unwrap(),
    };
    let took = began.elapsed();
    Run {
        followed: waited.followed.into_iter().next().expect("the Deployment"),
        took,
        waited_from: waited_from.get(),
    }
}

fn code(run: &Run) -> &'static str {
    run.followed
        .diagnosis
        .verdict
        .code
        .map_or("", |code| code.name())
}

#[tokio::test(start_paused = true)]
async fn a_bad_image_name_fails_within_two_seconds() {
    let run = run("Nginx:1", json!({}), &[]).await;
    assert_eq!(
        (run.followed.ending.clone(), code(&run)),
        (Some(Ending::Failed), "imageNameInvalid")
    );
    assert!(run.took <= Duration::from_secs(2), "{:?}", run.took);
}

#[tokio::test(start_paused = true)]
async fn a_missing_image_fails_within_a_minute() {
    let run = run("web:2-missing", json!({}), &[]).await;
    assert_eq!(
        (run.followed.ending.clone(), code(&run)),
        (Some(Ending::Failed), "imageNotFound")
    );
    assert!(run.took <= Duration::from_secs(60), "{:?}", run.took);
}

#[tokio::test(start_paused = true)]
async fn a_crash_loop_fails_within_three_restarts() {
    let run = run("web:2-crash", json!({}), &[]).await;
    assert_eq!(
        (run.followed.ending.clone(), code(&run)),
        (Some(Ending::Failed), "crashLoop")
    );
    let pods = &run.followed.diagnosis.findings[0].pods;
    assert!(pods.iter().all(|pod| pod.restarts <= 3), "{pods:?}");
}

#[tokio::test(start_paused = true)]
async fn a_quota_is_told_of_within_five_seconds_and_waited_for() {
    let quota = json!({"metadata": {"name": "compute"}, "spec": {"hard": {"pods": "1"}}});
    let run = run("web:2", json!({}), &[("resourcequotas", quota)]).await;
    assert_eq!(
        (run.followed.ending.clone(), code(&run)),
        (None, "quotaExceeded")
    );
    assert!(
        run.waited_from
            .is_some_and(|at| at <= Duration::from_secs(5)),
        "{:?}",
        run.waited_from
    );
}

#[tokio::test(start_paused = true)]
async fn failures_that_heal_within_their_budgets_end_well() {
    let prefix = "sandbox.kubectl-rs.dev";
    for annotations in [
        json!({format!("{prefix}/fails"): "CrashLoopBackOff", format!("{prefix}/restarts"): "2"}),
        json!({format!("{prefix}/fails"): "ErrImagePull", format!("{prefix}/restarts"): "1"}),
        json!({format!("{prefix}/ready-after"): "45s"}),
    ] {
        let run = run("web:2", annotations.clone(), &[]).await;
        assert_eq!(
            run.followed.ending,
            Some(Ending::Complete),
            "{annotations}: {:?}",
            run.followed.diagnosis.verdict
        );
    }
}
