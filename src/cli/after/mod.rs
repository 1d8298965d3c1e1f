//! What follows a change: its rollout, brought or followed to its end, in stages and with a way back if that is wanted.
//!
//! `set image` and the `rollout` commands call [`AfterFlags::prepare`] before they change anything, so that what is not to
//! be done is refused in time, and [`After::follow`] with what they have changed. Without a flag that asks for it nothing
//! is done here, and the command sends what kubectl sends.

mod flags;
mod going_back;
mod journey;
mod pauser;
mod stage;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::pin::Pin;

pub(super) use flags::AfterFlags;
use going_back::GoingBack;
use journey::{Arrival, Journey};

use super::cluster::{Cluster, ClusterFlags, Controller};
use super::edit::Edited;
use super::failures::Failures;
use super::interrupt::Interrupts;
use super::objects::Found;
use super::output::OutputFormat;
use super::viewer::Viewer;
use super::wait;
use crate::controller::api::ObjectKey;
use crate::engine::actor::Finding;
use crate::error::{ExitCode, Failure};
use crate::follow::Ending;
use crate::ui::printer::Printer;

/// Where the change is made, and how it is told.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) flags: &'a ClusterFlags,
    pub(super) printer: &'a Printer,
    /// `--timestamps`.
    pub(super) timestamps: bool,
}

/// What is to follow.
pub(super) struct After<'a> {
    flags: &'a AfterFlags,
    site: Site<'a>,
    /// Who acts; `None`: nothing is to follow.
    finding: Option<Finding>,
}

/// Ctrl-C.
type Signal<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

impl AfterFlags {
    /// Looks whether what is asked for can be done, before the objects are changed.
    ///
    /// # Errors
    /// A stage that makes no sense for one of the objects, `--controller=client` beside a controller manager.
    pub(super) async fn prepare<'a>(
        &'a self,
        site: Site<'a>,
        objects: &[Found],
    ) -> anyhow::Result<After<'a>> {
        let acts = site.flags.controller == Controller::Client;
        let finding = if self.is_waiting() || acts {
            if let Some(stage) = self.pause_at {
                stage::check(stage, objects)?;
                stage::must_be_ahead(stage, site.cluster, objects).await?;
            }
            let namespaces = objects.iter().map(|object| object.namespace().to_owned());
            let namespaces = namespaces.collect();
            let finding = site
                .flags
                .look_around(site.cluster, Some(&namespaces), self.force)
                .await?;
            Some(finding)
        } else {
            None
        };
        Ok(After {
            flags: self,
            site,
            finding,
        })
    }
}

impl After<'_> {
    /// Does what was asked for with the objects that were changed, and ends the command.
    ///
    /// # Errors
    /// The failures so far, and those that come.
    pub(super) async fn follow(
        &self,
        edited: Vec<Edited>,
        mut failures: Failures,
        mut interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let Some(finding) = &self.finding else {
            return failures.finish();
        };
        let (deployments, others): (Vec<_>, Vec<_>) = edited
            .into_iter()
            .partition(|edited| edited.now.resource.kind == "Deployment");
        let mut signal = std::pin::pin!(interrupts.heed());
        let mut code = ExitCode::Done;
        if !deployments.is_empty() {
            let journey = Journey::new(self.flags, self.site, finding, &deployments)?;
            code = if self.flags.is_waiting() {
                self.bring(&journey, &mut failures, signal.as_mut()).await?
            } else {
                journey.one_shot(signal.as_mut()).await?
            };
        }
        if code != ExitCode::Interrupted && self.flags.is_waiting() {
            tokio::select! {
                () = self.view(&others, &mut failures) => {}
                () = signal => return Ok(ExitCode::Interrupted),
            }
        }
        failures.finish().map(|done| done.max(code))
    }

    /// Objects of other kinds have a line for each change, as in `rollout status`.
    async fn view(&self, others: &[Edited], failures: &mut Failures) {
        for other in others {
            let viewer = Viewer {
                object: &other.now,
                revision: 0,
                say: &|line| {
                    self.site.printer.talk(line);
                    Ok(())
                },
            };
            let client = &self.site.cluster.client;
            if let Err(error) = viewer.follow(client, self.flags.timeout).await {
                failures.push(error);
            }
        }
    }

    /// Goes on until every rollout has ended; those that fail are undone if that is wanted.
    async fn bring(
        &self,
        journey: &Journey<'_>,
        failures: &mut Failures,
        mut signal: Signal<'_>,
    ) -> anyhow::Result<ExitCode> {
        let Site {
            cluster, printer, ..
        } = self.site;
        let mut arrival = journey.run(self.flags.pause_at, signal.as_mut()).await?;
        for error in std::mem::take(&mut arrival.not_paused) {
            failures.push(error);
        }
        let waited = &arrival.both.waited;
        let following = &self.flags.following;
        following
            .conclude(cluster, waited, printer, OutputFormat::Table)
            .await?;
        if arrival.both.is_interrupted {
            return Ok(ExitCode::Interrupted);
        }
        let mut codes = self.judge(journey, &arrival, failures);
        let is_open = |code: &ExitCode| *code == ExitCode::TimedOut;
        let late = codes
            .values()
            .any(is_open)
            .then(|| wait::timed_out(&arrival.both.summary));
        if !self.flags.undo_on_failure {
            if let Some(late) = late {
                failures.push(late);
            }
            return Ok(ExitCode::worst(codes.into_values()).unwrap_or_default());
        }
        if let Some(late) = &late {
            printer.warning(&late.message);
        }
        let back = GoingBack {
            journey,
            site: self.site,
        };
        codes.extend(back.undo(&codes, signal).await?);
        Ok(ExitCode::worst(codes.into_values()).unwrap_or_default())
    }

    /// What each of them ends with. Says where they are held, and which are gone.
    fn judge(
        &self,
        journey: &Journey<'_>,
        arrival: &Arrival,
        failures: &mut Failures,
    ) -> BTreeMap<ObjectKey, ExitCode> {
        let mut codes = BTreeMap::new();
        for key in journey.keys() {
            let mut followed = arrival.both.waited.followed.iter();
            let followed = followed
                .find(|followed| followed.key == *key)
                .filter(|followed| followed.ending != Some(Ending::Deleted));
            let Some(followed) = followed else {
                failures.push(Failure::error(format!(
                    "deployment/{} was deleted while its rollout was followed",
                    key.name
                )));
                continue;
            };
            let stage = self.flags.pause_at;
            if let Some(stage) = stage.filter(|_| arrival.paused.contains(key)) {
                self.site.printer.talk_lines(&stage::held(stage, followed));
            }
            codes.insert(key.clone(), wait::exit_code(followed));
        }
        codes
    }
}
