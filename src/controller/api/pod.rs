//! Pod, slim: a few hundred bytes each, whatever the pod's manifest holds.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::{ConditionStatus, ObjectMeta, null_as_default};

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Phase {
    /// Accepted, not all containers started.
    Pending,
    /// Bound and started.
    Running,
    /// All containers ended well.
    Succeeded,
    /// Ended, at least one container badly; or rejected or evicted.
    Failed,
    /// The node can't be asked.
    Unknown,
    /// Empty or a word that the API does not know; ranks like `Pending`.
    #[default]
    #[serde(other)]
    Other,
}

/// The pod's `Ready` condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadyCondition {
    /// Its status.
    pub status: ConditionStatus,
    /// When the status last changed.
    pub last_transition_time: Option<Timestamp>,
}

/// What the controllers look at in a pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "RawPod")]
pub struct Pod {
    /// Metadata.
    pub meta: ObjectMeta,
    /// The node it is bound to; empty while unscheduled.
    pub node_name: String,
    /// `status.phase`.
    pub phase: Phase,
    /// The first condition of type `Ready`, if any.
    pub ready: Option<ReadyCondition>,
    /// The largest restart count of the regular containers.
    pub restarts: i32,
    /// The largest restart count of the sidecars (init containers with restartPolicy `Always`).
    pub sidecar_restarts: i32,
    /// Why a container waits, or why the pod as a whole is where it is (`status.reason`); empty when nothing says.
    pub reason: String,
}

impl Pod {
    /// Decodes what the API server sent.
    ///
    /// # Errors
    /// When a field has a type that the API does not allow.
    pub fn from_json(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }

    /// Whether the `Ready` condition is `True`.
    pub fn is_ready(&self) -> bool {
        self.ready
            .as_ref()
            .is_some_and(|ready| ready.status == ConditionStatus::True)
    }

    /// Since when the pod is ready; `None` when it is not, or the condition does not say.
    pub fn ready_since(&self) -> Option<Timestamp> {
        self.ready
            .as_ref()
            .filter(|_| self.is_ready())
            .and_then(|ready| ready.last_transition_time)
    }

    /// Ready for at least `min_ready_seconds` at `now`. The comparison is inclusive; a pod whose ready time is
    /// unknown is available only when nothing is to be waited for (replicaset-controller section 2).
    pub fn is_available(&self, min_ready_seconds: i32, now: Timestamp) -> bool {
        if !self.is_ready() {
            return false;
        }
        min_ready_seconds == 0
            || self.ready_since().is_some_and(|since| {
                now.duration_since(since) >= SignedDuration::from_secs(min_ready_seconds.into())
            })
    }

    /// Neither finished nor being deleted.
    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.meta.is_deleting()
    }

    /// Being deleted and not finished yet.
    pub fn is_terminating(&self) -> bool {
        !self.is_finished() && self.meta.is_deleting()
    }

    /// `Succeeded` or `Failed`.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawPod {
    metadata: ObjectMeta,
    #[serde(deserialize_with = "null_as_default")]
    spec: RawSpec,
    #[serde(deserialize_with = "null_as_default")]
    status: RawStatus,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawSpec {
    #[serde(deserialize_with = "null_as_default")]
    node_name: String,
    #[serde(deserialize_with = "null_as_default")]
    init_containers: Vec<RawContainer>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawContainer {
    name: String,
    restart_policy: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawStatus {
    #[serde(deserialize_with = "null_as_default")]
    phase: Phase,
    #[serde(deserialize_with = "null_as_default")]
    reason: String,
    #[serde(deserialize_with = "null_as_default")]
    conditions: Vec<RawCondition>,
    #[serde(deserialize_with = "null_as_default")]
    container_statuses: Vec<RawContainerStatus>,
    #[serde(deserialize_with = "null_as_default")]
    init_container_statuses: Vec<RawContainerStatus>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawCondition {
    #[serde(rename = "type")]
    type_: String,
    status: ConditionStatus,
    last_transition_time: Option<Time>,
    #[serde(deserialize_with = "null_as_default")]
    reason: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawContainerStatus {
    name: String,
    restart_count: i32,
    #[serde(deserialize_with = "null_as_default")]
    state: RawContainerState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawContainerState {
    waiting: Option<RawReason>,
    terminated: Option<RawReason>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawReason {
    #[serde(deserialize_with = "null_as_default")]
    reason: String,
}

impl From<RawPod> for Pod {
    fn from(raw: RawPod) -> Self {
        let reason = raw.status.why();
        let RawStatus {
            phase,
            conditions,
            container_statuses,
            init_container_statuses,
            ..
        } = raw.status;
        let is_sidecar = |name: &str| {
            raw.spec
                .init_containers
                .iter()
                .any(|c| c.name == name && c.restart_policy.as_deref() == Some("Always"))
        };
        Self {
            meta: raw.metadata,
            node_name: raw.spec.node_name,
            phase,
            ready: conditions
                .iter()
                .find(|c| c.type_ == "Ready")
                .map(|c| ReadyCondition {
                    status: c.status,
                    last_transition_time: c.last_transition_time.as_ref().map(|time| time.0),
                }),
            restarts: container_statuses
                .iter()
                .map(|c| c.restart_count)
                .max()
                .unwrap_or(0),
            sidecar_restarts: init_container_statuses
                .iter()
                .filter(|c| is_sidecar(&c.name))
                .map(|c| c.restart_count)
                .max()
                .unwrap_or(0),
            reason,
        }
    }
}

impl RawStatus {
    /// The most telling word in the status: a container's before the pod's, the pod's before the scheduler's.
    fn why(&self) -> String {
        let containers = self
            .init_container_statuses
            .iter()
            .chain(&self.container_statuses);
        let waiting = containers.clone().filter_map(|c| c.state.waiting.as_ref());
        let terminated = containers.filter_map(|c| c.state.terminated.as_ref());
        let generic = |reason: &str| {
            matches!(
                reason,
                "" | "ContainerCreating" | "PodInitializing" | "Completed"
            )
        };
        waiting
            .chain(terminated)
            .map(|state| state.reason.as_str())
            .find(|reason| !generic(reason))
            .or_else(|| Some(self.reason.as_str()).filter(|reason| !reason.is_empty()))
            .or_else(|| {
                self.conditions
                    .iter()
                    .find(|c| c.type_ == "PodScheduled" && c.status == ConditionStatus::False)
                    .map(|c| c.reason.as_str())
            })
            .unwrap_or_default()
            .to_owned()
    }
}
