//! The slice of the API that a diagnosis reads beside the controllers' own: what pods say about their containers,
//! events, and what surrounds a rollout. Slim: a healthy pod takes about a kilobyte.

mod event;
mod pod;
mod raw_pod;
mod surroundings;

pub use event::{Event, Involved};
pub use pod::{Container, Pod, PodCondition, State, Terminated};
pub use surroundings::{Autoscaler, Node, Quota, Taint};
