//! One whole pass over a Deployment, against a store that answers step by step.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::jiff::SignedDuration;
use kubectl_rs::controller::action::{
    Action, AnnotationChanges, Applied, NewReplicaSet, Outcome, Refusal, RefusalReason,
};
use kubectl_rs::controller::api::{Deployment, DeploymentStatus, OwnerReference, Pod, ReplicaSet};
use kubectl_rs::controller::deployment::{Snapshot, reconcile};
use kubectl_rs::controller::keys;
use kubectl_rs::controller::plan::{End, LiveOwner, Plan, Requeue, SyncError};
use kubectl_rs::controller::template::Template;
use serde_json::{Value, from_value, json};

use crate::data::{self, Case, check_all, list, now, same, spell_out_times, string, template};

#[test]
fn rolling_step() {
    check_all("rolling-step", check);
}

fn check(case: &Case) -> Result<(), String> {
    let case = &fill_in_hash(case);
    let snapshot = snapshot(&case.json);
    let mut store = Store::new(&case.json, &snapshot.deployment);
    let plan = play(&snapshot, &mut store)?;
    let mut expected = json!({
        "writes": expected_writes(&case.json),
        "events": list(&case.json["expect"]["events"]),
        "requeue": case.json["expect"]["requeue"],
        "error": case.json["expect"]["error"],
    });
    let mut actual = json!({
        "writes": store.writes,
        "events": store.events,
        "requeue": requeue(&plan),
        "error": store.error(&plan),
    });
    if case.has_tag("revisionNotANumber") {
        // Upstream compares a revision that is no number by age, others by number. That is no consistent order, so
        // which of two deletes comes first hangs on its sorting algorithm.
        sort_deletes(&mut expected);
        sort_deletes(&mut actual);
    }
    same(&expected, &actual)
}

/// Plans, answers the first step without an answer, and plans again with it, until all steps are answered. What was
/// already sent must come out the same each time.
fn play(snapshot: &Snapshot, store: &mut Store<'_>) -> Result<Plan, String> {
    let mut sent = Vec::new();
    let mut answers = Vec::new();
    loop {
        let plan = reconcile(snapshot, &answers);
        if plan.steps.get(..sent.len()) != Some(&sent[..]) {
            return Err(format!(
                "with more answers the steps before them changed from {sent:#?} to {:#?}",
                plan.steps
            ));
        }
        let Some(step) = plan.steps.get(sent.len()) else {
            return Ok(plan);
        };
        answers.push(store.answer(&step.action));
        sent.push(step.clone());
    }
}

/// Puts our hash where the recording has a placeholder.
fn fill_in_hash(case: &Case) -> Case {
    let deployment = &case.json["deployment"];
    let collisions = from_value(deployment["status"]["collisionCount"].clone()).unwrap();
    let letter = string(&deployment["spec"]["template"]);
    let hash = Template::new(template(&letter)).hash(collisions);
    Case {
        id: case.id.clone(),
        note: case.note.clone(),
        tags: case.tags.clone(),
        json: case
            .json
            .to_string()
            .replace("<hash>", &hash)
            .parse()
            .unwrap(),
    }
}

