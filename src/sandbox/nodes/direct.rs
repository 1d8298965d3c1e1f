//! How the simulated scheduler and kubelet write: straight into the store.
//!
//! What they write is what the server would make of it, so it need not go through all that requests go through: that is
//! most of what a simulated pod costs. Builds with debug assertions, as tests are, send each write through the checks too
//! and compare. Objects with `managedFields` take the long way always.

use std::sync::Arc;

use serde_json::Value;

use super::super::handle::target;
use super::super::managed_fields::Tracking;
use super::super::object::View;
use super::super::persist::{self, Write};
use super::super::query::WriteOptions;
use super::super::route::Target;
use super::super::server::State;
use super::super::status::ApiError;
use super::super::{Object, Sandbox, admission, metadata, read};
use crate::controller::api::ObjectKey;

/// The longest name of an object.
const LONGEST_NAME: usize = 253;
/// The longest message of an event.
const LONGEST_MESSAGE: usize = 1024;

impl Sandbox {
    /// Changes a pod's status and nothing else.
    pub(super) fn write_pod_status(
        &self,
        pod: &ObjectKey,
        change: impl Fn(&mut Value),
    ) -> Result<Arc<Object>, ApiError> {
        let target = target("pods", &pod.namespace, Some(&pod.name), Some("status"))?;
        let mut state = self.server.lock();
        let stored = read::find(&state.store, &target)?.clone();
        if stored.has_managers() {
            drop(state);
            return self.update_status("pods", &pod.namespace, &pod.name, change);
        }
        let mut status = stored.status();
        change(&mut status);
        if cfg!(debug_assertions) {
            let mut write = self.rehearsal(&target);
            write.view = View::Status;
            let checked = persist::change(&mut state, &write, |pod| {
                let mut pod = pod.clone();
                change(&mut pod["status"]);
                Ok(pod)
            });
            assert_eq!(checked.map(|pod| pod.status()).as_ref(), Ok(&status));
        }
        let collection = target.kind.collection;
        Ok(state.store.put_status(collection, &stored, &status))
    }

    /// Creates an event that has a name.
    pub(super) fn create_event(&self, namespace: &str, mut event: Value) -> Result<(), ApiError> {
        let target = target("events", namespace, None, None)?;
        let mut state = self.server.lock();
        let text = |value: &Value| value.as_str().unwrap_or_default().len();
        let key = ObjectKey::new(
            namespace,
            event["metadata"]["name"].as_str().unwrap_or_default(),
        );
        let is_plain = state.tracking == Tracking::FromFirstApply
            && text(&event["metadata"]["name"]) <= LONGEST_NAME
            && text(&event["message"]) <= LONGEST_MESSAGE
            && state.store.get(target.kind.collection, &key).is_none();
        if !is_plain {
            drop(state);
            return self.create("events", namespace, event).map(|_| ());
        }
        admission::namespace_lifecycle(&state.store, &target, &event)?;
        let checked =
            cfg!(debug_assertions).then(|| self.rehearse_create(&mut state, &target, &event));
        metadata::prepare_for_create(&mut state, target.kind, &mut event)?;
        let created = state.store.put(target.kind.collection, event);
        if let Some(checked) = checked {
            let without_times = |event: Arc<Object>| {
                let mut event = event.value(target.kind);
                for field in ["resourceVersion", "creationTimestamp"] {
                    metadata::of(&mut event).remove(field);
                }
                event
            };
            assert_eq!(checked.map(without_times), Ok(without_times(created)));
        }
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

    /// What creating an object the long way comes to; the next one draws the same UID.
    fn rehearse_create(
        &self,
        state: &mut State,
        target: &Target,
        object: &Value,
    ) -> Result<Arc<Object>, ApiError> {
        let random = state.random.clone();
        let created = persist::create(state, &self.rehearsal(target), object.clone());
        state.random = random;
        created
    }
}
