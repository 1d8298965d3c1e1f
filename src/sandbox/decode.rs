//! Reading JSON as an object of a type: what has a wrong type is refused, what the type does not know is noted, both in
//! the words of the API server's decoder. [`super::body`] reads requests with it, [`super::patch`] patched objects.

mod time;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::schema::quantity::{Quantity, QuantityError};
use crate::schema::{Shape, Type};

/// The most unknown and duplicate fields that are noted.
const NOTES_MAX: usize = 100;

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
        let reader = Reader {
            want: Want::Fields(ty),
            notes: &mut notes,
        };
        let object = reader.deserialize(deserializer)?;
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

/// What a value is read as.
#[derive(Clone, Copy)]
enum Want {
    /// An object with the fields of a type.
    Fields(&'static Type),
    /// What a field holds.
    Shape(&'static Shape),
    /// Anything, unchecked.
    Anything,
}

impl Want {
    fn of(shape: &'static Shape) -> Self {
        match shape {
            Shape::Struct(ty) => Self::Fields(ty.get()),
            Shape::Raw => Self::Anything,
            shape => Self::Shape(shape),
        }
    }
}

/// What was noticed while reading, and where reading is.
#[derive(Default)]
struct Notes {
    /// The first error.
    error: Option<String>,
    found: Vec<String>,
    /// `spec.template.spec.containers[0]`.
    path: String,
    /// The same without places in lists and keys of maps.
    fields: String,
    /// The struct that the last field is of.
    owner: &'static str,
}

impl Notes {
    fn note(&mut self, what: &str, name: &str) {
        if self.found.len() < NOTES_MAX {
            let dot = if self.path.is_empty() { "" } else { "." };
            self.found
                .push(format!("{what} field \"{}{dot}{name}\"", self.path));
        }
    }

    fn fail(&mut self, error: impl fmt::Display) {
        if self.error.is_none() {
            self.error = Some(error.to_string());
        }
    }

    /// A value of another JSON type than the field's.
    fn mismatch(&mut self, found: &str, go_type: &str) {
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
    fn in_field<T>(
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
    fn in_key<T>(&mut self, name: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        push_step(&mut self.path, name);
        let result = then(self);
        self.path.truncate(length);
        result
    }

    /// Does something one element of a list further down.
    fn in_element<T>(&mut self, index: usize, then: impl FnOnce(&mut Self) -> T) -> T {
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

/// Reads one value.
struct Reader<'n> {
    want: Want,
    notes: &'n mut Notes,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Reader<'_> {
    fn number(self, number: Number) -> Value {
        let is_int32 = || {
            number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok())
        };
        let fits = match self.want {
            Want::Shape(Shape::Int32 | Shape::IntOrString) => is_int32(),
            Want::Shape(Shape::Int64) => number.is_i64(),
            Want::Shape(Shape::Float) => true,
            _ => return self.scalar(Value::Number(number), "number"),
        };
        if !fits && let Want::Shape(shape) = self.want {
            self.notes
                .mismatch(&format!("number {number}"), &go_type(shape));
        }
        Value::Number(number)
    }

    fn scalar(self, value: Value, found: &str) -> Value {
        match (self.want, &value) {
            (Want::Fields(ty), _) => self.notes.mismatch(found, &go_struct(ty)),
            (Want::Shape(shape), _) => check_scalar(shape, &value, found, self.notes),
            (Want::Anything, _) => {}
        }
        value
    }

    /// The element or value to read inside of a list or an object, if such is wanted here.
    fn inside(&mut self, found: &str) -> Want {
        match (self.want, found) {
            (Want::Shape(Shape::List(element)), "array") => Want::of(element),
            (Want::Shape(Shape::Map(value)), "object") => Want::of(value),
            (Want::Anything, _) => Want::Anything,
            (Want::Shape(Shape::Quantity), _) => {
                self.notes.fail(QuantityError::Format);
                Want::Anything
            }
            (Want::Shape(shape), _) => {
                self.notes.mismatch(found, &go_type(shape));
                Want::Anything
            }
            (Want::Fields(ty), _) => {
                self.notes.mismatch(found, &go_struct(ty));
                Want::Anything
            }
        }
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(self.scalar(Value::Bool(value), "bool"))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(self.number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(self.number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(match Number::from_f64(value) {
            Some(number) => self.number(number),
            None => Value::Null,
        })
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(self.scalar(Value::String(value.to_owned()), "string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        let want = self.inside("array");
        let mut elements = Vec::new();
        loop {
            let next = self.notes.in_element(elements.len(), |notes| {
                list.next_element_seed(Reader { want, notes })
            })?;
            match next {
                Some(element) => elements.push(element),
                None => return Ok(Value::Array(elements)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let fields = match self.want {
            Want::Fields(ty) => Some(ty),
            _ => None,
        };
        let want = match fields {
            Some(_) => Want::Anything,
            None => self.inside("object"),
        };
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.contains_key(&name) {
                self.notes.note("duplicate", &name);
            }
            let value = match fields.map(|ty| (ty, ty.field(&name))) {
                Some((ty, Some(field))) => self.notes.in_field(ty.name(), &name, |notes| {
                    let want = Want::of(&field.shape);
                    map.next_value_seed(Reader { want, notes })
                })?,
                Some((_, None)) => {
                    self.notes.note("unknown", &name);
                    map.next_value()?
                }
                None => self
                    .notes
                    .in_key(&name, |notes| map.next_value_seed(Reader { want, notes }))?,
            };
            merge_member(&mut members, name, value);
        }
        Ok(Value::Object(members))
    }
}

/// A member that comes again adds to an object and replaces anything else.
fn merge_member(members: &mut Map<String, Value>, name: String, value: Value) {
    match (members.get_mut(&name), value) {
        (Some(Value::Object(before)), Value::Object(more)) => before.extend(more),
        (_, value) => {
            members.insert(name, value);
        }
    }
}

fn check_scalar(shape: &Shape, value: &Value, found: &str, notes: &mut Notes) {
    match (shape, value) {
        (Shape::String | Shape::IntOrString, Value::String(_)) | (Shape::Bool, Value::Bool(_)) => {}
        (Shape::Quantity, _) => {
            if let Err(error) = Quantity::from_json(value) {
                notes.fail(error);
            }
        }
        (Shape::Time, Value::String(text)) => check_time(time::LAYOUT, text, notes),
        (Shape::MicroTime, Value::String(text)) => check_time(time::MICRO_LAYOUT, text, notes),
        (Shape::Bytes, Value::String(text)) => {
            if let Err(place) = check_base64(text) {
                notes.fail(format!("illegal base64 data at input byte {place}"));
            }
        }
        _ => notes.mismatch(found, &go_type(shape)),
    }
}

fn check_time(layout: &str, text: &str, notes: &mut Notes) {
    if let Err(error) = time::parse(layout, text) {
        notes.fail(error);
    }
}

/// Reads base64 as Go does: bits that the padding leaves over may be anything.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The place of the first byte that is wrong, as Go counts it.
fn check_base64(text: &str) -> Result<(), usize> {
    match BASE64.decode(text) {
        Ok(_) => Ok(()),
        Err(base64::DecodeError::InvalidByte(place, _)) => Err(place),
        Err(_) if text.ends_with('=') => Err(text.len()),
        Err(_) => Err(text.len() / 4 * 4),
    }
}

fn go_struct(ty: &Type) -> String {
    format!("v1.{}", ty.name())
}

/// The Go type of a shape, as messages name it.
fn go_type(shape: &Shape) -> String {
    match shape {
        Shape::String | Shape::Time | Shape::MicroTime => "string".to_owned(),
        Shape::Int32 | Shape::IntOrString => "int32".to_owned(),
        Shape::Int64 => "int64".to_owned(),
        Shape::Float => "float64".to_owned(),
        Shape::Bool => "bool".to_owned(),
        Shape::Bytes => "[]uint8".to_owned(),
        Shape::Quantity => "resource.Quantity".to_owned(),
        Shape::Raw => "runtime.RawExtension".to_owned(),
        Shape::Struct(ty) => go_struct(ty),
        Shape::List(element) => format!("[]{}", go_type(element)),
        Shape::Map(value) => match &**value {
            Shape::Quantity => "v1.ResourceList".to_owned(),
            value => format!("map[string]{}", go_type(value)),
        },
    }
}
