//! What must hold for every plan, whatever the snapshot: checked by the engine in debug builds and by the tests.
//!
//! The checkers know the rules, not the algorithms: they look at what the steps come to, for the answers given so far;
//! steps without an answer count as done. Where upstream itself breaks a bound, the exact limits are at the checker.

mod deployment;
mod replica_set;

use super::action::{Action, Kind, Outcome, Target};
use super::api::ObjectMeta;
use super::plan::{Outcomes, Plan};

pub use self::deployment::check_deployment;
pub use self::replica_set::check_replica_set;

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(String);

/// Ends a checker unless a rule holds.
macro_rules! ensure {
    ($holds:expr, $($broken:tt)+) => {
        if !$holds {
            return Err($crate::controller::invariants::Violation(format!($($broken)+)));
        }
    };
}
use ensure;

/// The steps' actions, each with whether it was done.
fn actions<'a>(plan: &'a Plan, answers: &'a Outcomes) -> impl Iterator<Item = (&'a Action, bool)> {
    plan.steps.iter().enumerate().map(|(index, step)| {
        let refused = matches!(answers.get(index), Some(Outcome::Refused(_)));
        (&step.action, !refused)
    })
}

/// A step must aim at the very object that the snapshot shows.
fn check_target(target: &Target, kind: Kind, meta: Option<&ObjectMeta>) -> Result<(), Violation> {
    let expected = meta.map(|meta| Target::new(kind, meta));
    ensure!(
        expected.as_ref() == Some(target),
        "{} {} is not the one in the snapshot: {target:?}, {expected:?}",
        target.kind,
        target.key
    );
    Ok(())
}

/// Whether the object's controller is the one with this UID.
fn is_controlled_by(meta: &ObjectMeta, uid: &str) -> bool {
    meta.controller().is_some_and(|owner| owner.uid == uid)
}

#[cfg(test)]
mod tests;
