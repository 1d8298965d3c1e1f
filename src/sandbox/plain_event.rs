//! Events as controllers and kubelets write them, on a short way into the store.
//!
//! They are most of what is created in a cluster, and say the same few things. One that says nothing else needs none of
//! what the long way does for objects of all kinds: it is stored as it was sent, after the same checks. Builds with debug
//! assertions send each of them the long way too and compare. What is not plain goes the long way alone.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::managed_fields::Tracking;
use super::object::Object;
use super::persist::{self, Write};
use super::request::ApiRequest;
use super::server::State;
use super::status::ApiError;
use super::{admission, metadata};
use crate::controller::api::ObjectKey;

/// The longest name of an object.
const LONGEST_NAME: usize = 253;
/// The longest message of an event.
const LONGEST_MESSAGE: usize = 1024;

/// What such an event says besides its metadata, as it is stored.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlainEvent<'a> {
    #[serde(borrow, skip_serializing)]
    api_version: Cow<'a, str>,
    count: u16,
    /// Only events of newer senders have one.
    #[serde(skip_deserializing)]
    event_time: (),
    #[serde(borrow)]
    first_timestamp: Cow<'a, str>,
    #[serde(borrow)]
    involved_object: InvolvedObject<'a>,
    #[serde(borrow, skip_serializing)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    last_timestamp: Cow<'a, str>,
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow, skip_serializing)]
    metadata: Metadata<'a>,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    #[serde(borrow)]
    reporting_component: Cow<'a, str>,
    #[serde(borrow, default)]
    reporting_instance: Cow<'a, str>,
    #[serde(borrow)]
    source: Source<'a>,
    #[serde(borrow, rename = "type")]
    type_: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InvolvedObject<'a> {
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    #[serde(borrow)]
    uid: Cow<'a, str>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Source<'a> {
    #[serde(borrow)]
    component: Cow<'a, str>,
}

impl<'a> PlainEvent<'a> {
    /// The event in a request, if it is one.
    fn read(request: &'a ApiRequest, write: &Write<'_>) -> Option<Self> {
        if !matches!(request.content_type(), "" | "application/json") || write.options.dry_run {
            return None;
        }
        let event: Self = serde_json::from_slice(&request.body).ok()?;
        event
            .is_plain(write.target.namespace.as_deref())
            .then_some(event)
    }

    fn is_plain(&self, namespace: Option<&str>) -> bool {
        let involved = &self.involved_object;
        // What is empty is not stored.
        let texts = [
            &involved.api_version,
            &involved.kind,
            &involved.name,
            &involved.resource_version,
            &involved.uid,
            &self.message,
            &self.reason,
            &self.reporting_component,
            &self.source.component,
        ];
        texts.into_iter().all(|text| !text.is_empty())
            && self.api_version == "v1"
            && self.kind == "Event"
            && self.count > 0
            && is_time(&self.first_timestamp)
            && is_time(&self.last_timestamp)
            && namespace == Some(&*self.metadata.namespace)
            && involved.namespace == self.metadata.namespace
            && is_name(&self.metadata.name)
            && fits(&self.metadata.name, &self.message)
            && matches!(&*self.type_, "Normal" | "Warning")
    }
}

/// Whether a name is none that anybody could have something against.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut words = name.split(['-', '.']);
    words.all(|word| !word.is_empty() && word.bytes().all(is_plain))
}

/// Whether a time is written as it is stored.
fn is_time(text: &str) -> bool {
    text.len() == "2026-01-01T00:00:00Z".len()
        && text.ends_with('Z')
        && text.parse::<Timestamp>().is_ok()
}

/// Creates the event in a request; `None` where that has to go the long way.
pub(crate) fn create(
    state: &mut State,
    request: &ApiRequest,
    write: &Write<'_>,
) -> Option<Result<Arc<Object>, ApiError>> {
    let kind = write.target.kind;
    let is_event = kind.kind == "Event" && !kind.is_view();
    if !is_event || state.tracking != Tracking::FromFirstApply {
        return None;
    }
    let event = PlainEvent::read(request, write)?;
    let key = ObjectKey::new(&*event.metadata.namespace, &*event.metadata.name);
    let content = serde_json::to_string(&event).ok()?;
    if state.store.get(kind.collection, &key).is_some() {
        return None;
    }
    let sent = || serde_json::from_slice(&request.body).unwrap_or_default();
    Some(store(state, write, &key, content, sent))
}

