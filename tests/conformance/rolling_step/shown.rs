//! A pass in the recording's words: every write with the object that it leaves behind.

use std::collections::BTreeMap;

use kubectl_rs::controller::action::{Action, AnnotationChanges, NewReplicaSet, Outcome};
use kubectl_rs::controller::api::{Deployment, DeploymentStatus, OwnerReference};
use kubectl_rs::controller::deployment::Snapshot;
use kubectl_rs::controller::template::Template;
use serde_json::{Value, json};

use super::input::replica_set;
use crate::data::{self, list};
use crate::server::{self, Pass};

/// What was written and told.
pub(super) struct Shown {
    /// `expect.writes` without abbreviations.
    pub(super) writes: Vec<Value>,
    /// `expect.events`.
    pub(super) events: Vec<Value>,
}

impl Shown {
    pub(super) fn of(snapshot: &Snapshot, case: &Value, pass: &Pass) -> Self {
        let deployment = &snapshot.deployment;
        let before = Objects::before(deployment, case);
        let mut objects = before.clone();
        let mut shown = Self {
            writes: Vec::new(),
            events: Vec::new(),
        };
        for (step, answer) in pass.plan.steps.iter().zip(&pass.answers) {
            if let Some(event) = event(&step.action, shown.writes.len()) {
                shown.events.push(event);
                continue;
            }
            let mut after = objects.clone();
            let mut write = write(&step.action, deployment, &before, &mut after);
            match answer {
                Outcome::Applied(_) => objects = after,
                Outcome::Refused(refusal) => {
                    write["refused"] = json!(server::word(refusal.reason));
                }
            }
            shown.writes.push(write);
        }
        shown
    }
}

fn event(action: &Action, writes: usize) -> Option<Value> {
    let Action::RecordEvent {
        type_,
        reason,
        message,
        ..
    } = action
    else {
        return None;
    };
    Some(json!({"type": type_, "reason": reason, "message": message, "afterWrites": writes}))
}

/// What an update of a ReplicaSet can change.
#[derive(Clone)]
struct StoredSet {
    replicas: i32,
    min_ready_seconds: i32,
    annotations: BTreeMap<String, String>,
}

/// The objects that the API has.
#[derive(Clone)]
struct Objects {
    sets: BTreeMap<String, StoredSet>,
    deployment_annotations: BTreeMap<String, String>,
}

impl Objects {
    fn before(deployment: &Deployment, case: &Value) -> Self {
        let sets = list(&case["replicaSets"]).iter().map(|input| {
            let set = replica_set(input);
            let stored = StoredSet {
                replicas: set.spec.replicas,
                min_ready_seconds: set.spec.min_ready_seconds,
                annotations: BTreeMap::clone(&set.meta.annotations),
            };
            (set.meta.name, stored)
        });
        Self {
            sets: sets.collect(),
            deployment_annotations: BTreeMap::clone(&deployment.meta.annotations),
        }
    }
}

/// Applies an action to the objects, and shows it.
fn write(action: &Action, deployment: &Deployment, before: &Objects, after: &mut Objects) -> Value {
    match action {
        Action::CreateReplicaSet(new) => created(new),
        Action::ScaleReplicaSet {
            target,
            from,
            to,
            annotations,
        } => {
            let set = after.sets.get_mut(&target.key.name).unwrap();
            assert_eq!(set.replicas, *from, "the size before");
            set.replicas = *to;
            updated(&target.key.name, before, after, annotations)
        }
        Action::UpdateReplicaSet {
            target,
            min_ready_seconds,
            annotations,
        } => {
            let set = after.sets.get_mut(&target.key.name).unwrap();
            set.min_ready_seconds = min_ready_seconds.unwrap_or(set.min_ready_seconds);
            updated(&target.key.name, before, after, annotations)
        }
        Action::DeleteReplicaSet { target } => replica_set_call("delete", &target.key.name),
        Action::AdoptReplicaSet { target, owner } => {
            assert_eq!(owner, &expected_owner());
            patched("adopt", &target.key.name)
        }
        Action::ReleaseReplicaSet { target, owner_uid } => {
            assert_eq!(owner_uid, "d-uid");
            patched("release", &target.key.name)
        }
        Action::UpdateDeployment {
            template,
            annotations,
            ..
        } => {
            let template = template.as_ref().unwrap_or(&deployment.spec.template);
            let mut write = deployment_updated(before, after, annotations);
            write["spec"] = json!({
                "replicas": deployment.spec.replicas,
                "template": letter(template),
                "templateLabels": template.labels(),
            });
            write
        }
        Action::UpdateDeploymentStatus {
            status,
            annotations,
            ..
        } => {
            let mut write = deployment_updated(before, after, annotations);
            write["subresource"] = json!("status");
            write["status"] = shown_status(status);
            write
        }
        other => panic!("a Deployment's pass never does this: {other:?}"),
    }
}

