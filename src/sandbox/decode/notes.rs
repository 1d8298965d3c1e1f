//! What is noticed while an object is read, and the place where reading is.

use std::fmt::{self, Write as _};

/// The most unknown and duplicate fields that are noted.
const NOTES_MAX: usize = 100;

/// What was noticed while reading, and where reading is.
#[derive(Default)]
pub(super) struct Notes {
    /// The first error.
    pub(super) error: Option<String>,
    /// Unknown and duplicate fields.
    pub(super) found: Vec<String>,
    /// `spec.template.spec.containers[0]`.
    path: String,
    /// The same without places in lists and keys of maps.
    fields: String,
    /// The struct that the last field is of.
    owner: &'static str,
}

impl Notes {
    /// A field that is unknown or there twice.
    pub(super) fn note(&mut self, what: &str, name: &str) {
        if self.found.len() < NOTES_MAX {
            let dot = if self.path.is_empty() { "" } else { "." };
            self.found
                .push(format!("{what} field \"{}{dot}{name}\"", self.path));
        }
    }

    /// An error; only the first counts.
    pub(super) fn fail(&mut self, error: impl fmt::Display) {
        if self.error.is_none() {
            self.error = Some(error.to_string());
        }
    }

    /// A value of another JSON type than the field's.
    pub(super) fn mismatch(&mut self, found: &str, go_type: &str) {
        let Self { owner, fields, .. } = self;
        let place = if fields.is_empty() {
            "value".to_owned()
        } else {
            format!("struct field {owner}.{fields}")
        };
        self.fail(format!(
            "json: cannot unmarshal {found} into Go {place} of type {go_type}"
        ));
    }

    /// Does something one field further down.
    pub(super) fn in_field<T>(
        &mut self,
        owner: &'static str,
        name: &str,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (fields, outer) = (self.fields.len(), self.owner);
        push_step(&mut self.fields, name);
        self.owner = owner;
        let result = self.in_key(name, then);
        self.fields.truncate(fields);
        self.owner = outer;
        result
    }

    /// Does something one key of a map further down.
    pub(super) fn in_key<T>(&mut self, name: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        push_step(&mut self.path, name);
        let result = then(self);
        self.path.truncate(length);
        result
    }

    /// Does something one element of a list further down.
    pub(super) fn in_element<T>(&mut self, index: usize, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        // Writing to a String cannot fail.
        let _ = write!(self.path, "[{index}]");
        let result = then(self);
        self.path.truncate(length);
        result
    }
}

fn push_step(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
