//! The shell around the core: observes a cluster, plans, applies. Drives a `kube::Client` and knows no UI.
//!
//! Lists and watches fill a [`store`]; a queue of items asks for passes; a [`pass`] takes a snapshot from the store,
//! lets the core plan, sends the steps batch by batch, and puts the answers into the store. All that happens is told
//! as [`event::EngineEvent`]s. The engine decides nothing about rollouts: the core does.

mod absorb;
pub mod actor;
pub mod apply;
mod brake;
pub mod domain;
pub mod error;
pub mod event;
mod exchange;
pub mod feed;
mod garbage;
mod guard;
pub mod kind;
pub mod lease;
mod left;
pub mod list;
pub mod mandate;
pub mod options;
pub mod pass;
pub mod passed;
pub mod queue;
mod record;
pub mod request;
mod resync;
pub mod run;
mod silence;
pub mod snapshot;
pub mod store;
pub mod submit;
pub mod track;
pub mod trigger;