fn updated(
    name: &str,
    before: &Objects,
    after: &mut Objects,
    changes: &AnnotationChanges,
) -> Value {
    let set = after.sets.get_mut(name).unwrap();
    change(&mut set.annotations, changes);
    let mut write = replica_set_call("update", name);
    write["spec"] = sizes(set.replicas, set.min_ready_seconds);
    if set.annotations != before.sets[name].annotations {
        write["annotations"] = json!(set.annotations);
    }
    write
}

fn deployment_updated(before: &Objects, after: &mut Objects, changes: &AnnotationChanges) -> Value {
    let annotations = &mut after.deployment_annotations;
    change(annotations, changes);
    let mut write = json!({"verb": "update", "resource": "deployments", "name": "web"});
    if *annotations != before.deployment_annotations {
        write["annotations"] = json!(annotations);
    }
    write
}

fn change(annotations: &mut BTreeMap<String, String>, changes: &AnnotationChanges) {
    for (key, value) in changes {
        match value {
            Some(value) => annotations.insert(key.clone(), value.clone()),
            None => annotations.remove(key),
        };
    }
}

fn replica_set_call(verb: &str, name: &str) -> Value {
    json!({"verb": verb, "resource": "replicasets", "name": name})
}

fn patched(kind: &str, name: &str) -> Value {
    let mut write = replica_set_call("patch", name);
    write["kind"] = json!(kind);
    write
}

fn created(new: &NewReplicaSet) -> Value {
    assert_eq!(new.owner, expected_owner());
    let mut write = replica_set_call("create", &new.key.name);
    write["controller"] = json!("self");
    write["labels"] = json!(new.labels);
    write["annotations"] = json!(new.annotations);
    write["spec"] = sizes(new.replicas, new.min_ready_seconds);
    write["spec"]["selector"] = json!(new.selector);
    write["spec"]["template"] = letter(&new.template);
    write["spec"]["templateLabels"] = json!(new.template.labels());
    write
}

fn expected_owner() -> OwnerReference {
    OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
        name: "web".to_owned(),
        uid: "d-uid".to_owned(),
        controller: true,
        block_owner_deletion: true,
    }
}

fn sizes(replicas: i32, min_ready_seconds: i32) -> Value {
    let mut spec = json!({"replicas": replicas});
    if min_ready_seconds != 0 {
        spec["minReadySeconds"] = json!(min_ready_seconds);
    }
    spec
}

/// The letter of a template, which must be that template but for the hash label.
fn letter(template: &Template) -> Value {
    let letter = template.images().next().unwrap();
    let expected = Template::new(data::template(letter));
    assert_eq!(template.without_hash_label(), expected);
    json!(letter)
}

/// A status as the API has it: without counters that are zero.
fn shown_status(status: &DeploymentStatus) -> Value {
    let Value::Object(fields) = json!(status) else {
        panic!("a status is an object");
    };
    let counts_even_zero = |key: &str| ["terminatingReplicas", "collisionCount"].contains(&key);
    fields
        .into_iter()
        .filter(|(key, value)| {
            !value.is_null() && *value != json!([]) && (*value != json!(0) || counts_even_zero(key))
        })
        .collect()
}
