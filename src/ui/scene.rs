//! Deployments, steps and events for the tests of this module.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::controller::action::{
    Action, Applied, EventType, Kind, NewPod, NewReplicaSet, Outcome, Refusal, RefusalReason, Step,
    Target,
};
use crate::controller::api::{ObjectKey, OwnerReference};
use crate::controller::deployment::overview::{Overview, RevisionOverview};
use crate::controller::keys;
use crate::controller::template::Template;
use crate::controller::why::{WaitingOn, Why};
use crate::engine::event::{End, EngineEvent, Happening};

pub(super) const OLD: &str = "web-6d4b";
pub(super) const NEW: &str = "web-7f9c";

pub(super) fn second(second: i64) -> Timestamp {
    let start: Timestamp = "2026-03-01T10:00:00Z".parse().expect("a timestamp");
    start + SignedDuration::from_secs(second)
}

pub(super) fn event(at: i64, what: Happening) -> EngineEvent {
    event_of("web", at, what)
}

pub(super) fn event_of(name: &str, at: i64, what: Happening) -> EngineEvent {
    EngineEvent {
        at: second(at),
        kind: Kind::Deployment,
        key: ObjectKey::new("default", name),
        what,
    }
}

/// A Deployment of 5 with maxSurge 1 and maxUnavailable 1. Each revision is its number, the pods it should have, has,
/// ready and available; the first one is the new one.
pub(super) fn overview(revisions: &[(i64, [i32; 4])]) -> Overview {
    let sum = |count: fn(&[i32; 4]) -> i32| {
        let counts = revisions.iter().map(|(_, counts)| count(counts));
        counts.fold(0, i32::saturating_add)
    };
    let newest = revisions.first().map(|(number, _)| *number);
    let complete = revisions
        .iter()
        .all(|(number, counts)| *counts == [if Some(*number) == newest { 5 } else { 0 }; 4]);
    Overview {
        key: ObjectKey::new("default", "web"),
        strategy: keys::ROLLING_UPDATE.to_owned(),
        desired: 5,
        max_surge: 1,
        max_unavailable: 1,
        total: sum(|counts| counts[0]),
        current: sum(|counts| counts[1]),
        available: sum(|counts| counts[3]),
        terminating: 0,
        paused: false,
        complete,
        deadline: None,
        conditions: Vec::new(),
        revisions: revisions
            .iter()
            .map(|(number, counts)| revision(*number, Some(*number) == newest, *counts))
            .collect(),
    }
}

fn revision(number: i64, new: bool, counts: [i32; 4]) -> RevisionOverview {
    let [desired, current, ready, available] = counts;
    let tag = 24 + number;
    RevisionOverview {
        revision: Some(number),
        replica_set: if number == 1 { OLD } else { NEW }.to_owned(),
        new,
        images: vec![format!("registry.example.com/shop/web:1.{tag}")],
        desired,
        current,
        ready,
        available,
        reused_from: Vec::new(),
        created: Some(second(-3600)),
    }
}

/// The article's Deployment: blocked with 4 old pods and 2 new ones that never become ready.
pub(super) fn rolling() -> Overview {
    overview(&[(2, [2, 2, 0, 0]), (1, [4, 4, 4, 4])])
}

pub(super) fn blocked() -> WaitingOn {
    WaitingOn::Blocked {
        total: 6,
        desired: 5,
        max_surge: 1,
        available: 4,
        max_unavailable: 1,
        new_unavailable: 2,
    }
}

pub(super) fn target(kind: Kind, name: &str) -> Target {
    Target {
        kind,
        key: ObjectKey::new("default", name),
        uid: format!("uid-of-{name}"),
        resource_version: "1".to_owned(),
    }
}

pub(super) fn step(action: Action, why: Why) -> Step {
    Step {
        action,
        why,
        batch: 1,
    }
}

