//! `rollout status` (rollout-commands section 2).

use clap::{ArgAction, Args};

use super::Common;
use crate::cli::go_flags::{self, Timeout};
use crate::cli::kube_flags::KubeFlags;
use crate::cli::viewer::Viewer;
use crate::error::{ExitCode, Failure};

/// Show how a rollout is getting on
///
/// Prints kubectl's lines until the rollout is done: one for each change of the object. For pods, causes and revisions,
/// see 'kubectl rs status'.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    common: Common,
    /// Wait until the rollout is done
    #[arg(
        short = 'w',
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "true",
        default_missing_value = "true",
        value_parser = go_flags::parse_bool,
        action = ArgAction::Set
    )]
    watch: bool,
    /// Only this revision will do; 0: whichever is there
    #[arg(long, value_name = "N", default_value = "0", value_parser = go_flags::parse_int, allow_hyphen_values = true)]
    revision: i64,
    /// Give up on an object after this long, such as 90s or 10m; 0: never
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = go_flags::parse_timeout, allow_hyphen_values = true)]
    timeout: Timeout,
}

const EXAMPLES: &str = "\
Examples:
  # Wait until a rollout is done
  kubectl rs rollout status --embedded=examples/web.yaml deploy/web

  # Only look
  kubectl rs rollout status --embedded=examples/web.yaml deploy/web --watch=false";

impl StatusArgs {
    pub(super) async fn run(&self, kube: &KubeFlags, verbose: bool) -> anyhow::Result<ExitCode> {
        must_be_positive(self.revision)?;
        let mut job = self.common.job(kube, verbose).await?;
        if let Some(code) = job.ends_empty() {
            return Ok(code);
        }
        let (objects, mut failures) = job.take();
        for object in &objects {
            let viewer = Viewer {
                object,
                revision: self.revision,
                say: &|line| Ok(job.printer.data(line)?),
            };
            let result = if self.watch {
                viewer.follow(&job.cluster.client, self.timeout).await
            } else {
                viewer.look(&object.json).map(|_| ())
            };
            if let Err(error) = result {
                failures.push(error);
            }
        }
        failures.finish()
    }
}

/// `--revision` of `status` and `history`.
///
/// # Errors
/// A negative number, in kubectl's words.
pub(super) fn must_be_positive(revision: i64) -> Result<(), Failure> {
    if revision < 0 {
        return Err(Failure::usage(format!(
            "revision must be a positive integer: {revision}"
        )));
    }
    Ok(())
}
