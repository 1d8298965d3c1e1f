//! `rollout undo` (rollout-commands section 4).

mod deployment;
mod recorded;

pub(in crate::cli) use deployment::back_to;

use std::io::{self, IsTerminal as _};

use clap::Args;
use serde_json::Value;

use super::revisions::{has_controller_revisions, unsupported};
use super::{Common, Job};
use crate::cli::after::AfterFlags;
use crate::cli::dry_run::{self, DryRunFlag};
use crate::cli::edit::{Edited, Writing};
use crate::cli::failures::Failures;
use crate::cli::go_flags;
use crate::cli::interrupt::Interrupts;
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::Found;
use crate::cli::print::{Form, PrintFlags};
use crate::controller::keys::LAST_APPLIED;
use crate::engine::options::DryRun;
use crate::error::{ExitCode, Failure};
use crate::manifest;
use crate::ui::describe::pod_template;
use crate::ui::diff;
use crate::ui::prompt;

/// Go back to an earlier revision
///
/// The pod template and the annotations become those of the revision; replicas, strategy and selector stay.
#[expect(clippy::duplicated_attributes, reason = "two flags, made the same")]
#[derive(Debug, Args)]
#[command(mut_arg("diff", go_flags::off))]
#[command(mut_arg("confirm", go_flags::off))]
#[command(after_help = EXAMPLES)]
pub(super) struct UndoArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    print: PrintFlags,
    /// The revision to go back to; 0: the one before the last
    #[arg(long, value_name = "N", default_value = "0", value_parser = go_flags::parse_int, allow_hyphen_values = true)]
    to_revision: i64,
    #[command(flatten)]
    dry_run: DryRunFlag,
    /// Show what changes in the pod template
    #[arg(long)]
    diff: bool,
    /// Show what changes and ask before each
    #[arg(long)]
    confirm: bool,
    /// Say why, in the annotation kubernetes.io/change-cause
    #[arg(long, value_name = "TEXT")]
    cause: Option<String>,
    #[command(flatten)]
    after: AfterFlags,
}

const EXAMPLES: &str = "\
Examples:
  # See what going back would change
  kubectl rs rollout undo deploy/web --dry-run=server --diff

  # Go back to a certain revision
  kubectl rs rollout undo deploy/web --to-revision=3

  # Go back and wait until that is done
  kubectl rs rollout undo deploy/web --wait --timeout=5m";

/// What is being undone, and how.
struct Undo<'a> {
    args: &'a UndoArgs,
    job: &'a Job,
    dry_run: DryRun,
}

impl UndoArgs {
    pub(super) async fn run(
        &self,
        kube: &KubeFlags,
        verbose: bool,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let mut form = self.print.form()?;
        let dry_run = self.dry_run.mode(&self.common.view.printer(verbose))?;
        if self.confirm && !io::stdin().is_terminal() {
            return Err(
                Failure::usage("--confirm asks, and there is no terminal to ask on").into(),
            );
        }
        let mut job = self.common.job_to_change(kube, verbose).await?;
        if let Some(code) = job.ends_empty() {
            return Ok(code);
        }
        let found = std::mem::take(&mut job.found);
        let undo = Undo {
            args: self,
            job: &job,
            dry_run,
        };
        if dry_run != DryRun::None {
            let (_, failures) = undo.all(found, &mut form).await;
            return failures.finish();
        }
        let objects: Vec<Found> = found.iter().flatten().cloned().collect();
        let after = self.after.prepare(self.common.site(&job), &objects).await?;
        let (undone, failures) = undo.all(found, &mut form).await;
        after.follow(undone, failures, interrupts).await
    }
}

/// What was done with one object.
struct Undone {
    /// What kubectl's line says; `None` where the user did not agree.
    operation: Option<String>,
    /// The object, where it has the template that was asked for.
    edited: Option<Edited>,
}

impl Undone {
    /// Only said.
    fn said(operation: String) -> Self {
        Self {
            operation: Some(operation),
            edited: None,
        }
    }

    /// The object has the template already.
    fn skipped(object: &Found, revision: i64) -> Self {
        Self {
            operation: Some(format!(
                "skipped rollback (current template already matches revision {revision})"
            )),
            edited: Some(Edited::unchanged(object)),
        }
    }

    /// The object was changed.
    fn rolled_back(edited: Edited) -> Self {
        Self {
            operation: Some("rolled back".to_owned()),
            edited: Some(edited),
        }
    }

    /// The user did not agree.
    const REFUSED: Self = Self {
        operation: None,
        edited: None,
    };
}

impl Undo<'_> {
    /// Undoes one after the other. Returns those that have the template that was asked for, and what went wrong.
    async fn all(
        &self,
        found: Vec<anyhow::Result<Found>>,
        form: &mut Form,
    ) -> (Vec<Edited>, Failures) {
        let mut failures = Failures::default();
        let mut done = Vec::new();
        for found in found {
            let undone = match found {
                Ok(object) => self
                    .object(&object, form)
                    .await
                    .map_err(|error| object.failure(error)),
                Err(error) => Err(error),
            };
            match undone {
                Ok(edited) => done.extend(edited),
                Err(error) => failures.push(error),
            }
        }
        (done, failures)
    }

    /// Undoes one, and prints it as it was read: kubectl does the same.
    async fn object(&self, object: &Found, form: &mut Form) -> anyhow::Result<Option<Edited>> {
        let is_deployment = object.resource.kind == "Deployment";
        if !is_deployment && !has_controller_revisions(object) {
            return Err(unsupported("rollbacker", "rollbacker", object).into());
        }
        self.warn_about_apply(object);
        let undone = if is_deployment {
            deployment::undo(self, object).await?
        } else {
            recorded::undo(self, object).await?
        };
        if let Some(operation) = undone.operation {
            let operation = format!("{operation}{}", dry_run::suffix(self.dry_run));
            form.print(&self.job.printer, object, &operation)?;
        }
        Ok(undone.edited)
    }

    fn writing(&self) -> Writing<'_> {
        Writing {
            field_manager: None,
            dry_run: self.dry_run,
        }
    }

    fn warn_about_apply(&self, object: &Found) {
        if object.json["metadata"]["annotations"][LAST_APPLIED].is_string() {
            self.job.printer.talk(format!(
                "Warning: resource {}/{} was previously managed with 'kubectl apply'. Rolling back will not update the \
                 {LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. \
                 Consider using 'kubectl apply' with your previous configuration file instead.",
                object.resource.plural,
                object.full_name(),
            ));
        }
    }

    /// Shows what would change, if that is wanted, and asks, if that is; whether to go on.
    async fn agreed(&self, object: &Found, target: &Value, name: &str) -> anyhow::Result<bool> {
        let printer = &self.job.printer;
        if self.args.diff || self.args.confirm {
            let current = &object.json["spec"]["template"];
            printer.talk_lines(&diff::templates(
                (current, "now"),
                (target, name),
                manifest::to_yaml,
            ));
        }
        if !self.args.confirm || self.dry_run != DryRun::None {
            return Ok(true);
        }
        let question = format!("Roll back {} to {name}? [y]es, [n]o: ", object.line_name());
        let printer = printer.clone();
        // Ctrl-C must be heard while the terminal is read.
        let asking = tokio::task::spawn_blocking(move || {
            prompt::confirm(&printer, &question, &mut io::stdin().lock())
        });
        Ok(asking.await??)
    }

    fn description(template: &Value) -> String {
        pod_template(template)
    }
}

/// kubectl's words for a revision that is not there.
fn not_found(revision: i64) -> Failure {
    Failure::error(format!(
        "unable to find specified revision {revision} in history"
    ))
}
