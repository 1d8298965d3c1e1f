//! Collecting what is wrong with an object, in the order in which it is found.

use std::fmt::Display;

use serde_json::Value;

use super::path::Path;
use crate::sandbox::field_error::FieldError;

/// The mistakes found so far.
#[derive(Default)]
pub(super) struct Errors(Vec<FieldError>);

impl Errors {
    /// All of them.
    pub(super) fn into_vec(self) -> Vec<FieldError> {
        self.0
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Adds one.
    pub(super) fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// A value is missing.
    pub(super) fn required(&mut self, path: &Path<'_>, detail: &str) {
        self.push(FieldError::required(path.to_string(), detail));
    }

    /// A value cannot be used.
    pub(super) fn invalid(
        &mut self,
        path: &Path<'_>,
        value: impl Into<Value>,
        detail: impl Display,
    ) {
        let (path, detail) = (path.to_string(), detail.to_string());
        self.push(FieldError::invalid(path, &value.into(), &detail));
    }

    /// A value cannot be used, for each of these reasons.
    pub(super) fn all_invalid(&mut self, path: &Path<'_>, value: &str, details: Vec<&'static str>) {
        for detail in details {
            self.invalid(path, value, detail);
        }
    }

    /// A value is none of a few.
    pub(super) fn not_supported(&mut self, path: &Path<'_>, value: &Value, supported: &[&str]) {
        self.push(FieldError::not_supported(
            path.to_string(),
            value,
            supported,
        ));
    }

    /// A field may not be set here, or not like that.
    pub(super) fn forbidden(&mut self, path: &Path<'_>, detail: impl Display) {
        self.push(FieldError::forbidden(path.to_string(), &detail.to_string()));
    }

    /// A value is there already.
    pub(super) fn duplicate(&mut self, path: &Path<'_>, value: impl Into<Value>) {
        self.push(FieldError::duplicate(path.to_string(), &value.into()));
    }

    /// What a value names does not exist.
    pub(super) fn not_found(&mut self, path: &Path<'_>, value: &str) {
        let value = Value::from(value);
        self.push(FieldError::not_found(path.to_string(), &value, ""));
    }

    /// A text or map is longer than allowed.
    pub(super) fn too_long(&mut self, path: &Path<'_>, bytes: usize) {
        self.push(FieldError::too_long(path.to_string(), bytes));
    }

    /// A list has more elements than allowed.
    pub(super) fn too_many(&mut self, path: &Path<'_>, count: usize, most: usize) {
        self.push(FieldError::too_many(path.to_string(), count, most));
    }

    /// A number must not be negative; absent is zero.
    pub(super) fn not_negative(&mut self, path: &Path<'_>, value: &Value) {
        if value.as_i64().is_some_and(|number| number < 0) {
            self.invalid(path, value.clone(), "must be greater than or equal to 0");
        }
    }

    /// A field that must be one of a few values, and may not be left out.
    pub(super) fn one_of(&mut self, path: &Path<'_>, value: &Value, supported: &[&str]) {
        let text = crate::sandbox::json::text(value);
        if text.is_empty() {
            self.required(path, "");
        } else if !supported.contains(&text) {
            self.not_supported(path, value, supported);
        }
    }

    /// A field that must be one of a few values where it is set.
    pub(super) fn one_of_if_set(&mut self, path: &Path<'_>, value: &Value, supported: &[&str]) {
        if value
            .as_str()
            .is_some_and(|text| !supported.contains(&text))
        {
            self.not_supported(path, value, supported);
        }
    }
}
