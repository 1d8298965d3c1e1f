//! Looking at a rollout as `rollout status` does, once or until it is done (rollout-commands section 2).

use std::pin::pin;

use futures::StreamExt as _;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use serde_json::Value;

use super::go_flags::Timeout;
use super::objects::Found;
use crate::controller::api::Deployment;
use crate::error::{ExitCode, Failure};
use crate::ui::rollout_status::{
    RolloutStatus, StatusError, daemon_set_status, rollout_status, stateful_set_status,
};

/// Looks at one object.
pub(super) struct Viewer<'a> {
    /// As it was read.
    pub(super) object: &'a Found,
    /// The only revision that will do; 0: any.
    pub(super) revision: i64,
    /// Takes the lines.
    pub(super) say: &'a (dyn Fn(String) -> anyhow::Result<()> + Sync),
}

impl Viewer<'_> {
    /// Prints the line for one version of the object; whether the rollout is done.
    ///
    /// # Errors
    /// The rollout can't succeed any more, or the object has none.
    pub(super) fn look(&self, json: &Value) -> anyhow::Result<bool> {
        let status = self.status(json)?;
        (self.say)(status.message)?;
        Ok(status.done)
    }

    fn status(&self, json: &Value) -> Result<RolloutStatus, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::error(error.to_string());
        match self.object.resource.kind {
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
                self.object.resource.kind_with_group()
            ))),
        }
    }

    /// Looks at every version of the object until the rollout is done.
    ///
    /// # Errors
    /// As [`Viewer::look`]; the time was up; the object is gone; it may not be watched.
    pub(super) async fn follow(&self, client: &Client, limit: Timeout) -> anyhow::Result<()> {
        if !matches!(
            self.object.resource.kind,
            "Deployment" | "DaemonSet" | "StatefulSet"
        ) {
            return self.look(&self.object.json).map(|_| ());
        }
        let Some(limit) = limit.0 else {
            return self.until_done(client).await;
        };
        tokio::time::timeout(limit, self.until_done(client))
            .await
            .unwrap_or_else(|_| {
                Err(Failure::new(ExitCode::TimedOut, "timed out waiting for the condition").into())
            })
    }

    async fn until_done(&self, client: &Client) -> anyhow::Result<()> {
        let mut events =
            pin!(watcher(api(client, self.object), only(self.object)).default_backoff());
        let mut last = String::new();
        let mut is_there = false;
        while let Some(event) = events.next().await {
            let seen = match event {
                Ok(Event::Apply(object) | Event::InitApply(object)) => Some(object),
                Ok(Event::Delete(_)) => None,
                Ok(Event::InitDone) if !is_there => None,
                Ok(Event::Init) => {
                    is_there = false;
                    continue;
                }
                Ok(Event::InitDone) => continue,
                Err(error) => match lasting(error) {
                    Some(error) => return Err(error.into()),
                    None => continue,
                },
            };
            let Some(seen) = seen.filter(|seen| self.is_same(seen)) else {
                return Err(Failure::error("object has been deleted").into());
            };
            is_there = true;
            // A list that became necessary may bring what is known already.
            let version = seen.metadata.resource_version.clone().unwrap_or_default();
            if version != last && self.look(&serde_json::to_value(&seen)?)? {
                return Ok(());
            }
            last = version;
        }
        Ok(())
    }

    /// An object that was deleted and made anew, while nobody could look, is another one.
    fn is_same(&self, seen: &DynamicObject) -> bool {
        self.object.json["metadata"]["uid"].as_str() == seen.metadata.uid.as_deref()
    }
}

fn api(client: &Client, object: &Found) -> Api<DynamicObject> {
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

/// What time does not heal.
fn lasting(error: watcher::Error) -> Option<kube::Error> {
    match error {
        watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error) => {
            let is_final =
                matches!(&error, kube::Error::Api(status) if matches!(status.code, 400..=404));
            is_final.then_some(error)
        }
        _ => None,
    }
}
