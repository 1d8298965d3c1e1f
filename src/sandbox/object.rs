//! One stored state of one API object.
//!
//! The store keeps JSON text, as etcd does: a tenth of the memory of a parsed tree, and reading it is copying bytes.
//! The text is kept in parts (metadata, spec, status, the rest), and the states of an object share the parts in which
//! they are alike: most writes change the status alone. So the resourceVersion, in which no two are alike, is kept as a
//! number beside the metadata.

mod head;

use std::io::Write as _;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::head::Head;
use super::event_view;
use super::kinds::Kind;
use crate::controller::api::ObjectKey;

/// How much of an object a write looks at and may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// All of it.
    Whole,
    /// All but `spec`.
    WithoutSpec,
    /// `status` alone; of the metadata it shows what tells the object and its version.
    Status,
    /// `metadata` alone.
    Metadata,
}

impl View {
    /// Whether a member can be seen.
    pub(crate) fn shows(self, member: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::WithoutSpec => member != "spec",
            Self::Status => matches!(member, "metadata" | "status"),
            Self::Metadata => member == "metadata",
        }
    }

    /// Whether a member can be changed.
    pub(crate) fn changes(self, member: &str) -> bool {
        self.shows(member) && (self != Self::Status || member == "status")
    }

    /// The members of an object that can be changed.
    pub(crate) fn changeable(self, object: &Value) -> impl Iterator<Item = (&String, &Value)> {
        let members = object.as_object().into_iter().flatten();
        members.filter(move |(name, _)| self.changes(name))
    }
}

/// What of an object is to be replaced.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) spec: Option<String>,
    pub(crate) status: Option<String>,
}

/// An object as it was at one resourceVersion; never changed, only replaced.
#[derive(Clone, Debug)]
pub struct Object {
    head: Arc<Head>,
    resource_version: u64,
    spec: Option<Arc<str>>,
    status: Option<Arc<str>>,
    /// The other members, as an object.
    rest: Option<Arc<str>>,
}

impl Object {
    /// Takes a complete object; its `metadata.resourceVersion` becomes `resource_version` (0: none, for dry runs).
    pub(crate) fn new(value: Value, resource_version: u64) -> Self {
        Self::replacing(None, View::Whole, value, resource_version)
    }

    /// The same for what takes the place of `previous`: what `view` can't change of that stays.
    pub(crate) fn replacing(
        previous: Option<&Self>,
        view: View,
        mut value: Value,
        resource_version: u64,
    ) -> Self {
        let mut members = value
            .as_object_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let mut take = |name: &str| members.remove(name);
        let mut part = |name: &str, known: Option<&Arc<str>>| {
            if view.changes(name) {
                take(name).map(|value| text(&value, known))
            } else {
                known.cloned()
            }
        };
        let spec = part("spec", previous.and_then(|known| known.spec.as_ref()));
        let status = part("status", previous.and_then(|known| known.status.as_ref()));
        let metadata = take("metadata");
        let head = match previous {
            Some(known) if !view.changes("metadata") => Arc::clone(&known.head),
            known => Head::of(metadata.unwrap_or_default(), known.map(|known| &known.head)),
        };
        members.retain(|name, _| view.changes(name) && !matches!(&**name, "kind" | "apiVersion"));
        let known_rest = previous.and_then(|known| known.rest.as_ref());
        let rest = match view {
            View::Status | View::Metadata => known_rest.cloned(),
            _ if members.is_empty() => None,
            _ => Some(text(&Value::Object(members), known_rest)),
        };
        Self {
            head,
            resource_version,
            spec,
            status,
            rest,
        }
    }

    /// A new object that has metadata and `rest`: the text of an object with all other members, no spec or status
    /// among them.
    pub(crate) fn of_rest(metadata: Value, rest: String, resource_version: u64) -> Self {
        Self {
            head: Head::of(metadata, None),
            resource_version,
            spec: None,
            status: None,
            rest: Some(rest.into()),
        }
    }

