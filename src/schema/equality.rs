//! Equality the way Kubernetes means it (deployment-controller section 6): by what the API's types hold, not by how
//! the JSON spells it. Whoever compares one value many times, as the controllers do pod templates, compares canonical
//! forms. Telling that values are equal allocates nothing.

use serde_json::{Map, Value};

use super::quantity::Quantity;
use super::time::{self, instant};
use super::{Field, Shape, Type};

/// Whether two values of a type are the same to Kubernetes.
///
/// Absent, `null` and zero or empty are one unless the field is optional, then only absent and `null` are; quantities
/// compare by value, times as instants, integers never equal strings, and the order of lists counts, that of maps
/// does not. Fields that the table does not know compare as JSON.
pub fn semantically_equal(ty: &Type, a: &Value, b: &Value) -> bool {
    a == b || struct_equal(ty, a, b)
}

fn struct_equal(ty: &Type, a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else {
        return a == b;
    };
    let shared = a.iter().all(|(name, value)| {
        let other = b.get(name);
        // Most members are identical: looking their fields up would be most of the work.
        other == Some(value) || field_equal(ty.field(name), Some(value), other)
    });
    shared
        && b.iter()
            .filter(|(name, _)| !a.contains_key(*name))
            .all(|(name, value)| field_equal(ty.field(name), None, Some(value)))
}

fn field_equal(field: Option<&Field>, a: Option<&Value>, b: Option<&Value>) -> bool {
    let set = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    match (field, a, b) {
        (_, a, b) if !set(a) && !set(b) => true,
        (Some(field), Some(a), Some(b)) if !field.is_pointer || (set(Some(a)) && set(Some(b))) => {
            value_equal(&field.shape, a, b)
        }
        (Some(field), Some(value), None) | (Some(field), None, Some(value)) => {
            !field.is_pointer && is_zero(&field.shape, value)
        }
        (_, a, b) => a == b,
    }
}

fn value_equal(shape: &Shape, a: &Value, b: &Value) -> bool {
    if a.is_null() || b.is_null() {
        return is_zero(shape, a) && is_zero(shape, b);
    }
    match shape {
        Shape::Struct(ty) => struct_equal(ty, a, b),
        Shape::List(element) => match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| value_equal(element, a, b))
            }
            _ => a == b,
        },
        Shape::Map(item) => match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, a)| b.get(key).is_some_and(|b| value_equal(item, a, b)))
            }
            _ => a == b,
        },
        Shape::Quantity => a == b || equal_by(a, b, quantity),
        Shape::Time | Shape::MicroTime => a == b || equal_by(a, b, instant),
        Shape::Float => a == b || equal_by(a, b, Value::as_f64),
        _ => a == b,
    }
}

/// Whether both have a meaning, and the same one.
fn equal_by<T: PartialEq>(a: &Value, b: &Value, meaning: impl Fn(&Value) -> Option<T>) -> bool {
    meaning(a).is_some_and(|a| meaning(b).is_some_and(|b| a == b))
}

fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::from_json(value).ok()
}

/// Whether a plain field with this value is as good as absent.
pub(super) fn is_zero(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (_, Value::Null) => true,
        (Shape::String | Shape::Bytes, Value::String(text)) => text.is_empty(),
        (Shape::Int32 | Shape::Int64 | Shape::IntOrString, Value::Number(number)) => {
            number.as_i64() == Some(0)
        }
        (Shape::Float, Value::Number(number)) => number.as_f64() == Some(0.0),
        (Shape::Bool, Value::Bool(set)) => !set,
        (Shape::List(_), Value::Array(list)) => list.is_empty(),
        (Shape::Map(_), Value::Object(map)) => map.is_empty(),
        (Shape::Struct(ty), Value::Object(map)) => map
            .iter()
            .all(|(name, value)| field_equal(ty.field(name), Some(value), None)),
        (Shape::Quantity, _) => quantity(value).is_some_and(Quantity::is_zero),
        (Shape::Time | Shape::MicroTime, _) => time::is_zero(value),
        _ => false,
    }
}

/// The one form that all values semantically equal to this one share: for hashing and for keys.
///
/// It is not a form that the API writes: quantities, for instance, lose the suffix that they were given.
pub fn canonical(ty: &Type, value: &Value) -> Value {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let kept = members.iter().filter_map(|(name, value)| {
        let value = canonical_field(ty.field(name), value)?;
        Some((name.clone(), value))
    });
    Value::Object(kept.collect::<Map<_, _>>())
}

fn canonical_field(field: Option<&Field>, value: &Value) -> Option<Value> {
    match field {
        _ if value.is_null() => None,
        Some(field) if !field.is_pointer && is_zero(&field.shape, value) => None,
        Some(field) => Some(canonical_value(&field.shape, value)),
        None => Some(value.clone()),
    }
}

fn canonical_value(shape: &Shape, value: &Value) -> Value {
    match (shape, value) {
        (Shape::Struct(ty), Value::Object(_)) => canonical(ty, value),
        (Shape::List(element), Value::Array(list)) => {
            let list = list.iter().map(|value| canonical_element(element, value));
            Value::Array(list.collect())
        }
        (Shape::Map(item), Value::Object(map)) => {
            let map = map.iter();
            Value::Object(
                map.map(|(key, value)| (key.clone(), canonical_element(item, value)))
                    .collect(),
            )
        }
        (Shape::Quantity, _) => quantity(value).map_or_else(
            || value.clone(),
            |quantity| Value::String(quantity.in_decimal().to_string()),
        ),
        (Shape::Time | Shape::MicroTime, _) => {
            instant(value).map_or_else(|| value.clone(), |at| Value::String(at.to_string()))
        }
        (Shape::Float, Value::Number(number)) => number.as_f64().map_or(Value::Null, Value::from),
        _ => value.clone(),
    }
}

/// An element is always there, so what a field would leave out is written as `null`.
fn canonical_element(shape: &Shape, value: &Value) -> Value {
    if is_zero(shape, value) {
        Value::Null
    } else {
        canonical_value(shape, value)
    }
}
