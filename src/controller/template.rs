//! Pod templates: JSON, verbatim. Equality, hash and the hash label (deployment-controller sections 6 and 7.6).

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
}
