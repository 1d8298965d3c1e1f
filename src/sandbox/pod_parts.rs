//! The pod's subresources that change a part of its spec which a pod update may not: ephemeral containers, resources.

use serde_json::Value;

use super::defaults;
use super::field_error::FieldError;

/// Leaves of `new` only what the subresource is about.
pub(crate) fn keep_rest(subresource: &str, new: &mut Value, old: &Value) {
    let spec = new["spec"].take();
    let metadata = new["metadata"].take();
    *new = old.clone();
    new["metadata"] = metadata;
    match subresource {
        "ephemeralcontainers" => {
            let containers = spec.get("ephemeralContainers").cloned();
            if let (Some(spec), Some(containers)) = (new["spec"].as_object_mut(), containers) {
                spec.insert("ephemeralContainers".to_owned(), containers);
            }
        }
        _ => {
            for list in ["containers", "initContainers"] {
                resize(&mut new["spec"][list], &spec[list]);
            }
        }
    }
}

fn resize(containers: &mut Value, wanted: &Value) {
    for container in containers.as_array_mut().into_iter().flatten() {
        let same = |one: &&Value| one["name"] == container["name"];
        if let Some(wanted) = wanted.as_array().and_then(|list| list.iter().find(same)) {
            container["resources"] = wanted["resources"].clone();
        }
    }
}

/// What is wrong with such a change.
pub(crate) fn validate(subresource: &str, new: &Value, old: &Value) -> Vec<FieldError> {
    if subresource == "ephemeralcontainers" {
        return changed_containers(new, old);
    }
    let class = defaults::qos_class(old);
    if defaults::qos_class(new) == class {
        return Vec::new();
    }
    let detail = "Pod QOS Class may not change as a result of resizing";
    vec![FieldError::invalid("spec", &class.into(), detail)]
}

/// Ephemeral containers can be added, nothing else.
fn changed_containers(new: &Value, old: &Value) -> Vec<FieldError> {
    const FIELD: &str = "spec.ephemeralContainers";
    let containers = |pod: &Value| -> Vec<Value> {
        let list = pod["spec"]["ephemeralContainers"].as_array();
        list.cloned().unwrap_or_default()
    };
    let after = containers(new);
    let mut errors = Vec::new();
    for container in containers(old) {
        let name = container["name"].as_str().unwrap_or_default();
        let verb = match after.iter().find(|one| one["name"] == container["name"]) {
            Some(same) if *same == container => continue,
            Some(_) => "changed",
            None => "removed",
        };
        let detail = format!("existing ephemeral containers {name:?} may not be {verb}");
        errors.push(FieldError::forbidden(FIELD, &detail));
    }
    errors
}
