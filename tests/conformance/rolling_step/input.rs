//! The snapshot that a case describes.

use std::sync::Arc;

use kubectl_rs::controller::api::{Deployment, Pod, ReplicaSet};
use kubectl_rs::controller::deployment::Snapshot;
use kubectl_rs::controller::keys;
use kubectl_rs::controller::template::Template;
use serde_json::{Value, from_value, json};

use crate::data::{Case, list, now, spell_out_times, string, template};
use crate::server::live_owner;

/// The case with our hash where the recording has a placeholder.
pub(super) fn fill_in_hash(case: &Case) -> Value {
    let deployment = &case.json["deployment"];
    let collisions = from_value(deployment["status"]["collisionCount"].clone()).unwrap();
    let letter = string(&deployment["spec"]["template"]);
    let hash = Template::new(template(&letter)).hash(collisions);
    let text = case.json.to_string().replace("<hash>", &hash);
    text.parse().unwrap()
}

pub(super) fn snapshot(case: &Value) -> Snapshot {
    let cached = list(&case["replicaSets"])
        .iter()
        .filter(|set| set["notInCache"] != true);
    let mut replica_sets: Vec<_> = cached.map(|set| Arc::new(replica_set(set))).collect();
    replica_sets.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    let pods = list(&case["pods"]).iter();
    Snapshot {
        now: now(),
        deployment: Arc::new(deployment(&case["deployment"])),
        replica_sets,
        pods: pods.map(|pod| Arc::new(controlled_pod(pod))).collect(),
        omits_terminating_replicas: false,
        live_owner: live_owner(
            &string(&case["liveDeployment"]),
            "d-other",
            r#"deployments.apps "web" not found"#,
        ),
    }
}

fn deployment(input: &Value) -> Deployment {
    let mut object = input.clone();
    spell_out_times(&mut object);
    object["metadata"]["namespace"] = json!("default");
    object["metadata"]["uid"] = json!("d-uid");
    object["spec"]["template"] = template(&string(&input["spec"]["template"]));
    if object["spec"]["selector"].is_null() {
        object["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
    }
    Deployment::from_json(&object).unwrap()
}

pub(super) fn replica_set(input: &Value) -> ReplicaSet {
    let mut object = input.clone();
    spell_out_times(&mut object);
    let name = string(&input["metadata"]["name"]);
    let metadata = &mut object["metadata"];
    metadata["namespace"] = json!("default");
    metadata["uid"] = json!(uid_of(&name));
    metadata["ownerReferences"] = match input["metadata"]["controller"].as_str() {
        None => owner("Deployment", "web", "d-uid"),
        Some("none") => json!([]),
        Some(_) => owner("Deployment", "other", "other-uid"),
    };
    if metadata["labels"].is_null() {
        metadata["labels"] = json!({"app": "web"});
        if let Some(hash) = name.strip_prefix("web-") {
            metadata["labels"][keys::POD_TEMPLATE_HASH] = json!(hash);
        }
    }
    let hash = metadata["labels"][keys::POD_TEMPLATE_HASH].clone();
    let mut template = template(&string(&input["spec"]["template"]));
    if !hash.is_null() {
        template["metadata"]["labels"][keys::POD_TEMPLATE_HASH] = hash;
    }
    object["spec"]["template"] = template;
    ReplicaSet::from_json(&object).unwrap()
}

fn controlled_pod(input: &Value) -> Pod {
    let mut metadata = json!({
        "namespace": "default",
        "name": input["name"],
        "uid": input["name"],
        "deletionTimestamp": input["deletionTimestamp"],
    });
    spell_out_times(&mut metadata);
    if let Some(set) = input["replicaSet"].as_str() {
        metadata["ownerReferences"] = owner("ReplicaSet", set, &uid_of(set));
    }
    Pod::from_json(&json!({"metadata": metadata, "status": {"phase": input["phase"]}})).unwrap()
}

fn uid_of(set: &str) -> String {
    format!("uid-{}", set.trim_start_matches("web-"))
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": true}])
}
