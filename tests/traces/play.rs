//! Plays a trace with our controller in charge.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use serde_json::Value;
use similar::TextDiff;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::cluster::{Cluster, Group};
use crate::script::carry_out;
use crate::state::{self, Names};
use crate::trace::{Step, Trace};

/// How long nothing may change before the cluster is at rest.
const QUIET: Duration = Duration::from_millis(500);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long it may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays all steps; the error is where and how the cluster differs first.
pub(crate) async fn play(cluster: &Cluster, trace: &Trace) -> Result<(), String> {
    let scope = Scope::everything(Some(BTreeSet::from([cluster.namespace.clone()])));
    // The recording had the two controllers alone, and no garbage collector beside them.
    let options = Options {
        collects_garbage: false,
        ..Options::new(scope, Goal::Forever)
    };
    let engine = Engine::new(
        cluster.controller.clone(),
        cluster.clock,
        options,
        Arc::new(|_| {}),
    );
    let (stop, stopped) = oneshot::channel::<()>();
    let controller = tokio::spawn(engine.run(async move {
        let _ = stopped.await;
    }));
    let played = play_steps(cluster, trace).await;
    drop(stop);
    let ended = controller.await.expect("the controller does not panic");
    ended.map_err(|error| error.to_string())?;
    played
}

async fn play_steps(cluster: &Cluster, trace: &Trace) -> Result<(), String> {
    let mut said = BTreeMap::new();
    let mut names = Names::default();
    for (at, step) in trace.steps.iter().enumerate() {
        let here = |what: String| format!("step {at} {:?}: {what}", step.operation);
        let refused = carry_out(cluster, &step.operation).await.err();
        if refused != step.refused {
            return Err(here(format!(
                "expected {:?}, got {refused:?}",
                step.refused
            )));
        }
        come_to_rest(cluster).await.map_err(here)?;
        let at_rest = state::state(cluster, &mut names).await;
        next_second(cluster).await;
        let expected = if cluster.is_old {
            state::without_terminating_replicas(&step.state)
        } else {
            step.state.clone()
        };
        same(&expected, &at_rest).map_err(here)?;
        let now = state::events(cluster).await;
        same_events(step, &state::news(&names, &said, &now)).map_err(here)?;
        said = now;
    }
    Ok(())
}

/// Waits until nothing has changed for a while and the Deployment's status is up to date.
async fn come_to_rest(cluster: &Cluster) -> Result<(), String> {
    let give_up = Instant::now() + PATIENCE;
    let mut seen = versions(cluster).await;
    let mut since = Instant::now();
    loop {
        sleep(LOOK).await;
        let (versions, observed) = versions(cluster).await;
        if versions != seen.0 {
            seen = (versions, observed);
            since = Instant::now();
        } else if observed && since.elapsed() >= QUIET.max(cluster.slowest_answer() * 4) {
            return Ok(());
        }
        if Instant::now() > give_up {
            return Err("it does not come to rest".to_owned());
        }
    }
}

/// Waits for the next whole second: objects carry no fractions, and those of two steps must not seem of one age.
async fn next_second(cluster: &Cluster) {
    let nanos = cluster.clock.now().subsec_nanosecond();
    let left = 1_000_000_000 - u64::try_from(nanos).unwrap_or(0);
    sleep(Duration::from_nanos(left)).await;
}

async fn versions(cluster: &Cluster) -> (Vec<Value>, bool) {
    let deployments = cluster.list(Group::Apps, "deployments").await;
    let observed = deployments.iter().all(|deployment| {
        deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"]
    });
    let sets = cluster.list(Group::Apps, "replicasets").await;
    let pods = cluster.list(Group::Core, "pods").await;
    let objects = deployments.iter().chain(&sets).chain(&pods);
    let versions = objects.map(|object| object["metadata"]["resourceVersion"].clone());
    (versions.collect(), observed)
}

fn same(expected: &Value, actual: &Value) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let pretty = |value| serde_json::to_string_pretty(value).expect("JSON can be written");
    let (expected, actual) = (pretty(expected), pretty(actual));
    Err(TextDiff::from_lines(&expected, &actual)
        .unified_diff()
        .context_radius(6)
        .header("expected", "actual")
        .to_string())
}

/// Compares what the Deployment's events said in this step. How many steps a scaling takes hangs on timing, so that
/// what counts is how far each ReplicaSet was scaled in all; other events must be the same, in any order.
fn same_events(step: &Step, actual: &[String]) -> Result<(), String> {
    let is_combined = |line: &String| line.contains("(combined from similar events)");
    if step.events.iter().chain(actual).any(is_combined) {
        // These stand for others that are not told any more.
        return Ok(());
    }
    if told(&step.events) == told(actual) {
        return Ok(());
    }
    let expected = &step.events;
    Err(format!("expected events {expected:#?}, got {actual:#?}"))
}

/// By how much each ReplicaSet was scaled, and all other events.
fn told(lines: &[String]) -> BTreeMap<&str, i64> {
    let mut told = BTreeMap::new();
    for line in lines {
        let (what, by) = scaling(line).unwrap_or((line, 1));
        *told.entry(what).or_default() += by;
    }
    told
}

/// `… replica set <rs:2> from 3 to 5`: the ReplicaSet, and 2.
fn scaling(line: &str) -> Option<(&str, i64)> {
    let (_, scaled) = line.split_once(" replica set ")?;
    let (set, sizes) = scaled.split_once(" from ")?;
    let (from, to) = sizes.split_once(" to ")?;
    Some((set, to.parse::<i64>().ok()? - from.parse::<i64>().ok()?))
}
