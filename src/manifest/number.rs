//! Numbers as they arrive at an API server: what kubectl's way through Go's types makes of them.

use serde_json::{Number, Value};

/// Beyond this, not every integer is a float.
const EXACT_UP_TO: f64 = 9_223_372_036_854_775_808.0;

/// Brings every number in `value` into the server's form: floats without a fraction are integers (`1.0` is `1`), and
/// integers beyond 64 bits with sign are floats.
pub(super) fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) => *number = normal(number),
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(fields) => fields.values_mut().for_each(normalize),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn normal(number: &Number) -> Number {
    if number.is_i64() {
        return number.clone();
    }
    let float = number.as_f64().unwrap_or_default();
    if float.fract() == 0.0 && (-EXACT_UP_TO..EXACT_UP_TO).contains(&float) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number inside i64's range"
        )]
        return (float as i64).into();
    }
    Number::from_f64(float).unwrap_or_else(|| number.clone())
}

/// A number as the key of a mapping: keys are text once they are JSON.
pub(super) fn key_text(number: &Number) -> String {
    let mut value = Value::Number(number.clone());
    normalize(&mut value);
    value.to_string()
}
