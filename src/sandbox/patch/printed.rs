//! A patched object as the API server quotes it when it can't be read: what the patch did not touch in the order in
//! which the API declares fields, what it touched in alphabetical order.

use serde_json::Value;

use crate::schema::{Shape, Type};

/// The JSON text of `after`, which a patch made of `before`.
pub(super) fn patched(ty: &'static Type, before: &Value, after: &Value) -> String {
    let mut text = String::new();
    write(&mut text, Part::Fields(ty), Some(before), after);
    // Go writes these so that JSON can stand inside of HTML.
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// What is known of a value.
#[derive(Clone, Copy)]
enum Part {
    Fields(&'static Type),
    /// Each member or element is of this shape.
    Items(&'static Shape),
    Other,
}

impl Part {
    fn of(shape: &'static Shape) -> Self {
        match shape {
            Shape::Struct(ty) => Self::Fields(ty.get()),
            Shape::List(item) | Shape::Map(item) => Self::Items(item),
            _ => Self::Other,
        }
    }

    fn member(self, name: &str) -> Self {
        match self {
            Self::Fields(ty) => ty
                .field(name)
                .map_or(Self::Other, |field| Self::of(&field.shape)),
            Self::Items(shape) => Self::of(shape),
            Self::Other => Self::Other,
        }
    }
}

fn write(text: &mut String, part: Part, before: Option<&Value>, after: &Value) {
    let untouched = before == Some(after);
    match (part, after) {
        (Part::Fields(ty), Value::Object(members)) if untouched => {
            let declared = ty.fields().iter();
            let present = declared.filter_map(|field| Some((field.name, members.get(field.name)?)));
            write_members(text, part, before, present);
        }
        (_, Value::Object(members)) => {
            let members = members.iter().map(|(name, value)| (name.as_str(), value));
            write_members(text, part, before, members);
        }
        (_, Value::Array(elements)) => {
            for (index, element) in elements.iter().enumerate() {
                text.push(if index == 0 { '[' } else { ',' });
                let before = before.and_then(|before| before.get(index));
                write(text, part.member(""), before, element);
            }
            text.push_str(if elements.is_empty() { "[]" } else { "]" });
        }
        (_, scalar) => text.push_str(&scalar.to_string()),
    }
}

fn write_members<'a>(
    text: &mut String,
    part: Part,
    before: Option<&Value>,
    members: impl Iterator<Item = (&'a str, &'a Value)>,
) {
    text.push('{');
    for (index, (name, value)) in members.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name).to_string());
        text.push(':');
        let before = before.and_then(|before| before.get(name));
        write(text, part.member(name), before, value);
    }
    text.push('}');
}
