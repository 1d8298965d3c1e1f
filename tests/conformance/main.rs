//! The recorded answers of Kubernetes 1.36's controllers, case by case.
//!
//! `vectors/README.md` describes the files. `CONFORMANCE_DIR=DIR cargo test --test conformance` runs the same tests
//! on another folder of the same format. There is no skip list.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod data;
mod delete_rank;
mod fenceposts;
mod history_text;
mod pods;
mod proportional;
mod replica_set_step;
mod rolling_step;
mod server;
mod status_text;
