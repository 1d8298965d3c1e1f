//! How a run changes when the right to act comes or goes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::stream::BoxStream;

use crate::engine::apply::Effect;
use crate::engine::error::EngineError;
use crate::engine::feed::{self, Feed};
use crate::engine::mandate::Standing;
use crate::engine::options::Goal;

use super::Engine;

impl Engine {
    /// The same, acting only as long as these say so.
    #[must_use]
    pub fn under(mut self, standings: BoxStream<'static, Standing>) -> Self {
        self.standings = standings;
        self
    }

    /// The same, writing nothing: the cluster's controllers act, and the run follows them to the end.
    #[must_use]
    pub fn following(mut self) -> Self {
        self.follow();
        self
    }

    fn follow(&mut self) {
        self.context.acting.store(false, Ordering::Relaxed);
        if self.options.goal == Goal::AtRest {
            self.options.goal = Goal::Complete;
        }
    }

    /// Takes in a change of standing. A one-shot run that has to follow from now on needs watches.
    pub(super) async fn stand(&mut self, standing: &Standing) -> Result<Option<Feed>, EngineError> {
        let was_one_shot = self.options.goal == Goal::AtRest;
        if *standing == Standing::Act {
            // Whoever acted meanwhile may have written more than the watches have shown.
            for effect in feed::list_once(&self.client, &self.options.scope).await? {
                self.absorb(effect);
            }
            self.context.acting.store(true, Ordering::Relaxed);
        } else {
            self.follow();
        }
        let feed = if was_one_shot && self.options.goal != Goal::AtRest {
            Some(self.open().await?)
        } else {
            None
        };
        self.look_at_all();
        Ok(feed)
    }

    /// Asks for a pass of everything in scope.
    fn look_at_all(&mut self) {
        let known: Vec<Effect> = {
            let store = self.context.store();
            let deployments = store.deployments.iter().map(Arc::clone);
            let sets = store.replica_sets.iter().map(Arc::clone);
            deployments
                .map(Effect::Deployment)
                .chain(sets.map(Effect::ReplicaSet))
                .collect()
        };
        for effect in &known {
            self.trigger(effect);
        }
    }
}
