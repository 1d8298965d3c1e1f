//! An embedded cluster for one test, and the engine on it.

use std::sync::{Arc, Mutex};

use k8s_openapi::jiff::Timestamp;
use kubectl_rs::clock::Clock;
use kubectl_rs::controller::why::WaitingOn;
use kubectl_rs::engine::event::EngineEvent;
use kubectl_rs::engine::event::Happening;
use kubectl_rs::engine::options::Options;
use kubectl_rs::engine::run::{Engine, Summary};
use kubectl_rs::sandbox::{NodeOptions, Nodes, Sandbox, SandboxOptions};
use serde_json::Value;

/// A cluster and what the engine told about it.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) clock: Clock,
    events: Arc<Mutex<Vec<EngineEvent>>>,
    _nodes: Option<Nodes>,
}

impl World {
    /// An empty cluster whose clock begins at a fixed instant.
    pub(crate) fn new() -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a timestamp");
        let clock = Clock::starting_at(start);
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        Self {
            sandbox,
            clock,
            events: Arc::default(),
            _nodes: None,
        }
    }

    /// A cluster with simulated nodes.
    pub(crate) fn with_nodes() -> Self {
        let world = Self::new();
        let nodes = world
            .sandbox
            .start_nodes(NodeOptions::default())
            .expect("no nodes are there yet");
        Self {
            _nodes: Some(nodes),
            ..world
        }
    }

    /// A cluster with simulated nodes that lives in real time, for programs outside this one.
    pub(crate) fn live() -> Self {
        let clock = Clock::system();
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        let nodes = sandbox
            .start_nodes(NodeOptions::default())
            .expect("no nodes are there yet");
        Self {
            sandbox,
            clock,
            events: Arc::default(),
            _nodes: Some(nodes),
        }
    }

    /// All that the engine told.
    pub(crate) fn events(&self) -> Vec<EngineEvent> {
        self.events.lock().expect("no panic").clone()
    }

    /// What the engine said last that it waits for.
    pub(crate) fn last_waiting(&self) -> Vec<WaitingOn> {
        let waiting = self
            .events()
            .into_iter()
            .rev()
            .find_map(|event| match event.what {
                Happening::Waiting(waiting) => Some(waiting),
                _ => None,
            });
        waiting.unwrap_or_default()
    }

    /// Objects of namespace `default`.
    pub(crate) fn objects(&self, plural: &str) -> Vec<Value> {
        let objects = self.sandbox.list(plural, Some("default"));
        objects
            .iter()
            .map(|object| object.decode().expect("JSON"))
            .collect()
    }

    /// Runs the engine to its goal.
    pub(crate) async fn run(&self, options: Options) -> Summary {
        self.run_until(options, std::future::pending()).await
    }

    /// Runs the engine to its goal, or until `signal`.
    pub(crate) async fn run_until(
        &self,
        options: Options,
        signal: impl Future<Output = ()>,
    ) -> Summary {
        let events = Arc::clone(&self.events);
        let sink = Arc::new(move |event| events.lock().expect("no panic").push(event));
        Engine::new(self.sandbox.client(), self.clock, options, sink)
            .run(signal)
            .await
            .expect("the embedded cluster answers")
    }

    /// Creates an object in namespace `default`.
    pub(crate) fn create(&self, plural: &str, object: Value) {
        self.sandbox
            .create(plural, "default", object)
            .expect("the cluster takes it");
    }
}
