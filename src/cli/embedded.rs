//! The cluster inside this process: started, given what manifests rely on, and brought to rest in virtual time.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use kube::Client;
use serde_json::json;

use super::manifests::{self, Manifests};
use crate::clock::Clock;
use crate::engine::options::{Goal, Options, Scope};
use crate::engine::run::Engine;
use crate::engine::submit::{SubmitOptions, submit};
use crate::error::Failure;
use crate::kubelet::NodeShape;
use crate::manifest::Object;
use crate::sandbox::{NodeOptions, Nodes, QuotaController};
use crate::sandbox::{Sandbox, SandboxOptions, kinds};

/// How long ago a cluster that is loaded from files began.
const PAST: Duration = Duration::from_secs(60 * 60);

/// A cluster inside this process. Its nodes run as long as it lives.
pub(super) struct Embedded {
    sandbox: Sandbox,
    clock: Clock,
    _nodes: Nodes,
    _quotas: QuotaController,
}

impl Embedded {
    /// A cluster that is empty, or holds what the files hold and has had an hour to come to rest.
    ///
    /// # Errors
    /// Files that can't be read, objects that the cluster refuses.
    pub(super) fn start(files: &[String], namespace: &str) -> Result<Self, Failure> {
        let clock = Clock::system();
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        let files: Vec<String> = files
            .iter()
            .filter(|file| !file.is_empty())
            .cloned()
            .collect();
        let mut nodes = node_options();
        if !files.is_empty() {
            let manifests = manifests::read(&files, false, namespace, None)?;
            bring_to_rest(&sandbox, clock, &manifests, namespace)?;
            // They were registered then.
            nodes.count = 0;
        }
        let nodes = sandbox
            .start_nodes(nodes)
            .map_err(|error| refused("its nodes", &error.message))?;
        let quotas = sandbox
            .start_quota_controller()
            .map_err(|error| refused("its quotas", &error.message))?;
        Ok(Self {
            sandbox,
            clock,
            _nodes: nodes,
            _quotas: quotas,
        })
    }

    /// A client of it.
    pub(super) fn client(&self) -> Client {
        self.sandbox.client()
    }

    /// Its clock.
    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Gives it the objects of the kinds that it knows, and the namespaces that they and `namespaces` name. Returns
    /// those objects.
    ///
    /// # Errors
    /// An object that it refuses.
    pub(super) fn give<'a>(
        &self,
        objects: &'a [Object],
        namespaces: impl IntoIterator<Item = &'a str>,
        default: &'a str,
    ) -> Result<Vec<&'a Object>, Failure> {
        give(&self.sandbox, objects, namespaces, default)
    }
}

/// Big machines: a manifest of some size is to be shown rolling out, not running out of room. What manifests of
/// demonstrations refer to is often made elsewhere, so a missing ConfigMap or Secret fails no pod.
fn node_options() -> NodeOptions {
    NodeOptions {
        shape: NodeShape::large(),
        check_references: false,
        ..NodeOptions::default()
    }
}

fn give<'a>(
    sandbox: &Sandbox,
    objects: &'a [Object],
    namespaces: impl IntoIterator<Item = &'a str>,
    default: &'a str,
) -> Result<Vec<&'a Object>, Failure> {
    // Namespaces come first, whatever their place in the file.
    let (spaces, rest): (Vec<_>, Vec<_>) = objects
        .iter()
        .partition(|object| object.kind() == "Namespace");
    let given: BTreeSet<&str> = spaces.iter().map(|object| object.name()).collect();
    let named: BTreeSet<&str> = rest
        .iter()
        .map(|object| object.namespace())
        .chain(namespaces)
        .chain([default])
        .filter(|name| !name.is_empty() && !given.contains(name))
        .collect();
    for name in named {
        if sandbox.get("namespaces", "", name).is_none() {
            sandbox
                .create("namespaces", "", json!({ "metadata": { "name": name } }))
                .map_err(|error| refused(&format!("namespace {name}"), &error.message))?;
        }
    }
    let mut taken = Vec::new();
    for object in spaces.into_iter().chain(rest) {
        if give_one(sandbox, object, default)? {
            taken.push(object);
        }
    }
    Ok(taken)
}

/// Whether the cluster knows the object's kind, and so has it now.
fn give_one(sandbox: &Sandbox, object: &Object, default: &str) -> Result<bool, Failure> {
    let Some(kind) = kinds::of_object(object.api_version(), object.kind()) else {
        return Ok(false);
    };
    let namespace = match (kind.namespaced, object.namespace()) {
        (false, _) => "",
        (true, "") => default,
        (true, own) => own,
    };
    if sandbox.get(kind.plural, namespace, object.name()).is_none() {
        sandbox
            .create(kind.plural, namespace, object.json.clone())
            .map_err(|error| {
                refused(
                    &format!("{} {} ({})", object.kind(), object.name(), object.place),
                    &error.message,
                )
            })?;
    }
    Ok(true)
}

fn refused(what: &str, why: &str) -> Failure {
    Failure::error(format!("the embedded cluster refused {what}: {why}"))
}

/// Loads the objects and lets their rollouts run to their end in virtual time, so that they are an hour old now. What
/// cannot complete is left as it stands after that hour.
fn bring_to_rest(
    sandbox: &Sandbox,
    now: Clock,
    manifests: &Manifests,
    namespace: &str,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::error(format!(
            "cannot bring the embedded cluster to rest: {error}"
        ))
    };
    // A thread of its own, since its time is not ours.
    let ran = thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .map_err(|error| failed(&error))?;
            runtime.block_on(async {
                let past = SignedDuration::try_from(PAST).unwrap_or_default();
                let clock = Clock::starting_at(now.now().saturating_sub(past).unwrap_or(now.now()));
                sandbox.set_clock(clock);
                let _nodes = sandbox
                    .start_nodes(node_options())
                    .map_err(|error| refused("its nodes", &error.message))?;
                let _quotas = sandbox
                    .start_quota_controller()
                    .map_err(|error| refused("its quotas", &error.message))?;
                give(
                    sandbox,
                    &manifests.others,
                    manifests.namespaces(),
                    namespace,
                )?;
                // Applied as `-f` applies, so that a later `-f` changes fields of its own.
                for (item, object) in &manifests.ours {
                    submit(&sandbox.client(), item, object, SubmitOptions::default())
                        .await
                        .map_err(|error| refused(&item.key.to_string(), &error.to_string()))?;
                }
                let options = Options {
                    timeout: Some(PAST),
                    ..Options::new(Scope::everything(None), Goal::Complete)
                };
                let engine = Engine::new(sandbox.client(), clock, options, Arc::new(|_| {}));
                engine.run(pending()).await.map_err(|error| failed(&error))
            })
        });
        thread.join()
    });
    sandbox.set_clock(now);
    match ran {
        Ok(ran) => ran.map(|_| ()),
        Err(_) => Err(failed(&"its thread ended")),
    }
}
