//! How Kubernetes shows what an update would change in a pod's spec: a diff of its internal form of the spec.
//!
//! That form has the fields of the Go types, in their order and by their Go names, and writes out those that are not
//! set. The type table knows what the fields hold; the names and their order are in [`order`].

mod order;

use std::fmt::Write as _;

use serde_json::{Map, Value};
use similar::TextDiff;

use crate::sandbox::json::object_or_new;
use crate::schema::{self, Field, Shape, Type};

/// A unified diff of two pod specs, with three lines around each change.
pub(super) fn spec_diff(old: &Value, new: &Value) -> String {
    let (old, new) = (internal_form(old), internal_form(new));
    let diff = TextDiff::from_lines(&old, &new);
    diff.unified_diff().context_radius(3).to_string()
}

fn internal_form(spec: &Value) -> String {
    let mut spec = spec.clone();
    if let Some(spec) = spec.as_object_mut() {
        move_host_settings(spec);
    }
    let mut writer = Writer::default();
    writer.object(pod_spec(), &spec);
    writer.text.push('\n');
    writer.text
}

fn pod_spec() -> &'static Type {
    schema::named("PodSpec").expect("the type table has PodSpec")
}

/// The internal form keeps the host's namespaces in the security context.
fn move_host_settings(spec: &mut Map<String, Value>) {
    for field in [
        "hostNetwork",
        "hostPID",
        "hostIPC",
        "shareProcessNamespace",
        "hostUsers",
    ] {
        if let Some(value) = spec.remove(field)
            && let Some(context) = object_or_new(spec, "securityContext")
        {
            context.insert(field.to_owned(), value);
        }
    }
}

/// Writes JSON as Go's encoder does with an indent of one space.
#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    fn object(&mut self, ty: &Type, value: &Value) {
        let fields = order::fields(ty, value);
        self.block(['{', '}'], fields, |writer, (name, field)| {
            writer.string(&name);
            writer.text.push_str(": ");
            writer.field(field, &value[field.name]);
        });
    }

    fn field(&mut self, field: &Field, value: &Value) {
        if value.is_null() && field.is_pointer {
            self.text.push_str("null");
        } else {
            self.value(&field.shape, value);
        }
    }

    fn value(&mut self, shape: &Shape, value: &Value) {
        match (shape, value) {
            (Shape::Struct(ty), value) => self.object(ty, value),
            (Shape::List(element), Value::Array(list)) if !list.is_empty() => {
                self.block(['[', ']'], list.iter(), |writer, value| {
                    writer.value(element, value);
                });
            }
            (Shape::Map(item), Value::Object(map)) if !map.is_empty() => {
                self.block(['{', '}'], map.iter(), |writer, (key, value)| {
                    writer.string(key);
                    writer.text.push_str(": ");
                    writer.value(item, value);
                });
            }
            (Shape::List(_) | Shape::Map(_), _) => self.text.push_str("null"),
            (Shape::String, Value::Null) => self.text.push_str("\"\""),
            (Shape::Bool, Value::Null) => self.text.push_str("false"),
            (Shape::Quantity, Value::Null) => self.text.push_str("\"0\""),
            (Shape::Int32 | Shape::Int64 | Shape::Float | Shape::IntOrString, Value::Null) => {
                self.text.push('0');
            }
            (_, Value::String(text)) => self.string(text),
            (_, value) => {
                write!(self.text, "{value}").expect("writing to a String cannot fail");
            }
        }
    }

    fn block<T>(
        &mut self,
        [open, close]: [char; 2],
        items: impl IntoIterator<Item = T>,
        write_item: impl Fn(&mut Self, T),
    ) {
        self.text.push(open);
        self.depth += 1;
        let mut is_empty = true;
        for item in items {
            if !is_empty {
                self.text.push(',');
            }
            is_empty = false;
            self.line();
            write_item(self, item);
        }
        self.depth -= 1;
        if !is_empty {
            self.line();
        }
        self.text.push(close);
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', self.depth));
    }

    /// Go also escapes what HTML would read as markup.
    fn string(&mut self, text: &str) {
        let quoted = Value::from(text).to_string();
        for character in quoted.chars() {
            match character {
                '<' | '>' | '&' => {
                    write!(self.text, "\\u{:04x}", u32::from(character))
                        .expect("writing to a String cannot fail");
                }
                other => self.text.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shows_where_in_the_internal_form_something_changes() {
        let spec = |image: &str, node: &str| {
            json!({
                "containers": [{"name": "main", "image": image, "args": ["<a>"]}],
                "nodeName": node,
                "hostNetwork": true,
                "securityContext": {},
            })
        };
        insta::assert_snapshot!(spec_diff(&spec("a", ""), &spec("a", "n1")), @r#"
        @@ -44,7 +44,7 @@
          "NodeSelector": null,
          "ServiceAccountName": "",
          "AutomountServiceAccountToken": null,
        - "NodeName": "",
        + "NodeName": "n1",
          "SecurityContext": {
           "HostNetwork": true,
           "HostPID": false,
        "#);
        assert_eq!(spec_diff(&spec("a", "n1"), &spec("a", "n1")), "");
        assert!(internal_form(&spec("a", "")).contains("\"\\u003ca\\u003e\""));
    }
}
