//! `kubectl rs rollout`: kubectl's own command, with its words.

mod change;
mod history;
mod pause;
mod restart;
mod revisions;
mod status;
mod undo;

use clap::{Args, Subcommand};

pub(super) use revisions::{DeploymentHistory, Set};
pub(super) use undo::back_to;

use super::after::Site;
use super::allow_missing::AllowMissing;
use super::cluster::{Cluster, ClusterFlags};
use super::failures::Failures;
use super::interrupt::Interrupts;
use super::kube_flags::KubeFlags;
use super::objects::{Found, Query};
use super::selection::ObjectArgs;
use super::view::ViewFlags;
use crate::error::ExitCode;
use crate::ui::printer::Printer;

/// Look at, pause, resume, restart and undo rollouts
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct RolloutArgs {
    /// What to do
    #[command(subcommand)]
    command: RolloutCommand,
}

#[derive(Debug, Subcommand)]
enum RolloutCommand {
    /// Show the revisions of a rollout
    History(Box<history::HistoryArgs>),
    /// Mark Deployments as paused
    Pause(Box<pause::PauseArgs>),
    /// Restart rollouts: every pod is replaced
    Restart(Box<restart::RestartArgs>),
    /// Resume paused Deployments
    Resume(Box<pause::ResumeArgs>),
    /// Show how a rollout is getting on
    Status(Box<status::StatusArgs>),
    /// Go back to an earlier revision
    Undo(Box<undo::UndoArgs>),
}

impl RolloutArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// Whatever went wrong with the objects, once all were tried.
    pub(super) async fn run(
        self,
        kube: &KubeFlags,
        verbose: bool,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        match self.command {
            RolloutCommand::History(args) => args.run(kube, verbose).await,
            RolloutCommand::Pause(args) => args.run(kube, verbose, interrupts).await,
            RolloutCommand::Restart(args) => args.run(kube, verbose, interrupts).await,
            RolloutCommand::Resume(args) => args.run(kube, verbose, interrupts).await,
            RolloutCommand::Status(args) => args.run(kube, verbose).await,
            RolloutCommand::Undo(args) => args.run(kube, verbose, interrupts).await,
        }
    }
}

/// The flags of every `rollout` command.
#[derive(Clone, Debug, Args)]
struct Common {
    /// Which objects
    #[command(flatten)]
    objects: ObjectArgs,
    #[command(flatten)]
    allow_missing: AllowMissing,
    /// Which cluster
    #[command(flatten)]
    cluster: ClusterFlags,
    /// What is shown
    #[command(flatten)]
    view: ViewFlags,
}

/// The objects of a command, and what it takes to go through them.
struct Job {
    cluster: Cluster,
    printer: Printer,
    found: Vec<anyhow::Result<Found>>,
    allow_missing: AllowMissing,
    all_namespaces: bool,
}

impl Common {
    /// Reads the arguments, connects and fetches.
    async fn job(&self, kube: &KubeFlags, verbose: bool) -> anyhow::Result<Job> {
        self.fetch(Query::required(&self.objects)?, kube, verbose)
            .await
    }

    /// The same, for a command that changes the objects.
    async fn job_to_change(&self, kube: &KubeFlags, verbose: bool) -> anyhow::Result<Job> {
        self.fetch(Query::to_change(&self.objects)?, kube, verbose)
            .await
    }

    async fn fetch(
        &self,
        query: Query<'_>,
        kube: &KubeFlags,
        verbose: bool,
    ) -> anyhow::Result<Job> {
        let cluster = self.cluster.open(kube).await?;
        let found = query.fetch(&cluster, kube).await?;
        Ok(Job {
            printer: self.view.printer(verbose),
            found,
            cluster,
            allow_missing: self.allow_missing.clone(),
            all_namespaces: self.objects.all_namespaces,
        })
    }
}

impl Common {
    /// Where a change is made, for what follows it.
    fn site<'a>(&'a self, job: &'a Job) -> Site<'a> {
        Site {
            cluster: &job.cluster,
            flags: &self.cluster,
            printer: &job.printer,
            timestamps: self.view.timestamps,
        }
    }
}

impl Job {
    /// What to end with when nothing was selected, after saying so; `None` when there is something to do.
    fn ends_empty(&self) -> Option<ExitCode> {
        if !self.found.is_empty() {
            return None;
        }
        let namespace = self.cluster.namespace_or_all(self.all_namespaces);
        Some(self.allow_missing.end(namespace, &self.printer))
    }

    /// The objects, and the failures to have others.
    fn take(&mut self) -> (Vec<Found>, Failures) {
        Failures::part(self.found.drain(..))
    }
}
