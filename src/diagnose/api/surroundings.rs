//! What surrounds a rollout: quotas, nodes, autoscalers. All of it is optional; a diagnosis says more with it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::controller::api::{ObjectMeta, null_as_default};

/// A ResourceQuota.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Quota {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: ObjectMeta,
    /// What counts.
    #[serde(deserialize_with = "null_as_default")]
    pub status: QuotaStatus,
}

/// What a quota allows and what of it is used. A quota that nobody has counted yet is not enforced.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct QuotaStatus {
    /// The limits.
    #[serde(deserialize_with = "null_as_default")]
    pub hard: BTreeMap<String, Value>,
    /// What is used.
    #[serde(deserialize_with = "null_as_default")]
    pub used: BTreeMap<String, Value>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: ObjectMeta,
    /// What keeps pods away.
    #[serde(deserialize_with = "null_as_default")]
    pub spec: NodeSpec,
}

/// What keeps pods away from a node.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NodeSpec {
    /// Taints.
    #[serde(deserialize_with = "null_as_default")]
    pub taints: Vec<Taint>,
    /// Cordoned.
    #[serde(deserialize_with = "null_as_default")]
    pub unschedulable: bool,
}

/// A taint.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value.
    #[serde(deserialize_with = "null_as_default")]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// A horizontal pod autoscaler.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Autoscaler {
    /// Metadata.
    #[serde(rename = "metadata")]
    pub meta: ObjectMeta,
    /// What it scales, and within which bounds.
    pub spec: AutoscalerSpec,
    /// What it wants now.
    #[serde(deserialize_with = "null_as_default")]
    pub status: AutoscalerStatus,
}

/// What an autoscaler scales, and within which bounds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AutoscalerSpec {
    /// What it scales.
    pub scale_target_ref: ScaleTarget,
    /// The fewest pods; 1 where the object does not say.
    pub min_replicas: Option<i32>,
    /// The most pods.
    pub max_replicas: i32,
}

/// What an autoscaler scales.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ScaleTarget {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// What an autoscaler wants now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AutoscalerStatus {
    /// How many pods.
    pub desired_replicas: i32,
}
