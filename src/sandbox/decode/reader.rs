//! Reads one value after another, and checks each against what is wanted in its place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::notes::Notes;
use super::scalar::{check_scalar, go_struct, go_type};
use crate::schema::quantity::QuantityError;
use crate::schema::{Shape, Type};

/// What a value is read as.
#[derive(Clone, Copy)]
pub(super) enum Want {
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

/// Reads one value.
pub(super) struct Reader<'n> {
    want: Want,
    notes: &'n mut Notes,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'n> Reader<'n> {
    pub(super) fn new(want: Want, notes: &'n mut Notes) -> Self {
        Self { want, notes }
    }

    /// Checks a value that was read before, as if it came now: its members are there once, in alphabetical order.
    pub(super) fn check(mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.scalar(value, "bool"),
            Value::Number(number) => self.number(number),
            Value::String(_) => self.scalar(value, "string"),
            Value::Array(list) => {
                let want = self.inside("array");
                for (index, element) in list.iter().enumerate() {
                    self.notes.in_element(index, |notes| {
                        Reader { want, notes }.check(element);
                    });
                }
            }
            Value::Object(members) => self.check_members(members),
        }
    }

    fn check_members(mut self, members: &Map<String, Value>) {
        let Want::Fields(ty) = self.want else {
            let want = self.inside("object");
            for (key, value) in members {
                self.notes
                    .in_key(key, |notes| Reader { want, notes }.check(value));
            }
            return;
        };
        for (name, value) in members {
            match ty.field(name) {
                Some(field) => self.notes.in_field(ty.name(), field.name, |notes| {
                    let want = Want::of(&field.shape);
                    Reader { want, notes }.check(value);
                }),
                None => self.notes.note("unknown", name),
            }
        }
    }

    fn checked(self, value: Value) -> Value {
        self.check(&value);
        value
    }

    fn number(&mut self, number: &Number) {
        let is_int32 = || {
            number
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok())
        };
        let fits = match self.want {
            Want::Shape(Shape::Int32 | Shape::IntOrString) => is_int32(),
            Want::Shape(Shape::Int64) => number.is_i64(),
            Want::Shape(Shape::Float) => true,
            _ => return self.scalar(&Value::Number(number.clone()), "number"),
        };
        if !fits && let Want::Shape(shape) = self.want {
            self.notes
                .mismatch(&format!("number {number}"), &go_type(shape));
        }
    }

    fn scalar(&mut self, value: &Value, found: &str) {
        match self.want {
            Want::Fields(ty) => self.notes.mismatch(found, &go_struct(ty)),
            Want::Shape(shape) => check_scalar(shape, value, found, self.notes),
            Want::Anything => {}
        }
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
        Ok(self.checked(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(self.checked(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(self.checked(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(self.checked(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(self.checked(value.into()))
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
                Some((ty, Some(field))) => self.notes.in_field(ty.name(), field.name, |notes| {
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
