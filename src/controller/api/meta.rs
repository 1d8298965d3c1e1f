//! Object metadata: identity, ownership, versions.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Shared, null_as_default, null_as_empty};

/// Namespace and name: what a work queue and a user call an object by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ObjectKey {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// A key from its two parts.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// An entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's API version.
    pub api_version: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's UID: what ownership is decided by.
    pub uid: String,
    /// Whether this owner is the managing controller.
    #[serde(deserialize_with = "null_as_default")]
    pub controller: bool,
    /// Whether foreground deletion of the owner waits for this object.
    #[serde(deserialize_with = "null_as_default")]
    pub block_owner_deletion: bool,
}

/// The metadata that the core reads.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// The namespace.
    pub namespace: Shared<String>,
    /// The name.
    pub name: String,
    /// The UID.
    pub uid: String,
    /// The version that optimistic concurrency compares.
    pub resource_version: String,
    /// Raised by the server when the desired state changes.
    pub generation: i64,
    /// When the server stored the object first.
    pub creation_timestamp: Option<Time>,
    /// Set while the object is being deleted.
    pub deletion_timestamp: Option<Time>,
    /// Seconds that a deletion gives the object.
    pub deletion_grace_period_seconds: Option<i64>,
    /// What holds the object though it is deleted.
    #[serde(deserialize_with = "null_as_default")]
    pub finalizers: Shared<Vec<String>>,
    /// Labels.
    #[serde(deserialize_with = "null_as_default")]
    pub labels: Shared<BTreeMap<String, String>>,
    /// Annotations.
    #[serde(deserialize_with = "null_as_default")]
    pub annotations: Shared<BTreeMap<String, String>>,
    /// Owners.
    #[serde(deserialize_with = "null_as_empty")]
    pub owner_references: Shared<Vec<OwnerReference>>,
}

impl ObjectMeta {
    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(&self.namespace, &self.name)
    }

    /// The owner with `controller: true`, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    /// Keeps what is equal in another object's metadata together with it: the objects of one owner are alike.
    pub fn share_with(&mut self, other: &Self) {
        self.namespace.share_with(&other.namespace);
        self.finalizers.share_with(&other.finalizers);
        self.labels.share_with(&other.labels);
        self.annotations.share_with(&other.annotations);
        self.owner_references.share_with(&other.owner_references);
    }

    /// Whether the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// When the object was created; the zero time sorts first, as upstream's does.
    pub fn created(&self) -> Option<Timestamp> {
        self.creation_timestamp.as_ref().map(|time| time.0)
    }

    /// One annotation's text.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }
}
