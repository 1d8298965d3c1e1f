//! What is wrong with one field of an object, in the words of Kubernetes' validation.

use std::fmt::Write as _;

use serde_json::Value;

/// Why a value of a field is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldReason {
    /// A value is missing.
    Required,
    /// The value cannot be used.
    Invalid,
    /// The value is none of a few.
    NotSupported,
    /// The field may not be set here, or not be set like that.
    Forbidden,
    /// The value is longer than allowed.
    TooLong,
    /// A list has more elements than allowed.
    TooMany,
    /// The value is there already.
    Duplicate,
    /// What the value names does not exist.
    NotFound,
    /// The value has the wrong type.
    TypeInvalid,
}

impl FieldReason {
    /// The reason as `details.causes` gives it.
    pub fn cause(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotFound => "FieldValueNotFound",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }
}

/// One thing wrong with an object: where, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The kind of mistake.
    pub reason: FieldReason,
    /// The path, `spec.template.spec.containers[0].image`.
    pub field: String,
    /// The whole sentence without the path, `Invalid value: -1: must be greater than or equal to 0`.
    pub message: String,
}

impl FieldError {
    /// `Required value: DETAIL`.
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::new(FieldReason::Required, field, "Required value", detail)
    }

    /// `Invalid value: VALUE: DETAIL`.
    pub fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::invalid_as(field, &shown(value), detail)
    }

    /// `Invalid value: VALUE: DETAIL` for a value that Kubernetes shows in a form of its own.
    pub fn invalid_as(field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let prefix = format!("Invalid value: {shown}");
        Self::new(FieldReason::Invalid, field, &prefix, detail)
    }

    /// `Forbidden: DETAIL`.
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new(FieldReason::Forbidden, field, "Forbidden", detail)
    }

    /// `Unsupported value: VALUE: supported values: "A", "B"`.
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        Self::not_supported_as(field, &shown(value), supported)
    }

    /// `Unsupported value: VALUE: …` for a value that Kubernetes shows in a form of its own.
    pub fn not_supported_as(field: impl Into<String>, shown: &str, supported: &[&str]) -> Self {
        let prefix = format!("Unsupported value: {shown}");
        let quoted: Vec<_> = supported.iter().map(|one| quoted(one)).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        Self::new(FieldReason::NotSupported, field, &prefix, &detail)
    }

    /// `Too long: may not be more than N bytes`.
    pub fn too_long(field: impl Into<String>, bytes: usize) -> Self {
        let detail = format!("may not be more than {bytes} bytes");
        Self::new(FieldReason::TooLong, field, "Too long", &detail)
    }

    /// `Too many: COUNT: must have at most MOST items`.
    pub fn too_many(field: impl Into<String>, count: usize, most: usize) -> Self {
        let detail = format!("must have at most {most} items");
        Self::new(
            FieldReason::TooMany,
            field,
            &format!("Too many: {count}"),
            &detail,
        )
    }

    /// `Duplicate value: VALUE`.
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::duplicate_as(field, &shown(value), "")
    }

    /// `Duplicate value: VALUE: DETAIL` for a value that Kubernetes shows in a form of its own.
    pub fn duplicate_as(field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let prefix = format!("Duplicate value: {shown}");
        Self::new(FieldReason::Duplicate, field, &prefix, detail)
    }

    /// `Not found: VALUE: DETAIL`.
    pub fn not_found(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        let prefix = format!("Not found: {}", shown(value));
        Self::new(FieldReason::NotFound, field, &prefix, detail)
    }

    fn new(reason: FieldReason, field: impl Into<String>, prefix: &str, detail: &str) -> Self {
        let message = if detail.is_empty() {
            prefix.to_owned()
        } else {
            format!("{prefix}: {detail}")
        };
        Self {
            reason,
            field: field.into(),
            message,
        }
    }
}

/// Strings are quoted, anything else is JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        value => value.to_string(),
    }
}

/// A text between quotes as Go's `%q` writes it: printable characters stay, others become escapes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0'..=' ' | '\u{7f}' if character != ' ' => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(character));
            }
            '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{feff}' | '\u{2028}'..='\u{202e}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_read_as_kubernetes_words_them() {
        for (error, expected) in [
            (FieldError::required("a", ""), "Required value"),
            (
                FieldError::invalid("a", &json!(-1), "must be greater than or equal to 0"),
                "Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                FieldError::invalid("a", &json!("x\n\u{1}é\""), "no"),
                "Invalid value: \"x\\n\\x01é\\\"\": no",
            ),
            (
                FieldError::invalid("a", &json!(null), "no"),
                "Invalid value: null: no",
            ),
            (
                FieldError::not_supported("a", &json!("X"), &["A", "B"]),
                "Unsupported value: \"X\": supported values: \"A\", \"B\"",
            ),
            (
                FieldError::too_long("a", 128),
                "Too long: may not be more than 128 bytes",
            ),
            (
                FieldError::too_many("a", 21, 20),
                "Too many: 21: must have at most 20 items",
            ),
            (
                FieldError::duplicate("a", &json!("x")),
                "Duplicate value: \"x\"",
            ),
            (
                FieldError::not_found("a", &json!("v"), ""),
                "Not found: \"v\"",
            ),
        ] {
            assert_eq!(error.message, expected);
        }
    }
}