/// Stores an event of which it is known that it can be stored as it is: `content` is the text of all but the metadata,
/// and `whole` the event as it would be sent.
pub(crate) fn store(
    state: &mut State,
    write: &Write<'_>,
    key: &ObjectKey,
    content: String,
    whole: impl FnOnce() -> Value,
) -> Result<Arc<Object>, ApiError> {
    let kind = write.target.kind;
    let mut head = json!({"metadata": {"name": key.name, "namespace": key.namespace}});
    admission::namespace_lifecycle(&state.store, write.target, &head)?;
    let rehearsed = cfg!(debug_assertions).then(|| rehearse(state, write, whole()));
    metadata::prepare_for_create(state, kind, &mut head)?;
    let created = state
        .store
        .put_rest(kind.collection, head["metadata"].take(), content);
    if let Some(rehearsed) = rehearsed {
        let without_times = |event: &Object| {
            let mut event = event.value(kind);
            for field in ["resourceVersion", "creationTimestamp"] {
                metadata::of(&mut event).remove(field);
            }
            event
        };
        let rehearsed = rehearsed.map(|event| without_times(&event));
        assert_eq!(rehearsed, Ok(without_times(&created)));
    }
    Ok(created)
}

/// What creating an event the long way comes to; the next one draws the same UID.
fn rehearse(state: &mut State, write: &Write<'_>, event: Value) -> Result<Arc<Object>, ApiError> {
    let random = state.random.clone();
    let mut rehearsal = write.clone();
    rehearsal.options.dry_run = true;
    let created = persist::create(state, &rehearsal, event);
    state.random = random;
    created
}

/// Whether an event of this name and message can be stored as it is.
pub(crate) fn fits(name: &str, message: &str) -> bool {
    name.len() <= LONGEST_NAME && message.len() <= LONGEST_MESSAGE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::sandbox::handle::target;
    use crate::sandbox::query::WriteOptions;
    use crate::sandbox::{Sandbox, SandboxOptions};

    fn event() -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "web-5d9c.18ab", "namespace": "default"},
            "involvedObject": {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "web-5d9c",
                "namespace": "default",
                "resourceVersion": "7",
                "uid": "u",
            },
            "type": "Normal",
            "reason": "SuccessfulCreate",
            "message": "Created pod: \"web-5d9c-x\"",
            "source": {"component": "replicaset-controller"},
            "reportingComponent": "replicaset-controller",
            "firstTimestamp": "2026-01-01T00:00:00Z",
            "lastTimestamp": "2026-01-01T00:00:00Z",
            "count": 1,
        })
    }

    fn request(body: &Value) -> ApiRequest {
        let path = "/api/v1/namespaces/default/events";
        let request = http::Request::post(path).body(()).unwrap();
        ApiRequest::new(request.into_parts().0, body.to_string().into())
    }

    /// Stores an event on the short way, if that is open to it. That compares it with the long way.
    fn short(sandbox: &Sandbox, body: &Value) -> Option<Result<Arc<Object>, ApiError>> {
        let target = target("events", "default", None, None).unwrap();
        let write = Write::new(&target, WriteOptions::default(), "test".to_owned());
        create(&mut sandbox.server.lock(), &request(body), &write)
    }

    #[test]
    fn what_is_plain_goes_the_short_way_and_nothing_else_does() {
        let sandbox = Sandbox::new(SandboxOptions::new(Clock::starting_at(
            Timestamp::UNIX_EPOCH,
        )));
        let stored = short(&sandbox, &event()).expect("it is plain").unwrap();
        let target = target("events", "default", None, None).unwrap();
        let mut stored = stored.value(target.kind);
        assert!(stored["metadata"]["uid"].is_string());
        for (field, value) in event().as_object().unwrap() {
            if field != "metadata" {
                assert_eq!(stored[field].take(), *value, "{field}");
            }
        }
        assert!(short(&sandbox, &event()).is_none(), "the name is taken");
        for (field, value) in [
            ("/kind", json!("ConfigMap")),
            ("/apiVersion", json!("events.k8s.io/v1")),
            ("/metadata/name", json!("A")),
            ("/metadata/name", json!("a..b")),
            ("/metadata/name", json!("a".repeat(254))),
            ("/metadata/namespace", json!("other")),
            ("/involvedObject/namespace", json!("other")),
            ("/involvedObject/resourceVersion", json!("")),
            ("/type", json!("Odd")),
            ("/message", json!("m".repeat(1025))),
            ("/message", json!(5)),
            ("/reason", json!("")),
            ("/firstTimestamp", json!("2026-01-01T00:00:00+01:00")),
            ("/lastTimestamp", json!("2026-01-01T00:00:61Z")),
            ("/lastTimestamp", Value::Null),
            ("/count", json!(0)),
            ("/count", json!(-1)),
            ("/source", json!({"component": "c", "host": "n"})),
        ] {
            let mut other = event();
            other["metadata"]["name"] = "another".into();
            *other.pointer_mut(field).unwrap() = value;
            assert!(short(&sandbox, &other).is_none(), "{field}: {other}");
        }
        let mut labelled = event();
        labelled["metadata"] = json!({"name": "b", "namespace": "default", "labels": {"a": "b"}});
        assert!(short(&sandbox, &labelled).is_none());
    }
}