pub(super) fn create(replicas: i32) -> Step {
    step(
        Action::CreateReplicaSet(Box::new(NewReplicaSet {
            key: ObjectKey::new("default", NEW),
            labels: BTreeMap::new(),
            annotations: BTreeMap::from([(keys::REVISION.to_owned(), "2".to_owned())]),
            owner: OwnerReference::default(),
            replicas,
            min_ready_seconds: 0,
            selector: LabelSelector::default(),
            template: Template::default(),
        })),
        Why::NewTemplate {
            revision: 2,
            replicas,
            max_total: 6,
        },
    )
}

pub(super) fn scale(replica_set: &str, from: i32, to: i32) -> Step {
    step(
        Action::ScaleReplicaSet {
            target: target(Kind::ReplicaSet, replica_set),
            from,
            to,
            annotations: BTreeMap::new(),
        },
        if to > from {
            Why::SurgeRoom {
                total: 5,
                max_total: 6,
            }
        } else {
            Why::AvailabilityRoom {
                available: 5,
                min_available: 4,
            }
        },
    )
}

pub(super) fn create_pod(replica_set: &str) -> Step {
    step(
        Action::CreatePod {
            replica_set: target(Kind::ReplicaSet, replica_set),
            pod: Arc::new(NewPod {
                namespace: "default".to_owned(),
                generate_name: format!("{replica_set}-"),
                labels: BTreeMap::new(),
                annotations: BTreeMap::new(),
                finalizers: Vec::new(),
                owner: OwnerReference::default(),
                spec: Value::Null,
            }),
        },
        Why::TooFewPods {
            active: 0,
            desired: 2,
        },
    )
}

pub(super) fn delete_pod(name: &str) -> Step {
    step(
        Action::DeletePod {
            target: target(Kind::Pod, name),
        },
        Why::TooManyPods {
            active: 5,
            desired: 4,
        },
    )
}

pub(super) fn update_status() -> Step {
    step(
        Action::UpdateDeploymentStatus {
            target: target(Kind::Deployment, "web"),
            status: Box::default(),
            annotations: BTreeMap::new(),
        },
        Why::StatusChanged,
    )
}

pub(super) fn tell() -> Step {
    step(
        Action::RecordEvent {
            regarding: target(Kind::ReplicaSet, NEW),
            type_: EventType::Normal,
            reason: "SuccessfulCreate",
            message: format!("Created pod: {NEW}-x2"),
        },
        Why::Tells,
    )
}

pub(super) fn applied(step: Step) -> Happening {
    Happening::Stepped {
        step: Box::new(step),
        outcome: Outcome::Applied(Applied::default()),
        dry_run: false,
    }
}

pub(super) fn refused(step: Step, reason: RefusalReason, message: &str) -> Happening {
    Happening::Stepped {
        step: Box::new(step),
        outcome: Outcome::Refused(Refusal {
            reason,
            message: message.to_owned(),
        }),
        dry_run: false,
    }
}

pub(super) fn observed(overview: Overview) -> Happening {
    Happening::Observed(Arc::new(overview))
}

pub(super) fn ended(at: i64, end: End) -> EngineEvent {
    event(at, Happening::Ended(end))
}

/// The article's rollout, from the change of image to the point where neither side can move.
pub(super) fn stuck_rollout() -> Vec<EngineEvent> {
    [
        (0, observed(overview(&[(1, [5, 5, 5, 5])]))),
        (0, applied(create(1))),
        (0, applied(tell())),
        (0, applied(scale(OLD, 5, 4))),
        (0, applied(scale(NEW, 1, 2))),
        (0, applied(update_status())),
        (
            1,
            observed(overview(&[(2, [2, 0, 0, 0]), (1, [4, 5, 5, 5])])),
        ),
        (1, applied(create_pod(NEW))),
        (1, applied(tell())),
        (1, applied(create_pod(NEW))),
        (1, applied(tell())),
        (2, applied(delete_pod("web-6d4b-x9"))),
        (2, observed(rolling())),
        (3, Happening::Waiting(vec![blocked()])),
    ]
    .map(|(at, what)| event(at, what))
    .into()
}
