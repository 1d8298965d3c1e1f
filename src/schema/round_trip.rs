//! What the API server makes of an object by decoding it into its type and encoding it again: the form in which it
//! stores objects and sends them. The embedded cluster calls it on everything that it stores.

use serde_json::{Map, Value};

use super::equality::is_zero;
use super::quantity::Quantity;
use super::time::Precision;
use super::{Shape, Type};

/// Brings an object into the form that the API server writes.
///
/// Unknown fields and `null` go; plain fields that are zero go, unless the API always writes them, then they appear;
/// quantities take their canonical text and times lose what their type cannot hold. A value of a wrong JSON type
/// stays as it is: to refuse it is the decoder's business, before.
pub fn round_trip(ty: &Type, value: &mut Value) {
    round_trip_part(ty, |_| true, value);
}

/// The same for an object of which only some members are looked at: the others go.
pub fn round_trip_part(ty: &Type, is_part: impl Fn(&str) -> bool, value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    members.retain(|name, value| {
        let field = ty.field(name).filter(|_| is_part(name));
        field.is_some_and(|field| {
            let is_kept = field.is_always_written
                || !value.is_null() && (field.is_pointer || !is_omitted(&field.shape, value));
            if is_kept && !value.is_null() {
                settle(&field.shape, value);
            }
            is_kept
        })
    });
    for field in &ty.always_written {
        let field = &ty.fields[*field];
        if !is_part(field.name) {
            continue;
        }
        match members.get_mut(field.name) {
            Some(value) if value.is_null() && !field.is_pointer => *value = zero(&field.shape),
            Some(_) => {}
            None => {
                let value = if field.is_pointer {
                    Value::Null
                } else {
                    zero(&field.shape)
                };
                members.insert(field.name.to_owned(), value);
            }
        }
    }
}

/// Zero, and of a type that the encoder leaves out then. It never leaves out structs, quantities and the like: their
/// fields are marked as always written.
fn is_omitted(shape: &Shape, value: &Value) -> bool {
    !matches!(shape, Shape::Struct(_)) && is_zero(shape, value)
}

fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::String => Value::String(String::new()),
        Shape::Int32 | Shape::Int64 | Shape::IntOrString => Value::from(0),
        Shape::Float => Value::from(0.0),
        Shape::Bool => Value::Bool(false),
        Shape::Quantity => Value::String("0".to_owned()),
        Shape::Struct(ty) => {
            let mut value = Value::Object(Map::new());
            round_trip(ty, &mut value);
            value
        }
        Shape::Bytes
        | Shape::Time
        | Shape::MicroTime
        | Shape::Raw
        | Shape::List(_)
        | Shape::Map(_) => Value::Null,
    }
}

fn settle(shape: &Shape, value: &mut Value) {
    match (shape, &mut *value) {
        (Shape::Struct(ty), _) => round_trip(ty, value),
        (Shape::List(element), Value::Array(list)) => {
            for value in list {
                settle_item(element, value);
            }
        }
        (Shape::Map(item), Value::Object(map)) => {
            for value in map.values_mut() {
                settle_item(item, value);
            }
        }
        (Shape::Quantity, _) => {
            if let Ok(quantity) = Quantity::from_json(value) {
                *value = Value::String(quantity.to_string());
            }
        }
        (Shape::Time, Value::String(text)) => Precision::Seconds.rewrite(text),
        (Shape::MicroTime, Value::String(text)) => Precision::Micros.rewrite(text),
        _ => {}
    }
}

/// An element of a list or a value of a map is there whatever it holds: `null` stands for zero.
fn settle_item(shape: &Shape, value: &mut Value) {
    if value.is_null() {
        *value = zero(shape);
    } else {
        settle(shape, value);
    }
}
