//! A container's spec, as far as it decides how the container starts, runs and ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::config::EnvSource;
use super::probe::{HttpGet, Probe};
use crate::controller::api::null_as_default;
use crate::schema::quantity::Quantity;

/// One container.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerSpec {
    /// Its name.
    pub name: String,
    /// Its image.
    #[serde(deserialize_with = "null_as_default")]
    pub image: String,
    /// When the image is pulled; the server fills it in.
    #[serde(deserialize_with = "null_as_default")]
    pub image_pull_policy: String,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Option<RestartPolicy>,
    /// Named ports, for probes.
    #[serde(deserialize_with = "null_as_default")]
    pub ports: Vec<ContainerPort>,
    /// Decides whether the pod is ready.
    pub readiness_probe: Option<Probe>,
    /// Decides whether the container is restarted.
    pub liveness_probe: Option<Probe>,
    /// Holds back the other two.
    pub startup_probe: Option<Probe>,
    /// What it asks for.
    #[serde(deserialize_with = "null_as_default")]
    pub resources: ResourceRequirements,
    /// Environment variables.
    #[serde(deserialize_with = "null_as_default")]
    pub env: Vec<EnvVar>,
    /// Environment variables in bulk.
    #[serde(deserialize_with = "null_as_default")]
    pub env_from: Vec<EnvSource>,
    /// Hooks.
    #[serde(deserialize_with = "null_as_default")]
    pub lifecycle: Lifecycle,
}

/// A port that a container opens.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    /// Its name.
    #[serde(deserialize_with = "null_as_default")]
    pub name: String,
    /// Its number.
    pub container_port: i64,
}

/// `resources` of a container.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResourceRequirements {
    /// What the scheduler reserves.
    #[serde(deserialize_with = "resources")]
    pub requests: Resources,
}

/// Amounts by resource name.
pub type Resources = BTreeMap<String, Quantity>;

/// An environment variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvVar {
    /// Where its value comes from, if it has none of its own.
    #[serde(deserialize_with = "null_as_default")]
    pub value_from: EnvSource,
}

/// `lifecycle` of a container.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lifecycle {
    /// Runs right after the start.
    #[serde(deserialize_with = "null_as_default")]
    pub post_start: Hook,
    /// Runs before SIGTERM.
    #[serde(deserialize_with = "null_as_default")]
    pub pre_stop: Hook,
}

/// A hook. None is really run: one that sleeps takes its time, one that fails is quoted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hook {
    /// Runs a command.
    #[serde(deserialize_with = "null_as_default")]
    pub exec: Command,
    /// Asks over HTTP.
    pub http_get: Option<HttpGet>,
    /// Sleeps.
    #[serde(deserialize_with = "null_as_default")]
    pub sleep: Sleep,
}

/// What a hook runs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Command {
    /// The command and its arguments.
    #[serde(deserialize_with = "null_as_default")]
    pub command: Vec<String>,
}

/// A pause.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Sleep {
    /// Its length.
    pub seconds: i64,
}

/// What happens to containers that exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum RestartPolicy {
    /// They are started again.
    #[default]
    Always,
    /// They are started again if they failed.
    OnFailure,
    /// They stay down.
    Never,
}

impl ContainerSpec {
    /// Whether it is an init container that goes on beside the others.
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy == Some(RestartPolicy::Always)
    }
}

/// Adds amounts.
pub(super) fn add(to: &mut Resources, amounts: &Resources) {
    for (resource, amount) in amounts {
        *to.entry(resource.clone()).or_default() += *amount;
    }
}

/// Raises amounts to those that are larger.
pub(super) fn raise(to: &mut Resources, amounts: &Resources) {
    for (resource, amount) in amounts {
        let most = to.entry(resource.clone()).or_default();
        *most = (*most).max(*amount);
    }
}

/// Reads amounts; what is no quantity is left out, since the server has validated them.
pub(super) fn resources<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Resources, D::Error> {
    let raw = Option::<BTreeMap<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(raw
        .into_iter()
        .filter_map(|(resource, amount)| Some((resource, Quantity::from_json(&amount).ok()?)))
        .collect())
}