    /// Namespace (empty for cluster-scoped kinds) and name.
    pub fn key(&self) -> &ObjectKey {
        &self.head.key
    }

    /// The namespace; empty for cluster-scoped kinds.
    pub fn namespace(&self) -> &str {
        &self.head.key.namespace
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.head.key.name
    }

    /// The UID.
    pub fn uid(&self) -> &str {
        &self.head.uid
    }

    /// The resourceVersion, as the number it is.
    pub fn resource_version(&self) -> u64 {
        self.resource_version
    }

    /// Whether it has a `deletionTimestamp`.
    pub fn is_terminating(&self) -> bool {
        self.head.is_terminating
    }

    /// Whether it says who manages its fields.
    pub(crate) fn has_managers(&self) -> bool {
        self.head.has_managers
    }

    /// The labels.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let labels = self.head.labels.iter();
        labels.map(|(key, value)| (&**key, &**value))
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let mut labels = self.labels();
        labels
            .find(|(label, _)| *label == key)
            .map(|(_, value)| value)
    }

    /// How much text the object is, about.
    pub(crate) fn size(&self) -> usize {
        let parts = [&self.spec, &self.status, &self.rest];
        let parts = parts.into_iter().flatten().map(|part| part.len() + 16);
        self.head.metadata.len() + 64 + parts.sum::<usize>()
    }

    /// Reads the object into a type of the caller's; `kind` and `apiVersion` are not there.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        let mut text = Vec::with_capacity(self.size());
        text.push(b'{');
        self.write_members(&mut text);
        text.push(b'}');
        serde_json::from_slice(&text)
    }

    /// `status`; null where it has none.
    pub(crate) fn status(&self) -> Value {
        parse(self.status.as_deref())
    }

    /// `status` as JSON; null where it has none.
    pub(crate) fn status_text(&self) -> &str {
        self.status.as_deref().unwrap_or("null")
    }

    /// `spec` as JSON; null where it has none.
    pub(crate) fn spec_text(&self) -> &str {
        self.spec.as_deref().unwrap_or("null")
    }

    /// `spec`; null where it has none.
    pub(crate) fn spec(&self) -> Value {
        parse(self.spec.as_deref())
    }

    /// The object as a tree, with `kind` and `apiVersion`.
    pub(crate) fn value(&self, kind: &Kind) -> Value {
        self.view(kind, View::Whole)
    }

    /// What a view shows of the object, with `kind` and `apiVersion`.
    pub(crate) fn view(&self, kind: &Kind, view: View) -> Value {
        let mut members: Map<String, Value> = match &self.rest {
            Some(rest) if !matches!(view, View::Status | View::Metadata) => parse(Some(rest)),
            _ => Map::new(),
        };
        let mut insert = |name: &str, value: Value| members.insert(name.to_owned(), value);
        insert("metadata", self.metadata(view));
        if let Some(spec) = self.spec.as_deref().filter(|_| view.shows("spec")) {
            insert("spec", parse(Some(spec)));
        }
        if let Some(status) = self.status.as_deref().filter(|_| view.shows("status")) {
            insert("status", parse(Some(status)));
        }
        insert("kind", kind.kind.into());
        insert("apiVersion", kind.api_version.into());
        let mut value = Value::Object(members);
        if kind.is_view() {
            event_view::from_core(&mut value);
        }
        value
    }

    fn metadata(&self, view: View) -> Value {
        let version = self.resource_version.to_string();
        if view == View::Status {
            let Head { key, uid, .. } = &*self.head;
            return json!({
                "namespace": key.namespace,
                "name": key.name,
                "uid": uid,
                "resourceVersion": version,
            });
        }
        let mut metadata: Value = parse(Some(&self.head.metadata));
        if self.resource_version > 0 {
            metadata["resourceVersion"] = version.into();
        }
        metadata
    }

    /// Appends the object's JSON without `kind` and `apiVersion`, as lists of that kind carry it.
    pub(crate) fn write_item(&self, kind: &Kind, out: &mut Vec<u8>) {
        out.push(b'{');
        self.write_members_of(kind, out);
        out.push(b'}');
    }

    /// Appends the object's JSON with `kind` and `apiVersion`.
    pub(crate) fn write_json(&self, kind: &Kind, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"kind\":\"");
        out.extend_from_slice(kind.kind.as_bytes());
        out.extend_from_slice(b"\",\"apiVersion\":\"");
        out.extend_from_slice(kind.api_version.as_bytes());
        out.extend_from_slice(b"\",");
        self.write_members_of(kind, out);
        out.push(b'}');
    }

    /// Appends the members under the names that a kind has for them.
    fn write_members_of(&self, kind: &Kind, out: &mut Vec<u8>) {
        if kind.is_view() {
            let view = Self::new(self.value(kind), self.resource_version);
            view.write_members(out);
        } else {
            self.write_members(out);
        }
    }

    fn write_members(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"metadata\":");
        self.write_metadata_members(out);
        if let Some(rest) = self.rest.as_deref() {
            out.push(b',');
            out.extend_from_slice(&rest.as_bytes()[1..rest.len() - 1]);
        }
        for (name, part) in [("spec", &self.spec), ("status", &self.status)] {
            if let Some(part) = part {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\":");
                out.extend_from_slice(part.as_bytes());
            }
        }
    }

    fn write_metadata_members(&self, out: &mut Vec<u8>) {
        let metadata = self.head.metadata.as_bytes();
        if self.resource_version == 0 {
            return out.extend_from_slice(metadata);
        }
        out.extend_from_slice(&metadata[..metadata.len() - 1]);
        let comma = if metadata.len() > 2 { "," } else { "" };
        write!(
            out,
            "{comma}\"resourceVersion\":\"{}\"}}",
            self.resource_version
        )
        .expect("writing to memory cannot fail");
    }

    /// Appends `kind`, `apiVersion` and the metadata alone, as `PartialObjectMetadata`.
    pub(crate) fn write_metadata(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":",
        );
        self.write_metadata_members(out);
        out.push(b'}');
    }

    /// The object with another spec, another status, or both, as JSON; `None` where those are the ones it has.
    pub(crate) fn with(&self, parts: Parts, resource_version: u64) -> Option<Self> {
        let replaced = |known: &Option<Arc<str>>, new: Option<String>| match new {
            Some(new) if known.as_deref() != Some(&*new) => Some(Some(Arc::from(new))),
            _ => None,
        };
        let spec = replaced(&self.spec, parts.spec);
        let status = replaced(&self.status, parts.status);
        let is_changed = spec.is_some() || status.is_some();
        is_changed.then(|| Self {
            head: Arc::clone(&self.head),
            resource_version,
            spec: spec.unwrap_or_else(|| self.spec.clone()),
            status: status.unwrap_or_else(|| self.status.clone()),
            rest: self.rest.clone(),
        })
    }

    /// The same state under another resourceVersion: what a DELETED event carries.
    pub(crate) fn at(&self, resource_version: u64) -> Self {
        Self {
            resource_version,
            ..self.clone()
        }
    }
}

/// The JSON text of a value: `known`, if that says the same.
fn text(value: &Value, known: Option<&Arc<str>>) -> Arc<str> {
    let text = value_text(value);
    match known {
        Some(known) if **known == *text => Arc::clone(known),
        _ => text.into(),
    }
}

fn value_text(value: &Value) -> String {
    serde_json::to_string(value).expect("a tree of JSON can be written to memory")
}

fn parse<T: DeserializeOwned + Default>(text: Option<&str>) -> T {
    let read = |text| serde_json::from_str(text).expect("the store wrote this text");
    text.map(read).unwrap_or_default()
}

/// The key of an object.
pub(crate) fn key_of(value: &Value) -> ObjectKey {
    head::key_of(&value["metadata"])
}
