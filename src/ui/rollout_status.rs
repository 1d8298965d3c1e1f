//! What `kubectl rollout status` says about a Deployment (rollout-commands section 2.1), word for word.

use std::num::{IntErrorKind, ParseIntError};

use crate::controller::api::Deployment;
use crate::controller::condition::get_condition;
use crate::controller::keys;

/// One look at a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutStatus {
    /// The line, without its end.
    pub message: String,
    /// Whether the rollout is done, so that there is nothing to wait for.
    pub done: bool,
}

/// Why waiting makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The revision annotation is no number.
    #[error(
        "cannot get the revision of deployment {name:?}: strconv.ParseInt: parsing {text:?}: {cause}"
    )]
    UnreadableRevision {
        /// The Deployment's name.
        name: String,
        /// The annotation.
        text: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// Another revision than the one asked for is rolled out.
    #[error("desired revision ({wanted}) is different from the running revision ({running})")]
    OtherRevision {
        /// The one asked for.
        wanted: i64,
        /// The Deployment's.
        running: i64,
    },
    /// The controller has given up hope.
    #[error("deployment {name:?} exceeded its progress deadline")]
    DeadlineExceeded {
        /// The Deployment's name.
        name: String,
    },
}

/// Looks at a Deployment once. With a `revision` above 0, only that one will do.
///
/// # Errors
/// When the rollout can't succeed any more, or is not the one asked for.
pub fn rollout_status(
    deployment: &Deployment,
    revision: i64,
) -> Result<RolloutStatus, StatusError> {
    let name = &deployment.meta.name;
    if revision > 0 {
        check_revision(deployment, revision)?;
    }
    let status = &deployment.status;
    if deployment.meta.generation > status.observed_generation {
        return Ok(waiting(
            "Waiting for deployment spec update to be observed...".to_owned(),
        ));
    }
    let progressing = get_condition(&status.conditions, keys::PROGRESSING);
    if progressing.is_some_and(|condition| condition.reason == keys::PROGRESS_DEADLINE_EXCEEDED) {
        return Err(StatusError::DeadlineExceeded { name: name.clone() });
    }
    let (wanted, updated) = (deployment.spec.replicas, status.updated_replicas);
    let (replicas, available) = (status.replicas, status.available_replicas);
    let missing = if updated < wanted {
        format!("{updated} out of {wanted} new replicas have been updated")
    } else if replicas > updated {
        format!(
            "{} old replicas are pending termination",
            replicas - updated
        )
    } else if available < updated {
        format!("{available} of {updated} updated replicas are available")
    } else {
        return Ok(RolloutStatus {
            message: format!("deployment {name:?} successfully rolled out"),
            done: true,
        });
    };
    Ok(waiting(format!(
        "Waiting for deployment {name:?} rollout to finish: {missing}..."
    )))
}

fn waiting(message: String) -> RolloutStatus {
    RolloutStatus {
        message,
        done: false,
    }
}

fn check_revision(deployment: &Deployment, wanted: i64) -> Result<(), StatusError> {
    let running = match deployment.meta.annotation(keys::REVISION) {
        None => 0,
        Some(text) => text.parse().map_err(|error: ParseIntError| {
            let out_of_range = matches!(
                error.kind(),
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow
            );
            StatusError::UnreadableRevision {
                name: deployment.meta.name.clone(),
                text: text.to_owned(),
                cause: if out_of_range {
                    "value out of range"
                } else {
                    "invalid syntax"
                },
            }
        })?,
    };
    if running == wanted {
        Ok(())
    } else {
        Err(StatusError::OtherRevision { wanted, running })
    }
}
