//! What the simulation decides, as requests.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use kube::Client;
use kube::api::{DeleteParams, GetParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::Request;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::clock::Clock;
use crate::controller::api::ObjectKey;
use crate::kubelet::{EventWrite, PodRef, Write, set_condition};

/// So many pods are written at once.
const AT_ONCE: usize = 16;
/// How often a write is tried that somebody else got in the way of, or that was not answered.
const ATTEMPTS: u32 = 20;
/// The pause before the second attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Who writes, in `managedFields`.
const FIELD_MANAGER: &str = "kubectl-rs";

/// Writes to one cluster.
pub(super) struct Writer {
    client: Client,
    clock: Clock,
}

impl Writer {
    pub(super) fn new(client: Client, clock: Clock) -> Self {
        Self { client, clock }
    }

    /// Performs writes: those of one pod in their order, different pods side by side.
    pub(super) async fn perform(&self, writes: Vec<Write>) {
        let mut by_pod: BTreeMap<ObjectKey, Vec<Write>> = BTreeMap::new();
        for write in writes {
            by_pod.entry(pod_of(&write)).or_default().push(write);
        }
        stream::iter(by_pod.into_values())
            .for_each_concurrent(AT_ONCE, |writes| async move {
                for write in &writes {
                    self.insist(write).await;
                }
            })
            .await;
    }

    async fn insist(&self, write: &Write) {
        let mut pause = FIRST_PAUSE;
        for _ in 0..ATTEMPTS {
            match self.write(write).await {
                Ok(()) => return,
                Err(error) if is_passing(&error) && !matches!(write, Write::Event { .. }) => {
                    sleep(pause).await;
                    pause = LONGEST_PAUSE.min(pause * 2);
                }
                Err(error) => {
                    tracing::warn!(?write, %error, "a simulated pod could not be written");
                    return;
                }
            }
        }
    }

    async fn write(&self, write: &Write) -> Result<(), kube::Error> {
        let now = self.clock.now();
        let done = match write {
            Write::Bind { pod, node } => self.bind(pod, node).await,
            Write::Condition {
                pod,
                condition,
                generation,
            } => {
                self.change_status(pod, |status| {
                    set_condition(status, condition, *generation, now);
                })
                .await
            }
            Write::Status { pod, status } => {
                self.change_status(pod, |written| status.write_into(written, now))
                    .await
            }
            Write::Remove { pod } => self.delete(pod, Some(0)).await,
            Write::Delete { pod } => self.delete(pod, None).await,
            Write::Event { namespace, event } => self.event(namespace, event).await,
            // Nobody but the simulation has these.
            Write::Node { .. } => Ok(()),
        };
        match done {
            // The pod is gone, or another one by now.
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            done => done,
        }
    }

    /// Binds a pod. One that somebody else has bound is theirs.
    async fn bind(&self, pod: &PodRef, node: &str) -> Result<(), kube::Error> {
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": { "name": pod.key.name, "namespace": pod.key.namespace, "uid": pod.uid },
            "target": { "apiVersion": "v1", "kind": "Node", "name": node },
        });
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let body = binding.to_string().into_bytes();
        let request = pods(pod).create_subresource("binding", &pod.key.name, &params, body);
        match self.send(request).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(()),
            sent => sent.map(|_| ()),
        }
    }

    async fn change_status(
        &self,
        pod: &PodRef,
        change: impl FnOnce(&mut Value),
    ) -> Result<(), kube::Error> {
        let read = pods(pod).get(&pod.key.name, &GetParams::default());
        let mut stored = self.send(read).await?;
        if stored["metadata"]["uid"] != pod.uid.as_str() {
            return Ok(());
        }
        let before = stored["status"].take();
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(());
        }
        let body = json!({
            "metadata": {
                "uid": pod.uid,
                "resourceVersion": stored["metadata"]["resourceVersion"],
            },
            "status": changes(&before, &after),
        });
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(body);
        let request = pods(pod).patch_subresource("status", &pod.key.name, &params, &patch);
        self.send(request).await.map(|_| ())
    }

    /// Deletes a pod. One that was made anew under the same name is another one.
    async fn delete(&self, pod: &PodRef, grace: Option<u32>) -> Result<(), kube::Error> {
        let params = DeleteParams {
            grace_period_seconds: grace,
            preconditions: Some(Preconditions {
                uid: Some(pod.uid.clone()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match self.send(pods(pod).delete(&pod.key.name, &params)).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(()),
            sent => sent.map(|_| ()),
        }
    }

    async fn event(&self, namespace: &str, event: &EventWrite) -> Result<(), kube::Error> {
        let events = Request::new(format!("/api/v1/namespaces/{namespace}/events"));
        let request = if event.exists {
            let mut news = event.object();
            if let Some(fields) = news.as_object_mut() {
                fields.remove("metadata");
            }
            events.patch(&event.name, &PatchParams::default(), &Patch::Merge(news))
        } else {
            let body = event.object().to_string().into_bytes();
            events.create(&PostParams::default(), body)
        };
        self.send(request).await.map(|_| ())
    }

    async fn send(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Value, kube::Error> {
        let request = request.map_err(kube::Error::BuildRequest)?;
        self.client.request(request).await
    }
}

fn pods(pod: &PodRef) -> Request {
    Request::new(format!("/api/v1/namespaces/{}/pods", pod.key.namespace))
}

/// The pod that a write is about.
fn pod_of(write: &Write) -> ObjectKey {
    match write {
        Write::Bind { pod, .. }
        | Write::Condition { pod, .. }
        | Write::Status { pod, .. }
        | Write::Remove { pod }
        | Write::Delete { pod } => pod.key.clone(),
        Write::Event { namespace, event } => {
            ObjectKey::new(namespace, &event.content.involved_object.name)
        }
        Write::Node { name, .. } => ObjectKey::new("", name),
    }
}

/// Whether it may go well another time: somebody else wrote first, or the server could not answer.
fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => matches!(status.code, 409 | 429 | 500..),
        _ => true,
    }
}

/// A merge patch from one status to another, whose fields are written whole.
fn changes(before: &Value, after: &Value) -> Value {
    let none = Map::new();
    let before = before.as_object().unwrap_or(&none);
    let after = after.as_object().unwrap_or(&none);
    let gone = before.keys().filter(|field| !after.contains_key(*field));
    let gone = gone.map(|field| (field.clone(), Value::Null));
    let new = after
        .iter()
        .filter(|(field, value)| before.get(*field) != Some(value));
    let new = new.map(|(field, value)| (field.clone(), value.clone()));
    Value::Object(gone.chain(new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_patched_by_what_changed() {
        let cases = [
            (
                json!(null),
                json!({ "phase": "Pending" }),
                json!({ "phase": "Pending" }),
            ),
            (
                json!({ "phase": "Pending", "reason": "x", "conditions": [1] }),
                json!({ "phase": "Running", "conditions": [1] }),
                json!({ "phase": "Running", "reason": null }),
            ),
        ];
        for (before, after, expected) in cases {
            assert_eq!(changes(&before, &after), expected);
        }
    }
}
