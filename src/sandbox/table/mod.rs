//! Answers as `meta.k8s.io` Table: what `kubectl get` shows without knowing the kinds.

mod age;
mod cells;
mod columns;
mod pod;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::object::Object;
use super::status::ApiError;

/// How much of its object a row carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Include {
    #[default]
    Metadata,
    Object,
    Nothing,
}

impl Include {
    /// Reads the parameter `includeObject`.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, ApiError> {
        match text {
            None | Some("Metadata") => Ok(Self::Metadata),
            Some("Object") => Ok(Self::Object),
            Some("None") => Ok(Self::Nothing),
            Some(other) => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
                 'Object', 'None', or empty"
            ))),
        }
    }
}

/// How tables are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableForm {
    /// Whether as `v1beta1`, which differs in nothing but its name.
    pub(crate) beta: bool,
    pub(crate) include: Include,
}

impl TableForm {
    fn api_version(self) -> &'static str {
        if self.beta {
            "meta.k8s.io/v1beta1"
        } else {
            "meta.k8s.io/v1"
        }
    }

    /// A table of objects. Within a watch, only the first one says what its columns are.
    pub(crate) fn table<'a>(
        self,
        kind: &Kind,
        metadata: &Value,
        objects: impl Iterator<Item = &'a Object>,
        with_columns: bool,
        now: Timestamp,
    ) -> Value {
        let rows: Vec<Value> = objects.map(|object| self.row(kind, object, now)).collect();
        let columns = with_columns.then(|| columns::of(kind.kind));
        json!({
            "kind": "Table",
            "apiVersion": self.api_version(),
            "metadata": metadata,
            "columnDefinitions": columns,
            "rows": rows,
        })
    }

    fn row(self, kind: &Kind, object: &Object, now: Timestamp) -> Value {
        let value = object.value(kind);
        let row = Row {
            object: &value,
            now,
        };
        let mut cells = json!({"cells": cells::of(kind, row)});
        let conditions = cells::conditions(kind, row);
        if !conditions.is_null() {
            cells["conditions"] = conditions;
        }
        cells["object"] = match self.include {
            Include::Nothing => Value::Null,
            Include::Object => value,
            Include::Metadata => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": self.api_version(),
                "metadata": value["metadata"],
            }),
        };
        cells
    }
}

/// What a row is made from.
#[derive(Clone, Copy)]
struct Row<'a> {
    object: &'a Value,
    now: Timestamp,
}

impl<'a> Row<'a> {
    fn text(self, pointer: &str) -> &'a str {
        let value = self.object.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    fn number(self, pointer: &str) -> i64 {
        let value = self.object.pointer(pointer);
        value.and_then(Value::as_i64).unwrap_or_default()
    }

    fn list(self, pointer: &str) -> &'a [Value] {
        let value = self.object.pointer(pointer);
        value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn name(self) -> Value {
        self.text("/metadata/name").into()
    }

    /// How long ago a moment was; `<unknown>` where there is none.
    fn since(self, pointer: &str) -> String {
        age::since(self.text(pointer), self.now)
    }

    fn age(self) -> Value {
        self.since("/metadata/creationTimestamp").into()
    }
}

/// A text, or what stands for none.
fn or_none(text: &str) -> Value {
    if text.is_empty() { "<none>" } else { text }.into()
}
