//! What `docs/envtest.md` promises, on etcd and kube-apiserver and nothing else: the built program in charge, and stock
//! kubectl to work with.
//!
//! Where `KUBEBUILDER_ASSETS` names no API server there is nothing to run on; the same goes for kubectl, unless
//! `REQUIRE_KUBECTL` is set, as in CI.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/api_server.rs"]
mod api_server;
mod bench;
mod rbac;
#[path = "../support/stock_kubectl.rs"]
mod stock_kubectl;
mod workloads;
