//! The engine against the embedded cluster, in process and in virtual time; the built program against it over HTTP.

mod acting;
mod article;
mod controller;
mod crash;
mod faults;
mod garbage;
mod kubeconfig;
mod library;
mod old_server;
mod reconcile;
mod simulated;
mod storm;
mod witness;
mod world;
