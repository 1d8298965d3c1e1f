//! ReplicaSets without a Deployment, which have no rollout that could be followed: whether they are at rest the engine's
//! events say.

use std::collections::BTreeSet;

use tokio::sync::watch;

use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;
use crate::engine::event::{EngineEvent, Happening};
use crate::engine::options::{Scope, Which};

/// Hears which ReplicaSets are not at rest yet.
pub(in crate::cli) struct AloneEar(watch::Sender<BTreeSet<ObjectKey>>);

/// The ReplicaSets that are not at rest yet.
pub(in crate::cli) struct Alone(watch::Receiver<BTreeSet<ObjectKey>>);

impl AloneEar {
    /// Begins with those that were named; others are heard of.
    pub(in crate::cli) fn new(scope: &Scope) -> (Self, Alone) {
        let named = match &scope.which {
            Which::Named(items) => items
                .iter()
                .filter(|item| item.kind == Kind::ReplicaSet)
                .map(|item| item.key.clone())
                .collect(),
            Which::Matching { .. } => BTreeSet::new(),
        };
        let (tell, open) = watch::channel(named);
        (Self(tell), Alone(open))
    }

    /// Hears one event.
    pub(in crate::cli) fn hear(&self, event: &EngineEvent) {
        if event.kind != Kind::ReplicaSet {
            return;
        }
        let is_over = matches!(event.what, Happening::Ended(_));
        self.0.send_if_modified(|open| {
            if is_over {
                open.remove(&event.key)
            } else {
                open.insert(event.key.clone())
            }
        });
    }
}

impl Alone {
    /// None: all that is worked on has a rollout.
    pub(in crate::cli) fn none() -> Self {
        Self(watch::channel(BTreeSet::new()).1)
    }

    /// Waits until all are at rest, or nobody tells of them any more.
    pub(super) async fn at_rest(&mut self) {
        let _ = self.0.wait_for(BTreeSet::is_empty).await;
    }
}
