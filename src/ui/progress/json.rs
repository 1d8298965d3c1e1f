//! Progress for programs: one JSON object for each event (`-o jsonl`).
//!
//! The schema is public and versioned; `docs/output.md` documents it. Within a version fields are added, never renamed
//! or removed. Steps are told in a few facts, never with the pod template and whatever secrets it holds.

use std::fmt::Display;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Serialize;

use super::board::Track;
use crate::controller::action::{Action, EventType, Kind, Outcome, RefusalReason, Step, Target};
use crate::controller::api::ObjectKey;
use crate::controller::deployment::overview::Overview;
use crate::controller::why::{WaitingOn, Why};
use crate::engine::event::{End, EngineEvent, Happening};
use crate::ui::step::{Naming, Revisions, Weight, Words, weight};

/// The schema's version.
const API_VERSION: &str = "kubectl-rs/v1";

/// One line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record<'a> {
    api_version: &'static str,
    kind: &'static str,
    time: Time,
    object: Object<'a>,
    #[serde(flatten)]
    details: Details<'a>,
}

#[derive(Serialize)]
struct Object<'a> {
    kind: Kind,
    #[serde(flatten)]
    key: &'a ObjectKey,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Details<'a> {
    Overview {
        overview: &'a Overview,
        max_total: i32,
        min_available: i32,
    },
    Step {
        action: Box<Facts<'a>>,
        why: Sentence<'a, Why>,
        text: String,
        bookkeeping: bool,
        dry_run: bool,
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        refusal: Option<Refused<'a>>,
    },
    Waiting {
        waiting: Vec<Sentence<'a, WaitingOn>>,
    },
    Retry {
        error: &'a str,
    },
    End(Ended<'a>),
}

/// A reason's code and numbers, and the sentence they make.
#[derive(Serialize)]
struct Sentence<'a, T> {
    #[serde(flatten)]
    numbers: &'a T,
    text: String,
}

#[derive(Serialize)]
struct Refused<'a> {
    reason: &'static str,
    message: &'a str,
}

/// The verb, the object, and what else the verb needs to be understood.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    verb: &'static str,
    kind: Kind,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    replica_set: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Event<'a>>,
}

#[derive(Serialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    type_: EventType,
    reason: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "camelCase")]
enum Ended<'a> {
    Complete,
    AtRest,
    Failed { reason: &'a str, message: &'a str },
    StageReached { available: i32, stage: i32 },
    Refused { message: &'a str },
    Paused,
    Deleted,
}

impl<'a> Record<'a> {
    /// The record of `event`; `track` is the object's state after it.
    pub(super) fn of(event: &'a EngineEvent, track: &'a Track) -> Self {
        let (kind, details) = match &event.what {
            Happening::Observed(overview) => (
                "Overview",
                Details::Overview {
                    max_total: overview.max_total(),
                    min_available: overview.min_available(),
                    overview,
                },
            ),
            Happening::Stepped {
                step,
                outcome,
                dry_run,
            } => ("Step", stepped(step, outcome, *dry_run, &track.revisions)),
            Happening::Waiting(waiting) => (
                "Waiting",
                Details::Waiting {
                    waiting: waiting.iter().map(Sentence::of).collect(),
                },
            ),
            Happening::Retrying { error, .. } => ("Retry", Details::Retry { error }),
            Happening::Ended(end) => ("End", Details::End(Ended::of(end))),
        };
        Self {
            api_version: API_VERSION,
            kind,
            time: Time(event.at),
            object: Object {
                kind: event.kind,
                key: &event.key,
            },
            details,
        }
    }
}

impl<'a, T: Display> Sentence<'a, T> {
    fn of(numbers: &'a T) -> Self {
        Self {
            numbers,
            text: numbers.to_string(),
        }
    }
}

impl<'a> Ended<'a> {
    fn of(end: &'a End) -> Self {
        match end {
            End::Complete => Self::Complete,
            End::AtRest => Self::AtRest,
            End::Failed { reason, message } => Self::Failed { reason, message },
            End::StageReached { available, stage } => Self::StageReached {
                available: *available,
                stage: *stage,
            },
            End::Refused { message } => Self::Refused { message },
            End::Paused => Self::Paused,
            End::Deleted => Self::Deleted,
        }
    }
}