fn snapshot(case: &Value) -> Snapshot {
    let mut replica_sets: Vec<_> = list(&case["replicaSets"])
        .iter()
        .filter(|set| set["notInCache"] != true)
        .map(|set| Arc::new(replica_set(set)))
        .collect();
    replica_sets.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    Snapshot {
        now: now(),
        deployment: Arc::new(deployment(&case["deployment"])),
        replica_sets,
        pods: list(&case["pods"])
            .iter()
            .map(|pod| Arc::new(controlled_pod(pod)))
            .collect(),
        live_owner: live_owner(&case["liveDeployment"]),
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

fn replica_set(input: &Value) -> ReplicaSet {
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

fn live_owner(input: &Value) -> LiveOwner {
    match input.as_str() {
        None => LiveOwner::Unchanged,
        Some("deleting") => LiveOwner::Deleting {
            since: now() - SignedDuration::from_secs(1),
        },
        Some("otherUID") => LiveOwner::Recreated {
            uid: "d-other".to_owned(),
        },
        Some(_) => LiveOwner::Unreadable(Refusal {
            reason: RefusalReason::NotFound,
            message: "deployments.apps \"web\" not found".to_owned(),
        }),
    }
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

/// The API: its objects, the calls it refuses, and what it was sent.
struct Store<'a> {
    deployment: &'a Deployment,
    before: Objects,
    objects: Objects,
    faults: Vec<Fault>,
    writes: Vec<Value>,
    events: Vec<Value>,
    /// Reasons of refusals as the API words them, by message.
    refusals: BTreeMap<String, String>,
}

/// Calls that are refused.
struct Fault {
    rule: Value,
    /// How many calls it applied to so far.
    matched: u64,
}

impl Fault {
    /// Refuses the call when it is its turn: the reason in the API's words, and the refusal.
    fn refuse(&mut self, write: &Value) -> Option<(String, Refusal)> {
        let rule = &self.rule;
        let applies = rule["verb"] == write["verb"]
            && rule["resource"] == write["resource"]
            && rule["subresource"] == write["subresource"]
            && (rule["name"].is_null() || rule["name"] == write["name"]);
        if !applies {
            return None;
        }
        let nth = self.matched;
        self.matched += 1;
        let first = rule["after"].as_u64().unwrap_or(0);
        let times = rule["times"].as_u64();
        if nth < first || times.is_some_and(|times| nth >= first + times) {
            return None;
        }
        let reason = string(&rule["reason"]);
        let refusal = Refusal {
            reason: match rule["kind"].as_str() {
                Some("namespaceTerminating") => RefusalReason::NamespaceTerminating,
                _ => refusal_reason(&reason),
            },
            message: string(&rule["message"]),
        };
        Some((reason, refusal))
    }
}

fn refusal_reason(reason: &str) -> RefusalReason {
    match reason {
        "NotFound" => RefusalReason::NotFound,
        "Conflict" => RefusalReason::Conflict,
        "Invalid" => RefusalReason::Invalid,
        "Forbidden" => RefusalReason::Forbidden,
        "Timeout" => RefusalReason::Timeout,
        "InternalError" => RefusalReason::Other,
        other => panic!("no case had the reason {other} so far"),
    }
}

impl<'a> Store<'a> {
    fn new(case: &Value, deployment: &'a Deployment) -> Self {
        let sets = list(&case["replicaSets"]).iter().map(|input| {
            let set = replica_set(input);
            let stored = StoredSet {
                replicas: set.spec.replicas,
                min_ready_seconds: set.spec.min_ready_seconds,
                annotations: set.meta.annotations,
            };
            (set.meta.name, stored)
        });
        let objects = Objects {
            sets: sets.collect(),
            deployment_annotations: deployment.meta.annotations.clone(),
        };
        let faults = list(&case["faults"]).iter().map(|rule| Fault {
            rule: rule.clone(),
            matched: 0,
        });
        Self {
            deployment,
            before: objects.clone(),
            objects,
            faults: faults.collect(),
            writes: Vec::new(),
            events: Vec::new(),
            refusals: BTreeMap::new(),
        }
    }

    fn answer(&mut self, action: &Action) -> Outcome {
        if let Action::RecordEvent {
            type_,
            reason,
            message,
            ..
        } = action
        {
            self.events.push(json!({
                "type": type_,
                "reason": reason,
                "message": message,
                "afterWrites": self.writes.len(),
            }));
            return Outcome::Applied(Applied::default());
        }
        let mut after = self.objects.clone();
        let mut write = self.write(action, &mut after);
        let name = string(&write["name"]);
        let refused = self
            .faults
            .iter_mut()
            .find_map(|fault| fault.refuse(&write))
            .or_else(|| self.name_taken(action));
        let outcome = if let Some((reason, refusal)) = refused {
            write["refused"] = json!(reason);
            self.refusals.insert(refusal.message.clone(), reason);
            Outcome::Refused(refusal)
        } else {
            self.objects = after;
            Outcome::Applied(Applied {
                uid: uid_of(&name),
                name,
                ..Applied::default()
            })
        };
        self.writes.push(write);
        outcome
    }

    fn name_taken(&self, action: &Action) -> Option<(String, Refusal)> {
        let Action::CreateReplicaSet(new) = action else {
            return None;
        };
        self.objects.sets.get(&new.key.name)?;
        let refusal = Refusal {
            reason: RefusalReason::AlreadyExists,
            message: format!("replicasets.apps \"{}\" already exists", new.key.name),
        };
        Some(("AlreadyExists".to_owned(), refusal))
    }

    /// Applies an action to the objects, and shows it as the recording does.
    fn write(&self, action: &Action, after: &mut Objects) -> Value {
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
                self.updated(&target.key.name, set, annotations)
            }
            Action::UpdateReplicaSet {
                target,
                min_ready_seconds,
                annotations,
            } => {
                let set = after.sets.get_mut(&target.key.name).unwrap();
                set.min_ready_seconds = min_ready_seconds.unwrap_or(set.min_ready_seconds);
                self.updated(&target.key.name, set, annotations)
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
                let spec = &self.deployment.spec;
                let template = template.as_ref().unwrap_or(&spec.template);
                let mut write = self.deployment_updated(annotations, after);
                write["spec"] = json!({
                    "replicas": spec.replicas,
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
                let mut write = self.deployment_updated(annotations, after);
                write["subresource"] = json!("status");
                write["status"] = shown_status(status);
                write
            }
            other => panic!("a Deployment's pass never does this: {other:?}"),
        }
    }

    fn updated(&self, name: &str, set: &mut StoredSet, changes: &AnnotationChanges) -> Value {
        change(&mut set.annotations, changes);
        let mut write = replica_set_call("update", name);
        write["spec"] = sizes(set.replicas, set.min_ready_seconds);
        if set.annotations != self.before.sets[name].annotations {
            write["annotations"] = json!(set.annotations);
        }
        write
    }

    fn deployment_updated(&self, changes: &AnnotationChanges, after: &mut Objects) -> Value {
        let annotations = &mut after.deployment_annotations;
        change(annotations, changes);
        let mut write = json!({"verb": "update", "resource": "deployments", "name": "web"});
        if *annotations != self.before.deployment_annotations {
            write["annotations"] = json!(annotations);
        }
        write
    }

    fn error(&self, plan: &Plan) -> Value {
        let End::Failed(error) = &plan.end else {
            return Value::Null;
        };
        let reason = match error {
            SyncError::Refused(refusal) => self.refusals[&refusal.message].as_str(),
            SyncError::NotInSnapshot { .. } => "NotFound",
            _ => "Other",
        };
        json!({"reason": reason, "message": error.to_string()})
    }
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

/// The recorded writes, abbreviations spelt out.
fn expected_writes(case: &Value) -> Vec<Value> {
    let before = list(&case["deployment"]["status"]["conditions"]);
    let mut writes = list(&case["expect"]["writes"]).to_vec();
    for write in &mut writes {
        // What only a controller that sends outdated objects runs into.
        write.as_object_mut().unwrap().remove("stale");
        let conditions = write.pointer_mut("/status/conditions");
        for condition in conditions
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if condition.is_string() {
                let same_type = |stored: &&Value| stored["type"] == *condition;
                *condition = before.iter().find(same_type).unwrap().clone();
            }
        }
        spell_out_times(write);
    }
    writes
}

fn requeue(plan: &Plan) -> Value {
    match &plan.end {
        End::Done(Requeue::After(delay)) => json!({"afterSeconds": delay.as_secs()}),
        End::Done(Requeue::RateLimited) => json!({"rateLimited": true}),
        End::Done(Requeue::No) | End::Failed(_) => Value::Null,
    }
}

fn sort_deletes(outcome: &mut Value) {
    let writes = outcome["writes"].as_array_mut().unwrap();
    for deletes in writes.chunk_by_mut(|a, b| a["verb"] == "delete" && b["verb"] == "delete") {
        deletes.sort_by_key(|write| string(&write["name"]));
    }
}
