//! Filling a template in.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Comparison, JsonPath, JsonPathError, Node, Operand, Path, Slice, Step};

/// The text that a template comes to.
pub(super) fn template(template: &JsonPath, object: &Value) -> Result<String, JsonPathError> {
    let mut filling = Filling {
        template,
        root: object,
        text: String::new(),
    };
    filling.nodes(&template.nodes, object)?;
    Ok(filling.text)
}

struct Filling<'a> {
    template: &'a JsonPath,
    root: &'a Value,
    text: String,
}

impl<'a> Filling<'a> {
    fn nodes(&mut self, nodes: &[Node], current: &'a Value) -> Result<(), JsonPathError> {
        for node in nodes {
            match node {
                Node::Text(text) => self.text += text,
                Node::Path(path) => {
                    let values = self.values(path, current)?;
                    self.print(&values);
                }
                Node::Range(path, inner) => {
                    for value in self.values(path, current)? {
                        self.nodes(inner, value)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn print(&mut self, values: &[&Value]) {
        if self.template.as_json {
            let pretty = serde_json::to_string_pretty(values).unwrap_or_default();
            self.text += &pretty.replace("  ", "    ");
            self.text.push('\n');
            return;
        }
        let texts: Vec<String> = values.iter().map(|value| shown(value)).collect();
        self.text += &texts.join(" ");
    }

    /// In a range, paths go from the value that it is at.
    fn values(&self, path: &Path, current: &'a Value) -> Result<Vec<&'a Value>, JsonPathError> {
        let mut values = vec![current];
        for (index, step) in path.steps.iter().enumerate() {
            let descended = index > 0 && path.steps[index - 1] == Step::Descend;
            let mut next = Vec::new();
            for value in values {
                self.step(step, value, descended, &mut next)?;
            }
            values = next;
        }
        Ok(values)
    }

    fn step(
        &self,
        step: &Step,
        value: &'a Value,
        descended: bool,
        out: &mut Vec<&'a Value>,
    ) -> Result<(), JsonPathError> {
        match step {
            Step::Field(name) => match value.get(name) {
                Some(value) => out.push(value),
                None if self.template.allow_missing_keys || descended => {}
                None => return Err(JsonPathError(format!("{name} is not found"))),
            },
            Step::Descend => descend(value, out),
            Step::Every => out.extend(children(value)),
            Step::Slice(slice) => match value.as_array() {
                Some(list) => out.extend(sliced(list, *slice)?),
                None if descended || value.is_null() => {}
                None => return Err(JsonPathError("is not array or slice".to_owned())),
            },
            Step::Union(parts) => {
                for part in parts {
                    self.step(part, value, descended, out)?;
                }
            }
            Step::Filter(left, comparison) => {
                for item in children(value) {
                    if self.passes(left, comparison.as_ref(), item) {
                        out.push(item);
                    }
                }
            }
        }
        Ok(())
    }

    fn passes(
        &self,
        left: &Operand,
        comparison: Option<&(Comparison, Operand)>,
        item: &'a Value,
    ) -> bool {
        let Some(left) = self.operand(left, item) else {
            return false;
        };
        match comparison {
            None => true,
            Some((comparison, right)) => self
                .operand(right, item)
                .is_some_and(|right| holds(*comparison, &left, &right)),
        }
    }

    /// The one value of an operand.
    fn operand(&self, operand: &Operand, item: &'a Value) -> Option<Value> {
        match operand {
            Operand::Value(value) => Some(value.clone()),
            Operand::Path(path) => {
                let from = if path.from_current { item } else { self.root };
                let values = self.values(path, from).ok()?;
                values.first().map(|value| (*value).clone())
            }
        }
    }
}

/// Text bare, anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    out.push(value);
    for child in children(value) {
        descend(child, out);
    }
}

fn sliced(list: &[Value], slice: Slice) -> Result<Vec<&Value>, JsonPathError> {
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let from_end = |place: i64| if place < 0 { place + length } else { place };
    let start = from_end(slice.start.unwrap_or(0));
    if slice.is_index {
        let found = usize::try_from(start)
            .ok()
            .and_then(|start| list.get(start));
        let outside = || {
            JsonPathError(format!(
                "array index out of bounds: index {}, length {length}",
                slice.start.unwrap_or(0)
            ))
        };
        return found.map(|value| vec![value]).ok_or_else(outside);
    }
    let end = from_end(slice.end.unwrap_or(length)).clamp(0, length);
    let step = slice.step.unwrap_or(1);
    let Ok(step) = usize::try_from(step) else {
        return Err(JsonPathError("step must be > 0".to_owned()));
    };
    let (start, end) = (start.clamp(0, length), end);
    let taken = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
    let skipped = usize::try_from(start).unwrap_or(0);
    Ok(list
        .iter()
        .skip(skipped)
        .take(taken)
        .step_by(step.max(1))
        .collect())
}

fn holds(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left
            .as_f64()
            .zip(right.as_f64())
            .and_then(|(left, right)| left.partial_cmp(&right)),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (left, right) => (left == right).then_some(Ordering::Equal),
    };
    match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::NotEqual => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => order.is_some_and(Ordering::is_le),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
    }
}
