//! One stored state of one API object.
//!
//! The store keeps JSON text, as etcd does: a tenth of the memory of a parsed tree, and reading it is copying bytes.
//! The text is kept member by member (`metadata`, `spec`, `status`), and the states of an object share the members in
//! which they are alike: most writes change the status and leave the spec alone. What is asked of every object on
//! every list and watch (name, labels, version) is kept beside the text.

mod members;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use self::members::Members;
use super::event_view;
use super::kinds::Kind;
use crate::controller::api::ObjectKey;

/// How much of an object a write looks at and may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// All of it.
    Whole,
    /// All but `spec`, which stays as it is.
    WithoutSpec,
    /// `metadata` alone.
    Metadata,
}

impl View {
    /// Whether the view has a member of an object.
    pub(crate) fn has(self, member: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::WithoutSpec => member != "spec",
            Self::Metadata => member == "metadata",
        }
    }
}

/// An object as it was at one resourceVersion; never changed, only replaced.
#[derive(Debug)]
pub struct Object {
    key: ObjectKey,
    uid: Box<str>,
    resource_version: u64,
    is_terminating: bool,
    has_managers: bool,
    labels: Box<[(Box<str>, Box<str>)]>,
    members: Members,
}

impl Object {
    /// Takes a complete object; its `metadata.resourceVersion` becomes `resource_version` (0: none, for dry runs).
    pub(crate) fn new(value: Value, resource_version: u64) -> Self {
        Self::replacing(None, View::Whole, value, resource_version)
    }

    /// The same for what takes the place of `previous`: `value` is what `view` has of it, and the rest stays.
    pub(crate) fn replacing(
        previous: Option<&Self>,
        view: View,
        mut value: Value,
        resource_version: u64,
    ) -> Self {
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
            key: key_of(&value),
            uid: text("uid").into(),
            resource_version,
            is_terminating: value["metadata"]["deletionTimestamp"].is_string(),
            has_managers: value["metadata"]["managedFields"].is_array(),
            labels: labels.unwrap_or_default(),
            members: Members::of(&value, view, previous.map(|previous| &previous.members)),
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

    /// Whether it says who manages its fields.
    pub(crate) fn has_managers(&self) -> bool {
        self.has_managers
    }

    /// How much text the object is, about.
    pub(crate) fn size(&self) -> usize {
        self.members.size()
    }

    /// Appends the object's JSON without `kind` and `apiVersion`, as lists of that kind carry it.
    pub(crate) fn write_item(&self, kind: &Kind, out: &mut Vec<u8>) {
        out.push(b'{');
        self.members_of(kind).write(out);
        out.push(b'}');
    }

    /// Reads the object into a type of the caller's; `kind` and `apiVersion` are not there.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        self.members.decode()
    }

    /// Reads one member of the object; nothing where it has none of that name.
    pub(crate) fn member<'a, T: Deserialize<'a> + Default>(
        &'a self,
        name: &str,
    ) -> serde_json::Result<T> {
        let text = self.members.get(name);
        text.map_or_else(|| Ok(T::default()), serde_json::from_str)
    }

    /// The object as a tree, with `kind` and `apiVersion`.
    pub(crate) fn value(&self, kind: &Kind) -> Value {
        self.view(kind, View::Whole)
    }

    /// What a view has of the object, with `kind` and `apiVersion`.
    pub(crate) fn view(&self, kind: &Kind, view: View) -> Value {
        let mut map: Map<String, Value> = self.members.parse(view);
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
        self.members_of(kind).write(out);
        out.push(b'}');
    }

    /// The members under the names that a kind has for them.
    fn members_of(&self, kind: &Kind) -> Cow<'_, Members> {
        if !kind.is_view() {
            return Cow::Borrowed(&self.members);
        }
        let mut value = Value::Object(self.members.parse(View::Whole));
        event_view::from_core(&mut value);
        Cow::Owned(Members::of(&value, View::Whole, None))
    }

    /// Appends `kind`, `apiVersion` and the metadata alone, as `PartialObjectMetadata`.
    pub(crate) fn write_metadata(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":",
        );
        let metadata = self.members.get("metadata");
        out.extend_from_slice(metadata.unwrap_or("{}").as_bytes());
        out.push(b'}');
    }

    /// The same state under another resourceVersion: what a DELETED event carries.
    pub(crate) fn at(&self, resource_version: u64) -> Self {
        let metadata: Value = self.member("metadata").unwrap_or_default();
        let value = Value::Object(Map::from_iter([("metadata".to_owned(), metadata)]));
        Self::replacing(Some(self), View::Metadata, value, resource_version)
    }

    /// The labels as a map.
    pub fn labels(&self) -> BTreeMap<&str, &str> {
        self.labels
            .iter()
            .map(|(key, value)| (&**key, &**value))
            .collect()
    }
}

/// The key of an object.
pub(crate) fn key_of(value: &Value) -> ObjectKey {
    let text = |field: &str| value["metadata"][field].as_str().unwrap_or_default();
    ObjectKey::new(text("namespace"), text("name"))
}
