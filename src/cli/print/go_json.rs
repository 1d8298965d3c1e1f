//! JSON laid out as kubectl lays it out: fields in the order in which the API declares them, four spaces a level.

use serde::ser::{Serialize, Serializer};
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Value};

use crate::schema::{self, Shape, Type};

/// What precedes the fields of an object, in kubectl's order.
const TYPE_FIELDS: [&str; 2] = ["kind", "apiVersion"];

/// An object with a line break at its end. Fields that the API's types don't have follow those that they have.
pub(super) fn pretty(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let order = match schema::of_kind(text("apiVersion"), text("kind")) {
        Some(ty) => Order::Type(ty),
        None => Order::Alphabetical,
    };
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(b"    ");
    let written = Ordered(object, order).serialize(&mut serde_json::Serializer::with_formatter(
        &mut out, formatter,
    ));
    debug_assert!(written.is_ok(), "JSON can be written to memory");
    // All of these stand in strings only, where Go escapes what HTML or JavaScript could take for something else.
    String::from_utf8_lossy(&out)
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
        + "\n"
}

/// A value, and what orders its fields.
struct Ordered<'a>(&'a Value, Order<'a>);

#[derive(Clone, Copy)]
enum Order<'a> {
    Type(&'a Type),
    Shape(&'a Shape),
    Alphabetical,
}

impl<'a> Order<'a> {
    fn ty(self) -> Option<&'a Type> {
        match self {
            Self::Type(ty) => Some(ty),
            Self::Shape(Shape::Struct(ty)) => Some(ty.get()),
            Self::Shape(_) | Self::Alphabetical => None,
        }
    }

    fn of_item(self) -> Self {
        match self {
            Self::Shape(Shape::List(item) | Shape::Map(item)) => Self::Shape(item),
            _ => Self::Alphabetical,
        }
    }

    /// The fields that there are, and what orders each.
    fn fields(self, members: &'a Map<String, Value>) -> Vec<(&'a String, Ordered<'a>)> {
        let Some(ty) = self.ty() else {
            let item = self.of_item();
            return members
                .iter()
                .map(|(name, value)| (name, Ordered(value, item)))
                .collect();
        };
        let place = |name: &String| {
            let declared = || ty.fields().iter().position(|field| field.name == *name);
            match TYPE_FIELDS.iter().position(|field| field == name) {
                Some(place) if ty.field(name).is_none() => place,
                _ => declared().map_or(usize::MAX, |place| place + TYPE_FIELDS.len()),
            }
        };
        let order = |name: &str| match ty.field(name) {
            Some(field) => Order::Shape(&field.shape),
            None => Order::Alphabetical,
        };
        let mut fields: Vec<_> = members
            .iter()
            .map(|(name, value)| (name, Ordered(value, order(name))))
            .collect();
        fields.sort_by_key(|(name, _)| place(name));
        fields
    }
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, order) = self;
        match value {
            Value::Object(members) => serializer.collect_map(order.fields(members)),
            Value::Array(items) => {
                let item = order.of_item();
                serializer.collect_seq(items.iter().map(|value| Ordered(value, item)))
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_stand_where_the_api_declares_them() {
        let object = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "extra": 1,
            "metadata": {"annotations": {"b": "<&>", "a": ""}, "name": "web", "labels": {}},
            "spec": {
                "template": {"spec": {"containers": [{"image": "a", "name": "b", "args": []}]}},
                "replicas": 3,
            },
        });
        insta::assert_snapshot!(pretty(&object), @r#"
        {
            "kind": "Deployment",
            "apiVersion": "apps/v1",
            "metadata": {
                "name": "web",
                "labels": {},
                "annotations": {
                    "a": "",
                    "b": "\u003c\u0026\u003e"
                }
            },
            "spec": {
                "replicas": 3,
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "b",
                                "image": "a",
                                "args": []
                            }
                        ]
                    }
                }
            },
            "extra": 1
        }
        "#);
    }
}
