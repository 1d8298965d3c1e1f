//! The embedded cluster: an in-memory Kubernetes API with a simulated scheduler and kubelet. It has no controllers.
//!
//! [`Sandbox`] is the handle: it hands out clients, and gives the simulated node the same way in that clients have.
//! A request goes `service` → `server` → a verb (`read`, `write`, `delete`, `watch`) → `store`; what differs by kind
//! is in the table of `kinds`, in `defaults` and in `validation`. An API server must not know the controllers.

mod admission;
mod allocation;
pub mod apply;
mod binding;
mod body;
pub mod decode;
pub mod defaults;
mod delete;
mod discovery;
mod encode;
mod event_view;
mod eviction;
mod fault;
pub mod field_error;
mod going;
mod handle;
mod json;
pub mod kinds;
mod limit_range;
mod list;
pub mod managed_fields;
mod metadata;
mod negotiate;
mod nodes;
mod object;
mod openapi;
pub mod patch;
mod persist;
mod plain_event;
mod pod_parts;
mod pod_resources;
mod pod_security;
mod query;
mod quota;
mod quota_controller;
mod random;
mod read;
mod reply;
mod request;
mod route;
mod scale;
mod selector;
mod serve;
mod server;
mod service;
pub mod status;
mod store;
mod strategy;
mod subresource;
mod table;
pub mod validation;
mod watch;
mod write;

pub use fault::{FaultLayer, FaultPlan, Faulty};
pub use handle::Changes;
pub use nodes::{NodeOptions, Nodes};
pub use object::Object;
pub use quota_controller::QuotaController;
pub use reply::ApiBody;
pub use serve::Served;
pub use service::ApiService;
pub use store::Change;

use std::sync::Arc;

use serde_json::json;
use tower::Layer as _;

use crate::clock::Clock;
use managed_fields::Tracking;
use random::Random;
use server::{Server, State};
use store::Store;

/// How a cluster begins.
#[derive(Clone, Copy, Debug)]
pub struct SandboxOptions {
    /// Where objects take their times from.
    pub clock: Clock,
    /// Where UIDs and generated names come from: the same seed and the same requests give the same cluster.
    pub seed: u64,
    /// From when on objects carry `managedFields`.
    pub managed_fields: Tracking,
    /// How many changes of each kind are kept for watches and lists of the past.
    pub history: usize,
}

impl SandboxOptions {
    /// A cluster on this clock, with seed 0, a history that no live client outruns, and no `managedFields` before
    /// the first server-side apply: they would cost more than the objects themselves.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            seed: 0,
            managed_fields: Tracking::FromFirstApply,
            history: 2048,
        }
    }
}

/// A cluster in this process. Clones are handles to the same one.
#[derive(Clone, Debug)]
pub struct Sandbox {
    server: Arc<Server>,
    manager: &'static str,
}

impl Sandbox {
    /// A cluster that holds the namespaces `default` and `kube-system` and nothing else.
    pub fn new(options: SandboxOptions) -> Self {
        let state = State {
            store: Store::new(options.history),
            random: Random::new(options.seed),
            tracking: options.managed_fields,
            clock: options.clock,
        };
        let sandbox = Self {
            server: Arc::new(Server::new(state)),
            manager: "sandbox",
        };
        for namespace in ["default", "kube-system"] {
            let created =
                sandbox.create("namespaces", "", json!({"metadata": {"name": namespace}}));
            debug_assert!(created.is_ok(), "{created:?}");
        }
        sandbox
    }

    /// The API as a service.
    pub fn service(&self) -> ApiService {
        ApiService::new(self.server.clone())
    }

    /// Goes on with another clock; no object's times change.
    pub fn set_clock(&self, clock: Clock) {
        self.server.lock().clock = clock;
    }

    /// Forgets all history, as a compaction of etcd does: older watches, pages and lists of the past expire.
    pub fn compact(&self) {
        self.server.lock().store.compact();
    }

    /// A client that meets faults on the way to this cluster.
    pub fn faulty_client(&self, plan: FaultPlan) -> kube::Client {
        kube::Client::new(FaultLayer::new(plan).layer(self.service()), "default")
    }

    /// A client of this cluster; it needs a tokio runtime around it.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.service(), "default")
    }
}

#[cfg(test)]
mod tests;
