//! The flags that say what follows a change.

use clap::Args;

use super::stage;
use crate::cli::go_flags::{self, Timeout};
use crate::cli::wait::WaitFlags;
use crate::engine::options::Stage;

/// The flags.
#[derive(Clone, Debug, Default, Args)]
#[command(mut_arg("wait", go_flags::off))]
pub(in crate::cli) struct AfterFlags {
    /// Wait until the rollouts that the change begins are done; progress goes to stderr
    #[arg(long)]
    wait: bool,
    /// With --wait: give up on a rollout after this long, such as 90s or 10m; 0: never
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = go_flags::parse_timeout, allow_hyphen_values = true)]
    pub(super) timeout: Timeout,
    /// Wait, and pause the rollout once so many, or that share, of the new pods are available
    #[arg(long, value_name = "N|N%", value_parser = stage::parse_pause_at)]
    pub(super) pause_at: Option<Stage>,
    /// Wait, and if the rollout fails or does not end in time, go back once to what was complete before
    #[arg(long)]
    pub(super) undo_on_failure: bool,
    /// With --controller=client: act even beside a live controller manager
    #[arg(long, hide_short_help = true)]
    pub(super) force: bool,
    /// How rollouts are followed
    #[command(flatten)]
    pub(super) following: WaitFlags,
}

impl AfterFlags {
    /// Whether rollouts are followed to their end.
    pub(super) fn is_waiting(&self) -> bool {
        self.wait || self.pause_at.is_some() || self.undo_on_failure
    }
}
