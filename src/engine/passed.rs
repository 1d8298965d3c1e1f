//! What comes of a pass.

use crate::controller::plan::Requeue;
use crate::controller::why::WaitingOn;

use super::apply::Effect;
use super::event::Left;
use super::queue::Again;

/// How a pass ended.
#[derive(Debug)]
pub enum PassEnd {
    /// There is no such object any more.
    Gone,
    /// It went through.
    Done {
        /// When to look again.
        requeue: Requeue,
        /// What it waits for.
        waiting: Vec<WaitingOn>,
        /// Whether something other than events was written, and made a difference.
        wrote: bool,
    },
    /// It was cut short and must be tried again.
    Retry {
        /// Why.
        error: String,
        /// What it waits for, where the core says so.
        waiting: Vec<WaitingOn>,
        /// When to try again.
        again: Again,
    },
    /// It was told to end before all was done.
    Interrupted,
    /// The person who was asked said stop.
    Stopped,
}

impl PassEnd {
    /// Cut short by an answer that says nothing about the rollout.
    pub(super) fn interrupted(error: &impl ToString, again: Again) -> Self {
        Self::Retry {
            error: error.to_string(),
            waiting: Vec::new(),
            again,
        }
    }
}

/// Which objects a pass wrote; they and their owners are looked at again.
pub type Touched = Vec<Effect>;

/// What came of a pass.
#[derive(Debug)]
pub struct Passed {
    /// How it ended.
    pub end: PassEnd,
    /// What it wrote.
    pub touched: Touched,
    /// What it had planned and did not do.
    pub left: Vec<Left>,
}

impl From<PassEnd> for Passed {
    fn from(end: PassEnd) -> Self {
        Self {
            end,
            touched: Vec::new(),
            left: Vec::new(),
        }
    }
}
