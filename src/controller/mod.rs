//! The Deployment and ReplicaSet controllers, pure.
//!
//! From a snapshot and an instant to an ordered list of actions with their reasons: no I/O, no clock, no
//! randomness, no async, no logging. `engine` executes the actions, `ui` shows them, `forecast` plays them against a
//! model. The rules are those of Kubernetes 1.36's controllers; each function names the section of the
//! specification it follows.

pub mod action;
pub mod api;
pub(crate) mod claim;
pub mod condition;
pub mod deployment;
pub mod expectations;
pub mod garbage;
pub mod invariants;
pub mod keys;
pub mod label_selector;
pub mod outcome;
pub mod plan;
pub mod plural;
pub mod replica_set;
pub mod selector;
pub mod template;
pub mod why;
