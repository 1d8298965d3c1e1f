//! The scale subresource: a number of replicas seen apart from the object that has it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::field_error::FieldError;
use super::kinds;
use super::managed_fields::managers::Managers;
use super::managed_fields::{self, Tracking, scale as scale_managers};
use super::metadata;
use super::object::Object;
use super::persist::{self, Write};
use super::server::State;
use super::status::ApiError;
use crate::schema;

/// The Scale of an object that has `spec.replicas`.
pub(crate) fn scale_of(object: &Value) -> Value {
    let kept = |field: &str| object["metadata"][field].clone();
    let mut scale = json!({
        "kind": kinds::SCALE.kind,
        "apiVersion": kinds::SCALE.api_version,
        "metadata": {
            "name": kept("name"),
            "namespace": kept("namespace"),
            "uid": kept("uid"),
            "resourceVersion": kept("resourceVersion"),
            "creationTimestamp": kept("creationTimestamp"),
        },
        "spec": {"replicas": object["spec"]["replicas"]},
        "status": {
            "replicas": object["status"]["replicas"],
            "selector": selector_text(&object["spec"]["selector"]),
        },
    });
    schema::round_trip(kinds::SCALE.ty(), &mut scale);
    scale
}

/// The Scale of a stored object, to be sent.
pub(crate) fn of_stored(object: &Object, kind: &kinds::Kind) -> Object {
    Object::new(scale_of(&object.value(kind)), object.resource_version())
}

/// Changes an object through its Scale: `change` gets the present one and gives the one asked for.
pub(crate) fn change(
    state: &mut State,
    write: &mut Write<'_>,
    change: impl FnOnce(&Value) -> Result<Value, ApiError>,
) -> Result<Arc<Object>, ApiError> {
    let kind = write.target.kind;
    let applies = write.manages_itself;
    // The managers of the object follow from those of the Scale.
    write.manages_itself = true;
    let write = &*write;
    let now = state.now();
    let scaled = persist::change(state, write, |object| {
        let parent = Managers::of(object).unwrap_or_default();
        let mut old = scale_of(object);
        scale_managers::to_scale(&parent).write_to(&mut old);
        let mut new = change(&old)?;
        metadata::check_name(write.target, &new)?;
        if !applies {
            metadata::check_uid(kind, &new, object)?;
        }
        schema::round_trip(kinds::SCALE.ty(), &mut new);
        check(&new)?;
        let mut written = object.clone();
        if !parent.is_empty() {
            if !applies {
                let writer = write.writer(now);
                let tracking = Tracking::FromCreation;
                let ty = kinds::SCALE.ty();
                managed_fields::update(ty, Some(&old), &mut new, &writer, tracking);
            }
            let of_scale = Managers::of(&new).unwrap_or_default();
            scale_managers::to_parent(&parent, &of_scale, kind.api_version).write_to(&mut written);
        }
        written["spec"]["replicas"] = new["spec"]["replicas"].as_i64().unwrap_or_default().into();
        written["metadata"]["resourceVersion"] = new["metadata"]["resourceVersion"].clone();
        Ok(written)
    })?;
    Ok(Arc::new(of_stored(&scaled, kind)))
}

fn check(scale: &Value) -> Result<(), ApiError> {
    let replicas = &scale["spec"]["replicas"];
    if replicas.as_i64().unwrap_or_default() >= 0 {
        return Ok(());
    }
    let error = FieldError::invalid(
        "spec.replicas",
        replicas,
        "must be greater than or equal to 0",
    );
    let name = scale["metadata"]["name"].as_str().unwrap_or_default();
    Err(ApiError::invalid(&kinds::SCALE, name, &[error]))
}

/// A label selector as kubectl's `-l` takes it: requirements in order of their key.
pub(crate) fn selector_text(selector: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut requirements: Vec<(String, String)> = Vec::new();
    if let Some(labels) = selector["matchLabels"].as_object() {
        let equal =
            |(key, value): (&String, &Value)| (key.clone(), format!("{key}={}", text(value)));
        requirements.extend(labels.iter().map(equal));
    }
    for expression in selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let key = text(&expression["key"]);
        let mut values: Vec<String> = expression["values"]
            .as_array()
            .map(|values| values.iter().map(text).collect())
            .unwrap_or_default();
        values.sort();
        let values = values.join(",");
        let requirement = match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.clone(),
        };
        requirements.push((key, requirement));
    }
    requirements.sort_by(|a, b| a.0.cmp(&b.0));
    let texts: Vec<_> = requirements.into_iter().map(|(_, text)| text).collect();
    texts.join(",")
}
