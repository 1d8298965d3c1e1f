//! What the simulated scheduler and kubelet see of a pod, decoded from its JSON.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::affinity::{Affinity, Toleration};
use super::config::Volume;
use super::container_spec::{ContainerSpec, Resources, RestartPolicy, add, raise};
use crate::controller::api::{ConditionStatus, ObjectKey, Phase, null_as_default};

/// Grace period where the pod says nothing, as the API server defaults it.
const DEFAULT_GRACE: SignedDuration = SignedDuration::from_secs(30);
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodView {
    /// Identity and deletion.
    pub metadata: PodMeta,
    /// What is wanted.
    #[serde(deserialize_with = "null_as_default")]
    pub spec: PodSpec,
    /// What was last written about it.
    #[serde(deserialize_with = "null_as_default")]
    pub status: PodSeen,
}

/// The metadata that matter here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodMeta {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The UID.
    pub uid: String,
    /// The generation; 0 where the server has none for pods.
    pub generation: i64,
    /// Behaviours, among others.
    #[serde(deserialize_with = "null_as_default")]
    pub annotations: BTreeMap<String, String>,
    /// When the grace period ends; set while the pod is being deleted.
    pub deletion_timestamp: Option<Time>,
    /// How long the grace period is, in seconds.
    pub deletion_grace_period_seconds: Option<i64>,
}

/// The spec, as far as it decides where the pod runs and how it starts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node; empty until bound.
    #[serde(deserialize_with = "null_as_default")]
    pub node_name: String,
    /// Who is to bind it.
    #[serde(deserialize_with = "null_as_default")]
    pub scheduler_name: String,
    /// What must be lifted before it may be bound.
    #[serde(deserialize_with = "null_as_default")]
    pub scheduling_gates: Vec<serde::de::IgnoredAny>,
    /// Labels that its node must have.
    #[serde(deserialize_with = "null_as_default")]
    pub node_selector: BTreeMap<String, String>,
    /// Which nodes it may run on besides.
    #[serde(deserialize_with = "null_as_default")]
    pub affinity: Affinity,
    /// Taints that it bears.
    #[serde(deserialize_with = "null_as_default")]
    pub tolerations: Vec<Toleration>,
    /// What happens to containers that exit.
    #[serde(deserialize_with = "null_as_default")]
    pub restart_policy: RestartPolicy,
    /// How long containers may take to shut down, in seconds.
    pub termination_grace_period_seconds: Option<i64>,
    /// Conditions of others that must be True for the pod to be Ready.
    #[serde(deserialize_with = "null_as_default")]
    pub readiness_gates: Vec<ReadinessGate>,
    /// Credentials for image registries.
    #[serde(deserialize_with = "null_as_default")]
    pub image_pull_secrets: Vec<Named>,
    /// Volumes.
    #[serde(deserialize_with = "null_as_default")]
    pub volumes: Vec<Volume>,
    /// Containers that run before, and sidecars.
    #[serde(deserialize_with = "null_as_default")]
    pub init_containers: Vec<ContainerSpec>,
    /// The containers.
    #[serde(deserialize_with = "null_as_default")]
    pub containers: Vec<ContainerSpec>,
}

/// Anything that has a name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Named {
    /// The name.
    #[serde(deserialize_with = "null_as_default")]
    pub name: String,
}

/// A condition that somebody else keeps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadinessGate {
    /// Its type.
    pub condition_type: String,
}

/// The part of the status that is read back.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSeen {
    /// The phase.
    #[serde(deserialize_with = "null_as_default")]
    pub phase: Phase,
    /// The address, once it has one.
    #[serde(rename = "podIP", deserialize_with = "null_as_default")]
    pub pod_ip: String,
    /// When a kubelet took it on.
    pub start_time: Option<Time>,
    /// Conditions.
    #[serde(deserialize_with = "null_as_default")]
    pub conditions: Vec<SeenCondition>,
    /// Its containers.
    #[serde(deserialize_with = "null_as_default")]
    pub container_statuses: Vec<SeenContainer>,
    /// Its init containers.
    #[serde(deserialize_with = "null_as_default")]
    pub init_container_statuses: Vec<SeenContainer>,
}

/// A condition.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SeenCondition {
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Its status.
    pub status: ConditionStatus,
}

