//! One pod under examination: what the looks at it share.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::api::{Event, Pod};
use super::budget::Budgets;
use super::snapshot::Snapshot;

/// A pod, and what surrounds it.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) budgets: &'a Budgets,
    pub(super) pod: &'a Pod,
}

impl<'a> Case<'a> {
    /// The newest event about the pod that `matches`.
    pub(super) fn newest_event(&self, matches: impl Fn(&Event) -> bool) -> Option<&'a Event> {
        self.snapshot
            .events_about("Pod", &self.pod.meta.name)
            .filter(|event| {
                let uid = &event.involved.uid;
                uid.is_empty() || *uid == self.pod.meta.uid || self.pod.meta.uid.is_empty()
            })
            .filter(|event| matches(event))
            .max_by_key(|event| event.last_seen)
    }

    /// The newest event with one of these reasons.
    pub(super) fn newest_of(&self, reasons: &[&str]) -> Option<&'a Event> {
        self.newest_event(|event| reasons.contains(&event.reason.as_str()))
    }

    /// When the pod got its node, else when it was made.
    pub(super) fn bound_at(&self) -> Option<Timestamp> {
        self.pod
            .condition("PodScheduled")
            .and_then(|condition| condition.last_transition_time.as_ref())
            .map(|time| time.0)
            .or(self.pod.meta.created())
    }

    /// How old the pod is.
    pub(super) fn age(&self) -> Duration {
        self.pod
            .meta
            .created()
            .map_or(Duration::ZERO, |created| self.snapshot.age(created))
    }
}

/// The text between `start` and the next `end` after it.
pub(super) fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inner, _)| inner)
}
