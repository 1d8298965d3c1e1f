//! The way into the cluster without HTTP, for what lives beside the API server: the simulated scheduler and kubelet.
//!
//! Writes take the same path as requests do (defaults, admission, validation, generation), so nothing can be written
//! here that a client could not write. What the simulated nodes write by the thousand is `nodes::direct`'s. Resources are
//! named by their plural: `pods`.

use std::ops::Bound;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::kinds::{self, Kind};
use super::object::View;
use super::persist::{self, Write};
use super::query::{DeleteOptions, WriteOptions};
use super::route::Target;
use super::server::Server;
use super::status::ApiError;
use super::{Change, Object, Sandbox, binding, delete};
use crate::controller::api::ObjectKey;

impl Sandbox {
    /// The same cluster, with writes recorded in `managedFields` under this name.
    #[must_use]
    pub fn as_manager(&self, manager: &'static str) -> Self {
        Self {
            server: self.server.clone(),
            manager,
        }
    }

    /// An object; the namespace is empty for cluster-scoped kinds.
    pub fn get(&self, plural: &str, namespace: &str, name: &str) -> Option<Arc<Object>> {
        let key = ObjectKey::new(namespace, name);
        let kind = kinds::by_plural(plural)?;
        self.server.lock().store.get(kind.collection, &key).cloned()
    }

    /// The objects of one namespace, or of all, in order of namespace and name.
    pub fn list(&self, plural: &str, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let Some(kind) = kinds::by_plural(plural) else {
            return Vec::new();
        };
        let state = self.server.lock();
        let objects = state
            .store
            .list(kind.collection, namespace, &Bound::Unbounded);
        objects.cloned().collect()
    }

    /// The objects of a kind as they are, and their changes from there on.
    pub fn subscribe(&self, plural: &str) -> Result<(Vec<Arc<Object>>, Changes), ApiError> {
        let kind = known(plural)?;
        let mut state = self.server.lock();
        let woken = state.store.subscribe(kind.collection);
        let objects = state.store.list(kind.collection, None, &Bound::Unbounded);
        let objects = objects.cloned().collect();
        let changes = Changes {
            server: self.server.clone(),
            kind,
            cursor: state.store.revision(),
            woken,
        };
        Ok((objects, changes))
    }

    /// Creates an object.
    pub fn create(
        &self,
        plural: &str,
        namespace: &str,
        object: Value,
    ) -> Result<Arc<Object>, ApiError> {
        let target = target(plural, namespace, None, None)?;
        persist::create(&mut self.server.lock(), &self.write(&target), object)
    }

    /// Changes an object, all but its status.
    pub fn update(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Arc<Object>, ApiError> {
        self.change(plural, namespace, name, None, change)
    }

    /// Changes an object's status and nothing else.
    pub fn update_status(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Arc<Object>, ApiError> {
        self.change(plural, namespace, name, Some("status"), |object| {
            change(&mut object["status"]);
        })
    }

    /// Binds the pod of that UID to a node, as a scheduler does.
    pub fn bind(
        &self,
        namespace: &str,
        name: &str,
        uid: &str,
        node: &str,
    ) -> Result<Arc<Object>, ApiError> {
        let target = target("bindings", namespace, None, None)?;
        let binding = json!({
            "metadata": {"name": name, "uid": uid},
            "target": {"kind": "Node", "name": node},
        });
        binding::bind(&mut self.server.lock(), &self.write(&target), &binding)
    }

    /// Deletes an object; a pod's grace period is its own unless one is given.
    pub fn delete(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
        grace_period_seconds: Option<i64>,
    ) -> Result<Arc<Object>, ApiError> {
        let target = target(plural, namespace, Some(name), None)?;
        let options = DeleteOptions {
            grace_period_seconds,
            ..DeleteOptions::default()
        };
        delete::delete_object(&mut self.server.lock(), &target, &options)
            .map(|deletion| deletion.object)
    }

    fn change(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        change: impl FnOnce(&mut Value),
    ) -> Result<Arc<Object>, ApiError> {
        let target = target(plural, namespace, Some(name), subresource)?;
        let write = Write {
            view: if subresource.is_some() {
                View::Status
            } else {
                View::Whole
            },
            ..self.write(&target)
        };
        persist::change(&mut self.server.lock(), &write, |object| {
            let mut object = object.clone();
            change(&mut object);
            Ok(object)
        })
    }

    fn write<'a>(&self, target: &'a Target) -> Write<'a> {
        Write::new(target, WriteOptions::default(), self.manager.to_owned())
    }
}

/// The changes of one kind, in order.
#[derive(Debug)]
pub struct Changes {
    server: Arc<Server>,
    kind: &'static Kind,
    cursor: u64,
    woken: watch::Receiver<u64>,
}

impl Changes {
    /// The resourceVersion up to which changes were handed out.
    pub(super) fn heard(&self) -> u64 {
        self.cursor
    }

    /// Waits for the next changes. `None`: so many were missed that only a new [`Sandbox::subscribe`] helps.
    pub async fn next(&mut self) -> Option<Vec<Change>> {
        loop {
            self.woken.mark_unchanged();
            let changes = {
                let state = self.server.lock();
                let changes = state
                    .store
                    .changes_since(self.kind.collection, self.cursor)
                    .ok()?;
                self.cursor = state.store.revision();
                changes
            };
            if !changes.is_empty() {
                return Some(changes);
            }
            self.woken.changed().await.ok()?;
        }
    }
}

fn known(plural: &str) -> Result<&'static Kind, ApiError> {
    kinds::by_plural(plural)
        .ok_or_else(|| ApiError::bad_request(format!("no such resource: {plural}")))
}

pub(super) fn target(
    plural: &str,
    namespace: &str,
    name: Option<&str>,
    subresource: Option<&str>,
) -> Result<Target, ApiError> {
    let kind = known(plural)?;
    Ok(Target {
        kind,
        namespace: kind.namespaced.then(|| namespace.to_owned()),
        name: name.map(str::to_owned),
        subresource: subresource.map(str::to_owned),
    })
}
