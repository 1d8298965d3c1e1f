//! `rollout status` (rollout-commands section 2).

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use tokio::time::{Instant, sleep};

use super::Common;
use crate::cli::go_flags::{self, Timeout};
use crate::cli::kube_flags::KubeFlags;
use crate::cli::viewer::Viewer;
use crate::controller::api::OBSERVED_WITHIN;
use crate::error::{ExitCode, Failure};
use crate::ui::printer::Printer;
use crate::ui::rollout_status::UNOBSERVED;

/// Show how a rollout is getting on
///
/// Prints kubectl's lines until the rollout is done: one for each change of the object. For pods, causes and revisions,
/// see 'kubectl rs status'.
#[derive(Debug, Args)]
#[command(mut_arg("watch", go_flags::boolean))]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    common: Common,
    /// Wait until the rollout is done
    #[arg(short = 'w', long, default_value = "true")]
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
            let unobserved = Unobserved::default();
            let viewer = Viewer {
                object,
                revision: self.revision,
                say: &|line| {
                    unobserved.note(&line);
                    Ok(job.printer.data(object.line(&line))?)
                },
            };
            let result = if self.watch {
                tokio::select! {
                    result = viewer.follow(&job.cluster.client, self.timeout) => result,
                    never = unobserved.warn(&job.printer) => match never {},
                }
            } else {
                viewer.look(&object.json).map(|_| ())
            };
            if let Err(error) = result {
                failures.push(object.failure(error));
            }
        }
        failures.finish()
    }
}

/// How often is looked whether one waits.
const TICK: Duration = Duration::from_secs(1);

/// Since when a change waits for a controller to look at it.
#[derive(Default)]
struct Unobserved(Mutex<Option<Instant>>);

impl Unobserved {
    /// Takes note of a line that is about to be printed.
    fn note(&self, line: &str) {
        let mut since = self.since();
        *since = (line == UNOBSERVED).then(|| since.unwrap_or_else(Instant::now));
    }

    /// Says, once a change has waited for long, that there may be no controller.
    async fn warn(&self, printer: &Printer) -> Infallible {
        loop {
            let since = *self.since();
            if since.is_some_and(|since| since.elapsed() >= OBSERVED_WITHIN) {
                printer.warning(
                    "no controller has looked at the change for 10s: is kube-controller-manager running? 'kubectl rs \
                     sync' acts from here",
                );
                return std::future::pending().await;
            }
            sleep(TICK).await;
        }
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::printer::Level;
    use crate::ui::printer::capture::captured;

    /// What is said on stderr while lines come at these seconds, a minute in all.
    async fn said(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
        let (printer, capture) = captured(Level::Default);
        let unobserved = Unobserved::default();
        let began = Instant::now();
        let mut said = Vec::new();
        let watch = async {
            for second in 0..60 {
                for (_, line) in lines.iter().filter(|(at, _)| *at == second) {
                    unobserved.note(line);
                }
                sleep(TICK).await;
                let text = capture.err();
                if !text.is_empty() && said.is_empty() {
                    said.push((began.elapsed().as_secs(), text));
                }
            }
        };
        tokio::select! {
            () = watch => {}
            never = unobserved.warn(&printer) => match never {},
        }
        let before = said.first().map_or(0, |(_, text)| text.len());
        assert_eq!(capture.err().len(), before, "it is said once");
        said
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_that_nobody_looks_at_for_ten_seconds_is_told_of_once() {
        let rolling = "Waiting for deployment \"web\" rollout to finish: 0 of 1 updated replicas are available...";
        assert_eq!(said(&[(0, rolling)]).await, []);
        assert_eq!(said(&[(0, UNOBSERVED), (9, rolling)]).await, []);
        for lines in [&[(5, UNOBSERVED)][..], &[(5, UNOBSERVED), (12, UNOBSERVED)]] {
            let [(at, warning)] = &said(lines).await[..] else {
                panic!("{lines:?}: nothing is said");
            };
            assert!((15..=17).contains(at), "{lines:?}: after {at}s");
            assert!(warning.starts_with("warning: no controller has looked at the change for 10s"));
            assert!(warning.contains("'kubectl rs sync' acts from here"));
        }
    }
}
