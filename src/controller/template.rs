//! Pod templates: JSON, verbatim. Equality, hash and the hash label (deployment-controller sections 6 and 7.6).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A pod template exactly as the server sent it, cheap to clone.
///
/// `==` compares the JSON; whether two templates are the *same revision* is [`Template::is_equal_to`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(Arc<Value>);

impl Default for Template {
    fn default() -> Self {
        Self::new(Value::Object(Map::new()))
    }
}

impl Template {
    /// Wraps a template's JSON.
    pub fn new(json: Value) -> Self {
        Self(Arc::new(json))
    }

    /// The template's JSON.
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.text_map("/metadata/labels")
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        self.text_map("/metadata/annotations")
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> Vec<String> {
        let list = self
            .0
            .pointer("/metadata/finalizers")
            .and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    /// `spec`; `null` where there is none.
    pub fn spec(&self) -> &Value {
        &self.0["spec"]
    }

    fn text_map(&self, pointer: &str) -> BTreeMap<String, String> {
        let map = self.0.pointer(pointer).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    }
}
