//! The reason behind each step, and behind each step that is not taken: the numbers, in words.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

use super::plural::{agree, count};

/// Why a step is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "code",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
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
    /// None of the object's owners is there any more.
    OwnerGone {
        /// One of them.
        owner: String,
    },
    /// The object's owner goes when it has no dependents left.
    OwnerWaits {
        /// The owner.
        owner: String,
    },
    /// The object's owner is deleted without its dependents.
    OwnerOrphans {
        /// The owner.
        owner: String,
    },
    /// The dependents are nobody's now.
    DependentsReleased,
    /// The dependents are gone.
    DependentsGone,
    /// An event tells what another step did.
    Tells,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewTemplate { max_total, .. } => write!(
                f,
                "new template: at most {} in total",
                count(*max_total, "pod")
            ),
            Self::SurgeRoom { total, max_total } => write!(
                f,
                "surge room {}: total {total} of at most {max_total}",
                i64::from(*max_total) - i64::from(*total)
            ),
            Self::AboveDesired { desired } => write!(f, "more than the {desired} wanted"),
            Self::UnhealthyOld { unavailable, limit } => write!(
                f,
                "{} {} not available, up to {limit} may go",
                count(*unavailable, "old pod"),
                agree(*unavailable, "is", "are")
            ),
            Self::AvailabilityRoom {
                available,
                min_available,
            } => write!(
                f,
                "availability room {}: available {available}, at least {min_available} must stay",
                i64::from(*available) - i64::from(*min_available)
            ),
            Self::RecreateDown => f.write_str("Recreate: old pods go before new ones start"),
            Self::RecreateUp => f.write_str("Recreate: old pods are gone"),
            Self::Scaled { desired } => write!(f, "scaled to {desired}"),
            Self::Saturated => f.write_str("the new ReplicaSet is complete"),
            Self::Proportional { total, allowed } => write!(
                f,
                "scaled in mid-rollout: each takes its share of {total} to {allowed}"
            ),
            Self::FollowDeployment => {
                f.write_str("annotations or minReadySeconds follow the Deployment")
            }
            Self::StatusChanged => f.write_str("status is out of date"),
            Self::Revision { revision } => write!(f, "revision is {revision}"),
            Self::OrphanMatches => f.write_str("orphan matches the selector"),
            Self::SelectorMismatch => f.write_str("the selector matches it no longer"),
            Self::HistoryLimit { limit, count: old } => write!(
                f,
                "{}, {limit} {} kept",
                count(*old, "old ReplicaSet"),
                agree(*limit, "is", "are")
            ),
            Self::RollbackAnnotation { revision: 0 } => {
                f.write_str("rollback to the last revision asked for")
            }
            Self::RollbackAnnotation { revision } => {
                write!(f, "rollback to revision {revision} asked for")
            }
            Self::HashCollision => f.write_str("the name for this template is taken: hash again"),
            Self::TooFewPods { active, desired } => {
                write!(f, "{active} of {}", count(*desired, "pod"))
            }
            Self::TooManyPods { active, desired } => {
                write!(f, "{}, {desired} wanted", count(*active, "pod"))
            }
            Self::OwnerGone { owner }
            | Self::OwnerWaits { owner }
            | Self::OwnerOrphans { owner } => self.fmt_owner(owner, f),
            Self::DependentsReleased => f.write_str("no dependents are left to it"),
            Self::DependentsGone => f.write_str("its dependents are gone"),
            Self::Tells => f.write_str("tells what was done"),
        }
    }
}

impl Why {
    /// How the owner stands on whose account something is done.
    fn fmt_owner(&self, owner: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self {
            Self::OwnerWaits { .. } => "being deleted, dependents first",
            Self::OwnerOrphans { .. } => "being deleted without its dependents",
            _ => "gone",
        };
        write!(f, "{owner} is {how}")
    }
}

/// What a Deployment or ReplicaSet waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "code",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
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
    /// A ReplicaSet's pods are not ready yet, those just created among them.
    Pods {
        /// How many are not ready.
        unready: i32,
        /// How many are wanted.
        replicas: i32,
    },
    /// A ReplicaSet's earlier creations and deletions have not all been seen.
    UnseenWrites,
    /// Pods failed right after they were created; the next are created later.
    FailingPods {
        /// How many have failed.
        failed: i32,
        /// Until the next are created, in seconds.
        next_in_seconds: u64,
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
    /// Whoever is to act has not looked at the newest change for a while.
    Unobserved {
        /// Its generation.
        generation: i64,
    },
    /// A write was refused.
    Refused {
        /// The API server's words.
        message: String,
    },
}

