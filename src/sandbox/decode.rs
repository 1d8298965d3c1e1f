//! Reading JSON as an object of a type: what has a wrong type is refused, what the type does not know is noted, both in
//! the words of the API server's decoder. `body` reads requests with it, and what patches make of objects.

mod notes;
mod reader;
mod scalar;
mod time;

#[cfg(test)]
mod tests;

use serde::de::DeserializeSeed;
use serde_json::Value;

use crate::schema::Type;
use notes::Notes;
use reader::{Reader, Want};

/// How fields are taken that the type does not know, or that are there twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Silently.
    Ignore,
    /// With a warning.
    #[default]
    Warn,
    /// As errors.
    Strict,
}

/// A JSON text or value, read as an object of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What was read, whether it is of the type or not; unknown fields included.
    pub object: Value,
    error: Option<String>,
    notes: Vec<String>,
}

/// An object of a type, unknown fields apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The object, unknown fields included.
    pub object: Value,
    /// Unknown and duplicate fields, in the order in which they come: `unknown field "spec.nosuch"`.
    pub warnings: Vec<String>,
}

/// Why what was read is no object of the type, in words that follow `cannot be handled as a …: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The first value of a wrong type or form.
    #[error("{0}")]
    Type(String),
    /// Fields that strict validation does not take.
    #[error("strict decoding error: {}", .0.join(", "))]
    Strict(Vec<String>),
}

impl Reading {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn of_json(ty: &'static Type, json: &[u8]) -> Result<Self, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let mut notes = Notes::default();
        let reader = Reader::new(Want::Fields(ty), &mut notes);
        let object = reader.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(Self::noted(object, notes))
    }

    /// Reads a value, whose members come in alphabetical order and only once.
    pub fn of_value(ty: &'static Type, value: Value) -> Self {
        let mut notes = Notes::default();
        Reader::new(Want::Fields(ty), &mut notes).check(&value);
        Self::noted(value, notes)
    }

    fn noted(object: Value, notes: Notes) -> Self {
        Self {
            object,
            error: notes.error,
            notes: notes.found,
        }
    }

    /// The object, if it is one of the type.
    pub fn check(self, validation: FieldValidation) -> Result<Decoded, DecodeError> {
        Ok(Decoded {
            object: self.object,
            warnings: outcome(self.error, self.notes, validation)?,
        })
    }
}

/// Whether a value is an object of a type, without taking it: what there is to warn of.
///
/// # Errors
/// When it is none.
pub fn check(
    ty: &'static Type,
    value: &Value,
    validation: FieldValidation,
) -> Result<Vec<String>, DecodeError> {
    let mut notes = Notes::default();
    Reader::new(Want::Fields(ty), &mut notes).check(value);
    outcome(notes.error, notes.found, validation)
}

/// What to warn of, if what was noted is no reason to refuse.
fn outcome(
    error: Option<String>,
    notes: Vec<String>,
    validation: FieldValidation,
) -> Result<Vec<String>, DecodeError> {
    match (error, validation) {
        (Some(error), _) => Err(DecodeError::Type(error)),
        (None, FieldValidation::Strict) if !notes.is_empty() => Err(DecodeError::Strict(notes)),
        (None, FieldValidation::Ignore) => Ok(Vec::new()),
        (None, _) => Ok(notes),
    }
}
