//! The embedded cluster: an in-memory Kubernetes API with a simulated scheduler and kubelet. It has no controllers.

pub mod defaults;
mod json;
pub mod patch;