/// A container's status as it was written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SeenContainer {
    /// The container.
    pub name: String,
    /// Whether it was ready.
    pub ready: bool,
    /// Whether it had come up.
    #[serde(deserialize_with = "null_as_default")]
    pub started: bool,
    /// How often it was restarted.
    pub restart_count: u32,
    /// What it was doing.
    #[serde(deserialize_with = "null_as_default")]
    pub state: SeenState,
    /// How its run before ended.
    #[serde(deserialize_with = "null_as_default")]
    pub last_state: SeenState,
}

impl SeenContainer {
    /// Whether it had been tried to start, in vain.
    pub fn is_stuck(&self) -> bool {
        self.state.waiting.as_ref().is_some_and(|waiting| {
            let reason = waiting.reason.as_str();
            !matches!(reason, "" | "ContainerCreating" | "PodInitializing")
        })
    }
}

/// A container's state as it was written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SeenState {
    /// Running.
    pub running: Option<SeenRunning>,
    /// Exited.
    pub terminated: Option<SeenTerminated>,
    /// Neither.
    pub waiting: Option<SeenWaiting>,
}

/// Why it was not running.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SeenWaiting {
    /// The reason, in one word.
    pub reason: String,
}

/// Since when it was running.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SeenRunning {
    /// Since when.
    pub started_at: Option<Time>,
}

/// How it ended.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SeenTerminated {
    /// The exit code.
    pub exit_code: i32,
    /// The reason.
    #[serde(deserialize_with = "null_as_default")]
    pub reason: String,
    /// Its last word.
    #[serde(deserialize_with = "null_as_default")]
    pub message: String,
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub finished_at: Option<Time>,
    /// Its id.
    #[serde(rename = "containerID", deserialize_with = "null_as_default")]
    pub container_id: String,
}

impl PodView {
    /// Decodes what the API server sent.
    ///
    /// # Errors
    /// When a field has a type that the API does not allow.
    pub fn from_json(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }

    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(&self.metadata.namespace, &self.metadata.name)
    }

    /// When a container that still runs is killed; `None` while the pod is not being deleted.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.metadata.deletion_timestamp.as_ref().map(|time| time.0)
    }

    /// How long its containers may take to shut down.
    pub fn grace(&self) -> SignedDuration {
        let asked = self
            .metadata
            .deletion_grace_period_seconds
            .or(self.spec.termination_grace_period_seconds);
        asked.map_or(DEFAULT_GRACE, SignedDuration::from_secs)
    }

    /// Whether it ended for good.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether the simulated scheduler is to bind it now.
    pub fn wants_binding(&self) -> bool {
        self.spec.node_name.is_empty()
            && self.metadata.deletion_timestamp.is_none()
            && !self.is_finished()
            && self.spec.scheduling_gates.is_empty()
            && matches!(self.spec.scheduler_name.as_str(), "" | DEFAULT_SCHEDULER)
    }
}

impl PodSpec {
    /// Init containers, then containers.
    pub fn all_containers(&self) -> impl Iterator<Item = &ContainerSpec> {
        self.init_containers.iter().chain(&self.containers)
    }

    /// What a node must have free.
    pub fn requests(&self) -> Resources {
        let init_containers = self
            .init_containers
            .iter()
            .map(|container| (&container.resources.requests, container.is_sidecar()));
        let containers = self.containers.iter();
        peak(
            init_containers,
            containers.map(|container| &container.resources.requests),
        )
    }
}

/// What runs at once in the worst moment of a pod's life: of the start, where init containers run one after the other
/// beside the sidecars (marked `true`) that are up by then, or of the time after.
pub fn peak<'r>(
    init_containers: impl IntoIterator<Item = (&'r Resources, bool)>,
    containers: impl IntoIterator<Item = &'r Resources>,
) -> Resources {
    let mut sidecars = Resources::new();
    let mut peak = Resources::new();
    for (amounts, is_sidecar) in init_containers {
        if is_sidecar {
            add(&mut sidecars, amounts);
            raise(&mut peak, &sidecars);
        } else {
            let mut moment = sidecars.clone();
            add(&mut moment, amounts);
            raise(&mut peak, &moment);
        }
    }
    let mut running = sidecars;
    for amounts in containers {
        add(&mut running, amounts);
    }
    raise(&mut peak, &running);
    peak
}
