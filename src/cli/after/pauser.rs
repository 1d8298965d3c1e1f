//! Pauses Deployments at the moment they have reached their stage.

use std::collections::BTreeSet;
use std::io;
use std::pin::pin;

use serde_json::json;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::cli::cluster::Cluster;
use crate::cli::edit::{Change, Writing};
use crate::cli::objects;
use crate::cli::resource::Resource;
use crate::cli::wait::{Pins, Stop};
use crate::controller::api::{Deployment, ObjectKey};
use crate::controller::deployment::is_complete;
use crate::engine::error::EngineError;
use crate::engine::event::{End, EngineEvent, Happening};
use crate::engine::options::DryRun;
use crate::engine::request::FIELD_MANAGER;
use crate::engine::run::{Engine, Summary};

/// Hears which Deployments have reached their stage.
pub(super) struct Ear(UnboundedSender<ObjectKey>);

impl Ear {
    /// Hears one event.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "listeners of other commands write, and that may fail"
    )]
    pub(super) fn hear(&self, event: &EngineEvent) -> io::Result<()> {
        if let Happening::Ended(End::StageReached { .. }) = event.what {
            // Once nobody pauses any more, the run is over.
            let _ = self.0.send(event.key.clone());
        }
        Ok(())
    }
}

/// Pauses what has reached its stage, beside the engine.
pub(super) struct Pauser<'a> {
    cluster: &'a Cluster,
    pins: &'a Pins,
    reached: UnboundedReceiver<ObjectKey>,
    /// Which were paused.
    pub(super) paused: BTreeSet<ObjectKey>,
    /// Why others were not.
    pub(super) refused: Vec<anyhow::Error>,
}

impl<'a> Pauser<'a> {
    /// One for these rollouts, and the ear that listens to the engine for it.
    pub(super) fn new(cluster: &'a Cluster, pins: &'a Pins) -> (Ear, Self) {
        let (tell, reached) = unbounded_channel();
        let pauser = Self {
            cluster,
            pins,
            reached,
            paused: BTreeSet::new(),
            refused: Vec::new(),
        };
        (Ear(tell), pauser)
    }

    /// Runs the engine. A Deployment that can't be paused ends the run: going on would be what nobody wanted.
    ///
    /// # Errors
    /// The engine's.
    pub(super) async fn act(&mut self, engine: Engine, stop: Stop) -> Result<Summary, EngineError> {
        let given_up = Notify::new();
        let mut run = pin!(engine.run(async {
            tokio::select! {
                () = stop => {}
                () = given_up.notified() => {}
            }
        }));
        loop {
            tokio::select! {
                summary = &mut run => return summary,
                Some(key) = self.reached.recv() => match self.pause(&key).await {
                    Ok(true) => {
                        self.paused.insert(key);
                    }
                    Ok(false) => {}
                    Err(error) => {
                        let what = format!("deployment/{} could not be paused at its stage", key.name);
                        self.refused.push(error.context(what));
                        given_up.notify_one();
                    }
                },
            }
        }
    }

    /// Pauses one, unless it is about another rollout by now, or complete; whether it did.
    async fn pause(&self, key: &ObjectKey) -> anyhow::Result<bool> {
        let client = &self.cluster.client;
        let resource = Resource::parse("deployments")?;
        let found = objects::get(client, resource, &key.namespace, &key.name).await?;
        let writing = Writing {
            field_manager: Some(FIELD_MANAGER),
            dry_run: DryRun::None,
        };
        let edited = writing
            .edit(client, &found, |object| {
                let deployment = Deployment::from_json(&object.json)?;
                let is_ours = self.pins.get(key).is_none_or(|pin| pin.holds(&deployment));
                let is_open =
                    !deployment.spec.paused && !is_complete(&deployment, &deployment.status);
                let patch = || Change::Strategic(json!({"spec": {"paused": true}}));
                Ok((is_ours && is_open).then(patch))
            })
            .await?;
        Ok(edited.is_some())
    }
}
