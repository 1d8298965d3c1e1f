//! The flags of `status`.

use clap::Args;

use crate::cli::cluster::ClusterFlags;
use crate::cli::fail_after::FailAfter;
use crate::cli::output::OutputFlags;
use crate::cli::selection::ObjectArgs;
use crate::cli::view::ViewFlags;
use crate::diagnose::Budgets;

/// Show how rollouts stand, why, and what to do
///
/// For one Deployment: the verdict, strategy and bounds with today's numbers, the revisions, and the pods that are not
/// available, by cause. For several: a row each, the worst first.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StatusArgs {
    /// Which Deployments
    #[command(flatten)]
    pub selection: ObjectArgs,
    /// Go on showing until Ctrl-C
    #[arg(short = 'w', long)]
    pub watch: bool,
    /// End with a code that says how the rollouts stand: 0 complete, 3 failed, 6 still running, 7 paused
    #[arg(long)]
    pub exit_code: bool,
    /// End with 0 when nothing matches
    #[arg(long)]
    pub allow_missing: bool,
    /// What is let pass before a rollout counts as failed, such as crashes=5,pending=3m; none: only the deadline counts
    #[arg(long, value_name = "LIMITS", default_value = "")]
    pub fail_after: FailAfter,
    /// Which cluster
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// What is shown
    #[command(flatten)]
    pub view: ViewFlags,
    /// How it is printed
    #[command(flatten)]
    pub output: OutputFlags,
}

const EXAMPLES: &str = "\
Examples:
  # Why does this rollout not go on?
  kubectl rs status deploy/web

  # All Deployments, the worst first
  kubectl rs status -A

  # For a script: 0 complete, 3 failed, 6 still running
  kubectl rs status deploy/web --exit-code -o json

  # A stuck rollout on a cluster inside this process
  kubectl rs status --embedded=examples/stuck.yaml deploy/web";

impl StatusArgs {
    /// What is let pass.
    pub fn budgets(&self) -> Budgets {
        self.fail_after.0
    }
}
