//! `--undo-on-failure`: back, once, to what is known to have been complete.
//!
//! Kubernetes does not keep which revisions were ever complete. What is known of one: that it was in force and complete
//! when the change was made, or that its pods alone still keep the Deployment within its bounds. The newest of these is
//! gone back to; where there is none, nothing is undone.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::journey::Journey;
use super::{Signal, Site};
use crate::cli::edit::{EditError, Edited, Writing};
use crate::cli::output::OutputFormat;
use crate::cli::rollout::{self, DeploymentHistory, Set};
use crate::controller::api::{Deployment, ObjectKey};
use crate::controller::condition::get_condition;
use crate::controller::deployment::{Fenceposts, is_complete};
use crate::controller::keys;
use crate::engine::options::DryRun;
use crate::engine::request::FIELD_MANAGER;
use crate::error::{ExitCode, Failure};
use crate::follow::{Ending, Followed, Pin};
use crate::ui::line::{Line, Tone};

/// The way back of what has failed.
pub(super) struct GoingBack<'a> {
    pub(super) journey: &'a Journey<'a>,
    pub(super) site: Site<'a>,
}

impl GoingBack<'_> {
    /// Undoes the rollouts that have failed and follows that to its end. What can't be undone stays as it is, and is said.
    ///
    /// # Errors
    /// When what is in scope can't be read any more.
    pub(super) async fn undo(
        &self,
        codes: &BTreeMap<ObjectKey, ExitCode>,
        signal: Signal<'_>,
    ) -> anyhow::Result<Vec<(ObjectKey, ExitCode)>> {
        let Site {
            cluster, printer, ..
        } = self.site;
        let (mut undone, mut numbers) = (Vec::new(), BTreeMap::new());
        let is_failed = |code| matches!(code, ExitCode::RolloutFailed | ExitCode::TimedOut);
        for (key, _) in codes.iter().filter(|(_, code)| is_failed(**code)) {
            match self.change_back(key).await {
                Ok((edited, number)) => {
                    undone.push(edited);
                    numbers.insert(key, number);
                }
                Err(error) => {
                    printer.warning(&format!("deployment/{} is not undone: {error:#}", key.name));
                }
            }
        }
        if undone.is_empty() {
            return Ok(Vec::new());
        }
        let back = self.journey.back(&undone)?;
        let arrival = back.run(None, signal).await?;
        let waited = &arrival.both.waited;
        let following = back.following();
        following
            .conclude(cluster, waited, printer, OutputFormat::Table)
            .await?;
        let mut codes = Vec::new();
        for key in back.keys() {
            let followed = waited.followed.iter().find(|one| one.key == *key);
            let complete = followed.filter(|one| one.ending == Some(Ending::Complete));
            let number = numbers.get(key).copied().unwrap_or_default();
            printer.talk(outcome(key, number, complete));
            let code = match complete {
                _ if arrival.both.is_interrupted => ExitCode::Interrupted,
                Some(_) => ExitCode::Undone,
                None => ExitCode::RolloutFailed,
            };
            codes.push((key.clone(), code));
        }
        Ok(codes)
    }

    /// Changes a Deployment back, and says to which revision.
    async fn change_back(&self, key: &ObjectKey) -> anyhow::Result<(Edited, i64)> {
        let client = &self.site.cluster.client;
        let (edited, pin) = self
            .journey
            .change(key)
            .context("it is not one of those that were changed")?;
        let Some(before) = &edited.from else {
            return Err(Failure::error("its rollout was not begun by this command").into());
        };
        let before = Deployment::from_json(&before.json)?;
        let now = edited.now.fresh(client).await?;
        let history = DeploymentHistory::read(client, &now).await?;
        let target = target(&history.sets, pin, &before)
            .ok_or_else(|| Failure::error("no earlier revision is known to have been complete"))?;
        let number = target.revision().unwrap_or_default();
        let images: Vec<&str> = target.slim.spec.template.images().collect();
        let line = Line::new(Tone::Plain, format!("deployment/{}: ", key.name)).with(
            Tone::Pending,
            format!("going back to revision {number} ({})", images.join(", ")),
        );
        let writing = Writing {
            field_manager: Some(FIELD_MANAGER),
            dry_run: DryRun::None,
        };
        let written = writing
            .edit(client, &now, |object| {
                let deployment = Deployment::from_json(&object.json)?;
                if !pin.holds(&deployment) {
                    return Err(Failure::error("somebody else has changed it since").into());
                }
                if deployment.spec.paused {
                    return Err(Failure::error("it is paused").into());
                }
                Ok(Some(rollout::back_to(object, target, None)))
            })
            .await;
        match written {
            Ok(Some(edited)) => {
                self.site.printer.talk(line);
                Ok((edited, number))
            }
            Ok(None) => Err(Failure::error("it has gone back already").into()),
            Err(EditError::Refused(error)) => Err(error),
            Err(EditError::Request(error)) => Err(error.into()),
        }
    }
}

/// How going back to a revision has ended. It has got a new number.
fn outcome(key: &ObjectKey, number: i64, complete: Option<&Followed>) -> Line {
    let line = Line::new(Tone::Plain, format!("deployment/{}: ", key.name));
    let Some(complete) = complete else {
        let what = format!(": going back to revision {number} has not come to its end, either");
        return line.with(Tone::Bad, "not undone").with(Tone::Plain, what);
    };
    let new = complete.diagnosis.overview.new_revision();
    let renamed = new
        .and_then(|new| new.revision)
        .filter(|new| *new != number)
        .map(|new| format!(" as revision {new}"));
    let what = format!(": revision {number} is back{}", renamed.unwrap_or_default());
    line.with(Tone::Pending, "undone").with(Tone::Plain, what)
}

/// The newest revision but the present one that is known to have been complete.
fn target<'a>(sets: &'a [Set], present: &Pin, before: &Deployment) -> Option<&'a Set> {
    let is_known = |set: &&Set| {
        !present.template.is_equal_to(&set.slim.spec.template)
            && (was_complete(set, before) || carries(set, before))
    };
    sets.iter()
        .filter(is_known)
        .max_by_key(|set| set.revision())
}

/// Whether the revision was in force and complete when the change was made. The condition says so for as long as the
/// rollout is the newest, whatever has become of its pods since.
fn was_complete(set: &Set, before: &Deployment) -> bool {
    let status = &before.status;
    let is_condition = get_condition(&status.conditions, keys::PROGRESSING).is_some_and(|it| {
        it.reason == keys::NEW_REPLICA_SET_AVAILABLE
            && it.message.contains(&format!("{:?}", set.slim.meta.name))
    });
    before.spec.template.is_equal_to(&set.slim.spec.template)
        && before.is_observed()
        && (is_condition || is_complete(before, status))
}

/// Whether the revision's pods alone keep the Deployment within its bounds.
fn carries(set: &Set, deployment: &Deployment) -> bool {
    let bounds = Fenceposts::of(deployment);
    let least = bounds.desired.saturating_sub(bounds.max_unavailable);
    set.slim.status.available_replicas >= least.max(1)
}
