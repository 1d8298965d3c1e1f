//! Reading JSON objects as the API server's Go types read them: a field that is absent or null has its type's zero
//! value. Used by defaulting, validation and quota; knows no kind.

use serde_json::{Map, Value};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// A string; empty where there is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether it is `true`.
pub(crate) fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or_default()
}

/// A list; empty where there is none.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What Go's JSON decoder calls the type of a value.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The fields of an object; none where there is none.
pub(crate) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> + Clone {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.as_str(), value))
}

/// Whether it is what a Go field of any type holds when nothing was said: null, "", 0, false, [] or {}.
pub(crate) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// An object within an object, to change.
pub(crate) fn object_mut<'a>(parent: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    parent.get_mut(field)?.as_object_mut()
}

/// An object within an object, to change; made where there is none. Nothing where the field holds something else.
pub(crate) fn object_or_new<'a>(parent: &'a mut Object, field: &str) -> Option<&'a mut Object> {
    let value = parent.entry(field).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Object::new());
    }
    value.as_object_mut()
}

/// The objects of a list within an object, to change.
pub(crate) fn objects_mut<'a>(
    parent: &'a mut Object,
    field: &str,
) -> impl Iterator<Item = &'a mut Object> {
    let list = parent.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}
