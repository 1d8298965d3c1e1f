//! The simulated scheduler and kubelet: pure, shared by the embedded cluster and the forecast.
//!
//! What real ones write to a pod, this writes: the same phases, conditions, container states, reasons, messages and
//! events, at instants that a pod's [`Behaviour`] decides (failure-states spec; `docs/behaviours.md`). It has no
//! clock, no randomness but what it derives from names, and no store: a driver feeds it pods and nodes, comes back
//! at the instants it asks for, and performs its [`Write`]s.

mod affinity;
pub mod behaviour;
mod cluster;
mod config;
mod container;
mod container_spec;
mod event;
mod names;
mod node;
mod node_shape;
mod pod;
mod probe;
mod rules;
mod run;
mod scheduler;
mod status;
mod text;
mod time;

#[cfg(test)]
mod tests;

pub use behaviour::Behaviour;
pub use cluster::{Cluster, PodRef, Write};
pub use config::{AllPresent, ConfigKind, Lookup, References};
pub use container_spec::Resources;
pub use event::{EventContent, EventWrite, InvolvedObject, PodEvent, Source};
pub use node::{LOST, NodeView};
pub use node_shape::{NodeShape, set_reachable};
pub use pod::{PodView, peak};
pub use rules::{Rules, RulesError};
pub use run::{Place, PodRun};
pub use status::{
    ContainerState, ContainerStatus, PodCondition, PodStatus, Terminated, set_condition,
};
