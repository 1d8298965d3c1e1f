//! Changes that nobody looks at, while it is somebody else's to act.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::controller::api::Deployment;

/// Since when the newest generation of Deployments has been waiting, by UID.
#[derive(Debug, Default)]
pub(super) struct Silences(HashMap<String, (i64, Instant)>);

impl Silences {
    /// How long a Deployment's newest generation has been waiting for somebody to look at it; `None`: somebody has.
    pub(super) fn look(&mut self, deployment: &Deployment, now: Instant) -> Option<Duration> {
        let meta = &deployment.meta;
        if deployment.is_observed() {
            self.0.remove(&meta.uid);
            return None;
        }
        let waiting = self.0.entry(meta.uid.clone());
        let (generation, since) = waiting.or_insert((meta.generation, now));
        if *generation != meta.generation {
            (*generation, *since) = (meta.generation, now);
        }
        Some(now.saturating_duration_since(*since))
    }
}
