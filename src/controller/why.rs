//! The reason behind each step, and behind each step that is not taken: the numbers, in words.

use std::fmt;

use serde::Serialize;

/// Why a step is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum Why {
    /// A template has no ReplicaSet yet.
    NewTemplate {
        /// The revision it gets.
        revision: i64,
        /// How many pods it starts with.
        replicas: i32,
        /// Total pods allowed.
        max_total: i32,
    },
    /// The new ReplicaSet grows within the surge.
    SurgeRoom {
        /// Total pods before.
        total: i32,
        /// Total pods allowed.
        max_total: i32,
    },
    /// The new ReplicaSet is brought down to what is wanted.
    AboveDesired {
        /// What is wanted.
        desired: i32,
    },
    /// Old pods that are not available go first: nobody misses them.
    UnhealthyOld {
        /// How many of this ReplicaSet are not available.
        unavailable: i32,
        /// How many may go in this pass.
        limit: i32,
    },
    /// Old pods go as far as availability allows.
    AvailabilityRoom {
        /// Available pods before.
        available: i32,
        /// How many must stay available.
        min_available: i32,
    },
    /// Recreate takes all old pods down before new ones start.
    RecreateDown,
    /// Recreate brings the new pods up once the old are gone.
    RecreateUp,
    /// The Deployment was scaled and one ReplicaSet takes it all.
    Scaled {
        /// What is wanted now.
        desired: i32,
    },
    /// The new ReplicaSet has everything, old ones are not needed.
    Saturated,
    /// Scaled in the middle of a rollout: each ReplicaSet takes its share.
    Proportional {
        /// Total pods before.
        total: i32,
        /// Total pods allowed.
        allowed: i32,
    },
    /// Annotations or minReadySeconds of the new ReplicaSet differ from the Deployment's.
    FollowDeployment,
    /// The status on the server is out of date.
    StatusChanged,
    /// The revision number moves with the status.
    Revision {
        /// The number.
        revision: String,
    },
    /// An orphan matches the selector.
    OrphanMatches,
    /// The selector matches it no longer.
    SelectorMismatch,
    /// The history keeps fewer ReplicaSets.
    HistoryLimit {
        /// The limit.
        limit: i32,
        /// How many there are.
        count: i32,
    },
    /// The rollback annotation asks for it.
    RollbackAnnotation {
        /// The revision asked for; 0: the last one.
        revision: i64,
    },
    /// The template's hash names a ReplicaSet that is not ours.
    HashCollision,
    /// Fewer pods than wanted.
    TooFewPods {
        /// Active pods.
        active: i32,
        /// Wanted pods.
        desired: i32,
    },
    /// More pods than wanted.
    TooManyPods {
        /// Active pods.
        active: i32,
        /// Wanted pods.
        desired: i32,
    },
    /// An event tells what another step did.
    Tells,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewTemplate {
                revision,
                replicas,
                max_total,
            } => {
                write!(
                    f,
                    "new template becomes revision {revision}: {replicas} of at most {max_total} in total"
                )
            }
            Self::SurgeRoom { total, max_total } => {
                write!(
                    f,
                    "surge room {}: total {total} of at most {max_total}",
                    max_total - total
                )
            }
            Self::AboveDesired { desired } => write!(f, "more than the {desired} wanted"),
            Self::UnhealthyOld { unavailable, limit } => {
                write!(f, "{unavailable} old not available, up to {limit} may go")
            }
            Self::AvailabilityRoom {
                available,
                min_available,
            } => write!(
                f,
                "availability room {}: available {available}, at least {min_available} must stay",
                available - min_available
            ),
            Self::RecreateDown => f.write_str("Recreate: old pods go before new ones start"),
            Self::RecreateUp => f.write_str("Recreate: old pods are gone"),
            Self::Scaled { desired } => write!(f, "scaled to {desired}"),
            Self::Saturated => f.write_str("the new ReplicaSet is complete"),
            Self::Proportional { total, allowed } => {
                write!(
                    f,
                    "scaled in mid-rollout: each takes its share of {total} to {allowed}"
                )
            }
            Self::FollowDeployment => {
                f.write_str("annotations or minReadySeconds follow the Deployment")
            }
            Self::StatusChanged => f.write_str("status is out of date"),
            Self::Revision { revision } => write!(f, "revision is {revision}"),
            Self::OrphanMatches => f.write_str("orphan matches the selector"),
            Self::SelectorMismatch => f.write_str("the selector matches it no longer"),
            Self::HistoryLimit { limit, count } => {
                write!(f, "{count} old ReplicaSets, {limit} are kept")
            }
            Self::RollbackAnnotation { revision: 0 } => {
                f.write_str("rollback to the last revision asked for")
            }
            Self::RollbackAnnotation { revision } => {
                write!(f, "rollback to revision {revision} asked for")
            }
            Self::HashCollision => f.write_str("the name for this template is taken: hash again"),
            Self::TooFewPods { active, desired } => write!(f, "{active} of {desired} pods"),
            Self::TooManyPods { active, desired } => write!(f, "{active} pods, {desired} wanted"),
            Self::Tells => f.write_str("tells what was done"),
        }
    }
}

