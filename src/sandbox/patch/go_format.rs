//! How Go prints and names JSON values, for the messages in which the API server does so.

use std::fmt;

use serde_json::Value;

use crate::schema::{Shape, Type};

/// A value as `%v` prints it: `map[image:img:2 name:main]`.
pub(super) struct Printed<'a>(pub(super) &'a Value);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(value) => value.fmt(f),
            Value::Number(value) => value.fmt(f),
            Value::String(text) => f.write_str(text),
            Value::Array(list) => {
                f.write_str("[")?;
                spaced(f, list, |f, value| Printed(value).fmt(f))?;
                f.write_str("]")
            }
            Value::Object(map) => {
                f.write_str("map[")?;
                spaced(f, map, |f, (key, value)| {
                    write!(f, "{key}:{}", Printed(value))
                })?;
                f.write_str("]")
            }
        }
    }
}

fn spaced<T>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    print: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(" ")?;
        }
        print(f, item)?;
    }
    Ok(())
}

/// The Go type that a value is decoded to.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        scalar => kind(scalar),
    }
}

/// What Go's reflection calls the type that a value is decoded to.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

/// Why a merged object can't be read into its type, if it can't: the first field whose value has another JSON type.
pub(super) fn unreadable(ty: &Type, value: &Value) -> Option<String> {
    let Value::Object(members) = value else {
        return Some(format!("cannot restore struct from: {}", kind(value)));
    };
    let fields = members
        .iter()
        .filter_map(|(name, value)| Some((ty.field(name)?, value)));
    fields
        .filter(|(_, value)| !value.is_null())
        .find_map(|(field, value)| unreadable_value(&field.shape, value))
}

fn unreadable_value(shape: &Shape, value: &Value) -> Option<String> {
    let unrecognized = |name: &str| Some(format!("unrecognized type: {name}"));
    match (shape, value) {
        (Shape::String, Value::String(_))
        | (Shape::Bool, Value::Bool(_))
        | (Shape::Int32 | Shape::Int64 | Shape::Float, Value::Number(_)) => None,
        (Shape::String, _) => unrecognized("string"),
        (Shape::Bool, _) => unrecognized("bool"),
        (Shape::Int32, _) => unrecognized("int32"),
        (Shape::Int64, _) => unrecognized("int64"),
        (Shape::Float, _) => unrecognized("float64"),
        (Shape::Struct(ty), _) => unreadable(ty, value),
        (Shape::List(element), Value::Array(list)) => list
            .iter()
            .filter(|value| !value.is_null())
            .find_map(|value| unreadable_value(element, value)),
        (Shape::List(_), _) => Some(format!("cannot restore slice from {}", kind(value))),
        (Shape::Map(item), Value::Object(map)) => map
            .values()
            .filter(|value| !value.is_null())
            .find_map(|value| unreadable_value(item, value)),
        (Shape::Map(_), _) => Some(format!("cannot restore map from {}", kind(value))),
        _ => None,
    }
}
