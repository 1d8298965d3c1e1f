//! A pod's status as the kubelet writes it: phase, conditions, container statuses (failure-states spec, sections 1.2
//! and 1.3).

mod merge;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

/// What the kubelet has to say of a pod. Two equal ones are worth one write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodStatus {
    /// The generation of the pod that it is about; 0 where the server has none.
    pub observed_generation: i64,
    /// `Pending`, `Running`, `Succeeded` or `Failed`.
    pub phase: &'static str,
    /// Why the pod as a whole failed; empty otherwise.
    pub reason: &'static str,
    /// The same in a sentence.
    pub message: String,
    /// The kubelet's conditions, in the order that it writes them.
    pub conditions: Vec<PodCondition>,
    /// When the kubelet took the pod on.
    pub start_time: Option<Timestamp>,
    /// The node's address; empty until the kubelet knows the pod.
    pub host_ip: String,
    /// The pod's address; empty until it has one.
    pub pod_ip: String,
    /// Init containers, in the order of the spec.
    pub init_containers: Vec<ContainerStatus>,
    /// Containers, by name.
    pub containers: Vec<ContainerStatus>,
}

/// One condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodCondition {
    /// Its type.
    pub type_: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// A word for machines.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// One container's status.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerStatus {
    /// The container.
    pub name: String,
    /// What it does.
    pub state: ContainerState,
    /// How its last run ended.
    pub last: Option<Terminated>,
    /// Whether it is ready.
    pub ready: bool,
    /// Whether it runs and its startup probe has passed.
    pub started: bool,
    /// How often it was restarted.
    pub restarts: u32,
    /// Its image.
    pub image: String,
    /// The image's digest and the run's id, once there was a run.
    pub ids: Option<Ids>,
}

/// What a runtime names things by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// `repository@sha256:…`.
    pub image: String,
    /// `containerd://…`.
    pub container: String,
}

/// What a container does.
#[derive(Clone, Debug, PartialEq)]
pub enum ContainerState {
    /// It does not run.
    Waiting {
        /// Why.
        reason: &'static str,
        /// The same in a sentence; may be empty.
        message: String,
    },
    /// It runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended.
    Terminated(Terminated),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Terminated {
    /// The exit code.
    pub exit_code: i32,
    /// `Error`, `Completed`, `OOMKilled`, `StartError` or `ContainerStatusUnknown`.
    pub reason: &'static str,
    /// What it left as a last word; may be empty.
    pub message: String,
    /// When the run began; `None` where nobody knows.
    pub started: Option<Timestamp>,
    /// When it ended; `None` where nobody knows.
    pub finished: Option<Timestamp>,
    /// The run's id; empty where there was none.
    pub container_id: String,
}

impl PodStatus {
    /// One of its conditions.
    pub fn condition(&self, type_: &str) -> Option<&PodCondition> {
        self.conditions
            .iter()
            .find(|condition| condition.type_ == type_)
    }

    /// Whether the pod is ready.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|ready| ready.holds)
    }

    /// Whether the pod has ended for good.
    pub fn is_final(&self) -> bool {
        matches!(self.phase, "Succeeded" | "Failed")
    }

    /// Writes it into a pod's `status`, leaving what others keep there: their conditions (which stand first) and
    /// fields that the kubelet doesn't write. A condition whose status stays keeps its transition time.
    pub fn write_into(&self, status: &mut Value, now: Timestamp) {
        replace(status, |before| self.over(before, now));
    }
}

/// Writes one condition into a pod's `status`, as the scheduler does.
pub fn set_condition(
    status: &mut Value,
    condition: &PodCondition,
    generation: i64,
    now: Timestamp,
) {
    replace(status, |before| condition.over(before, generation, now));
}

/// Puts a new status in the place of one, which stays as it is if it is no status.
fn replace(status: &mut Value, over: impl FnOnce(&str) -> serde_json::Result<String>) {
    let text = over(&status.to_string());
    if let Ok(after) = text.and_then(|text| serde_json::from_str(&text)) {
        *status = after;
    }
}
