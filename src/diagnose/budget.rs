//! How much a cause that may heal is let pass before it ends the rollout (`--fail-after`).

use std::time::Duration;

/// Limits by kind of cause. `None`: no limit but the progress deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Ends of a container, start errors and kills by probes included. A command that can't have run, or that ends
    /// well, gets no more than two.
    pub crashes: Option<u32>,
    /// Failed pulls of an image that does not exist or is not ours.
    pub pulls: Option<u32>,
    /// Pods that kubelets refused.
    pub rejections: Option<u32>,
    /// How long a registry may not answer.
    pub registry: Option<Duration>,
    /// How long containers, sandboxes and volumes may fail to come up.
    pub start: Option<Duration>,
    /// How long a pod may stay without a node.
    pub pending: Option<Duration>,
    /// How long somebody else is waited for, scheduling apart.
    pub waiting: Option<Duration>,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            crashes: Some(3),
            pulls: Some(2),
            rejections: Some(5),
            registry: Some(Duration::from_secs(300)),
            start: Some(Duration::from_secs(300)),
            pending: None,
            waiting: None,
        }
    }
}

impl Budgets {
    /// No limits at all: only the progress deadline ends a rollout.
    pub const NONE: Self = Self {
        crashes: None,
        pulls: None,
        rejections: None,
        registry: None,
        start: None,
        pending: None,
        waiting: None,
    };

    /// Whether nothing but the deadline may end a rollout.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// Whether a count has used up its limit.
pub(super) fn is_spent(limit: Option<u32>, count: i32) -> bool {
    limit.is_some_and(|limit| i64::from(count) >= i64::from(limit))
}
