//! `--pause-at`: which stages make sense, and what is said at one.

use crate::cli::cluster::Cluster;
use crate::cli::objects::Found;
use crate::cli::stage;
use crate::controller::api::ObjectKey;
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::count;
use crate::diagnose::{Budgets, Presence, diagnose};
use crate::engine::options::{Scope, Stage};
use crate::engine::store::Item;
use crate::error::{ExitCode, Failure};
use crate::follow::{Followed, look};
use crate::ui::line::{Line, Tone};

/// Reads `--pause-at`.
///
/// # Errors
/// No stage, or one at which nothing or all has happened.
pub(super) fn parse_pause_at(text: &str) -> Result<Stage, String> {
    match stage::parse(text)? {
        Stage::Pods(0) | Stage::Percent(0) => {
            Err("a stage has at least one pod; 'rollout pause' holds everything back".to_owned())
        }
        Stage::Percent(100) => Err("100% is the whole rollout: leave it out".to_owned()),
        stage => Ok(stage),
    }
}

/// Looks whether every object can be held at this stage.
///
/// # Errors
/// One can't.
pub(super) fn check(stage: Stage, objects: &[Found]) -> Result<(), Failure> {
    for object in objects {
        let name = object.line_name();
        let spec = &object.json["spec"];
        if object.resource.kind != "Deployment" {
            return Err(Failure::usage(format!(
                "{name}: only Deployments have stages"
            )));
        }
        if spec["strategy"]["type"] == keys::RECREATE {
            return Err(Failure::usage(format!(
                "{name}: strategy Recreate starts all new pods at once, there is no stage to pause at"
            )));
        }
        let replicas = spec["replicas"].as_i64().unwrap_or(1);
        let replicas = i32::try_from(replicas).unwrap_or(i32::MAX);
        if stage.pods_of(replicas) >= replicas {
            return Err(Failure::usage(format!(
                "{name}: a stage of {stage} is all of its {}, nothing would be held back",
                count(replicas, "replica")
            )));
        }
    }
    Ok(())
}

/// Paused Deployments are to go on, so their stage must be ahead of them.
///
/// # Errors
/// It is not: the Deployment stays paused. What keeps from looking.
pub(super) async fn must_be_ahead(
    stage: Stage,
    cluster: &Cluster,
    objects: &[Found],
) -> anyhow::Result<()> {
    let paused: Vec<Item> = objects
        .iter()
        .filter(|object| object.json["spec"]["paused"] == true)
        .map(|object| Item::deployment(ObjectKey::new(object.namespace(), object.name())))
        .collect();
    if paused.is_empty() {
        return Ok(());
    }
    let scope = Scope::named(paused);
    let now = cluster.clock.now();
    let gathered = look(&cluster.client, &scope, now).await?;
    for seen in gathered.seen(&scope, Presence::Unknown, now) {
        let overview = diagnose(&seen.snapshot, &Budgets::NONE).overview;
        let available = available(&overview);
        if available >= stage.pods_of(overview.desired) {
            let message = format!(
                "deployment/{} stays paused: {available} of {} are available, the stage of {stage} is reached",
                seen.key.name,
                count(overview.desired, "new pod"),
            );
            return Err(Failure::new(ExitCode::Held, message)
                .hint("name a later stage, or leave --pause-at out to go on to the end")
                .into());
        }
    }
    Ok(())
}

fn available(overview: &Overview) -> i32 {
    overview.new_revision().map_or(0, |new| new.available)
}

/// What is said about a rollout that is held: the numbers, and how it goes on.
pub(super) fn held(stage: Stage, followed: &Followed) -> [Line; 2] {
    let overview = &followed.diagnosis.overview;
    let started = overview.new_revision().map_or(0, |new| new.desired);
    let old = overview.total.saturating_sub(started);
    let numbers = format!(
        ": {} of {} available, {} asked for, {started} started (surge {}, unavailable {}), {old} old left",
        available(overview),
        count(overview.desired, "new pod"),
        stage.pods_of(overview.desired),
        overview.max_surge,
        overview.max_unavailable,
    );
    let name = &followed.key.name;
    let next = format!(
        "    → kubectl rs rollout resume deployment/{name} --wait, or --pause-at for a next stage"
    );
    [
        Line::new(Tone::Plain, format!("deployment/{name}: "))
            .with(Tone::Pending, format!("held at {stage}"))
            .with(Tone::Plain, numbers),
        Line::new(Tone::Plain, next),
    ]
}
