//! The slice of the Kubernetes API that the core reads, in slim types.
//!
//! Objects are decoded straight from JSON into these; what the core does not look at is never kept,
//! and never needed: updates are patches that name only what changes. Pod templates stay JSON,
//! verbatim ([`Template`](super::template::Template)).

mod condition;
mod deployment;
mod meta;
mod pod;
mod replica_set;
mod shared;

pub use condition::{Condition, ConditionStatus};
pub use deployment::{
    Deployment, DeploymentSpec, DeploymentStatus, IntOrPercent, OBSERVED_WITHIN, Strategy,
};
pub use meta::{ObjectKey, ObjectMeta, OwnerReference};
pub use pod::{Phase, Pod, ReadyCondition};
pub use replica_set::{ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};
pub use shared::Shared;

/// Reads an absent field and an explicit `null` alike, as the API server does.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + serde::Deserialize<'de>,
{
    Ok(<Option<T> as serde::Deserialize>::deserialize(deserializer)?.unwrap_or_default())
}

/// The same for a list, which then takes the room that it needs: there are many objects with lists of one.
pub(crate) fn null_as_empty<'de, D, T>(deserializer: D) -> Result<Shared<Vec<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    let mut list: Vec<T> = null_as_default(deserializer)?;
    list.shrink_to_fit();
    Ok(list.into())
}
