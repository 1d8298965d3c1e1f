//! What `pause`, `resume` and `restart` share (rollout-commands section 5): all objects are tried, each change is one
//! strategic merge patch, and what comes back is printed.

use clap::Args;
use serde_json::Value;

use super::Common;
use crate::cli::after::AfterFlags;
use crate::cli::edit::{Change, EditError, Edited, Writing};
use crate::cli::interrupt::Interrupts;
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::Found;
use crate::cli::print::PrintFlags;
use crate::engine::options::DryRun;
use crate::error::{ExitCode, Failure};

/// The flags that they share.
#[derive(Clone, Debug, Args)]
pub(super) struct ChangeFlags {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    print: PrintFlags,
    /// Name of the manager that the change is recorded under
    #[arg(
        long,
        value_name = "NAME",
        default_value = "kubectl-rollout",
        hide_short_help = true
    )]
    field_manager: String,
}

/// A change, how it is told, and what follows it.
pub(super) struct Making<'a, F> {
    /// What the line says: `restarted`.
    pub(super) operation: &'a str,
    /// Makes the patch, or says why there is none (`is already paused`).
    pub(super) change: F,
    /// What follows.
    pub(super) after: &'a AfterFlags,
}

impl ChangeFlags {
    /// Changes all objects.
    ///
    /// # Errors
    /// What went wrong, once all were tried.
    pub(super) async fn run(
        &self,
        kube: &KubeFlags,
        verbose: bool,
        making: Making<'_, impl Fn(&Found) -> Result<Value, &'static str>>,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let mut form = self.print.form()?;
        let mut job = self.common.job_to_change(kube, verbose).await?;
        if let Some(code) = job.ends_empty() {
            return Ok(code);
        }
        let writing = Writing {
            field_manager: Some(&self.field_manager),
            dry_run: DryRun::None,
        };
        let (objects, mut failures) = job.take();
        let after = making
            .after
            .prepare(self.common.site(&job), &objects)
            .await?;
        let mut done = Vec::new();
        for object in &objects {
            let change = |object: &Found| match (making.change)(object) {
                Ok(body) => Ok(Some(Change::Strategic(body))),
                Err(reason) => Err(refused(object, reason).into()),
            };
            match writing.edit(&job.cluster.client, object, change).await {
                Ok(edited) => {
                    let edited = edited.unwrap_or_else(|| Edited::unchanged(object));
                    form.print(&job.printer, &edited.now, making.operation)?;
                    done.push(edited);
                }
                Err(EditError::Refused(error)) => failures.push(error),
                Err(EditError::Request(error)) => {
                    let error = anyhow::Error::from(error).context("failed to patch");
                    failures.push(object.failure(error));
                }
            }
        }
        after.follow(done, failures, interrupts).await
    }
}

/// kubectl's words for an object that is not changed.
fn refused(object: &Found, reason: &str) -> Failure {
    Failure::error(format!("error: {} {reason}", object.quoted_name()))
}
