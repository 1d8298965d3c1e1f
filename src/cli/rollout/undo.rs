//! `rollout undo` (rollout-commands section 4).

mod deployment;
mod recorded;

use std::io::{self, IsTerminal as _};

use clap::{ArgAction, Args};
use serde_json::Value;

use super::revisions::{has_controller_revisions, unsupported};
use super::{Common, Job};
use crate::cli::after::AfterFlags;
use crate::cli::dry_run::{self, DryRunFlag};
use crate::cli::edit::Writing;
use crate::cli::failures::Failures;
use crate::cli::go_flags;
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
#[derive(Debug, Args)]
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
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        hide_default_value = true,
        value_parser = go_flags::parse_bool,
        action = ArgAction::Set
    )]
    diff: bool,
    /// Show what changes and ask before each
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        hide_default_value = true,
        value_parser = go_flags::parse_bool,
        action = ArgAction::Set
    )]
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
  kubectl rs rollout undo deploy/web --to-revision=3";

/// What is being undone, and how.
struct Undo<'a> {
    args: &'a UndoArgs,
    job: &'a Job,
    dry_run: DryRun,
}

impl UndoArgs {
    pub(super) async fn run(&self, kube: &KubeFlags, verbose: bool) -> anyhow::Result<ExitCode> {
        let mut form = self.print.form()?;
        let dry_run = self.dry_run.mode(&self.common.view.printer(verbose))?;
        if self.confirm && !io::stdin().is_terminal() {
            return Err(
                Failure::usage("--confirm asks, and there is no terminal to ask on").into(),
            );
        }
        let mut job = self.common.job(kube, verbose).await?;
        if let Some(code) = job.ends_empty() {
            return Ok(code);
        }
        let found = std::mem::take(&mut job.found);
        let undo = Undo {
            args: self,
            job: &job,
            dry_run,
        };
        let mut failures = Failures::default();
        let mut done = Vec::new();
        for found in found {
            let undone = match found {
                Ok(object) => {
                    let undone = undo.object(&object, &mut form).await;
                    undone.map(|()| done.push(object))
                }
                Err(error) => Err(error),
            };
            if let Err(error) = undone {
                failures.push(error);
            }
        }
        if dry_run == DryRun::None {
            let (cluster, printer) = (&job.cluster, &job.printer);
            let after = &self.after;
            after.follow(cluster, &done, printer, &mut failures).await;
        }
        failures.finish()
    }
}

impl Undo<'_> {
    async fn object(&self, object: &Found, form: &mut Form) -> anyhow::Result<()> {
        if object.resource.kind == "Deployment" {
            self.warn_about_apply(object);
            let operation = deployment::undo(self, object).await?;
            self.print(object, form, operation)
        } else if has_controller_revisions(object) {
            self.warn_about_apply(object);
            let operation = recorded::undo(self, object).await?;
            self.print(object, form, operation)
        } else {
            Err(unsupported("rollbacker", "rollbacker", object).into())
        }
    }

    /// Prints the object as it was read: kubectl does the same.
    fn print(
        &self,
        object: &Found,
        form: &mut Form,
        operation: Option<String>,
    ) -> anyhow::Result<()> {
        match operation {
            Some(operation) => {
                let operation = format!("{operation}{}", dry_run::suffix(self.dry_run));
                form.print(&self.job.printer, object, &operation)
            }
            None => Ok(()),
        }
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
                object.name(),
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

fn skipped(revision: i64) -> String {
    format!("skipped rollback (current template already matches revision {revision})")
}