/// What a Deployment or ReplicaSet waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum WaitingOn {
    /// Rolling update: neither side may move until new pods are available.
    Blocked {
        /// Total pods.
        total: i32,
        /// `spec.replicas`.
        desired: i32,
        /// Resolved maxSurge.
        max_surge: i32,
        /// Available pods.
        available: i32,
        /// Resolved maxUnavailable.
        max_unavailable: i32,
        /// New pods that are not available.
        new_unavailable: i32,
    },
    /// New pods are not available yet; more could be done on one side when they are.
    NewPods {
        /// How many are not available.
        unavailable: i32,
        /// How many there are.
        replicas: i32,
    },
    /// Old pods still run or shut down.
    OldPods {
        /// How many.
        count: i32,
    },
    /// Pods that wait out minReadySeconds.
    MinReadySeconds {
        /// How many.
        pods: i32,
        /// Until the next one counts, in seconds.
        next_in_seconds: u64,
    },
    /// Paused; `held_back` when the template differs from the newest ReplicaSet's.
    Paused {
        /// Whether a template change waits.
        held_back: bool,
    },
    /// Pods that are shutting down.
    Terminating {
        /// How many.
        count: i32,
    },
    /// A ReplicaSet can't create or delete pods.
    ReplicaFailure {
        /// The API server's words.
        message: String,
    },
    /// Being deleted.
    Deleting,
    /// The progress deadline has passed.
    DeadlineExceeded,
    /// A write was refused.
    Refused {
        /// The API server's words.
        message: String,
    },
}

impl fmt::Display for WaitingOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked {
                total,
                desired,
                max_surge,
                available,
                max_unavailable,
                new_unavailable,
            } => write!(
                f,
                "total {total} = {desired} + maxSurge {max_surge}, available {available} = {desired} − \
                 maxUnavailable {max_unavailable}: neither side may move until 1 of {new_unavailable} new pods is ready"
            ),
            Self::NewPods {
                unavailable,
                replicas,
            } => {
                write!(
                    f,
                    "{unavailable} of {replicas} new pods to become available"
                )
            }
            Self::OldPods { count } => write!(f, "{count} old pods to go"),
            Self::MinReadySeconds {
                pods,
                next_in_seconds,
            } => {
                write!(
                    f,
                    "{pods} ready pods to stay ready, the next for {next_in_seconds}s more"
                )
            }
            Self::Paused { held_back: true } => {
                f.write_str("paused, a template change is held back")
            }
            Self::Paused { held_back: false } => f.write_str("paused"),
            Self::Terminating { count } => write!(f, "{count} pods to shut down"),
            Self::ReplicaFailure { message } | Self::Refused { message } => f.write_str(message),
            Self::Deleting => f.write_str("being deleted"),
            Self::DeadlineExceeded => f.write_str("progress deadline passed"),
        }
    }
}
