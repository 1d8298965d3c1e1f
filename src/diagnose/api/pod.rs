//! Pods, as far as they tell why they are not available.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::controller::api::{ConditionStatus, ObjectMeta, Phase, null_as_default};

use super::raw_pod::RawPod;

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "RawPod")]
pub struct Pod {
    /// Metadata.
    pub meta: ObjectMeta,
    /// The node it is bound to; empty while unscheduled.
    pub node_name: String,
    /// Who is to schedule it; empty where the object does not say.
    pub scheduler_name: String,
    /// The node that is being made free for it, or prepared.
    pub nominated_node: String,
    /// Names of the claims that its volumes use.
    pub claims: Vec<String>,
    /// Whether every regular container has a readiness probe.
    pub is_probed: bool,
    /// `status.phase`.
    pub phase: Phase,
    /// `status.reason`.
    pub reason: String,
    /// `status.message`.
    pub message: String,
    /// Conditions.
    pub conditions: Vec<PodCondition>,
    /// Init containers and sidecars, in the order of the spec.
    pub init: Vec<Container>,
    /// Regular containers.
    pub containers: Vec<Container>,
}

/// A condition of a pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    /// The type, such as `Ready`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The status.
    pub status: ConditionStatus,
    /// A word for machines.
    #[serde(deserialize_with = "null_as_default")]
    pub reason: String,
    /// A sentence for people.
    #[serde(deserialize_with = "null_as_default")]
    pub message: String,
    /// When the status last changed.
    pub last_transition_time: Option<Time>,
}

/// What the kubelet says about a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its image, as the template has it.
    pub image: String,
    /// Whether it goes on beside the regular ones (an init container with restartPolicy `Always`).
    pub is_sidecar: bool,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Whether it has passed its startup probe.
    pub is_started: bool,
    /// How often it was started again.
    pub restarts: i32,
    /// What it does.
    pub state: State,
    /// How the run before ended.
    pub last: Option<Terminated>,
}

/// What a container does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum State {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// It is to run.
    Waiting {
        /// A word for machines.
        reason: String,
        /// A sentence for people.
        message: String,
    },
    /// It runs.
    Running {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// It has ended.
    Terminated(Terminated),
}

/// How a run of a container ended.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terminated {
    /// The exit code; 137 and 143 are SIGKILL and SIGTERM.
    pub exit_code: i32,
    /// `Error`, `Completed`, `OOMKilled`, `StartError`, …
    #[serde(deserialize_with = "null_as_default")]
    pub reason: String,
    /// What it left in its termination log.
    #[serde(deserialize_with = "null_as_default")]
    pub message: String,
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub finished_at: Option<Time>,
}

impl Terminated {
    /// How long it ran, where both ends are known. Runs that never began are said to have begun in 1970.
    pub fn run_time(&self) -> Option<Duration> {
        let started = self.started_at.as_ref()?.0;
        let ran = self.finished_at.as_ref()?.0.duration_since(started);
        (started > Timestamp::UNIX_EPOCH)
            .then(|| Duration::try_from(ran).ok())
            .flatten()
    }
}

impl Container {
    /// How its latest run ended: the one that has just ended, else the one before.
    pub fn latest_end(&self) -> Option<&Terminated> {
        match &self.state {
            State::Terminated(end) => Some(end),
            _ => self.last.as_ref(),
        }
    }

    /// How often it has ended.
    pub fn exits(&self) -> i32 {
        match self.state {
            State::Terminated(_) => self.restarts.saturating_add(1),
            State::Waiting { .. } if self.last.is_some() => self.restarts.saturating_add(1),
            _ => self.restarts,
        }
    }

    /// Since when it runs, if it does.
    pub fn running_since(&self) -> Option<Timestamp> {
        match self.state {
            State::Running { since } => since,
            _ => None,
        }
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    /// The word and the sentence that it waits with.
    pub fn waiting(&self) -> Option<(&str, &str)> {
        match &self.state {
            State::Waiting { reason, message } => Some((reason, message)),
            _ => None,
        }
    }
}

impl Pod {
    /// One of its conditions.
    pub fn condition(&self, type_: &str) -> Option<&PodCondition> {
        self.conditions
            .iter()
            .find(|condition| condition.type_ == type_)
    }

    /// Whether a condition is there with this status.
    pub fn has_condition(&self, type_: &str, status: ConditionStatus) -> bool {
        self.condition(type_)
            .is_some_and(|condition| condition.status == status)
    }

    /// Since when it is ready; `None` when it is not, or the condition does not say.
    pub fn ready_since(&self) -> Option<Timestamp> {
        self.condition("Ready")
            .filter(|condition| condition.status == ConditionStatus::True)
            .and_then(|condition| condition.last_transition_time.as_ref())
            .map(|time| time.0)
    }

    /// Whether it is ready, and has been for long enough to count as available. A clock that is behind the
    /// cluster's makes it at most later.
    pub fn is_available(&self, min_ready_seconds: i32, now: Timestamp) -> bool {
        if !self.has_condition("Ready", ConditionStatus::True) {
            return false;
        }
        min_ready_seconds == 0
            || self.ready_since().is_some_and(|since| {
                now.duration_since(since) >= SignedDuration::from_secs(min_ready_seconds.into())
            })
    }

    /// `Succeeded` or `Failed`.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// All containers, in the order in which they hold each other up.
    pub fn all_containers(&self) -> impl Iterator<Item = &Container> {
        self.init.iter().chain(&self.containers)
    }

    /// The largest restart count among its containers.
    pub fn restarts(&self) -> i32 {
        self.all_containers()
            .map(|container| container.restarts)
            .max()
            .unwrap_or(0)
    }
}
