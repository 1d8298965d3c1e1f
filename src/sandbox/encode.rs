//! Objects, lists and watch events as bytes, in the form that the caller asked for.

use bytes::Bytes;
use http::header;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::negotiate::{Form, negotiate};
use super::object::Object;
use super::request::ApiRequest;
use super::status::ApiError;
use super::table::{Include, TableForm};
use crate::clock::Clock;
use crate::schema;

/// What happened to an object, from a watcher's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Added,
    Modified,
    Deleted,
}

impl EventKind {
    fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// The `metadata` of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListMeta {
    pub(crate) resource_version: u64,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<usize>,
}

impl ListMeta {
    fn value(&self) -> Value {
        let mut metadata = json!({"resourceVersion": self.resource_version.to_string()});
        if let Some(token) = &self.continue_token {
            metadata["continue"] = token.clone().into();
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        metadata
    }
}

/// Writes in one form.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    form: Form,
    include: Include,
    clock: Clock,
    /// Whether a table has been written: later ones of a watch leave out the columns.
    has_columns: bool,
}

impl Encoder {
    /// The form that a request asks for.
    pub(crate) fn of(request: &ApiRequest, clock: Clock) -> Result<Self, ApiError> {
        let form = negotiate(request.header(header::ACCEPT), false)?;
        let include = match form {
            Form::Table { .. } => Include::parse(request.query.get("includeObject"))?,
            _ => Include::default(),
        };
        Ok(Self {
            form,
            include,
            clock,
            has_columns: false,
        })
    }

    fn table_form(&self) -> Option<TableForm> {
        let include = self.include;
        match self.form {
            Form::Table { beta } => Some(TableForm { beta, include }),
            _ => None,
        }
    }

    /// One object.
    pub(crate) fn object(&self, kind: &Kind, object: &Object) -> Result<Bytes, ApiError> {
        if let Some(form) = self.table_form() {
            let meta = table_meta(object);
            let objects = std::iter::once(object);
            let table = form.table(kind, &meta, objects, true, self.clock.now());
            return Ok(table.to_string().into());
        }
        let mut out = Vec::with_capacity(object.size() + 64);
        match self.form {
            Form::MetadataList => {
                return Err(ApiError::not_acceptable(format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list (*{}.{})",
                    kind.go_package(),
                    kind.kind
                )));
            }
            Form::Metadata => object.write_metadata(&mut out),
            _ => object.write_json(kind, &mut out),
        }
        Ok(out.into())
    }

    /// A list.
    pub(crate) fn list<'a>(
        &self,
        kind: &Kind,
        meta: &ListMeta,
        items: impl Iterator<Item = &'a Object>,
    ) -> Result<Bytes, ApiError> {
        if self.form == Form::Metadata {
            return Err(ApiError::not_acceptable(format!(
                "you requested PartialObjectMetadata, but the requested object is a list (*{}.{}List)",
                kind.go_package(),
                kind.kind
            )));
        }
        if let Some(form) = self.table_form() {
            let table = form.table(kind, &meta.value(), items, true, self.clock.now());
            return Ok(table.to_string().into());
        }
        let metadata_only = self.form == Form::MetadataList;
        let (name, version) = if metadata_only {
            ("PartialObjectMetadata", "meta.k8s.io/v1")
        } else {
            (kind.kind, kind.api_version)
        };
        let mut out = format!(
            r#"{{"kind":"{name}List","apiVersion":"{version}","metadata":{},"items":["#,
            meta.value()
        )
        .into_bytes();
        for (index, object) in items.enumerate() {
            if index > 0 {
                out.push(b',');
            }
            if metadata_only {
                object.write_metadata(&mut out);
            } else {
                object.write_item(kind, &mut out);
            }
        }
        out.extend_from_slice(b"]}");
        Ok(out.into())
    }

    /// One line of a watch.
    pub(crate) fn event(&mut self, kind: &Kind, event: EventKind, object: &Object) -> Bytes {
        let mut out = Vec::with_capacity(object.size() + 96);
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(event.name().as_bytes());
        out.extend_from_slice(b"\",\"object\":");
        match self.form {
            Form::Metadata | Form::MetadataList => object.write_metadata(&mut out),
            Form::Table { .. } => self.write_event_table(kind, object, &mut out),
            Form::Object | Form::GroupDiscovery => object.write_json(kind, &mut out),
        }
        out.extend_from_slice(b"}\n");
        out.into()
    }

    fn write_event_table(&mut self, kind: &Kind, object: &Object, out: &mut Vec<u8>) {
        if let Some(form) = self.table_form() {
            let with_columns = !std::mem::replace(&mut self.has_columns, true);
            let meta = table_meta(object);
            let objects = std::iter::once(object);
            let table = form.table(kind, &meta, objects, with_columns, self.clock.now());
            out.extend_from_slice(table.to_string().as_bytes());
        }
    }

    /// A BOOKMARK line: nothing but a resourceVersion.
    pub(crate) fn bookmark(&self, kind: &Kind, revision: u64, ends_initial_events: bool) -> Bytes {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if ends_initial_events {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let mut object = match self.form {
            Form::Metadata | Form::MetadataList => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"})
            }
            _ => empty(kind),
        };
        object["metadata"] = metadata;
        format!("{}\n", json!({"type": "BOOKMARK", "object": object})).into()
    }
}

/// The `metadata` of a table of one object.
fn table_meta(object: &Object) -> Value {
    json!({"resourceVersion": object.resource_version().to_string()})
}

/// An object of a kind that says nothing, as the server writes it.
fn empty(kind: &Kind) -> Value {
    let mut object = json!({"kind": kind.kind, "apiVersion": kind.api_version});
    if kind.subresource("scale").is_some() {
        // The server's own types hold the number itself, so that nothing becomes 0.
        object["spec"] = json!({"replicas": 0});
    }
    schema::round_trip(kind.ty(), &mut object);
    object
}
