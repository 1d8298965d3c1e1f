//! `history-text`: the table that `kubectl rollout history` prints.

use kubectl_rs::controller::api::{Deployment, ReplicaSet};
use kubectl_rs::controller::deployment::history;
use kubectl_rs::ui;
use serde_json::{Value, json};

use crate::data::{self, Case, list, string, template};

#[test]
fn history_text() {
    data::check_all("history-text", check);
}

fn check(case: &Case) -> Result<(), String> {
    let deployment = deployment(&case.json["deployment"]);
    let sets: Vec<ReplicaSet> = list(&case.json["replicaSets"])
        .iter()
        .map(replica_set)
        .collect();
    let history = history(&deployment, &sets);
    let actual = ui::history::table(&history);
    data::same(&case.json["expect"]["text"], &json!(actual))
}

fn deployment(vector: &Value) -> Deployment {
    let json = json!({
        "metadata": {"namespace": "default", "name": vector["name"], "uid": "d-uid"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(&string(&vector["template"])),
        },
    });
    Deployment::from_json(&json).expect("a vector holds a valid Deployment")
}

fn replica_set(vector: &Value) -> ReplicaSet {
    let is_ours = vector["controller"] == json!("self");
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d-uid", "controller": true});
    let mut json = json!({
        "metadata": {
            "namespace": "default",
            "name": vector["name"],
            "labels": {"app": "web"},
            "annotations": vector["annotations"],
            "creationTimestamp": vector["creationTimestamp"],
            "ownerReferences": if is_ours { json!([owner]) } else { json!([]) },
        },
        "spec": {"template": template(&string(&vector["template"]))},
    });
    data::spell_out_times(&mut json);
    ReplicaSet::from_json(&json).expect("a vector holds a valid ReplicaSet")
}