impl fmt::Display for WaitingOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked { .. } => self.fmt_blocked(f),
            Self::NewPods {
                unavailable,
                replicas,
            } => {
                if unavailable < replicas {
                    write!(f, "{unavailable} of ")?;
                }
                write!(f, "{} to become available", count(*replicas, "new pod"))
            }
            Self::Pods { unready, replicas } => {
                if unready < replicas {
                    write!(f, "{unready} of ")?;
                }
                write!(f, "{} to become ready", count(*replicas, "pod"))
            }
            Self::UnseenWrites => f.write_str("earlier creations and deletions to be seen"),
            Self::FailingPods {
                failed,
                next_in_seconds,
            } => write!(
                f,
                "{next_in_seconds}s more before pods are created again: {} failed right after creation",
                count(*failed, "pod")
            ),
            Self::OldPods { count: old } => write!(f, "{} to go", count(*old, "old pod")),
            Self::MinReadySeconds {
                pods,
                next_in_seconds,
            } => write!(
                f,
                "{} to stay ready{} for {next_in_seconds}s more",
                count(*pods, "ready pod"),
                agree(*pods, "", ", the next")
            ),
            Self::Paused { held_back: true } => {
                f.write_str("paused, a template change is held back")
            }
            Self::Paused { held_back: false } => f.write_str("paused"),
            Self::Terminating { count: pods } => {
                write!(f, "{} to shut down", count(*pods, "pod"))
            }
            Self::ReplicaFailure { message } | Self::Refused { message } => f.write_str(message),
            Self::Deleting => f.write_str("being deleted"),
            Self::DeadlineExceeded => f.write_str("progress deadline passed"),
            Self::Unobserved { generation } => write!(f, "generation {generation} to be seen"),
        }
    }
}

impl WaitingOn {
    /// The arithmetic of a blocked rolling update. Pods that died, or a change of scale, can put the numbers beyond
    /// the bounds: the signs say so.
    fn fmt_blocked(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Blocked {
            total,
            desired,
            max_surge,
            available,
            max_unavailable,
            new_unavailable,
        } = self
        else {
            return Ok(());
        };
        write!(
            f,
            "total {total} {} {desired} + maxSurge {max_surge}, \
             available {available} {} {desired} − maxUnavailable {max_unavailable}: neither side may move",
            sign(*total, desired.saturating_add(*max_surge)),
            sign(*available, desired.saturating_sub(*max_unavailable)),
        )?;
        match new_unavailable {
            ..=0 => Ok(()),
            1 => f.write_str(" until 1 new pod is ready"),
            many => write!(f, " until 1 of {many} new pods is ready"),
        }
    }
}

fn sign(left: i32, right: i32) -> char {
    match left.cmp(&right) {
        Ordering::Less => '<',
        Ordering::Equal => '=',
        Ordering::Greater => '>',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked(total: i32, available: i32, new_unavailable: i32) -> String {
        WaitingOn::Blocked {
            total,
            desired: 5,
            max_surge: 1,
            available,
            max_unavailable: 1,
            new_unavailable,
        }
        .to_string()
    }

    #[test]
    fn blocked_shows_the_arithmetic() {
        assert_eq!(
            blocked(6, 4, 2),
            "total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: \
             neither side may move until 1 of 2 new pods is ready"
        );
        assert_eq!(
            blocked(7, 3, 1),
            "total 7 > 5 + maxSurge 1, available 3 < 5 − maxUnavailable 1: \
             neither side may move until 1 new pod is ready"
        );
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        let cases = [
            (
                WaitingOn::NewPods {
                    unavailable: 1,
                    replicas: 1,
                },
                "1 new pod to become available",
            ),
            (
                WaitingOn::NewPods {
                    unavailable: 1,
                    replicas: 3,
                },
                "1 of 3 new pods to become available",
            ),
            (WaitingOn::OldPods { count: 1 }, "1 old pod to go"),
            (
                WaitingOn::MinReadySeconds {
                    pods: 1,
                    next_in_seconds: 7,
                },
                "1 ready pod to stay ready for 7s more",
            ),
            (
                WaitingOn::MinReadySeconds {
                    pods: 2,
                    next_in_seconds: 7,
                },
                "2 ready pods to stay ready, the next for 7s more",
            ),
            (WaitingOn::Terminating { count: 2 }, "2 pods to shut down"),
        ];
        for (waiting, text) in cases {
            assert_eq!(waiting.to_string(), text);
        }
        let cases = [
            (
                Why::UnhealthyOld {
                    unavailable: 1,
                    limit: 2,
                },
                "1 old pod is not available, up to 2 may go",
            ),
            (
                Why::HistoryLimit { limit: 1, count: 2 },
                "2 old ReplicaSets, 1 is kept",
            ),
            (
                Why::TooFewPods {
                    active: 0,
                    desired: 1,
                },
                "0 of 1 pod",
            ),
            (
                Why::TooManyPods {
                    active: 1,
                    desired: 0,
                },
                "1 pod, 0 wanted",
            ),
        ];
        for (why, text) in cases {
            assert_eq!(why.to_string(), text);
        }
    }
}
