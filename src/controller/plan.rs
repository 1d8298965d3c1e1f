//! The result of one reconcile: steps in order, how it ended, and what it waits for.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use super::action::{Action, Applied, Outcome, Refusal, RefusalReason, Step};
use super::deployment::FencepostError;
use super::why::{WaitingOn, Why};

/// What one pass over one object wants.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// How the pass ended.
    pub end: End,
    /// What keeps the object from going further, most telling first. Empty: nothing is left to do.
    pub waiting: Vec<WaitingOn>,
}

impl Plan {
    /// Whether the pass writes nothing but perhaps events.
    pub fn is_settled(&self) -> bool {
        self.end.is_done() && self.steps.iter().all(|step| step.action.is_event())
    }
}

/// How a pass ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// It went through.
    Done(Requeue),
    /// It was cut short; the key is retried with back-off unless the error says otherwise.
    Failed(SyncError),
}

impl End {
    /// Whether the pass went through.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// When to look again though nothing changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requeue {
    /// Only when something changes.
    #[default]
    No,
    /// After this long.
    After(Duration),
    /// Soon, through the rate limiter.
    RateLimited,
}

/// Why a pass was cut short.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SyncError {
    /// A write was refused.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// A selector can't be read.
    #[error("deployment {key} has invalid label selector: {cause}")]
    InvalidSelector {
        /// The Deployment.
        key: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A strategy that the controllers do not know.
    #[error("unexpected deployment strategy type: {0}")]
    UnexpectedStrategy(String),
    /// A strategy that says nothing about sizes.
    #[error("deployment type {0} isn't supported")]
    UnsupportedStrategy(String),
    /// A bound of the rolling update can't be read.
    #[error("{0}")]
    InvalidFencepost(#[from] FencepostError),
    /// Objects could not be claimed; all causes, one after the other.
    #[error("{}", several(.0))]
    Claim(Vec<String>),
    /// Pods can't be made from a template without labels.
    #[error("unable to create pods, no labels")]
    NoLabels,
    /// Pods could not be deleted.
    #[error("unable to delete pods: {0}")]
    DeletePods(Refusal),
    /// A ReplicaSet's name is taken by one that the snapshot does not show.
    #[error("replicaset.apps {name:?} not found")]
    NotInSnapshot {
        /// The name.
        name: String,
    },
}

/// One cause alone; several in brackets.
fn several(causes: &[String]) -> String {
    match causes {
        [cause] => cause.clone(),
        causes => format!("[{}]", causes.join(", ")),
    }
}

impl SyncError {
    /// Whether trying again can't help: the namespace is going away.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.reason == RefusalReason::NamespaceTerminating)
    }
}

/// What a fresh read of the owner says; asked for once before the first adoption of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LiveOwner {
    /// As in the snapshot.
    #[default]
    Unchanged,
    /// Made anew under the same name.
    Recreated {
        /// The UID it has now.
        uid: String,
    },
    /// Being deleted since then.
    Deleting {
        /// Since when.
        since: Timestamp,
    },
    /// The read failed.
    Unreadable(Refusal),
}

/// Collects a pass's steps and replays the answers that are already known.
///
/// A reconcile function is written as if it called the API. What it gets back is the recorded answer where the step
/// was already sent, and otherwise the assumption that it will succeed. So a pass whose step was refused is simply
/// planned again with the answers so far: its first steps come out the same, and it goes on from the refusal.
pub(crate) struct Recorder<'a> {
    answers: &'a [Outcome],
    steps: Vec<Step>,
    waiting: Vec<WaitingOn>,
    batch: u32,
}

/// The answers to the first steps of a pass, in their order.
pub type Outcomes = [Outcome];

impl<'a> Recorder<'a> {
    pub(crate) fn new(answers: &'a Outcomes) -> Self {
        Self {
            answers,
            steps: Vec::new(),
            waiting: Vec::new(),
            batch: 0,
        }
    }

    /// Adds a step of its own batch and returns its answer.
    pub(crate) fn perform(&mut self, action: Action, why: Why) -> Result<Applied, Refusal> {
        self.next_batch();
        self.perform_in_batch(action, why)
    }

    /// Starts a new batch.
    pub(crate) fn next_batch(&mut self) {
        self.batch += 1;
    }

    /// Adds a step to the present batch and returns its answer.
    pub(crate) fn perform_in_batch(
        &mut self,
        action: Action,
        why: Why,
    ) -> Result<Applied, Refusal> {
        let answer = self.answers.get(self.steps.len());
        self.steps.push(Step {
            action,
            why,
            batch: self.batch,
        });
        match answer {
            Some(Outcome::Refused(refusal)) => Err(refusal.clone()),
            Some(Outcome::Applied(applied)) => Ok(applied.clone()),
            None => Ok(Applied::default()),
        }
    }

    /// Notes what the pass waits for.
    pub(crate) fn wait_for(&mut self, what: WaitingOn) {
        if !self.waiting.contains(&what) {
            self.waiting.push(what);
        }
    }

    /// The finished plan.
    pub(crate) fn finish(self, end: Result<Requeue, SyncError>) -> Plan {
        let end = match end {
            Ok(requeue) => End::Done(requeue),
            Err(error) => End::Failed(error),
        };
        Plan {
            steps: self.steps,
            end,
            waiting: self.waiting,
        }
    }
}

/// A serialisable view of a plan, for `-o json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanView<'a> {
    /// The steps.
    pub steps: &'a [Step],
    /// What it waits for.
    pub waiting: &'a [WaitingOn],
}
