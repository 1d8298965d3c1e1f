//! What a diagnosis sees.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::api::{Autoscaler, Event, Node, Pod, Quota};
use crate::controller::api::{Deployment, ReplicaSet};

/// A Deployment at an instant, with whatever of its surroundings could be read.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The instant, by the cluster's clock as far as possible.
    pub now: Timestamp,
    /// The Deployment.
    pub deployment: Arc<Deployment>,
    /// ReplicaSets of its namespace that are its own or nobody's, in the order of names.
    pub replica_sets: Vec<Arc<ReplicaSet>>,
    /// Pods that those ReplicaSets control.
    pub pods: Vec<Arc<Pod>>,
    /// Events about any of these.
    pub events: Vec<Arc<Event>>,
    /// The rest of the cluster.
    pub surroundings: Surroundings,
    /// The newest change of the Deployment's spec, where that is known.
    pub last_change: Option<Change>,
    /// Whether a controller acts, as far as is known.
    pub controller: Presence,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// What surrounds a rollout. Empty lists may mean that there is nothing or that nobody looked.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Quotas of the namespace.
    pub quotas: Vec<Arc<Quota>>,
    /// Nodes.
    pub nodes: Vec<Arc<Node>>,
    /// Autoscalers of the namespace.
    pub autoscalers: Vec<Arc<Autoscaler>>,
    /// Other Deployments of the namespace.
    pub neighbours: Vec<Arc<Deployment>>,
    /// Whether the namespace is being deleted.
    pub is_namespace_terminating: bool,
}

/// A change of a Deployment's spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The field manager that wrote it.
    pub manager: String,
    /// When.
    pub at: Timestamp,
}

/// Whether a controller acts on the Deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// It can't be told, or has not been looked for.
    #[default]
    Unknown,
    /// One does: the cluster's, or this tool.
    Acting,
    /// None does: the cluster's was last heard of then.
    Missing(Timestamp),
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The resource, in the plural.
    pub resource: String,
    /// The server's words.
    pub why: String,
}

impl Snapshot {
    /// The events about an object.
    pub(super) fn events_about<'a>(
        &'a self,
        kind: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Event> {
        self.events
            .iter()
            .map(AsRef::as_ref)
            .filter(move |event| event.involved.kind == kind && event.involved.name == name)
    }

    /// How long ago `since` was; nothing when the cluster's clock is ahead.
    pub(super) fn age(&self, since: Timestamp) -> Duration {
        let age = self.now.duration_since(since).max(SignedDuration::ZERO);
        age.unsigned_abs()
    }

    /// Whether `since` lies a limit or longer ago.
    pub(super) fn is_overdue(&self, limit: Option<Duration>, since: Option<Timestamp>) -> bool {
        limit
            .zip(since)
            .is_some_and(|(limit, since)| self.age(since) >= limit)
    }
}
