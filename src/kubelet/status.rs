//! A pod's status as the kubelet writes it: phase, conditions, container statuses (failure-states spec, sections 1.2
//! and 1.3).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

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
        let generation = self.observed_generation;
        let Some(status) = as_map(status) else {
            return;
        };
        let before = match status.remove("conditions") {
            Some(Value::Array(conditions)) => conditions,
            _ => Vec::new(),
        };
        let conditions = merge_conditions(before, &self.conditions, generation, now);
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), Value::Array(conditions));
        }
        status.insert("phase".to_owned(), self.phase.into());
        if generation > 0 {
            status.insert("observedGeneration".to_owned(), generation.into());
        }
        set_text(status, "reason", self.reason);
        set_text(status, "message", &self.message);
        if let Some(start) = self.start_time {
            status.insert("startTime".to_owned(), json!(Time(start)));
        }
        set_address(status, "hostIP", "hostIPs", &self.host_ip);
        set_address(status, "podIP", "podIPs", &self.pod_ip);
        set_containers(status, "initContainerStatuses", &self.init_containers);
        set_containers(status, "containerStatuses", &self.containers);
    }
}

/// Writes one condition into a pod's `status`, as the scheduler does.
pub fn set_condition(
    status: &mut Value,
    condition: &PodCondition,
    generation: i64,
    now: Timestamp,
) {
    let Some(status) = as_map(status) else {
        return;
    };
    let before = match status.get("conditions") {
        Some(Value::Array(conditions)) => conditions.clone(),
        _ => Vec::new(),
    };
    let written = condition_json(condition, &before, generation, now);
    let mut after = before;
    match after.iter_mut().find(|old| old["type"] == condition.type_) {
        Some(old) => *old = written,
        None => after.push(written),
    }
    status.insert("conditions".to_owned(), Value::Array(after));
}

fn as_map(status: &mut Value) -> Option<&mut Map<String, Value>> {
    if status.is_null() {
        *status = Value::Object(Map::new());
    }
    status.as_object_mut()
}

/// The conditions that the kubelet keeps; one that it does not write goes.
const KUBELETS: [&str; 5] = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
];

fn merge_conditions(
    before: Vec<Value>,
    ours: &[PodCondition],
    generation: i64,
    now: Timestamp,
) -> Vec<Value> {
    let written: Vec<Value> = ours
        .iter()
        .map(|condition| condition_json(condition, &before, generation, now))
        .collect();
    let is_ours = |old: &Value| {
        let type_ = old["type"].as_str().unwrap_or_default();
        KUBELETS.contains(&type_) || ours.iter().any(|condition| condition.type_ == type_)
    };
    let mut merged: Vec<Value> = before.into_iter().filter(|old| !is_ours(old)).collect();
    merged.extend(written);
    merged
}

fn condition_json(
    condition: &PodCondition,
    before: &[Value],
    generation: i64,
    now: Timestamp,
) -> Value {
    let status = if condition.holds { "True" } else { "False" };
    let old = before.iter().find(|old| old["type"] == condition.type_);
    let since = old
        .filter(|old| old["status"] == status)
        .and_then(|old| old.get("lastTransitionTime"))
        .filter(|time| !time.is_null())
        .cloned();
    let mut json = json!({
        "type": condition.type_,
        "status": status,
        "lastProbeTime": null,
        "lastTransitionTime": since.unwrap_or_else(|| json!(Time(now))),
    });
    if generation > 0 {
        json["observedGeneration"] = generation.into();
    }
    if !condition.reason.is_empty() {
        json["reason"] = condition.reason.into();
    }
    if !condition.message.is_empty() {
        json["message"] = condition.message.as_str().into();
    }
    json
}

fn set_text(status: &mut Map<String, Value>, field: &str, text: &str) {
    if text.is_empty() {
        status.remove(field);
    } else {
        status.insert(field.to_owned(), text.into());
    }
}

fn set_address(status: &mut Map<String, Value>, one: &str, all: &str, ip: &str) {
    if !ip.is_empty() {
        status.insert(one.to_owned(), ip.into());
        status.insert(all.to_owned(), json!([{"ip": ip}]));
    }
}

fn set_containers(status: &mut Map<String, Value>, field: &str, containers: &[ContainerStatus]) {
    if containers.is_empty() {
        status.remove(field);
    } else {
        let statuses = containers.iter().map(ContainerStatus::json).collect();
        status.insert(field.to_owned(), Value::Array(statuses));
    }
}

impl ContainerStatus {
    fn json(&self) -> Value {
        let last = match &self.last {
            Some(last) => json!({"terminated": last.json()}),
            None => json!({}),
        };
        let mut json = json!({
            "name": self.name,
            "state": self.state.json(),
            "lastState": last,
            "ready": self.ready,
            "restartCount": self.restarts,
            "image": self.image,
            "imageID": "",
            "started": self.started,
        });
        if let Some(ids) = &self.ids {
            json["imageID"] = ids.image.as_str().into();
            json["containerID"] = ids.container.as_str().into();
        }
        json
    }
}

impl ContainerState {
    fn json(&self) -> Value {
        match self {
            Self::Waiting { reason, message } if message.is_empty() => {
                json!({"waiting": {"reason": reason}})
            }
            Self::Waiting { reason, message } => {
                json!({"waiting": {"reason": reason, "message": message}})
            }
            Self::Running { since } => json!({"running": {"startedAt": Time(*since)}}),
            Self::Terminated(terminated) => json!({"terminated": terminated.json()}),
        }
    }
}

impl Terminated {
    fn json(&self) -> Value {
        let mut json = json!({
            "exitCode": self.exit_code,
            "reason": self.reason,
            "startedAt": self.started.map(Time),
            "finishedAt": self.finished.map(Time),
        });
        if !self.message.is_empty() {
            json["message"] = self.message.as_str().into();
        }
        if !self.container_id.is_empty() {
            json["containerID"] = self.container_id.as_str().into();
        }
        json
    }
}
