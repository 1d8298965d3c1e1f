//! `rollout status` (rollout-commands section 2).

use std::pin::pin;
use std::time::Duration;

use clap::{ArgAction, Args};
use futures::StreamExt as _;
use kube::Api;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::Value;

use super::Common;
use crate::cli::go_flags::{self, Timeout};
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::Found;
use crate::controller::api::Deployment;
use crate::error::{ExitCode, Failure};
use crate::ui::printer::Printer;
use crate::ui::rollout_status::{
    RolloutStatus, StatusError, daemon_set_status, rollout_status, stateful_set_status,
};

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
            let result = if self.watch && has_viewer(object) {
                let followed = self.follow(&job.cluster.client, object, &job.printer);
                within(self.timeout.0, followed).await
            } else {
                self.look(&object.json, object, &job.printer).map(|_| ())
            };
            if let Err(error) = result {
                failures.push(error);
            }
        }
        failures.finish()
    }

    /// Prints the line for one version of the object; whether the rollout is done.
    fn look(&self, json: &Value, object: &Found, printer: &Printer) -> anyhow::Result<bool> {
        let status = self.status(json, object)?;
        printer.data(status.message)?;
        Ok(status.done)
    }

    fn status(&self, json: &Value, object: &Found) -> Result<RolloutStatus, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::error(error.to_string());
        match object.resource.kind {
            "Deployment" => {
                let deployment = Deployment::from_json(json).map_err(|error| failed(&error))?;
                rollout_status(&deployment, self.revision).map_err(|error| {
                    let code = match error {
                        StatusError::DeadlineExceeded { .. } => ExitCode::RolloutFailed,
                        StatusError::OtherRevision { .. } => ExitCode::Overtaken,
                        StatusError::UnreadableRevision { .. } => ExitCode::Error,
                    };
                    Failure::new(code, error.to_string())
                })
            }
            "DaemonSet" => daemon_set_status(json).map_err(|error| failed(&error)),
            "StatefulSet" => stateful_set_status(json).map_err(|error| failed(&error)),
            _ => Err(Failure::error(format!(
                "no status viewer has been implemented for {}",
                object.resource.kind_with_group()
            ))),
        }
    }

    /// Looks at every version of the object until the rollout is done.
    async fn follow(
        &self,
        client: &kube::Client,
        object: &Found,
        printer: &Printer,
    ) -> anyhow::Result<()> {
        let mut versions = pin!(
            watcher(api(client, object), only(object))
                .default_backoff()
                .filter_map(|event| std::future::ready(version(event)))
        );
        let mut last = String::new();
        while let Some(next) = versions.next().await {
            let Some(seen) = next? else {
                return Err(Failure::error("object has been deleted").into());
            };
            // A list that became necessary may bring what is known already.
            let version = seen.metadata.resource_version.clone().unwrap_or_default();
            if version != last && self.look(&serde_json::to_value(&seen)?, object, printer)? {
                return Ok(());
            }
            last = version;
        }
        Ok(())
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

fn has_viewer(object: &Found) -> bool {
    matches!(
        object.resource.kind,
        "Deployment" | "DaemonSet" | "StatefulSet"
    )
}

fn api(client: &kube::Client, object: &Found) -> Api<DynamicObject> {
    let resource = object.resource;
    let kind = ApiResource {
        group: resource.group().to_owned(),
        version: resource.version().to_owned(),
        api_version: resource.api_version.to_owned(),
        kind: resource.kind.to_owned(),
        plural: resource.plural.to_owned(),
    };
    Api::namespaced_with(client.clone(), object.namespace(), &kind)
}

fn only(object: &Found) -> watcher::Config {
    watcher::Config::default().fields(&format!("metadata.name={}", object.name()))
}

type Version = Result<Option<DynamicObject>, kube::Error>;

/// What an event means: a version of the object, or `None` when it is gone. Errors that time may heal mean nothing.
fn version(event: watcher::Result<Event<DynamicObject>>) -> Option<Version> {
    match event {
        Ok(Event::Apply(object) | Event::InitApply(object)) => Some(Ok(Some(object))),
        Ok(Event::Delete(_)) => Some(Ok(None)),
        Err(watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error)) => {
            let is_final =
                matches!(&error, kube::Error::Api(status) if matches!(status.code, 400..=404));
            is_final.then_some(Err(error))
        }
        Ok(Event::Init | Event::InitDone) | Err(_) => None,
    }
}

/// # Errors
/// The time was up.
async fn within(
    limit: Option<Duration>,
    followed: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let Some(limit) = limit else {
        return followed.await;
    };
    tokio::time::timeout(limit, followed)
        .await
        .unwrap_or_else(|_| {
            Err(Failure::new(ExitCode::TimedOut, "timed out waiting for the condition").into())
        })
}
