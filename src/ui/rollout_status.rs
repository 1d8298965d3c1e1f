//! What `kubectl rollout status` says about an object (rollout-commands sections 2.1 and 2.3), word for word.

use std::num::{IntErrorKind, ParseIntError};

use serde_json::Value;

use crate::controller::api::Deployment;
use crate::controller::condition::get_condition;
use crate::controller::keys;

/// What is said of a Deployment whose newest change no controller has looked at.
pub const UNOBSERVED: &str = "Waiting for deployment spec update to be observed...";

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
    #[error("cannot get the revision of deployment {name:?}: {error}")]
    UnreadableRevision {
        /// The Deployment's name.
        name: String,
        /// What is wrong with it.
        error: String,
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
        return Ok(waiting(UNOBSERVED.to_owned()));
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
        return Ok(done(format!("deployment {name:?} successfully rolled out")));
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

/// A revision number as an annotation holds it.
///
/// # Errors
/// No number, in Go's words.
pub fn parse_revision(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error: ParseIntError| {
        let cause = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.ParseInt: parsing {text:?}: {cause}")
    })
}

fn check_revision(deployment: &Deployment, wanted: i64) -> Result<(), StatusError> {
    let running = match deployment.meta.annotation(keys::REVISION) {
        None => 0,
        Some(text) => parse_revision(text).map_err(|error| StatusError::UnreadableRevision {
            name: deployment.meta.name.clone(),
            error,
        })?,
    };
    if running == wanted {
        Ok(())
    } else {
        Err(StatusError::OtherRevision { wanted, running })
    }
}

/// Only one strategy has anything to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rollout status is only available for RollingUpdate strategy type")]
pub struct NotRolling;

/// Looks at a DaemonSet once (rollout-commands section 2.3).
///
/// # Errors
/// When its pods are replaced only as they are deleted.
pub fn daemon_set_status(daemon_set: &Value) -> Result<RolloutStatus, NotRolling> {
    let numbers = |field: &str| daemon_set["status"][field].as_i64().unwrap_or(0);
    let name = daemon_set["metadata"]["name"].as_str().unwrap_or_default();
    must_roll(daemon_set)?;
    if !is_observed(daemon_set) {
        return Ok(waiting(
            "Waiting for daemon set spec update to be observed...".to_owned(),
        ));
    }
    let wanted = numbers("desiredNumberScheduled");
    let (updated, available) = (
        numbers("updatedNumberScheduled"),
        numbers("numberAvailable"),
    );
    let missing = if updated < wanted {
        format!("{updated} out of {wanted} new pods have been updated")
    } else if available < wanted {
        format!("{available} of {wanted} updated pods are available")
    } else {
        return Ok(done(format!("daemon set {name:?} successfully rolled out")));
    };
    Ok(waiting(format!(
        "Waiting for daemon set {name:?} rollout to finish: {missing}..."
    )))
}

/// Looks at a StatefulSet once (rollout-commands section 2.3).
///
/// # Errors
/// When its pods are replaced only as they are deleted.
pub fn stateful_set_status(stateful_set: &Value) -> Result<RolloutStatus, NotRolling> {
    let status = &stateful_set["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let text = |field: &str| status[field].as_str().unwrap_or_default();
    must_roll(stateful_set)?;
    if number("observedGeneration") == 0 || !is_observed(stateful_set) {
        return Ok(waiting(
            "Waiting for statefulset spec update to be observed...".to_owned(),
        ));
    }
    let replicas = stateful_set["spec"]["replicas"].as_i64();
    let (ready, updated) = (number("readyReplicas"), number("updatedReplicas"));
    if let Some(replicas) = replicas.filter(|replicas| ready < *replicas) {
        let missing = replicas - ready;
        return Ok(waiting(format!(
            "Waiting for {missing} pods to be ready..."
        )));
    }
    let rolling = &stateful_set["spec"]["updateStrategy"]["rollingUpdate"];
    if rolling.is_object() {
        let wanted = replicas
            .zip(rolling["partition"].as_i64())
            .map(|(replicas, partition)| replicas - partition);
        return Ok(match wanted.filter(|wanted| updated < *wanted) {
            Some(wanted) => waiting(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {wanted} new pods have been updated..."
            )),
            None => done(format!(
                "partitioned roll out complete: {updated} new pods have been updated..."
            )),
        });
    }
    let (current, update) = (text("currentRevision"), text("updateRevision"));
    Ok(if update == current {
        let pods = number("currentReplicas");
        done(format!(
            "statefulset rolling update complete {pods} pods at revision {current}..."
        ))
    } else {
        waiting(format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {update}..."
        ))
    })
}

fn must_roll(object: &Value) -> Result<(), NotRolling> {
    match object["spec"]["updateStrategy"]["type"].as_str() {
        Some("RollingUpdate") => Ok(()),
        _ => Err(NotRolling),
    }
}

fn is_observed(object: &Value) -> bool {
    let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
    let observed = object["status"]["observedGeneration"].as_i64();
    generation <= observed.unwrap_or(0)
}

fn done(message: String) -> RolloutStatus {
    RolloutStatus {
        message,
        done: true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(status: Result<RolloutStatus, NotRolling>) -> String {
        match status {
            Ok(status) if status.done => format!("done: {}", status.message),
            Ok(status) => status.message,
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn stateful_sets_without_partition_compare_revisions() {
        let mut set = json!({
            "metadata": {"name": "db", "generation": 2},
            "spec": {"replicas": 3, "updateStrategy": {"type": "RollingUpdate"}},
            "status": {
                "observedGeneration": 2, "readyReplicas": 3, "updatedReplicas": 1, "currentReplicas": 2,
                "currentRevision": "db-1", "updateRevision": "db-2",
            },
        });
        assert_eq!(
            told(stateful_set_status(&set)),
            "waiting for statefulset rolling update to complete 1 pods at revision db-2..."
        );
        set["status"]["currentRevision"] = json!("db-2");
        set["status"]["currentReplicas"] = json!(3);
        assert_eq!(
            told(stateful_set_status(&set)),
            "done: statefulset rolling update complete 3 pods at revision db-2..."
        );
        set["status"]["observedGeneration"] = json!(0);
        assert_eq!(
            told(stateful_set_status(&set)),
            "Waiting for statefulset spec update to be observed..."
        );
    }

    #[test]
    fn daemon_sets_wait_for_updated_then_for_available_pods() {
        let mut set = json!({
            "metadata": {"name": "agent", "generation": 1},
            "spec": {"updateStrategy": {"type": "RollingUpdate"}},
            "status": {"observedGeneration": 1, "desiredNumberScheduled": 3, "updatedNumberScheduled": 1},
        });
        assert_eq!(
            told(daemon_set_status(&set)),
            "Waiting for daemon set \"agent\" rollout to finish: 1 out of 3 new pods have been updated..."
        );
        set["spec"]["updateStrategy"]["type"] = json!("OnDelete");
        assert_eq!(
            told(daemon_set_status(&set)),
            "error: rollout status is only available for RollingUpdate strategy type"
        );
    }
}
