//! How the simulated scheduler and kubelet write: straight into the store.
//!
//! What they write is what the server would make of it, so it need not go through all that requests go through: that is
//! most of what a simulated pod costs. Builds with debug assertions, as tests are, send each write through the checks too
//! and compare. Objects with `managedFields` take the long way always.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::handle::target;
use super::super::managed_fields::Tracking;
use super::super::object::{Parts, View};
use super::super::persist::{self, Write};
use super::super::query::WriteOptions;
use super::super::route::Target;
use super::super::status::ApiError;
use super::super::{Object, Sandbox, binding, plain_event, read};
use crate::controller::api::ObjectKey;
use crate::kubelet::{EventWrite, PodCondition, PodRef};

impl Sandbox {
    /// Changes a pod's status and nothing else.
    pub(super) fn write_pod_status(
        &self,
        pod: &ObjectKey,
        over: impl Fn(&str) -> serde_json::Result<String>,
    ) -> Result<Arc<Object>, ApiError> {
        let target = target("pods", &pod.namespace, Some(&pod.name), Some("status"))?;
        let mut state = self.server.lock();
        let stored = read::find(&state.store, &target)?.clone();
        let replaced = |status: &mut Value| {
            let text = over(&status.to_string()).unwrap_or_default();
            *status = serde_json::from_str(&text).unwrap_or_default();
        };
        if stored.has_managers() {
            drop(state);
            return self.update_status("pods", &pod.namespace, &pod.name, replaced);
        }
        let status = over(stored.status_text()).map_err(|error| unreadable(&error))?;
        if cfg!(debug_assertions) {
            let mut write = self.rehearsal(&target);
            write.view = View::Status;
            let checked = persist::change(&mut state, &write, |pod| {
                let mut pod = pod.clone();
                replaced(&mut pod["status"]);
                Ok(pod)
            });
            let status = serde_json::from_str::<Value>(&status).map_err(|error| error.to_string());
            let checked = checked.map(|pod| pod.value(target.kind)["status"].take());
            assert_eq!(checked.map_err(|error| error.to_string()), status);
        }
        let parts = Parts {
            status: Some(status),
            spec: None,
        };
        Ok(state
            .store
            .put_parts(target.kind.collection, &stored, parts))
    }

    /// Binds a pod to a node. Returns its versions before and after, where that went the short way.
    pub(super) fn bind_pod(&self, pod: &PodRef, node: &str) -> Result<Option<[u64; 2]>, ApiError> {
        let ObjectKey { namespace, name } = &pod.key;
        let target = target("pods", namespace, Some(name), None)?;
        let mut state = self.server.lock();
        let stored = read::find(&state.store, &target)?.clone();
        let now = state.now();
        let spec = match bound_spec(stored.spec_text(), node) {
            Some(spec) if is_bindable(&stored, pod) => spec,
            _ => {
                drop(state);
                return self.bind(namespace, name, &pod.uid, node).map(|_| None);
            }
        };
        let scheduled = PodCondition {
            type_: "PodScheduled",
            holds: true,
            ..PodCondition::default()
        };
        let status = scheduled.over(stored.status_text(), 0, now);
        let parts = Parts {
            spec: Some(spec),
            status: Some(status.map_err(|error| unreadable(&error))?),
        };
        let rehearsed = cfg!(debug_assertions).then(|| {
            let binding =
                json!({"metadata": {"name": name, "uid": pod.uid}, "target": {"name": node}});
            binding::bound(&stored, &binding, now)
        });
        let bound = state
            .store
            .put_parts(target.kind.collection, &stored, parts);
        if let Some(rehearsed) = rehearsed {
            let parts = |mut pod: Value| [pod["spec"].take(), pod["status"].take()];
            assert_eq!(rehearsed.map(parts), Ok(parts(bound.value(target.kind))));
        }
        Ok(Some([stored.resource_version(), bound.resource_version()]))
    }

    /// Creates an event.
    pub(super) fn create_event(&self, namespace: &str, event: &EventWrite) -> Result<(), ApiError> {
        let target = target("events", namespace, None, None)?;
        let mut state = self.server.lock();
        let key = ObjectKey::new(namespace, &event.name);
        let is_plain = state.tracking == Tracking::FromFirstApply
            && plain_event::fits(&event.name, &event.content.message)
            && state.store.get(target.kind.collection, &key).is_none();
        if !is_plain {
            drop(state);
            return self.create("events", namespace, event.object()).map(|_| ());
        }
        let content = serde_json::to_string(&event.content).map_err(|error| unreadable(&error))?;
        let write = Write::new(&target, WriteOptions::default(), self.manager.to_owned());
        plain_event::store(&mut state, &write, &key, content, || event.object())?;
        Ok(())
    }

    /// A write that goes all the way but for the last step.
    fn rehearsal<'a>(&self, target: &'a Target) -> Write<'a> {
        let options = WriteOptions {
            dry_run: true,
            ..WriteOptions::default()
        };
        Write::new(target, options, self.manager.to_owned())
    }
}

/// Whether nothing of a stored pod keeps a binding from the short way.
fn is_bindable(stored: &Object, pod: &PodRef) -> bool {
    stored.uid() == pod.uid && !stored.is_terminating() && !stored.has_managers()
}

/// A pod's spec with the node in it; `None` where the pod may not be bound.
fn bound_spec(spec: &str, node: &str) -> Option<String> {
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(spec).ok()?;
    let node = to_raw_value(node).ok()?;
    if members.contains_key("nodeName") || members.contains_key("schedulingGates") {
        return None;
    }
    members.insert("nodeName".to_owned(), &node);
    serde_json::to_string(&members).ok()
}

fn unreadable(error: &serde_json::Error) -> ApiError {
    ApiError::internal(error.to_string())
}
