//! A pod template in kubectl's words, as `rollout history --revision` and `rollout undo --dry-run` print it
//! (rollout-commands section 3.1): the text of `kubectl describe`, with tabs where that aligns columns.
//!
//! Reads the template's JSON. What the API does not have is not there to describe.

mod containers;
#[cfg(test)]
mod tests;
mod volumes;

use std::fmt::Write as _;

use serde_json::Value;

use crate::controller::keys::LAST_APPLIED;
use crate::controller::label_selector::text_of;

/// Annotations that are longer are written on lines of their own, and cut.
const ANNOTATION_MAX: usize = 140;

/// `Pod Template:` and all that is in it, each line with its end.
pub fn pod_template(template: &Value) -> String {
    let mut text = Text::default();
    let (metadata, spec) = (&template["metadata"], &template["spec"]);
    text.line(0, "Pod Template:");
    text.labels("  Labels", &metadata["labels"]);
    if !is_empty(&metadata["annotations"]) {
        text.annotations("  Annotations", &metadata["annotations"]);
    }
    let account = word(&spec["serviceAccountName"]);
    if !account.is_empty() {
        text.line(1, format_args!("Service Account:\t{account}"));
    }
    if !is_empty(&spec["initContainers"]) {
        text.containers("Init Containers", &spec["initContainers"]);
    }
    text.containers("Containers", &spec["containers"]);
    text.volumes(&spec["volumes"]);
    text.spread_constraints(&spec["topologySpreadConstraints"]);
    let class = word(&spec["priorityClassName"]);
    if !class.is_empty() {
        text.line(1, format_args!("Priority Class Name:\t{class}"));
    }
    text.labels("  Node-Selectors", &spec["nodeSelector"]);
    text.tolerations(&spec["tolerations"]);
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    /// A line; two spaces a level.
    fn line(&mut self, level: usize, text: impl std::fmt::Display) {
        self.0 += &"  ".repeat(level);
        self.part(text);
        self.0.push('\n');
    }

    fn part(&mut self, text: impl std::fmt::Display) {
        // Writing to a string can't fail.
        let _ = write!(self.0, "{text}");
    }

    /// A title and its entries, each behind a tab; `<none>` where there is none.
    fn entries(&mut self, title: &str, entries: impl IntoIterator<Item = String>) {
        self.part(format_args!("{title}:"));
        let mut none = true;
        for entry in entries {
            self.part(format_args!("\t{entry}\n"));
            none = false;
        }
        if none {
            self.part("\t<none>\n");
        }
    }

    fn labels(&mut self, title: &str, labels: &Value) {
        let labels = fields(labels);
        self.entries(
            title,
            labels.map(|(key, value)| format!("{key}={}", word(value))),
        );
    }

    fn annotations(&mut self, title: &str, annotations: &Value) {
        let shown = fields(annotations).filter(|(key, _)| *key != LAST_APPLIED);
        self.entries(
            title,
            shown.map(|(key, value)| annotation(key, word(value))),
        );
    }

    fn spread_constraints(&mut self, constraints: &Value) {
        let mut constraints: Vec<&Value> = items(constraints).iter().collect();
        if constraints.is_empty() {
            return;
        }
        constraints.sort_by_key(|constraint| word(&constraint["topologyKey"]));
        self.part("  Topology Spread Constraints:");
        for (index, constraint) in constraints.into_iter().enumerate() {
            let indent = if index == 0 { "" } else { "  " };
            let selector = match &constraint["labelSelector"] {
                Value::Null => String::new(),
                selector => match text_of(selector) {
                    text if text.is_empty() => " for selector <none>".to_owned(),
                    text => format!(" for selector {text}"),
                },
            };
            self.part(format_args!(
                "{indent}\t{}:{} when max skew {} is exceeded{selector}\n",
                word(&constraint["topologyKey"]),
                word(&constraint["whenUnsatisfiable"]),
                number(&constraint["maxSkew"]),
            ));
        }
    }

    fn tolerations(&mut self, tolerations: &Value) {
        let mut tolerations: Vec<&Value> = items(tolerations).iter().collect();
        tolerations.sort_by_key(|toleration| word(&toleration["key"]));
        self.entries("  Tolerations", tolerations.into_iter().map(toleration));
    }
}

fn annotation(key: &str, value: &str) -> String {
    let value = value.strip_suffix('\n').unwrap_or(value);
    if value.len() + key.len() + 2 <= ANNOTATION_MAX && !value.contains('\n') {
        return format!("{key}: {value}");
    }
    let lines = value.split('\n').map(|line| {
        let max = ANNOTATION_MAX - 2;
        let end = (0..=max.min(line.len()))
            .rev()
            .find(|end| line.is_char_boundary(*end));
        let dots = if line.len() > max { "..." } else { "" };
        format!("\n\t  {}{dots}", &line[..end.unwrap_or(0)])
    });
    format!("{key}:{}", lines.collect::<String>())
}

fn toleration(toleration: &Value) -> String {
    let (key, value) = (word(&toleration["key"]), word(&toleration["value"]));
    let effect = word(&toleration["effect"]);
    let prefixed = |sign: char, text: &str| match text {
        "" => String::new(),
        text => format!("{sign}{text}"),
    };
    let mut text = format!("{key}{}{}", prefixed('=', value), prefixed(':', effect));
    if toleration["operator"] == "Exists" && value.is_empty() {
        text += if text.is_empty() {
            "op=Exists"
        } else {
            " op=Exists"
        };
    }
    if let Some(seconds) = toleration["tolerationSeconds"].as_i64() {
        let _ = write!(text, " for {seconds}s");
    }
    text
}

/// Text; empty where there is none.
fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number, or zero.
fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// What is set: text or a number as it is.
fn any(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_true(value: &Value) -> bool {
    value.as_bool().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(key, value)| (key.as_str(), value))
}

fn is_empty(value: &Value) -> bool {
    items(value).is_empty() && fields(value).next().is_none()
}
