//! What a pod's spec says about the nodes it may run on.

use serde::Deserialize;

use crate::controller::api::null_as_default;

/// `affinity`; only the required part of node affinity is looked at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    /// Which nodes.
    #[serde(deserialize_with = "null_as_default")]
    pub node_affinity: NodeAffinity,
}

/// `nodeAffinity`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeAffinity {
    /// What a node must fulfil.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector>,
}

/// Terms, of which one must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    /// The terms.
    #[serde(deserialize_with = "null_as_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// Requirements that must hold together.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    /// Of the node's labels.
    #[serde(deserialize_with = "null_as_default")]
    pub match_expressions: Vec<NodeRequirement>,
    /// Of its fields; the name is the only one there is.
    #[serde(deserialize_with = "null_as_default")]
    pub match_fields: Vec<NodeRequirement>,
}

/// One requirement.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeRequirement {
    /// Of which label or field.
    pub key: String,
    /// How it is compared.
    pub operator: String,
    /// With what.
    #[serde(deserialize_with = "null_as_default")]
    pub values: Vec<String>,
}

/// A taint that the pod bears.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// Which; empty: any.
    #[serde(deserialize_with = "null_as_default")]
    pub key: String,
    /// `Exists` or `Equal`.
    #[serde(deserialize_with = "null_as_default")]
    pub operator: String,
    /// Its value, for `Equal`.
    #[serde(deserialize_with = "null_as_default")]
    pub value: String,
    /// Which effect; empty: any.
    #[serde(deserialize_with = "null_as_default")]
    pub effect: String,
    /// How long it bears `NoExecute`; absent: for ever.
    #[serde(rename = "tolerationSeconds")]
    pub seconds: Option<i64>,
}
