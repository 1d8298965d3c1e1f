//! Reading JSON as an object of a type: what has a wrong type is refused, what the type does not know is noted, both in
//! the words of the API server's decoder. `body` reads requests with it, and what patches make of objects.

mod check;
mod notes;
mod reader;
mod time;

#[cfg(test)]
mod tests;

use serde::de::{DeserializeSeed, Deserializer};
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
        let reading = Self::of(ty, &mut deserializer)?;
        deserializer.end()?;
        Ok(reading)
    }

    /// Reads a value, whose members come in alphabetical order and only once.
    pub fn of_value(ty: &'static Type, value: Value) -> Self {
        Self::of(ty, value).unwrap_or_else(|error| Self {
            object: Value::Null,
            error: Some(error.to_string()),
            notes: Vec::new(),
        })
    }

    fn of<'de, D: Deserializer<'de>>(ty: &'static Type, deserializer: D) -> Result<Self, D::Error> {
        let mut notes = Notes::default();
        let object = Reader::new(Want::Fields(ty), &mut notes).deserialize(deserializer)?;
        Ok(Self {
            object,
            error: notes.error,
            notes: notes.found,
        })
    }

    /// The object, if it is one of the type.
    pub fn check(self, validation: FieldValidation) -> Result<Decoded, DecodeError> {
        if let Some(error) = self.error {
            return Err(DecodeError::Type(error));
        }
        let warnings = match validation {
            FieldValidation::Strict if !self.notes.is_empty() => {
                return Err(DecodeError::Strict(self.notes));
            }
            FieldValidation::Ignore => Vec::new(),
            _ => self.notes,
        };
        Ok(Decoded {
            object: self.object,
            warnings,
        })
    }
}
