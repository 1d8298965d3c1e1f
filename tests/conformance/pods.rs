//! Pods as the vectors of one ReplicaSet describe them.

use std::sync::Arc;

use kubectl_rs::controller::api::Pod;
use serde_json::{Value, json};

use crate::data::{list, spell_out_times, string};

/// What a pod has where its vector says nothing.
pub(crate) struct Defaults {
    /// Labels.
    pub(crate) labels: Value,
    /// UID of the controller.
    pub(crate) controller: String,
}

/// The pods of `pods` and `podBlocks`, in the order of names.
pub(crate) fn pods(case: &Value, defaults: &Defaults) -> Vec<Arc<Pod>> {
    let singles = list(&case["pods"]).iter().map(|pod| parse(pod, defaults));
    let mut pods: Vec<Pod> = singles.collect();
    for block in list(&case["podBlocks"]) {
        let pattern = parse(&block["pod"], defaults);
        for number in 0..block["count"].as_u64().unwrap_or(0) {
            let mut pod = pattern.clone();
            pod.meta.name = format!("{}{number:04}", string(&block["namePrefix"]));
            pod.meta.uid = format!("u-{}", pod.meta.name);
            pods.push(pod);
        }
    }
    pods.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    pods.into_iter().map(Arc::new).collect()
}

/// One pod, through the JSON that an API server would send.
pub(crate) fn parse(vector: &Value, defaults: &Defaults) -> Pod {
    let mut metadata = json!({
        "namespace": "default",
        "name": vector["name"],
        "uid": vector["uid"],
        "labels": vector.get("labels").unwrap_or(&defaults.labels),
        "annotations": vector["annotations"],
        "ownerReferences": owner(vector, defaults),
        "creationTimestamp": vector["creationTimestamp"],
        "deletionTimestamp": vector["deletionTimestamp"],
    });
    metadata
        .as_object_mut()
        .expect("metadata is an object")
        .retain(|_, value| !value.is_null());
    let conditions = vector.get("ready").map(|ready| {
        json!([{
            "type": "Ready",
            "status": ready["status"],
            "lastTransitionTime": ready["lastTransitionTime"],
        }])
    });
    let init = list(&vector["initContainers"]).iter().enumerate();
    let init_containers = init.clone().map(|(index, container)| {
        json!({"name": format!("init-{index}"), "restartPolicy": container["restartPolicy"]})
    });
    let init_statuses = init.map(|(index, container)| {
        json!({"name": format!("init-{index}"), "restartCount": container["restartCount"]})
    });
    let counts = list(&vector["restartCounts"]).iter().enumerate();
    let statuses = counts
        .map(|(index, count)| json!({"name": format!("main-{index}"), "restartCount": count}));
    let mut pod = json!({
        "metadata": metadata,
        "spec": {
            "nodeName": vector["nodeName"],
            "initContainers": init_containers.collect::<Vec<_>>(),
        },
        "status": {
            "phase": vector["phase"],
            "conditions": conditions,
            "containerStatuses": statuses.collect::<Vec<_>>(),
            "initContainerStatuses": init_statuses.collect::<Vec<_>>(),
        },
    });
    spell_out_times(&mut pod);
    Pod::from_json(&pod).expect("a vector holds a valid pod")
}

fn owner(vector: &Value, defaults: &Defaults) -> Value {
    let uid = match vector["controller"].as_str() {
        Some("none") => return json!([]),
        Some(uid) => uid,
        None => &defaults.controller,
    };
    json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "any", "uid": uid, "controller": true}])
}
