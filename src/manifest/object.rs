//! One object of a manifest, and where it stands.

use serde_json::Value;

use super::error::{Error, Mistake, Place};

/// An object as its manifest has it: a JSON object with `kind` and `apiVersion`.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The object.
    pub json: Value,
    /// Where it stands.
    pub place: Place,
}

impl Object {
    /// `kind`.
    pub fn kind(&self) -> &str {
        text(&self.json["kind"])
    }

    /// `apiVersion`.
    pub fn api_version(&self) -> &str {
        text(&self.json["apiVersion"])
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version()
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// `metadata.name`, or empty.
    pub fn name(&self) -> &str {
        text(&self.json["metadata"]["name"])
    }

    /// `metadata.namespace`, or empty.
    pub fn namespace(&self) -> &str {
        text(&self.json["metadata"]["namespace"])
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The objects that a document stands for: itself, or the items of a list, lists among them taken apart as well.
/// An empty document stands for none.
pub(super) fn objects_in(json: Value, place: &Place) -> Result<Vec<Object>, Error> {
    match json {
        Value::Null => Ok(Vec::new()),
        Value::Object(_) => {
            let mut objects = Vec::new();
            flatten(json, place, &mut objects)?;
            Ok(objects)
        }
        other => Err(place.mistake(Mistake::NotAnObject(what(&other)))),
    }
}

fn flatten(mut json: Value, place: &Place, objects: &mut Vec<Object>) -> Result<(), Error> {
    let kind = text(&json["kind"]).to_owned();
    if kind.is_empty() {
        return Err(place.mistake(Mistake::MissingKind));
    }
    let api_version = text(&json["apiVersion"]).to_owned();
    if api_version.is_empty() {
        return Err(place.mistake(Mistake::MissingApiVersion));
    }
    let items = match (kind.strip_suffix("List"), json.get_mut("items")) {
        (Some(item_kind), Some(Value::Array(items))) => Some((item_kind, std::mem::take(items))),
        (Some(""), _) => Some(("", Vec::new())),
        _ => None,
    };
    let Some((item_kind, items)) = items else {
        objects.push(Object {
            json,
            place: place.clone(),
        });
        return Ok(());
    };
    for mut item in items {
        let Value::Object(fields) = &mut item else {
            return Err(place.mistake(Mistake::NotAnObject(what(&item))));
        };
        // The items of a typed list, such as a DeploymentList, may leave out what the list's kind already says.
        if !item_kind.is_empty() {
            fields.entry("kind").or_insert_with(|| item_kind.into());
            fields
                .entry("apiVersion")
                .or_insert_with(|| api_version.as_str().into());
        }
        flatten(item, place, objects)?;
    }
    Ok(())
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
