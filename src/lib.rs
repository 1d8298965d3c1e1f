//! kubectl-rs carries the logic of Kubernetes' Deployment and ReplicaSet controllers in the client.
//!
//! The library is the program; `main.rs` only starts it. `docs/architecture.md` maps the modules and says which may
//! import which.

pub mod cli;
pub mod clock;
pub mod controller;
pub mod diagnose;
pub mod engine;
pub mod error;
pub mod follow;
pub mod kubelet;
pub mod manifest;
pub mod sandbox;
pub mod schema;
pub mod simulate;
pub mod ui;
