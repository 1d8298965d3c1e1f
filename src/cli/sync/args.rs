//! The flags of `sync`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::cluster::ClusterFlags;
use crate::cli::duration;
use crate::cli::output::OutputFlags;
use crate::cli::selection::ObjectArgs;
use crate::cli::stage;
use crate::cli::view::ViewFlags;
use crate::cli::wait::WaitFlags;
use crate::engine::options::{DryRun, Goal, Stage};

/// Reconcile Deployments and ReplicaSets from here
///
/// Runs the logic of Kubernetes' Deployment and ReplicaSet controllers against the selected objects: creates and
/// scales ReplicaSets, creates and deletes pods, keeps status and events, in the steps that Kubernetes 1.36 takes.
/// One-shot by default: passes until nothing more can be done without the world changing.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[command(after_help = EXAMPLES)]
pub struct SyncArgs {
    /// Which objects
    #[command(flatten)]
    pub selection: ObjectArgs,
    /// Go on until every selected rollout is complete or has failed
    #[arg(long, conflicts_with = "watch")]
    pub wait: bool,
    /// Go on as a controller until Ctrl-C, picking up new objects
    #[arg(short = 'w', long)]
    pub watch: bool,
    /// Stop once so many, or that share, of the new pods are available
    #[arg(long, value_name = "N|N%", value_parser = stage::parse, conflicts_with = "watch")]
    pub until: Option<Stage>,
    /// Show the next steps and ask before each
    #[arg(long)]
    pub step: bool,
    /// none: write. client: show the next steps. server: send them, but change nothing
    #[arg(
        long,
        value_name = "MODE",
        default_value = "none",
        default_missing_value = "client",
        num_args = 0..=1,
        require_equals = true,
        hide_possible_values = true
    )]
    pub dry_run: DryRunMode,
    /// Give up after this long, such as 90s or 10m; 0: never
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration::parse)]
    pub timeout: Duration,
    /// With -f: take over fields that other managers own
    #[arg(long)]
    pub force_conflicts: bool,
    /// With --controller=client: act even beside a live controller manager. With --simulate-pods: though nodes are ready
    #[arg(long)]
    pub force: bool,
    /// With --watch: stand by while another client acts, and take over when it is gone
    #[arg(long, requires = "watch")]
    pub leader_elect: bool,
    /// With --watch or --wait: play scheduler and kubelets, on a cluster that has none
    #[arg(long)]
    pub simulate_pods: bool,
    /// How rollouts are followed
    #[command(flatten)]
    pub following: WaitFlags,
    /// Which cluster
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// What is shown
    #[command(flatten)]
    pub view: ViewFlags,
    /// How results are printed
    #[command(flatten)]
    pub output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  # A rollout from nothing but a manifest, on a cluster inside this process
  kubectl rs sync --embedded -f examples/web.yaml --wait

  # What would be done next to one Deployment
  kubectl rs sync deploy/web --dry-run=client

  # Act as the controller of a cluster that has none, until Ctrl-C
  kubectl rs sync -A --watch

  # The same for envtest: pods become ready, though there are no nodes
  kubectl rs sync -A --watch --simulate-pods";

/// `--dry-run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRunMode {
    /// Write.
    None,
    /// Only show.
    Client,
    /// Let the server pretend.
    Server,
}

impl From<DryRunMode> for DryRun {
    fn from(mode: DryRunMode) -> Self {
        match mode {
            DryRunMode::None => Self::None,
            DryRunMode::Client => Self::Client,
            DryRunMode::Server => Self::Server,
        }
    }
}

impl SyncArgs {
    /// How far to go.
    pub fn goal(&self) -> Goal {
        match (self.watch, self.wait || self.until.is_some()) {
            _ if self.dry_run != DryRunMode::None => Goal::AtRest,
            (true, _) => Goal::Forever,
            (false, true) => Goal::Complete,
            (false, false) => Goal::AtRest,
        }
    }
}