fn stepped<'a>(
    step: &'a Step,
    outcome: &'a Outcome,
    dry_run: bool,
    revisions: &Revisions,
) -> Details<'a> {
    let mut facts = Facts::of(&step.action, revisions);
    let (outcome, refusal) = match outcome {
        Outcome::Applied(applied) => {
            // The server chooses the names of pods.
            if facts.name.is_empty() {
                facts.name = &applied.name;
            }
            ("applied", None)
        }
        Outcome::Refused(refusal) => (
            "refused",
            Some(Refused {
                reason: word(refusal.reason),
                message: &refusal.message,
            }),
        ),
    };
    Details::Step {
        action: Box::new(facts),
        why: Sentence::of(&step.why),
        text: Words::new(&step.action, revisions, Naming::Full).to_do(),
        bookkeeping: weight(&step.action) == Weight::Bookkeeping,
        dry_run,
        outcome,
        refusal,
    }
}

impl<'a> Facts<'a> {
    fn of(action: &'a Action, revisions: &Revisions) -> Self {
        match action {
            Action::CreateReplicaSet(new) => Self {
                replicas: Some(new.replicas),
                ..Self::named("create", Kind::ReplicaSet, &new.key.name).of_revision(revisions)
            },
            Action::ScaleReplicaSet {
                target, from, to, ..
            } => Self {
                from: Some(*from),
                to: Some(*to),
                ..Self::new("scale", target).of_revision(revisions)
            },
            Action::UpdateReplicaSet { target, .. } => {
                Self::new("update", target).of_revision(revisions)
            }
            Action::DeleteReplicaSet { target } => {
                Self::new("delete", target).of_revision(revisions)
            }
            Action::AdoptReplicaSet { target, .. } => {
                Self::new("adopt", target).of_revision(revisions)
            }
            Action::ReleaseReplicaSet { target, .. } => {
                Self::new("release", target).of_revision(revisions)
            }
            Action::UpdateReplicaSetStatus { target, .. } => {
                Self::new("updateStatus", target).of_revision(revisions)
            }
            Action::UpdateDeployment {
                target,
                template: Some(_),
                ..
            } => Self::new("rollBack", target),
            Action::UpdateDeployment { target, .. } => Self::new("update", target),
            Action::UpdateDeploymentStatus { target, .. } => Self::new("updateStatus", target),
            Action::CreatePod { replica_set, .. } => Self {
                replica_set: Some(&replica_set.key.name),
                revision: revisions.of(&replica_set.key.name),
                ..Self::named("create", Kind::Pod, "")
            },
            Action::DeletePod { target } => Self::new("delete", target),
            Action::AdoptPod { target, .. } => Self::new("adopt", target),
            Action::ReleasePod { target, .. } => Self::new("release", target),
            Action::Collect { target, .. } => Self::new("delete", target).of_revision(revisions),
            Action::Disown { target, .. } => Self::new("release", target).of_revision(revisions),
            Action::Unblock { target, .. } => Self::new("unblock", target).of_revision(revisions),
            Action::RemoveFinalizer { target, .. } => {
                Self::new("removeFinalizer", target).of_revision(revisions)
            }
            Action::RecordEvent {
                regarding,
                type_,
                reason,
                message,
            } => Self {
                event: Some(Event {
                    type_: *type_,
                    reason,
                    message,
                }),
                ..Self::new("recordEvent", regarding)
            },
        }
    }

    fn new(verb: &'static str, target: &'a Target) -> Self {
        Self::named(verb, target.kind, &target.key.name)
    }

    fn named(verb: &'static str, kind: Kind, name: &'a str) -> Self {
        Self {
            verb,
            kind,
            name,
            replica_set: None,
            revision: None,
            replicas: None,
            from: None,
            to: None,
            event: None,
        }
    }

    fn of_revision(mut self, revisions: &Revisions) -> Self {
        self.revision = revisions.of(self.name);
        self
    }
}

/// The API's word where it has one.
fn word(reason: RefusalReason) -> &'static str {
    match reason {
        RefusalReason::NotFound => "NotFound",
        RefusalReason::AlreadyExists => "AlreadyExists",
        RefusalReason::Conflict => "Conflict",
        RefusalReason::Invalid => "Invalid",
        RefusalReason::NamespaceTerminating => "NamespaceTerminating",
        RefusalReason::Forbidden => "Forbidden",
        RefusalReason::Timeout => "Timeout",
        RefusalReason::Busy => "Busy",
        RefusalReason::Other => "Other",
    }
}
