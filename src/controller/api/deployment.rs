//! Deployment, as far as the controllers look at it.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Condition, ObjectMeta, null_as_default};
use crate::controller::template::Template;

/// A Deployment.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Deployment {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: ObjectMeta,
    /// What is wanted.
    pub spec: DeploymentSpec,
    /// What was last written about how it stands.
    #[serde(deserialize_with = "null_as_default")]
    pub status: DeploymentStatus,
}

/// `spec` of a Deployment. The server has filled in the defaults of spec section 2.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentSpec {
    /// How many pods are wanted.
    pub replicas: i32,
    /// Which ReplicaSets and pods belong to it. Absent matches nothing, empty everything.
    pub selector: Option<LabelSelector>,
    /// The pods' template.
    pub template: Template,
    /// How old pods are replaced.
    #[serde(deserialize_with = "null_as_default")]
    pub strategy: Strategy,
    /// How long a pod must be ready to count as available, in seconds.
    pub min_ready_seconds: i32,
    /// No new ReplicaSet and no rollout step while set; scaling goes on.
    pub paused: bool,
    /// After how many seconds without progress the rollout counts as stuck; absent: never.
    pub progress_deadline_seconds: Option<i32>,
    /// How many empty old ReplicaSets are kept; absent: all.
    pub revision_history_limit: Option<i32>,
}

impl Default for DeploymentSpec {
    fn default() -> Self {
        Self {
            replicas: 1,
            selector: None,
            template: Template::default(),
            strategy: Strategy::default(),
            min_ready_seconds: 0,
            paused: false,
            progress_deadline_seconds: None,
            revision_history_limit: None,
        }
    }
}

/// `spec.strategy`, flattened.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "RawStrategy")]
pub struct Strategy {
    /// `RollingUpdate`, `Recreate`, or whatever else the object says.
    pub type_: String,
    /// How many pods above `replicas` a rolling update may have.
    pub max_surge: Option<IntOrPercent>,
    /// How many pods below `replicas` a rolling update may leave available.
    pub max_unavailable: Option<IntOrPercent>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawStrategy {
    #[serde(rename = "type")]
    type_: String,
    rolling_update: Option<RawRollingUpdate>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawRollingUpdate {
    max_surge: Option<IntOrPercent>,
    max_unavailable: Option<IntOrPercent>,
}

impl From<RawStrategy> for Strategy {
    fn from(raw: RawStrategy) -> Self {
        let rolling = raw.rolling_update.unwrap_or_default();
        Self {
            type_: raw.type_,
            max_surge: rolling.max_surge,
            max_unavailable: rolling.max_unavailable,
        }
    }
}

/// A number, or text that should be a percentage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrPercent {
    /// A count of pods.
    Int(i32),
    /// Such as `25%`; anything else is an error where it is resolved.
    Text(String),
}

/// `status` of a Deployment. Counters that are zero are absent on the wire, `terminatingReplicas` apart.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    /// The generation that the controller acted on last.
    pub observed_generation: i64,
    /// Pods of all ReplicaSets.
    pub replicas: i32,
    /// Pods of the new ReplicaSet.
    pub updated_replicas: i32,
    /// Ready pods.
    pub ready_replicas: i32,
    /// Available pods.
    pub available_replicas: i32,
    /// Pods that are still missing to be available.
    pub unavailable_replicas: i32,
    /// Pods that are shutting down; absent where a ReplicaSet does not say.
    pub terminating_replicas: Option<i32>,
    /// How many hash collisions there were. Absent and 0 hash differently.
    pub collision_count: Option<i32>,
    /// Conditions, in the order they were last changed.
    #[serde(deserialize_with = "null_as_default")]
    pub conditions: Vec<Condition>,
}

/// A controller that acts looks at a change within this time.
pub const OBSERVED_WITHIN: Duration = Duration::from_secs(10);

impl Deployment {
    /// Whether a controller has looked at the newest change.
    pub fn is_observed(&self) -> bool {
        self.status.observed_generation >= self.meta.generation
    }

    /// Decodes what the API server sent.
    ///
    /// # Errors
    /// When a field has a type that the API does not allow.
    pub fn from_json(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }
}
