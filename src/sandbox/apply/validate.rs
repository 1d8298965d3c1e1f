//! Whether an applied configuration fits the type, in the words of Kubernetes' structured merge.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::sandbox::managed_fields::layout::Layout;
use crate::sandbox::managed_fields::path::PathElement;
use crate::schema::{Ownership, Shape, Type};

/// What is wrong with a configuration; `None` when it fits.
pub(super) fn problem(ty: &'static Type, config: &Value) -> Option<String> {
    let mut problems = Problems::default();
    problems.check_struct(ty, config);
    match problems.found.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("errors:\n  {}", many.join("\n  "))),
    }
}

#[derive(Default)]
struct Problems {
    path: String,
    found: Vec<String>,
}

impl Problems {
    fn add(&mut self, problem: &str) {
        self.found.push(if self.path.is_empty() {
            problem.to_owned()
        } else {
            format!("{}: {problem}", self.path)
        });
    }

    fn at(&mut self, step: &PathElement, check: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(&step.to_string());
        check(self);
        self.path.truncate(length);
    }

    fn check(&mut self, shape: &'static Shape, ownership: &'static Ownership, value: &Value) {
        if value.is_null() {
            return;
        }
        let expected = match (shape, value) {
            (Shape::Struct(ty), _) => return self.check_struct(ty.get(), value),
            (Shape::Map(item), _) => return self.check_map(item, value),
            (Shape::List(element), _) => return self.check_list(element, ownership, value),
            (Shape::Raw, _)
            | (Shape::String | Shape::Bytes, Value::String(_))
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Int32 | Shape::Int64 | Shape::Float, Value::Number(_))
            | (
                Shape::Quantity | Shape::Time | Shape::MicroTime | Shape::IntOrString,
                Value::String(_) | Value::Number(_) | Value::Bool(_),
            ) => return,
            (Shape::String | Shape::Bytes, _) => format!(
                "expected string, got &value.valueUnstructured{{Value:{}}}",
                go_syntax(value)
            ),
            (Shape::Bool, _) => format!("expected boolean, got {}", pointer(value)),
            (Shape::Int32 | Shape::Int64 | Shape::Float, _) => {
                format!("expected numeric (int or float), got {}", go_type(value))
            }
            _ => format!("expected any scalar, got {}", pointer(value)),
        };
        self.add(&expected);
    }

    fn members<'a>(&mut self, value: &'a Value) -> Option<&'a Map<String, Value>> {
        let members = value.as_object();
        if members.is_none() {
            self.add(&format!("expected map, got {}", pointer(value)));
        }
        members
    }

    fn check_struct(&mut self, ty: &'static Type, value: &Value) {
        for (name, value) in self.members(value).into_iter().flatten() {
            self.at(&PathElement::named(name), |problems| match ty.field(name) {
                Some(field) => problems.check(&field.shape, &field.ownership, value),
                None => problems.add("field not declared in schema"),
            });
        }
    }

    fn check_map(&mut self, item: &'static Shape, value: &Value) {
        for (name, value) in self.members(value).into_iter().flatten() {
            self.at(&PathElement::named(name), |problems| {
                problems.check(item, item.ownership(), value);
            });
        }
    }

    fn check_list(
        &mut self,
        element: &'static Shape,
        ownership: &'static Ownership,
        value: &Value,
    ) {
        let Value::Array(list) = value else {
            return self.add(&format!("expected list, got {}", pointer(value)));
        };
        let layout = match ownership {
            Ownership::Set => Layout::Set,
            Ownership::ByKeys(keys) => Layout::Keyed(keys, element),
            _ => Layout::Leaf,
        };
        let mut seen = BTreeSet::new();
        for (index, value) in list.iter().enumerate() {
            let place = i64::try_from(index).unwrap_or(i64::MAX);
            let step = match layout {
                Layout::Leaf => PathElement::Index(place),
                _ => match layout.element(value) {
                    Ok((step, _)) => step,
                    // Without an identity, what is inside can't even be named.
                    Err(error) => return self.add(&format!("element {index}: {error}")),
                },
            };
            if !matches!(layout, Layout::Leaf) && !seen.insert(step.clone()) {
                self.add(&format!("duplicate entries for key {step}"));
            }
            self.at(&step, |problems| {
                problems.check(element, element.ownership(), value);
            });
        }
    }
}

/// A value behind a pointer, as Go prints it.
fn pointer(value: &Value) -> String {
    match value {
        Value::String(text) => format!("&{{{text}}}"),
        other => format!("&{{{other}}}"),
    }
}

/// A value as Go would write it in a program.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Array(_) => "[]interface {}{...}".to_owned(),
        Value::Object(_) => "map[string]interface {}{...}".to_owned(),
        scalar => scalar.to_string(),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
