//! What time it is, for the shell: the engine and the embedded cluster read it here.
//!
//! A clock runs with tokio's timer, so pausing tokio's time makes the whole program virtual: a ten-minute
//! rollout takes as long as its computation does. The pure parts take an instant as an argument instead.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// A wall clock that advances with tokio's time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base: Timestamp,
    origin: Instant,
}

impl Clock {
    /// A clock that shows `base` now.
    pub fn starting_at(base: Timestamp) -> Self {
        Self {
            base,
            origin: Instant::now(),
        }
    }

    /// The machine's clock.
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that reads the machine's clock"
    )]
    pub fn system() -> Self {
        Self::starting_at(Timestamp::now())
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        let elapsed =
            SignedDuration::try_from(self.origin.elapsed()).unwrap_or(SignedDuration::MAX);
        self.base.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
    }
}
