//! What the engine tells whoever watches: typed, in order. Printers consume it; the engine prints nothing.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use crate::controller::action::{Kind, Outcome, Refusal, Step};
use crate::controller::api::ObjectKey;
use crate::controller::deployment::overview::Overview;
use crate::controller::why::WaitingOn;

/// Something that happened to one selected Deployment or ReplicaSet.
#[derive(Clone, Debug)]
pub struct EngineEvent {
    /// When it happened.
    pub at: Timestamp,
    /// Whether `key` names a Deployment or a ReplicaSet without an owner.
    pub kind: Kind,
    /// The Deployment (or the ReplicaSet without an owner) it belongs to.
    pub key: ObjectKey,
    /// What happened.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Happening {
    /// How the Deployment stands now, with bounds and revisions. Sent whenever it differs from what was sent last.
    Observed(Arc<Overview>),
    /// A step was sent and answered.
    Stepped {
        /// The step.
        step: Box<Step>,
        /// The answer.
        outcome: Outcome,
        /// Whether it was only a dry run.
        dry_run: bool,
    },
    /// Nothing can be done until the world changes. Sent whenever the list differs from what was sent last.
    Waiting(Vec<WaitingOn>),
    /// A pass failed and is tried again.
    Retrying {
        /// Why, one line.
        error: String,
        /// Whether somebody else had only written first: nothing is wrong, and it is tried at once.
        routine: bool,
    },
    /// The rollout ended.
    Ended(End),
}

/// How a followed rollout ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All replicas are updated and available, and no old pod is left.
    Complete,
    /// At rest, with work left that needs the world to change (one-shot).
    AtRest,
    /// It can't go on.
    Failed {
        /// The condition's reason.
        reason: String,
        /// One sentence.
        message: String,
    },
    /// The stage of `--until` is reached.
    StageReached {
        /// New pods available.
        available: i32,
        /// New pods asked for.
        stage: i32,
    },
    /// A write that it needs was refused, and trying again did not help.
    Refused {
        /// The server's words.
        message: String,
    },
    /// Paused.
    Paused,
    /// Gone.
    Deleted,
}

/// A step that was planned and not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The step.
    pub step: Step,
    /// Why it was refused; `None`: it was not tried.
    pub refusal: Option<Refusal>,
}
