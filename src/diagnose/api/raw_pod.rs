//! Pods as they come over the wire, and how they become slim.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::pod::{Container, Pod, PodCondition, State, Terminated};
use crate::controller::api::{ObjectMeta, Phase, Shared, null_as_default};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RawPod {
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
    scheduler_name: String,
    #[serde(deserialize_with = "null_as_default")]
    init_containers: Vec<RawContainer>,
    #[serde(deserialize_with = "null_as_default")]
    containers: Vec<RawContainer>,
    #[serde(deserialize_with = "null_as_default")]
    volumes: Vec<RawVolume>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawContainer {
    name: String,
    #[serde(deserialize_with = "null_as_default")]
    image: String,
    restart_policy: Option<String>,
    readiness_probe: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawVolume {
    persistent_volume_claim: Option<RawClaim>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawClaim {
    claim_name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawStatus {
    #[serde(deserialize_with = "null_as_default")]
    phase: Phase,
    #[serde(deserialize_with = "null_as_default")]
    reason: String,
    #[serde(deserialize_with = "null_as_default")]
    message: String,
    #[serde(deserialize_with = "null_as_default")]
    nominated_node_name: String,
    #[serde(deserialize_with = "null_as_default")]
    conditions: Vec<PodCondition>,
    #[serde(deserialize_with = "null_as_default")]
    container_statuses: Vec<RawContainerStatus>,
    #[serde(deserialize_with = "null_as_default")]
    init_container_statuses: Vec<RawContainerStatus>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawContainerStatus {
    name: String,
    #[serde(deserialize_with = "null_as_default")]
    image: String,
    ready: bool,
    started: Option<bool>,
    restart_count: i32,
    #[serde(deserialize_with = "null_as_default")]
    state: RawState,
    #[serde(deserialize_with = "null_as_default")]
    last_state: RawState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawState {
    waiting: Option<RawWaiting>,
    running: Option<RawRunning>,
    terminated: Option<Terminated>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawWaiting {
    #[serde(deserialize_with = "null_as_default")]
    reason: String,
    #[serde(deserialize_with = "null_as_default")]
    message: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawRunning {
    started_at: Option<Time>,
}

impl From<RawState> for State {
    fn from(raw: RawState) -> Self {
        match raw {
            RawState {
                terminated: Some(end),
                ..
            } => Self::Terminated(end),
            RawState {
                running: Some(running),
                ..
            } => Self::Running {
                since: running.started_at.map(|time| time.0),
            },
            RawState {
                waiting: Some(RawWaiting { reason, message }),
                ..
            } => Self::Waiting { reason, message },
            _ => Self::Unknown,
        }
    }
}

impl RawContainerStatus {
    /// With what the spec says about the container of that name.
    fn beside(self, specs: &[RawContainer]) -> Container {
        let spec = specs.iter().find(|spec| spec.name == self.name);
        Container {
            image: spec
                .map(|spec| spec.image.clone())
                .filter(|image| !image.is_empty())
                .unwrap_or(self.image),
            is_sidecar: spec.is_some_and(|spec| spec.restart_policy.as_deref() == Some("Always")),
            is_ready: self.ready,
            is_started: self.started.unwrap_or(self.ready),
            restarts: self.restart_count,
            state: self.state.into(),
            last: self.last_state.terminated,
            name: self.name,
        }
    }
}

/// Without room for more: pods are kept by the ten thousand.
fn tight<T>(mut list: Vec<T>) -> Vec<T> {
    list.shrink_to_fit();
    list
}

impl From<RawPod> for Pod {
    fn from(raw: RawPod) -> Self {
        let RawPod {
            metadata,
            spec,
            status,
        } = raw;
        let with_specs = |statuses: Vec<RawContainerStatus>, specs: &[RawContainer]| {
            let containers = statuses.into_iter().map(|status| status.beside(specs));
            tight(containers.collect())
        };
        let is_probed = spec
            .containers
            .iter()
            .all(|container| container.readiness_probe.is_some());
        Self {
            // Whose it is, its owner tells; nobody asks for the rest, of which there may be much.
            meta: ObjectMeta {
                labels: Shared::default(),
                annotations: Shared::default(),
                ..metadata
            },
            claims: spec
                .volumes
                .into_iter()
                .filter_map(|volume| volume.persistent_volume_claim)
                .map(|claim| claim.claim_name)
                .collect(),
            is_probed: is_probed && !spec.containers.is_empty(),
            init: with_specs(status.init_container_statuses, &spec.init_containers),
            containers: with_specs(status.container_statuses, &spec.containers),
            node_name: spec.node_name,
            scheduler_name: spec.scheduler_name,
            nominated_node: status.nominated_node_name,
            phase: status.phase,
            reason: status.reason,
            message: status.message,
            conditions: tight(status.conditions),
        }
    }
}
