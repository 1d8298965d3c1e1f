//! What a pass has left undone.

use crate::controller::action::{Outcome, Refusal, RefusalReason};
use crate::controller::plan::Plan;

use super::event::Left;

/// What is left of a plan after the answers so far. Bookkeeping counts only where it was refused, and what somebody else
/// has done already is not left.
pub(super) fn of(plan: &Plan, answers: &[Outcome]) -> Vec<Left> {
    let refusals = answers.iter().map(Some).chain(std::iter::repeat(None));
    let left = plan.steps.iter().zip(refusals);
    left.filter_map(|(step, answer)| match answer {
        Some(
            Outcome::Applied(_)
            | Outcome::Refused(Refusal {
                reason: RefusalReason::AlreadyExists | RefusalReason::NotFound,
                ..
            }),
        ) => None,
        Some(Outcome::Refused(refusal)) => Some(Left {
            step: step.clone(),
            refusal: Some(refusal.clone()),
        }),
        None if step.action.is_bookkeeping() => None,
        None => Some(Left {
            step: step.clone(),
            refusal: None,
        }),
    })
    .collect()
}
