//! The engine against the embedded cluster, in process and in virtual time; the built program against it over HTTP.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod acting;
#[path = "../support/api_server.rs"]
mod api_server;
mod article;
mod controller;
mod crash;
mod faults;
mod garbage;
mod giving_up;
mod killed;
mod kubeconfig;
mod library;
mod old_server;
mod program;
mod real_server;
mod reconcile;
mod simulated;
mod storm;
mod witness;
mod world;
