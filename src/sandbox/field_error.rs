//! What is wrong with one field of an object, in the words of Kubernetes' validation.

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
        let prefix = format!("Invalid value: {}", shown(value));
        Self::new(FieldReason::Invalid, field, &prefix, detail)
    }

    /// `Forbidden: DETAIL`.
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new(FieldReason::Forbidden, field, "Forbidden", detail)
    }

    /// `Unsupported value: VALUE: supported values: "A", "B"`.
    pub fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        let prefix = format!("Unsupported value: {}", shown(value));
        let quoted: Vec<_> = supported.iter().map(|one| format!("{one:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        Self::new(FieldReason::NotSupported, field, &prefix, &detail)
    }

    /// `Too long: may not be more than N bytes`.
    pub fn too_long(field: impl Into<String>, bytes: usize) -> Self {
        let detail = format!("may not be more than {bytes} bytes");
        Self::new(FieldReason::TooLong, field, "Too long", &detail)
    }

    /// `Duplicate value: VALUE`.
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        let prefix = format!("Duplicate value: {}", shown(value));
        Self::new(FieldReason::Duplicate, field, &prefix, "")
    }

    /// `Not found: VALUE`.
    pub fn not_found(field: impl Into<String>, value: &Value) -> Self {
        let prefix = format!("Not found: {}", shown(value));
        Self::new(FieldReason::NotFound, field, &prefix, "")
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

/// Strings are quoted, null is `null`, anything else is JSON.
fn shown(value: &Value) -> String {
    value.to_string()
}
