//! One stored state of one API object.
//!
//! The store keeps the JSON text, as etcd does: a tenth of the memory of a parsed tree, and reading it is copying
//! bytes. What is asked of every object on every list and watch (name, labels, version) is kept beside the text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::event_view;
use super::kinds::Kind;
use crate::controller::api::ObjectKey;

/// An object as it was at one resourceVersion; never changed, only replaced.
#[derive(Debug)]
pub struct Object {
    key: ObjectKey,
    uid: Box<str>,
    resource_version: u64,
    is_terminating: bool,
    labels: Box<[(Box<str>, Box<str>)]>,
    json: Bytes,
}

impl Object {
    /// Takes a complete object; its `metadata.resourceVersion` becomes `resource_version` (0: none, for dry runs).
    pub(crate) fn new(mut value: Value, resource_version: u64) -> Self {
        if let Some(object) = value.as_object_mut() {
            object.remove("kind");
            object.remove("apiVersion");
        }
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            if resource_version == 0 {
                metadata.remove("resourceVersion");
            } else {
                metadata.insert(
                    "resourceVersion".to_owned(),
                    resource_version.to_string().into(),
                );
            }
        }
        let text = |field: &str| value["metadata"][field].as_str().unwrap_or_default();
        let labels = value["metadata"]["labels"].as_object().map(|labels| {
            labels
                .iter()
                .map(|(key, value)| (key.as_str().into(), value.as_str().unwrap_or("").into()))
                .collect()
        });
        Self {
            key: ObjectKey::new(text("namespace"), text("name")),
            uid: text("uid").into(),
            resource_version,
            is_terminating: value["metadata"]["deletionTimestamp"].is_string(),
            labels: labels.unwrap_or_default(),
            json: Bytes::from(value.to_string()),
        }
    }

    /// Namespace (empty for cluster-scoped kinds) and name.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The namespace; empty for cluster-scoped kinds.
    pub fn namespace(&self) -> &str {
        &self.key.namespace
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.key.name
    }

    /// The UID.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The resourceVersion, as the number it is.
    pub fn resource_version(&self) -> u64 {
        self.resource_version
    }

    /// Whether it has a `deletionTimestamp`.
    pub fn is_terminating(&self) -> bool {
        self.is_terminating
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels
            .iter()
            .find(|(label, _)| &**label == key)
            .map(|(_, value)| &**value)
    }

    /// How much text the object is, about.
    pub(crate) fn size(&self) -> usize {
        self.json.len()
    }

    /// The object's JSON without `kind` and `apiVersion`, as lists of that kind carry it.
    pub(crate) fn item_json(&self, kind: &Kind) -> Cow<'_, [u8]> {
        if !kind.is_view() {
            return Cow::Borrowed(&self.json);
        }
        let mut value = self.decode().expect("the store wrote this text");
        event_view::from_core(&mut value);
        Cow::Owned(value.to_string().into_bytes())
    }

    /// Reads the object into a type of the caller's; `kind` and `apiVersion` are not there.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.json)
    }

    /// The object as a tree, with `kind` and `apiVersion`.
    pub(crate) fn value(&self, kind: &Kind) -> Value {
        let mut map: Map<String, Value> = self
            .decode()
            .expect("the store wrote this text from an object");
        map.insert("kind".to_owned(), kind.kind.into());
        map.insert("apiVersion".to_owned(), kind.api_version.into());
        let mut value = Value::Object(map);
        if kind.is_view() {
            event_view::from_core(&mut value);
        }
        value
    }

    /// Appends the object's JSON with `kind` and `apiVersion`.
    pub(crate) fn write_json(&self, kind: &Kind, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"kind\":\"");
        out.extend_from_slice(kind.kind.as_bytes());
        out.extend_from_slice(b"\",\"apiVersion\":\"");
        out.extend_from_slice(kind.api_version.as_bytes());
        out.extend_from_slice(b"\",");
        out.extend_from_slice(&self.item_json(kind)[1..]);
    }

    /// Appends `kind`, `apiVersion` and the metadata alone, as `PartialObjectMetadata`.
    pub(crate) fn write_metadata(&self, out: &mut Vec<u8>) {
        #[derive(Deserialize)]
        struct Partial<'a> {
            #[serde(borrow)]
            metadata: &'a RawValue,
        }
        let partial: Partial = self.decode().expect("every stored object has metadata");
        out.extend_from_slice(
            b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":",
        );
        out.extend_from_slice(partial.metadata.get().as_bytes());
        out.push(b'}');
    }

    /// The same state under another resourceVersion: what a DELETED event carries.
    pub(crate) fn at(&self, resource_version: u64) -> Self {
        let value = self.decode().expect("the store wrote this text");
        Self::new(value, resource_version)
    }

    /// The labels as a map.
    pub fn labels(&self) -> BTreeMap<&str, &str> {
        self.labels
            .iter()
            .map(|(key, value)| (&**key, &**value))
            .collect()
    }
}
