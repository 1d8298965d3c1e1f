//! `--wait`: what commands share that follow a rollout to its end. The flags, the reminders, the last word.

mod logs;
mod reminder;

use std::time::Duration;

use clap::Args;

use super::cluster::Cluster;
use super::duration;
use super::fail_after::FailAfter;
use super::output::OutputFormat;
use crate::diagnose::{Budgets, Presence};
use crate::engine::options::Scope;
use crate::error::ExitCode;
use crate::follow::{Aim, Ending, Followed, Waited, Waiting, wait};
use crate::ui::printer::Printer;
use crate::ui::status::{Shown, StatusRecord, last_words};
use reminder::Reminder;

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

    /// What is waited for.
    pub fn waiting(
        &self,
        scope: Scope,
        timeout: Option<Duration>,
        controller: Presence,
    ) -> Waiting {
        Waiting {
            scope,
            budgets: self.budgets(),
            aim: Aim {
                settle: self.settle,
                stage: None,
            },
            timeout,
            controller,
        }
    }

    /// Follows until all have ended, with a reminder now and then.
    ///
    /// # Errors
    /// When Deployments can't be read.
    pub async fn follow(
        &self,
        cluster: &Cluster,
        waiting: &Waiting,
        printer: &Printer,
        signal: impl Future<Output = ()>,
    ) -> anyhow::Result<Waited> {
        let mut reminder = Reminder::new(printer.clone(), waiting.scope.namespaces.is_none());
        let tell = |told: crate::follow::Told<'_>| reminder.tell(told);
        Ok(wait(&cluster.client, cluster.clock, waiting, tell, signal).await?)
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
                Some(Ending::Failed) | None => printer.talk_lines(&last_words(&shown)),
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

/// What a followed rollout ends the command with.
pub fn exit_code(followed: &Followed) -> ExitCode {
    match &followed.ending {
        None => ExitCode::TimedOut,
        Some(Ending::Complete | Ending::Deleted) => ExitCode::Done,
        Some(Ending::Failed) => ExitCode::RolloutFailed,
        Some(Ending::Paused | Ending::StageReached { .. }) => ExitCode::Held,
        Some(Ending::Overtaken { .. }) => ExitCode::Overtaken,
    }
}
