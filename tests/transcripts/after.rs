//! What became of the objects, in the parts that the recordings name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::world::World;

/// The objects of a world, by name; `None` for one that is gone.
pub(crate) type Objects = BTreeMap<String, Option<Value>>;

pub(crate) async fn objects(world: &World) -> Objects {
    let mut objects = Objects::new();
    for key in world.objects.keys() {
        objects.insert(key.clone(), world.get(key).await);
    }
    objects
}

/// What changed, as the recordings have it: objects with another version, and of these the parts that differ.
pub(crate) fn changes(before: &Objects, after: &Objects) -> Map<String, Value> {
    let mut changes = Map::new();
    for (key, after) in after {
        let Some(before) = &before[key] else { continue };
        match after {
            None => {
                changes.insert(key.clone(), Value::Null);
            }
            Some(after) if version(after) != version(before) => {
                changes.insert(key.clone(), Value::Object(parts_that_differ(before, after)));
            }
            Some(_) => {}
        }
    }
    changes
}

fn version(object: &Value) -> &Value {
    &object["metadata"]["resourceVersion"]
}

fn parts_that_differ(before: &Value, after: &Value) -> Map<String, Value> {
    let (mut old, new) = (parts(before), parts(after));
    let mut differing: Map<String, Value> = new
        .into_iter()
        .filter(|(name, value)| old.remove(name).as_ref() != Some(value))
        .collect();
    let managers = |object: &Value| {
        let entries = object["metadata"]["managedFields"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let name = |entry: &Value| {
            format!(
                "{} {}",
                entry["manager"].as_str().unwrap(),
                entry["operation"].as_str().unwrap()
            )
        };
        entries.iter().map(name).collect::<Vec<_>>()
    };
    let known = managers(before);
    if let Some(manager) = managers(after)
        .into_iter()
        .find(|manager| !known.contains(manager))
    {
        differing.insert("manager".into(), json!(manager));
    }
    differing
}

fn parts(object: &Value) -> Map<String, Value> {
    let mut parts = Map::new();
    let (metadata, spec) = (&object["metadata"], &object["spec"]);
    let or_empty = |value: &Value| {
        if value.is_null() {
            json!({})
        } else {
            value.clone()
        }
    };
    parts.insert("generation".into(), metadata["generation"].clone());
    parts.insert("labels".into(), or_empty(&metadata["labels"]));
    parts.insert("annotations".into(), or_empty(&metadata["annotations"]));
    parts.insert("replicas".into(), spec["replicas"].clone());
    parts.insert("paused".into(), json!(spec["paused"] == true));
    if object["kind"] == "Pod" {
        let images = |list: &str| {
            let containers = spec[list].as_array().cloned().unwrap_or_default();
            containers
                .iter()
                .map(|container| container["image"].clone())
                .collect::<Vec<_>>()
        };
        parts.insert(
            "images".into(),
            [images("initContainers"), images("containers")]
                .concat()
                .into(),
        );
    }
    let mut template = if spec["jobTemplate"].is_object() {
        spec["jobTemplate"]["spec"]["template"].clone()
    } else {
        spec["template"].clone()
    };
    without_defaults(&mut template);
    parts.insert("template".into(), template);
    parts
}

/// Takes the pod defaults out, as the recordings do.
fn without_defaults(template: &mut Value) {
    match template {
        Value::Array(items) => items.iter_mut().for_each(without_defaults),
        Value::Object(members) => {
            let is_default = |name: &str, value: &Value| match name {
                "dnsPolicy"
                | "restartPolicy"
                | "schedulerName"
                | "securityContext"
                | "terminationGracePeriodSeconds"
                | "terminationMessagePath"
                | "terminationMessagePolicy" => true,
                "imagePullPolicy" => value == "IfNotPresent",
                "resources" => *value == json!({}),
                "creationTimestamp" => value.is_null(),
                _ => false,
            };
            members.retain(|name, value| !is_default(name, value));
            members.values_mut().for_each(without_defaults);
        }
        _ => {}
    }
}
