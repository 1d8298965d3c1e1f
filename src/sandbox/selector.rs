//! Label and field selectors of lists, watches and collection deletes.

use serde_json::Value;

use super::kinds::Kind;
use super::object::Object;
use super::status::ApiError;
use crate::controller::label_selector::LabelSelector;

/// Which objects of a collection a request is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    pub(crate) fn parse(kind: &Kind, labels: &str, fields: &str) -> Result<Self, ApiError> {
        Ok(Self {
            labels: LabelSelector::parse(labels).map_err(ApiError::bad_request)?,
            fields: FieldSelector::parse(kind, fields).map_err(ApiError::bad_request)?,
        })
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.labels.matches(|key| object.label(key)) && self.fields.matches(object)
    }

    /// Whether every object matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.0.is_empty()
    }
}

/// `metadata.name=a,status.phase!=Running`.
#[derive(Clone, Debug, Default)]
struct FieldSelector(Vec<FieldRequirement>);

#[derive(Clone, Debug)]
struct FieldRequirement {
    field: String,
    value: String,
    negated: bool,
}

impl FieldSelector {
    fn parse(kind: &Kind, text: &str) -> Result<Self, String> {
        let requirements: Vec<_> = split_terms(text)
            .into_iter()
            .filter(|term| !term.is_empty())
            .map(|term| {
                parse_term(&term)
                    .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{term}'"))
            })
            .collect::<Result<_, _>>()?;
        for requirement in &requirements {
            check_field(kind, &requirement.field)?;
        }
        Ok(Self(requirements))
    }

    fn matches(&self, object: &Object) -> bool {
        let mut parsed = None;
        self.0.iter().all(|requirement| {
            let equal = match requirement.field.as_str() {
                "metadata.name" => object.name() == requirement.value,
                "metadata.namespace" => object.namespace() == requirement.value,
                field => {
                    let value = parsed.get_or_insert_with(|| {
                        object.decode::<Value>().expect("the store wrote this text")
                    });
                    field_value(value, field) == requirement.value
                }
            };
            equal != requirement.negated
        })
    }
}

/// Splits at commas; a backslash keeps the next character.
fn split_terms(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let term = terms.last_mut().expect("there is always a term");
        match character {
            '\\' => {
                term.push('\\');
                term.extend(characters.next());
            }
            ',' => terms.push(String::new()),
            other => term.push(other),
        }
    }
    terms
}

fn parse_term(term: &str) -> Option<FieldRequirement> {
    let position = term.find('=')?;
    let (left, right) = (&term[..position], &term[position + 1..]);
    let (field, negated) = match left.strip_suffix('!') {
        Some(field) => (field, true),
        None => (left, false),
    };
    let value = if negated {
        right
    } else {
        right.strip_prefix('=').unwrap_or(right)
    };
    Some(FieldRequirement {
        field: field.to_owned(),
        value: unescape(value),
        negated,
    })
}

fn unescape(value: &str) -> String {
    let mut characters = value.chars();
    let mut out = String::with_capacity(value.len());
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            other => out.push(other),
        }
    }
    out
}

fn check_field(kind: &Kind, field: &str) -> Result<(), String> {
    if matches!(field, "metadata.name" | "metadata.namespace") || kind.fields.contains(&field) {
        Ok(())
    } else if kind.fields.is_empty() {
        Err(format!(
            "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ))
    } else {
        Err(format!("field label not supported: {field}"))
    }
}

/// The value of a selectable field as text; what is not set compares as its zero value.
fn field_value(object: &Value, field: &str) -> String {
    let path = match field {
        "source" => "source.component",
        other => other,
    };
    let value = path
        .split('.')
        .try_fold(object, |value, part| value.get(part));
    match (value, field) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(Value::Bool(flag)), _) => flag.to_string(),
        (Some(Value::Number(number)), _) => number.to_string(),
        (_, "spec.hostNetwork" | "spec.unschedulable") => "false".to_owned(),
        (_, "status.successful") => "0".to_owned(),
        _ => String::new(),
    }
}
