//! `kubectl rs set`: kubectl's own command, of which `image` is here.

mod containers;
mod image;
mod record;
mod setting;

use clap::{Args, Subcommand};

pub(super) use containers::pod_spec_path;

use super::interrupt::Interrupts;
use super::kube_flags::KubeFlags;
use crate::error::ExitCode;

/// Change fields of what runs pods
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct SetArgs {
    /// What to change
    #[command(subcommand)]
    command: SetCommand,
}

#[derive(Debug, Subcommand)]
enum SetCommand {
    /// Change container images
    Image(Box<image::ImageArgs>),
}

impl SetArgs {
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
            SetCommand::Image(args) => args.run(kube, verbose, interrupts).await,
        }
    }
}
