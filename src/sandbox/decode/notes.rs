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
    /// The way to the place where reading is.
    path: Vec<Step>,
    /// The struct that the last field is of.
    owner: &'static str,
}

/// One step into an object: put together only when there is something to note.
enum Step {
    Field(&'static str),
    Key(String),
    Element(usize),
}

impl Notes {
    /// A field that is unknown or there twice.
    pub(super) fn note(&mut self, what: &str, name: &str) {
        if self.found.len() < NOTES_MAX {
            let mut path = path_of(&self.path);
            push_name(&mut path, name);
            self.found.push(format!("{what} field \"{path}\""));
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
        // Places in lists and keys of maps are not told.
        let fields = self.path.iter();
        let fields = path_of(fields.filter(|step| matches!(step, Step::Field(_))));
        let place = if fields.is_empty() {
            "value".to_owned()
        } else {
            format!("struct field {}.{fields}", self.owner)
        };
        self.fail(format!(
            "json: cannot unmarshal {found} into Go {place} of type {go_type}"
        ));
    }

    /// Does something one field further down.
    pub(super) fn in_field<T>(
        &mut self,
        owner: &'static str,
        name: &'static str,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.owner, owner);
        let result = self.at(Step::Field(name), then);
        self.owner = outer;
        result
    }

    /// Does something one key of a map further down.
    pub(super) fn in_key<T>(&mut self, name: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        self.at(Step::Key(name.to_owned()), then)
    }

    /// Does something one element of a list further down.
    pub(super) fn in_element<T>(&mut self, index: usize, then: impl FnOnce(&mut Self) -> T) -> T {
        self.at(Step::Element(index), then)
    }

    fn at<T>(&mut self, step: Step, then: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = then(self);
        self.path.pop();
        result
    }
}

/// `spec.template.spec.containers[0]`.
fn path_of<'a>(steps: impl IntoIterator<Item = &'a Step>) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Field(name) => push_name(&mut path, name),
            Step::Key(name) => push_name(&mut path, name),
            // Writing to a String cannot fail.
            Step::Element(index) => _ = write!(path, "[{index}]"),
        }
    }
    path
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
