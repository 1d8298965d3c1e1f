//! Whether a scalar is what its field holds, and how Go calls what it should be.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::notes::Notes;
use super::time;
use crate::schema::quantity::Quantity;
use crate::schema::{Shape, Type};

/// Notes what is wrong with a scalar; `found` is what Go's decoder calls its JSON type.
pub(super) fn check_scalar(shape: &Shape, value: &Value, found: &str, notes: &mut Notes) {
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

/// The Go type of a struct, as messages name it.
pub(super) fn go_struct(ty: &Type) -> String {
    format!("v1.{}", ty.name())
}

/// The Go type of a shape, as messages name it.
pub(super) fn go_type(shape: &Shape) -> String {
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
