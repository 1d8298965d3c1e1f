//! Label selectors and labels.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::{Selector, SelectorExt as _};
use serde::Deserialize as _;
use serde_json::Value;

use super::errors::Errors;
use super::format::{label_value, qualified_name};
use super::path::Path;
use crate::sandbox::json::{entries, is_zero, list, text};

/// A set of labels: keys and values.
pub(super) fn validate_labels(labels: &Value, path: &Path<'_>, errors: &mut Errors) {
    for (key, value) in entries(labels) {
        errors.all_invalid(path, key, qualified_name(key));
        errors.all_invalid(path, text(value), label_value(text(value)));
    }
}

/// A label selector, where there is one.
pub(super) fn validate_selector(selector: &Value, path: &Path<'_>, errors: &mut Errors) {
    validate_labels(&selector["matchLabels"], &path.child("matchLabels"), errors);
    let expressions = path.child("matchExpressions");
    for (index, requirement) in list(&selector["matchExpressions"]).iter().enumerate() {
        validate_requirement(requirement, &expressions.index(index), errors);
    }
}

fn validate_requirement(requirement: &Value, path: &Path<'_>, errors: &mut Errors) {
    let values = list(&requirement["values"]);
    match text(&requirement["operator"]) {
        "In" | "NotIn" if values.is_empty() => errors.required(
            &path.child("values"),
            "must be specified when `operator` is 'In' or 'NotIn'",
        ),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.forbidden(
            &path.child("values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        operator => errors.invalid(
            &path.child("operator"),
            operator,
            "not a valid selector operator",
        ),
    }
    let key = text(&requirement["key"]);
    errors.all_invalid(&path.child("key"), key, qualified_name(key));
    let values_path = path.child("values");
    for (index, value) in values.iter().enumerate() {
        errors.all_invalid(
            &values_path.index(index),
            text(value),
            label_value(text(value)),
        );
    }
}

/// Whether a valid selector selects these labels; an absent one selects nothing.
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
    let labels: BTreeMap<String, String> = entries(labels)
        .map(|(key, value)| (key.to_owned(), text(value).to_owned()))
        .collect();
    LabelSelector::deserialize(selector)
        .ok()
        .and_then(|selector| Selector::try_from(selector).ok())
        .is_some_and(|selector| selector.matches(&labels))
}

/// Whether a selector is there and empty.
pub(super) fn selects_all(selector: &Value) -> bool {
    !selector.is_null()
        && is_zero(&selector["matchLabels"])
        && is_zero(&selector["matchExpressions"])
}

/// A selector as Go's encoder writes it: in the order of its type, without what is empty.
pub(super) fn shown_selector(selector: &Value) -> String {
    if selector.is_null() {
        return "null".to_owned();
    }
    let mut fields = Vec::new();
    if !is_zero(&selector["matchLabels"]) {
        fields.push(format!("\"matchLabels\":{}", selector["matchLabels"]));
    }
    if !is_zero(&selector["matchExpressions"]) {
        let expressions: Vec<String> = list(&selector["matchExpressions"])
            .iter()
            .map(shown_requirement)
            .collect();
        fields.push(format!("\"matchExpressions\":[{}]", expressions.join(",")));
    }
    format!("{{{}}}", fields.join(","))
}

fn shown_requirement(requirement: &Value) -> String {
    let shown = |field: &str| Value::from(text(&requirement[field]));
    let values = if is_zero(&requirement["values"]) {
        String::new()
    } else {
        format!(",\"values\":{}", requirement["values"])
    };
    format!(
        "{{\"key\":{},\"operator\":{}{values}}}",
        shown("key"),
        shown("operator")
    )
}
