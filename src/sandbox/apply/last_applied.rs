//! From client-side to server-side apply: what `kubectl apply` left in an annotation counts as applied by kubectl.

use serde_json::Value;

use super::text;
use crate::sandbox::managed_fields::compare::{Comparison, fields_of};
use crate::sandbox::managed_fields::layout::Layout;
use crate::sandbox::managed_fields::set::FieldSet;
use crate::schema::Type;

/// The manager for whom the annotation counts.
pub(super) const KUBECTL: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields that client-side apply set and that the object still has like that.
pub(super) fn fields(ty: &'static Type, object: &Value) -> FieldSet {
    let annotation = object
        .pointer("/metadata/annotations")
        .and_then(|annotations| annotations.get(ANNOTATION))
        .and_then(Value::as_str);
    let applied = annotation.and_then(|json| serde_json::from_str::<Value>(json).ok());
    let Some(applied) = applied else {
        return FieldSet::default();
    };
    if Some(text(&applied, "/apiVersion")) != ty.group_version() {
        return FieldSet::default();
    }
    let layout = Layout::of_type(ty);
    let changed = Comparison::of(layout, &applied, object);
    let mut fields = fields_of(layout, &applied);
    for gone in [&changed.modified, &changed.added, &changed.removed] {
        fields.subtract(gone);
    }
    fields
}

/// Keeps the annotation, where there is one, up to date with what was applied.
pub(super) fn update(object: &mut Value, config: &Value) {
    let annotation = object
        .pointer_mut("/metadata/annotations")
        .and_then(|annotations| annotations.get_mut(ANNOTATION));
    let Some(annotation) = annotation.filter(|annotation| *annotation != "") else {
        return;
    };
    let mut applied = config.clone();
    if let Some(Value::Object(annotations)) = applied.pointer_mut("/metadata/annotations") {
        annotations.remove(ANNOTATION);
    }
    *annotation = format!("{applied}\n").into();
}
