//! `rollout history` (rollout-commands section 3).

mod diff;
mod wide;

use std::collections::BTreeMap;

use clap::Args;

use super::revisions::{
    DeploymentHistory, Revision, has_controller_revisions, revisions, unsupported,
};
use super::status::must_be_positive;
use super::{Common, Job};
use crate::cli::go_flags;
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::Found;
use crate::cli::print::{Form, PrintFlags};
use crate::controller::keys::{CHANGE_CAUSE, REVISION};
use crate::error::{ExitCode, Failure};
use crate::ui::describe::pod_template;
use crate::ui::history::{NO_HISTORY, listing};
use crate::ui::printer::Printer;
use crate::ui::rollout_status::parse_revision;

/// Show the revisions of a rollout
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HistoryArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    print: PrintFlags,
    /// Show this revision's pod template; 0: list all revisions
    #[arg(long, value_name = "N", default_value = "0", value_parser = go_flags::parse_int, allow_hyphen_values = true)]
    revision: i64,
    /// Show what differs between two revisions; without value: the last two
    #[arg(long, value_name = "A[..B]", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    diff: Option<diff::Range>,
}

const EXAMPLES: &str = "\
Examples:
  # The revisions of a Deployment
  kubectl rs rollout history --embedded=examples/web.yaml deploy/web

  # The pod template of one
  kubectl rs rollout history --embedded=examples/web.yaml deploy/web --revision=1

  # What the revisions are made of, and what differs between two
  kubectl rs rollout history --embedded=examples/web.yaml deploy/web -o wide
  kubectl rs rollout history deploy/web --diff=2..3";

impl HistoryArgs {
    pub(super) async fn run(&self, kube: &KubeFlags, verbose: bool) -> anyhow::Result<ExitCode> {
        let is_wide = self.print.output.as_deref() == Some("wide");
        let mut form = if is_wide {
            PrintFlags::default().form()?
        } else {
            self.print.form()?
        };
        must_be_positive(self.revision)?;
        let mut job = self.common.job(kube, verbose).await?;
        if let Some(code) = job.ends_empty() {
            return Ok(code);
        }
        let mut failures = crate::cli::failures::Failures::default();
        for found in std::mem::take(&mut job.found) {
            let shown = match found {
                Ok(object) if is_wide && object.resource.kind == "Deployment" => {
                    let shown = show_wide(&object, &job).await;
                    shown.map_err(|error| object.failure(error))
                }
                Ok(object) => {
                    let shown = self.show(&object, &job, &mut form).await;
                    shown.map_err(|error| object.failure(error))
                }
                Err(error) => Err(error),
            };
            if let Err(error) = shown {
                failures.push(error);
            }
        }
        failures.finish()
    }

    async fn show(&self, object: &Found, job: &Job, form: &mut Form) -> anyhow::Result<()> {
        let revisions = read(object, job).await?;
        if let Some(range) = self.diff {
            return Ok(job.printer.data_lines(&range.lines(&revisions)?)?);
        }
        if form.is_object() {
            return self.print_objects(&revisions, form, &job.printer);
        }
        let operation = self.operation(&revisions, object)?;
        form.print(&job.printer, object, &operation)
    }

    /// What kubectl's line says: all that follows the name.
    fn operation(
        &self,
        revisions: &BTreeMap<i64, Revision>,
        object: &Found,
    ) -> Result<String, Failure> {
        let heading = match self.revision {
            0 => String::new(),
            number => format!("with revision #{number}"),
        };
        let text = if revisions.is_empty() {
            NO_HISTORY.to_owned()
        } else if self.revision == 0 {
            let causes = revisions
                .iter()
                .map(|(number, revision)| (*number, revision.cause.clone()));
            listing(causes)
        } else {
            described(self.chosen(revisions)?, object)
        };
        Ok(format!("{heading}\n{text}"))
    }

    fn print_objects(
        &self,
        revisions: &BTreeMap<i64, Revision>,
        form: &mut Form,
        printer: &Printer,
    ) -> anyhow::Result<()> {
        if self.revision > 0 {
            return form.print(printer, &self.chosen(revisions)?.object, "");
        }
        for revision in revisions.values() {
            form.print(printer, &revision.object, "")?;
        }
        Ok(())
    }

    fn chosen<'a>(&self, revisions: &'a BTreeMap<i64, Revision>) -> Result<&'a Revision, Failure> {
        revisions.get(&self.revision).ok_or_else(|| {
            let failure = Failure::error("unable to find the specified revision");
            match &numbered(revisions.keys())[..] {
                "" => failure,
                numbers => failure.hint(numbers),
            }
        })
    }
}

async fn show_wide(object: &Found, job: &Job) -> anyhow::Result<()> {
    let history = DeploymentHistory::read(&job.cluster.client, object).await?;
    let (now, columns) = (job.cluster.clock.now(), job.printer.table_columns());
    job.printer.data(object.line_name())?;
    Ok(job
        .printer
        .data_lines(&wide::lines(&history, now, columns))?)
}

/// The template; a Deployment's with the cause among its annotations.
fn described(revision: &Revision, object: &Found) -> String {
    let mut template = revision.template.clone();
    if object.resource.kind == "Deployment" && !revision.cause.is_empty() {
        template["metadata"]["annotations"][CHANGE_CAUSE] = revision.cause.as_str().into();
    }
    pod_template(&template)
}

/// `there are revisions 1, 2 and 4`; empty where there is none.
pub(super) fn numbered<'a>(numbers: impl IntoIterator<Item = &'a i64>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(ToString::to_string).collect();
    match &numbers[..] {
        [] => String::new(),
        [one] => format!("there is revision {one}"),
        [most @ .., last] => format!("there are revisions {} and {last}", most.join(", ")),
    }
}

async fn read(object: &Found, job: &Job) -> anyhow::Result<BTreeMap<i64, Revision>> {
    let client = &job.cluster.client;
    if has_controller_revisions(object) {
        return revisions(client, object).await;
    }
    if object.resource.kind != "Deployment" {
        return Err(unsupported("history", "history viewer", object).into());
    }
    let history = DeploymentHistory::read(client, object).await?;
    for set in history.sets.iter().filter(|set| set.revision().is_none()) {
        let text = set.slim.meta.annotation(REVISION).unwrap_or_default();
        let error = parse_revision(text).err().unwrap_or_default();
        job.printer.warning(&format!(
            "unable to get revision from replicaset {} for deployment {} in namespace {}: {error}",
            set.full.name(),
            object.name(),
            object.namespace()
        ));
    }
    Ok(history.revisions())
}
