//! The metadata of an object's states: as text, and what of it is asked for again and again.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::value_text;
use crate::controller::api::ObjectKey;

/// Metadata without its resourceVersion, shared by all states of an object that have it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) key: ObjectKey,
    pub(super) uid: Box<str>,
    pub(super) is_terminating: bool,
    pub(super) has_managers: bool,
    pub(super) labels: Box<[(Box<str>, Box<str>)]>,
    /// A JSON object.
    pub(super) metadata: Box<str>,
}

impl Head {
    /// The head of an object with these metadata: `known`, if that is the same.
    pub(super) fn of(mut metadata: Value, known: Option<&Arc<Self>>) -> Arc<Self> {
        match metadata.as_object_mut() {
            Some(fields) => {
                fields.remove("resourceVersion");
            }
            None => metadata = Value::Object(Map::new()),
        }
        let text = value_text(&metadata);
        match known {
            Some(known) if *known.metadata == *text => Arc::clone(known),
            _ => Arc::new(Self::new(&metadata, text)),
        }
    }

    fn new(metadata: &Value, text: String) -> Self {
        let pair = |(key, value): (&String, &Value)| {
            let value = value.as_str().unwrap_or_default();
            (key.as_str().into(), value.into())
        };
        let labels = metadata["labels"].as_object();
        Self {
            key: key_of(metadata),
            uid: metadata["uid"].as_str().unwrap_or_default().into(),
            is_terminating: metadata["deletionTimestamp"].is_string(),
            has_managers: metadata["managedFields"].is_array(),
            labels: labels.into_iter().flatten().map(pair).collect(),
            metadata: text.into(),
        }
    }
}

/// The key in an object's metadata.
pub(super) fn key_of(metadata: &Value) -> ObjectKey {
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    ObjectKey::new(text("namespace"), text("name"))
}
