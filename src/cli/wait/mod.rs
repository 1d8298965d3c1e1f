//! `--wait`: what commands share that follow a rollout to its end. The flags, the reminders, the last word.

mod alone;
mod ending;
mod logs;
mod reminder;
#[cfg(test)]
mod tests;
mod together;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use futures::FutureExt as _;
use tokio::time::{Instant, sleep_until};

use super::authority::Authority;
use super::cluster::Cluster;
use super::duration;
use super::fail_after::FailAfter;
use super::output::OutputFormat;
use crate::controller::api::ObjectKey;
use crate::diagnose::{Budgets, Presence};
use crate::engine::error::EngineError;
use crate::engine::options::Scope;
use crate::engine::run::{Engine, StoppedBy, Summary};
use crate::engine::store::Item;
use crate::error::ExitCode;
use crate::follow::{Aim, Ending, Followed, Pin, Told, Waited, Waiting, wait};
use crate::ui::printer::Printer;
use crate::ui::status::{Shown, StatusRecord, last_words};
pub(super) use alone::{Alone, AloneEar};
pub(super) use ending::{cut_short, exit_code as exit_code_of, timed_out};
use reminder::Reminder;
pub(super) use together::{Both, Stop};

/// How a rollout is followed.
#[derive(Clone, Debug, Default, Args)]
pub struct WaitFlags {
    /// With --wait: fail as soon as the new pods cannot recover by themselves, not only at the progress deadline
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        hide_possible_values = true
    )]
    pub fail_fast: bool,
    /// With --wait: what is let pass before a rollout fails, such as crashes=5,pending=3m
    #[arg(long, value_name = "LIMITS", default_value = "")]
    pub fail_after: FailAfter,
    /// With --wait: watch the new pods for so long after completion; by default 10s if one has restarted or none has a
    /// readiness probe, else not at all
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub settle: Option<Duration>,
    /// With --wait: when a rollout fails, show the last lines of the containers to blame
    #[arg(
        long,
        value_name = "LINES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "20",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub logs: Option<u32>,
    /// With --wait: complete is only what has no old pod left that is still shutting down
    #[arg(long)]
    pub wait_terminated: bool,
}

/// Which rollouts are followed: of each Deployment the one that is pinned, or else the one that is seen first.
pub(super) type Pins = BTreeMap<ObjectKey, Pin>;

/// Rollouts that are brought, or followed, to their end.
pub(super) struct Course<'a> {
    pub(super) flags: &'a WaitFlags,
    pub(super) cluster: &'a Cluster,
    pub(super) printer: &'a Printer,
    pub(super) scope: Scope,
    pub(super) pins: Pins,
    /// As the engine knows it.
    pub(super) timeout: Option<Duration>,
    /// Whether the engine is needed for more than showing steps.
    pub(super) needs_engine: bool,
}

impl WaitFlags {
    /// What is let pass.
    pub fn budgets(&self) -> Budgets {
        if self.fail_fast {
            self.fail_after.0
        } else {
            Budgets::NONE
        }
    }

    fn aim(&self) -> Aim {
        Aim {
            settle: self.settle,
            terminated: self.wait_terminated,
        }
    }

    /// The last word on each Deployment that did not end well: why, the evidence, what to do, and the logs if asked for.
    ///
    /// # Errors
    /// When stdout can't be written.
    pub async fn conclude(
        &self,
        cluster: &Cluster,
        waited: &Waited,
        printer: &Printer,
        format: OutputFormat,
    ) -> anyhow::Result<()> {
        for followed in &waited.followed {
            let shown = Shown {
                diagnosis: followed.diagnosis.clone(),
                unreadable: followed.unreadable.clone(),
                at: followed.seen.snapshot.now,
            };
            if format == OutputFormat::Jsonl {
                printer.json_line(&StatusRecord::of(&shown))?;
            }
            match &followed.ending {
                Some(Ending::Failed) | None => {
                    printer.talk_lines(&last_words(&shown, printer.talk_columns()));
                }
                Some(Ending::Overtaken { by }) => {
                    let by = by
                        .as_ref()
                        .map_or_else(String::new, |by| format!(" by {by}"));
                    printer.warning(&format!(
                        "deployment/{} was changed{by} while it was followed: that is another rollout",
                        followed.key.name
                    ));
                }
                Some(_) => {}
            }
            if let (Some(Ending::Failed), Some(lines)) = (&followed.ending, self.logs) {
                logs::show(&cluster.client, followed, lines, printer).await;
            }
        }
        Ok(())
    }
}

impl Course<'_> {
    /// Goes to the end, whoever acts: the engine acts or follows as `authority` says, and `act` runs it, while failures
    /// are looked out for. `alone` has no rollout, and is brought to rest as well.
    ///
    /// # Errors
    /// When what is in scope can't be read.
    pub(super) async fn run<F>(
        &self,
        engine: Engine,
        authority: Authority,
        act: impl FnOnce(Engine, Stop) -> F,
        alone: Alone,
        signal: impl Future<Output = ()>,
    ) -> anyhow::Result<Both>
    where
        F: Future<Output = Result<Summary, EngineError>>,
    {
        let presence = authority.presence();
        let is_optional = authority.is_following() && !self.needs_engine;
        let began = Instant::now();
        let run = async |engine: Engine| {
            let act = |stop: Stop| async move {
                let stop = stop.shared();
                match act(engine, Box::pin(stop.clone())).await {
                    Err(error) if is_optional => Ok(self.without_steps(&error, began, stop).await),
                    result => result,
                }
            };
            let follow = |stop| self.follow(presence, stop);
            Box::pin(together::run(act, follow, alone, signal)).await
        };
        authority.run(engine, run).await
    }

    /// Where the steps of others may not be watched, rollouts are followed by looks alone.
    async fn without_steps(
        &self,
        error: &EngineError,
        began: Instant,
        stop: impl Future<Output = ()>,
    ) -> Summary {
        self.printer
            .warning(&format!("{error}: steps are not shown"));
        let late = async {
            match self.timeout {
                Some(timeout) => sleep_until(began + timeout).await,
                None => std::future::pending().await,
            }
        };
        let stopped = tokio::select! {
            () = stop => StoppedBy::Signal,
            () = late => StoppedBy::Timeout,
        };
        let keys = self.pins.keys().cloned();
        Summary {
            ends: keys.map(|key| (Item::deployment(key), None)).collect(),
            left: BTreeMap::new(),
            missing: Vec::new(),
            stopped: Some(stopped),
        }
    }

    /// Follows until all have ended, with a reminder now and then.
    async fn follow(&self, controller: Presence, stop: Stop) -> anyhow::Result<Waited> {
        let waiting = Waiting {
            scope: self.scope.clone(),
            budgets: self.flags.budgets(),
            aim: self.flags.aim(),
            pins: self.pins.clone(),
            timeout: None,
            controller,
        };
        let everywhere = self.scope.namespaces.is_none();
        let mut reminder = Reminder::new(self.printer.clone(), everywhere);
        let tell = |told: Told<'_>| reminder.tell(told);
        let Cluster { client, clock, .. } = self.cluster;
        Ok(wait(client, *clock, &waiting, tell, stop).await?)
    }
}

/// What a followed rollout ends the command with.
pub fn exit_code(followed: &Followed) -> ExitCode {
    match &followed.ending {
        None => ExitCode::TimedOut,
        Some(Ending::Complete | Ending::Deleted) => ExitCode::Done,
        Some(Ending::Failed) => ExitCode::RolloutFailed,
        Some(Ending::Paused) => ExitCode::Held,
        Some(Ending::Overtaken { .. }) => ExitCode::Overtaken,
    }
}
