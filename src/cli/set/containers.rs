//! Which images change in an object, and the patch for it. Pure.

use serde_json::{Map, Value, json};

use crate::cli::objects::Found;

/// The lists of containers in which images are set. Ephemeral containers can't be changed.
const LISTS: [&str; 2] = ["initContainers", "containers"];

/// Where an object keeps its pod spec; `None` for what runs no pods.
pub(in crate::cli) fn pod_spec_path(object: &Found) -> Option<&'static [&'static str]> {
    match object.resource.kind {
        "Pod" => Some(&["spec"]),
        "CronJob" => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        "ReplicationController"
        | "Deployment"
        | "DaemonSet"
        | "ReplicaSet"
        | "StatefulSet"
        | "Job" => Some(&["spec", "template", "spec"]),
        _ => None,
    }
}

/// Images by container; no container twice.
pub(super) type Pairs = Vec<(String, String)>;

/// What setting images comes to.
#[derive(Debug, PartialEq)]
pub(super) struct Images {
    /// The names that no container has.
    pub(super) missing: Vec<String>,
    /// The changed lists of the pod spec, as a strategic merge patch has them; empty when nothing changes.
    lists: Map<String, Value>,
    /// The changed containers: list, place and image.
    changed: Vec<(&'static str, usize, String)>,
}

/// Sets images by container name; `*` stands for all containers.
pub(super) fn set_images(pod_spec: &Value, images: &[(String, String)]) -> Images {
    let mut result = Images {
        missing: Vec::new(),
        lists: Map::new(),
        changed: Vec::new(),
    };
    for (name, _) in images {
        let is_found = LISTS.iter().any(|list| {
            let mut containers = containers(pod_spec, list);
            containers.any(|container| matches(container, name))
        });
        if !is_found {
            result.missing.push(name.clone());
        }
    }
    for list in LISTS {
        let mut patched = Vec::new();
        for (place, container) in containers(pod_spec, list).enumerate() {
            let set = images.iter().rfind(|(name, _)| matches(container, name));
            let Some((_, image)) = set else { continue };
            if container["image"].as_str().unwrap_or_default() != image {
                let image_or_none = Some(image).filter(|image| !image.is_empty());
                patched.push(json!({"name": container["name"], "image": image_or_none}));
                result.changed.push((list, place, image.clone()));
            }
        }
        if !patched.is_empty() {
            let order =
                containers(pod_spec, list).map(|container| json!({"name": container["name"]}));
            let order = order.collect::<Vec<_>>();
            result
                .lists
                .insert(format!("$setElementOrder/{list}"), order.into());
            result.lists.insert(list.to_owned(), patched.into());
        }
    }
    result
}

fn containers<'a>(pod_spec: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    pod_spec[list].as_array().into_iter().flatten()
}

fn matches(container: &Value, name: &str) -> bool {
    name == "*" || container["name"] == name
}

/// The containers' names, by what they are, for people.
pub(super) fn names(pod_spec: &Value) -> String {
    let is_sidecar = |container: &&Value| container["restartPolicy"] == "Always";
    let init = || containers(pod_spec, "initContainers");
    let groups = [
        ("", joined(containers(pod_spec, "containers"))),
        ("init: ", joined(init().filter(|one| !is_sidecar(one)))),
        ("sidecars: ", joined(init().filter(is_sidecar))),
        (
            "ephemeral, which can't be changed: ",
            joined(containers(pod_spec, "ephemeralContainers")),
        ),
    ];
    let groups = groups.iter().filter(|(_, names)| !names.is_empty());
    let groups: Vec<String> = groups
        .map(|(what, names)| format!("{what}{names}"))
        .collect();
    groups.join("; ")
}

fn joined<'a>(containers: impl Iterator<Item = &'a Value>) -> String {
    let names = containers.filter_map(|container| container["name"].as_str());
    names.collect::<Vec<_>>().join(", ")
}

impl Images {
    /// The patch of the whole object; `None` when nothing changes.
    pub(super) fn patch(&self, path: &[&str]) -> Option<Value> {
        if self.lists.is_empty() {
            return None;
        }
        let lists = Value::Object(self.lists.clone());
        Some(
            path.iter()
                .rev()
                .fold(lists, |inner, field| json!({*field: inner})),
        )
    }

    /// Makes the changes in the object itself.
    pub(super) fn apply(&self, object: &mut Value, path: &[&str]) {
        let pod_spec = path.iter().fold(object, |value, field| &mut value[*field]);
        for (list, place, image) in &self.changed {
            pod_spec[*list][*place]["image"] = image.as_str().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod_spec() -> Value {
        json!({
            "initContainers": [{"name": "prep", "image": "i:1"}, {"name": "proxy", "image": "p:1", "restartPolicy": "Always"}],
            "containers": [{"name": "app", "image": "a:1", "unknown": 1}, {"name": "side", "image": "s:1"}],
        })
    }

    fn set(images: &[(&str, &str)]) -> Images {
        let images: Vec<_> = images
            .iter()
            .map(|(name, image)| ((*name).to_owned(), (*image).to_owned()))
            .collect();
        set_images(&pod_spec(), &images)
    }

    #[test]
    fn the_patch_names_what_changes_and_the_order() {
        let patch = |images: &[(&str, &str)]| set(images).patch(&["spec"]);
        assert_eq!(
            patch(&[("app", "a:2"), ("proxy", "p:2")]),
            Some(json!({"spec": {
                "$setElementOrder/initContainers": [{"name": "prep"}, {"name": "proxy"}],
                "initContainers": [{"name": "proxy", "image": "p:2"}],
                "$setElementOrder/containers": [{"name": "app"}, {"name": "side"}],
                "containers": [{"name": "app", "image": "a:2"}],
            }}))
        );
        assert_eq!(patch(&[("app", "a:1")]), None);
        assert_eq!(
            patch(&[("side", "")]),
            Some(json!({"spec": {
                "$setElementOrder/containers": [{"name": "app"}, {"name": "side"}],
                "containers": [{"name": "side", "image": null}],
            }}))
        );
    }

    #[test]
    fn a_star_is_every_container_and_the_last_of_a_name_wins() {
        assert_eq!(set(&[("*", "z")]).changed.len(), 4);
        assert_eq!(
            set(&[("app", "a:2"), ("app", "a:3")]).changed,
            [("containers", 0, "a:3".to_owned())]
        );
        let missing = set(&[("nope", "x"), ("app", "a:2"), ("ap*", "y")]);
        assert_eq!(missing.missing, ["nope", "ap*"]);
        assert_eq!(missing.changed.len(), 1);
    }

    #[test]
    fn names_are_told_by_what_the_containers_are() {
        let mut pod_spec = pod_spec();
        assert_eq!(names(&pod_spec), "app, side; init: prep; sidecars: proxy");
        pod_spec["ephemeralContainers"] = json!([{"name": "debug", "image": "d:1"}]);
        assert_eq!(
            names(&pod_spec),
            "app, side; init: prep; sidecars: proxy; ephemeral, which can't be changed: debug"
        );
        assert_eq!(
            set_images(&pod_spec, &[("debug".to_owned(), "d:2".to_owned())]).missing,
            ["debug"]
        );
        assert_eq!(names(&json!({"containers": [{"name": "app"}]})), "app");
    }

    #[test]
    fn what_is_not_known_stays() {
        let mut object = json!({"spec": pod_spec()});
        set(&[("app", "a:2")]).apply(&mut object, &["spec"]);
        assert_eq!(
            object["spec"]["containers"][0],
            json!({"name": "app", "image": "a:2", "unknown": 1})
        );
    }
}
