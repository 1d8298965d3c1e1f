//! `rollout pause` and `rollout resume`.

use clap::Args;
use serde_json::{Value, json};

use super::change::{ChangeFlags, Making};
use crate::cli::after::AfterFlags;
use crate::cli::interrupt::Interrupts;
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::Found;
use crate::error::ExitCode;

/// Mark Deployments as paused
///
/// A paused Deployment keeps its pods and can be scaled; changes of its pod template take effect once it is resumed.
#[derive(Debug, Args)]
#[command(after_help = PAUSE_EXAMPLES)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    flags: ChangeFlags,
}

const PAUSE_EXAMPLES: &str = "\
Examples:
  # Hold back changes of a Deployment until it is resumed
  kubectl rs rollout pause --embedded=examples/web.yaml deploy/web";

/// Resume paused Deployments
#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    flags: ChangeFlags,
    #[command(flatten)]
    after: AfterFlags,
}

const RESUME_EXAMPLES: &str = "\
Examples:
  # Let a Deployment roll out what was changed while it was paused
  kubectl rs rollout resume deploy/web

  # Go on to the next stage of a rollout that is held, and stop there
  kubectl rs rollout resume deploy/web --pause-at=75%";

impl PauseArgs {
    pub(super) async fn run(
        &self,
        kube: &KubeFlags,
        verbose: bool,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let after = AfterFlags::default();
        let making = Making {
            operation: "paused",
            change: pause,
            after: &after,
        };
        self.flags.run(kube, verbose, making, interrupts).await
    }
}

impl ResumeArgs {
    pub(super) async fn run(
        &self,
        kube: &KubeFlags,
        verbose: bool,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let making = Making {
            operation: "resumed",
            change: resume,
            after: &self.after,
        };
        self.flags.run(kube, verbose, making, interrupts).await
    }
}

fn pause(object: &Found) -> Result<Value, &'static str> {
    match is_paused(object) {
        None => Err("pausing is not supported"),
        Some(true) => Err("is already paused"),
        Some(false) => Ok(json!({"spec": {"paused": true}})),
    }
}

fn resume(object: &Found) -> Result<Value, &'static str> {
    match is_paused(object) {
        None => Err("resuming is not supported"),
        Some(false) => Err("is not paused"),
        Some(true) => Ok(json!({"spec": {"paused": null}})),
    }
}

/// `None` for what can't be paused.
pub(super) fn is_paused(object: &Found) -> Option<bool> {
    (object.resource.kind == "Deployment").then(|| object.json["spec"]["paused"] == true)
}
