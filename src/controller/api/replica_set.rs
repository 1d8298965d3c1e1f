//! ReplicaSet, as far as the controllers look at it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Condition, ObjectMeta, null_as_default};
use crate::controller::template::Template;

/// A ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ReplicaSet {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: ObjectMeta,
    /// What is wanted.
    pub spec: ReplicaSetSpec,
    /// What was last written about how it stands.
    #[serde(deserialize_with = "null_as_default")]
    pub status: ReplicaSetStatus,
}

/// `spec` of a ReplicaSet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetSpec {
    /// How many pods are wanted.
    pub replicas: i32,
    /// How long a pod must be ready to count as available, in seconds.
    pub min_ready_seconds: i32,
    /// Which pods belong to it.
    pub selector: Option<LabelSelector>,
    /// The pods' template.
    pub template: Template,
}

impl Default for ReplicaSetSpec {
    fn default() -> Self {
        Self {
            replicas: 1,
            min_ready_seconds: 0,
            selector: None,
            template: Template::default(),
        }
    }
}

/// `status` of a ReplicaSet. `replicas` is always on the wire, other counters only when not zero.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetStatus {
    /// Active pods.
    pub replicas: i32,
    /// Active pods that carry all labels of the template.
    pub fully_labeled_replicas: i32,
    /// Ready pods.
    pub ready_replicas: i32,
    /// Available pods.
    pub available_replicas: i32,
    /// Pods that are shutting down; absent from controllers that don't count them.
    pub terminating_replicas: Option<i32>,
    /// The generation that the controller acted on last.
    pub observed_generation: i64,
    /// Conditions.
    #[serde(deserialize_with = "null_as_default")]
    pub conditions: Vec<Condition>,
}

impl ReplicaSet {
    /// Decodes what the API server sent.
    ///
    /// # Errors
    /// When a field has a type that the API does not allow.
    pub fn from_json(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }
}
