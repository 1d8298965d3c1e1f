//! `replicaset-step`: one whole pass over a ReplicaSet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubectl_rs::controller::action::{Action, EventType, Outcome};
use kubectl_rs::controller::api::{ObjectKey, ReplicaSet, ReplicaSetStatus};
use kubectl_rs::controller::expectations::Expectations;
use kubectl_rs::controller::invariants::check_replica_set;
use kubectl_rs::controller::plan::{End, Plan};
use kubectl_rs::controller::replica_set::{Limits, Snapshot, reconcile};
use serde_json::{Value, json};

use crate::data::{self, Case, list, string};
use crate::delete_rank::follows;
use crate::pods::{self, Defaults};
use crate::server::{self, Pass, Server};

#[test]
fn replicaset_step() {
    data::check_all("replicaset-step", check);
}

fn check(case: &Case) -> Result<(), String> {
    let json = &case.json;
    let key = ObjectKey::new("default", string(&json["replicaSet"]["metadata"]["name"]));
    let mut expectations = pending_before(&json["pendingBefore"], &key);
    let mut snapshot = snapshot(json);
    snapshot.expectations_met = expectations.are_met(&key, snapshot.now);

    let pass = Pass::run(
        Server {
            faults: &json["faults"],
            replica_sets: BTreeSet::new(),
        },
        |answers| reconcile(&snapshot, answers),
        |plan, sent| expectations.expect(&key, plan, sent, snapshot.now),
    );
    expectations.settle(&key, &pass.plan, &pass.answers);
    check_replica_set(&snapshot, &pass.plan, &pass.answers).map_err(|broken| broken.to_string())?;

    let mut expected = json["expect"].clone();
    let deletes = expected["deletes"].take();
    let rank = expected["rank"].take();
    if let Some(error) = expected.get_mut("error") {
        *error = error["message"].take();
    }
    let actual = json!({
        "creates": creates(&pass),
        "patches": patches(&pass),
        "status": status(&pass),
        "statusAttempts": status_attempts(&pass),
        "requeue": server::requeue(&pass.plan),
        "events": events(&pass.plan),
        "pendingAfter": pending_after(&expectations, &key),
        "error": error(&pass.plan),
    });
    data::same(&without_nulls(expected), &without_nulls(actual))?;
    check_batches(&pass.plan)?;
    check_deletes(&pass, &deletes)?;
    if !rank.is_null() {
        check_rank(snapshot, &rank)?;
    }
    Ok(())
}

fn snapshot(case: &Value) -> Snapshot {
    let vector = &case["replicaSet"];
    let defaults = Defaults {
        labels: vector["spec"]["templateLabels"].clone(),
        controller: string(&vector["metadata"]["uid"]),
    };
    Snapshot {
        now: data::now(),
        replica_set: Arc::new(replica_set(vector)),
        siblings: list(&case["siblings"])
            .iter()
            .map(|sibling| {
                Arc::new(replica_set(&json!({
                    "metadata": sibling,
                    "spec": {"selector": sibling["selector"]},
                })))
            })
            .collect(),
        pods: pods::pods(case, &defaults),
        expectations_met: true,
        limits: Limits::default(),
        omits_terminating_replicas: false,
        live_owner: server::live_owner(
            &string(&case["liveReplicaSet"]),
            "uid-else",
            r#"replicasets.apps "web-ra" not found"#,
        ),
    }
}

fn replica_set(vector: &Value) -> ReplicaSet {
    let metadata = &vector["metadata"];
    let owners = metadata.get("controllerUID").map(|uid| {
        json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": uid, "controller": true}])
    });
    let mut json = without_nulls(json!({
        "metadata": {
            "namespace": "default",
            "name": metadata["name"],
            "uid": metadata["uid"],
            "generation": metadata["generation"],
            "deletionTimestamp": metadata["deletionTimestamp"],
            "ownerReferences": owners,
        },
        "spec": {
            "replicas": vector["spec"]["replicas"],
            "minReadySeconds": vector["spec"]["minReadySeconds"],
            "selector": vector["spec"]["selector"],
            "template": {
                "metadata": {"labels": vector["spec"]["templateLabels"]},
                "spec": {"containers": []},
            },
        },
        "status": vector["status"],
    }));
    data::spell_out_times(&mut json);
    ReplicaSet::from_json(&json).expect("a vector holds a valid ReplicaSet")
}

fn pending_before(pending: &Value, key: &ObjectKey) -> Expectations {
    let mut expectations = Expectations::default();
    if let Some(creations) = pending["creations"].as_i64() {
        expectations.expect_creations(key, creations, data::now());
    }
    if let Some(deletions) = pending["deletions"].as_array() {
        let names = deletions.iter().map(string).collect();
        expectations.expect_deletions(key, names, data::now());
    }
    expectations
}

fn pending_after(expectations: &Expectations, key: &ObjectKey) -> Value {
    match expectations.pending(key) {
        (0, 0) => Value::Null,
        (creations, deletions) => json!({"creations": creations, "deletions": deletions}),
    }
}

fn creates(pass: &Pass) -> Value {
    let creates = pass
        .writes()
        .filter(|(action, _)| matches!(action, Action::CreatePod { .. }));
    let applied: Vec<bool> = creates.map(|(_, answer)| is_applied(answer)).collect();
    match applied.len() {
        0 => Value::Null,
        attempted => json!({
            "attempted": attempted,
            "succeeded": applied.iter().filter(|applied| **applied).count(),
        }),
    }
}

fn patches(pass: &Pass) -> Value {
    let patches = pass.writes().filter_map(|(action, answer)| {
        let (kind, target) = match action {
            Action::AdoptPod { target, .. } => ("adopt", target),
            Action::ReleasePod { target, .. } => ("release", target),
            _ => return None,
        };
        let refused = match answer {
            Outcome::Applied(_) => Value::Null,
            Outcome::Refused(refusal) => json!(server::word(refusal.reason)),
        };
        Some(json!({"name": target.key.name, "kind": kind, "refused": refused}))
    });
    some(patches.collect())
}

fn status_writes(pass: &Pass) -> Vec<(&ReplicaSetStatus, bool, &Outcome)> {
    let writes = pass.writes().filter_map(|(action, answer)| match action {
        Action::UpdateReplicaSetStatus { status, reread, .. } => {
            Some((status.as_ref(), *reread, answer))
        }
        _ => None,
    });
    writes.collect()
}

/// The status that was sent. A second attempt sends the same, over a fresh read.
fn status(pass: &Pass) -> Value {
    let writes = status_writes(pass);
    for (index, (status, reread, _)) in writes.iter().enumerate() {
        assert_eq!(*reread, index > 0);
        assert_eq!(*status, writes[0].0);
    }
    let Some((status, ..)) = writes.first() else {
        return Value::Null;
    };
    let mut json = serde_json::to_value(status).expect("a status can be written");
    let fields = json.as_object_mut().expect("a status is an object");
    let always = ["replicas", "terminatingReplicas"];
    fields.retain(|key, value| *value != json!(0) || always.contains(&key.as_str()));
    fields.retain(|_, value| *value != json!([]));
    for condition in json["conditions"].as_array_mut().into_iter().flatten() {
        let since = string(&condition["lastTransitionTime"]);
        let since: k8s_openapi::jiff::Timestamp = since.parse().expect("a valid instant");
        condition["lastTransitionTime"] = json!(since.duration_since(data::now()).as_secs());
    }
    json
}

fn status_attempts(pass: &Pass) -> Value {
    let writes = status_writes(pass);
    match writes.as_slice() {
        [] | [(_, _, Outcome::Applied(_))] => Value::Null,
        writes => json!(writes.len()),
    }
}

fn error(plan: &Plan) -> Value {
    match &plan.end {
        End::Done(_) => Value::Null,
        End::Failed(error) => json!(error.to_string()),
    }
}

/// Events with their counts; the names of pods are left out.
fn events(plan: &Plan) -> Value {
    let mut counts: BTreeMap<(String, String, String), u32> = BTreeMap::new();
    for step in &plan.steps {
        if let Action::RecordEvent {
            type_,
            reason,
            message,
            ..
        } = &step.action
        {
            let type_ = match type_ {
                EventType::Normal => "Normal",
                EventType::Warning => "Warning",
            };
            let message = match message.split_once(" pod: ") {
                Some((verb, _)) => format!("{verb} pod: <pod>"),
                None => message.clone(),
            };
            let event = (type_.to_owned(), (*reason).to_owned(), message);
            *counts.entry(event).or_default() += 1;
        }
    }
    let events = counts.into_iter().map(|((type_, reason, message), count)| {
        json!({"type": type_, "reason": reason, "message": message, "count": count})
    });
    some(events.collect())
}

/// Creates go out in batches of 1, 2, 4 and so on, all deletes at once.
fn check_batches(plan: &Plan) -> Result<(), String> {
    let mut creates: BTreeMap<u32, usize> = BTreeMap::new();
    let mut deletes = BTreeSet::new();
    for step in &plan.steps {
        match step.action {
            Action::CreatePod { .. } => *creates.entry(step.batch).or_default() += 1,
            Action::DeletePod { .. } => {
                deletes.insert(step.batch);
            }
            _ => {}
        }
    }
    let sizes: Vec<usize> = creates.into_values().collect();
    let (last, full) = sizes.split_last().unwrap_or((&0, &[]));
    let doubling = full
        .iter()
        .enumerate()
        .all(|(index, size)| *size == 1 << index);
    if doubling && *last <= 1 << full.len() && deletes.len() <= 1 {
        Ok(())
    } else {
        Err(format!(
            "creates in batches of {sizes:?}, deletes in batches {deletes:?}"
        ))
    }
}

fn check_deletes(pass: &Pass, expected: &Value) -> Result<(), String> {
    let deleted = deleted(&pass.plan);
    let deleted: BTreeSet<&str> = deleted.iter().copied().collect();
    let names = |key: &str| -> BTreeSet<&str> {
        list(&expected[key])
            .iter()
            .filter_map(Value::as_str)
            .collect()
    };
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap();
    let certain = names("names");
    let any_of = names("anyOf");
    let from_blocks = |name: &&&str| {
        let prefixes = expected["perPrefix"].as_object();
        prefixes.is_some_and(|prefixes| prefixes.keys().any(|prefix| name.starts_with(prefix)))
    };
    let every = expected["everyClaimedPod"] == json!(true);
    let complaint = || format!("deleted {deleted:?}, expected {expected}");
    let right = deleted.len() == number(&expected["count"])
        && deleted.is_superset(&certain)
        && deleted.intersection(&any_of).count() == number(&expected["anyOfCount"])
        && expected["perPrefix"]
            .as_object()
            .into_iter()
            .flatten()
            .all(|(prefix, count)| {
                deleted
                    .iter()
                    .filter(|name| name.starts_with(prefix))
                    .count()
                    == number(count)
            })
        && deleted.iter().all(|name| {
            every || certain.contains(name) || any_of.contains(name) || from_blocks(&name)
        });
    if right { Ok(()) } else { Err(complaint()) }
}

/// Asks for all but one of the claimed pods, to see the whole order.
fn check_rank(mut snapshot: Snapshot, rank: &Value) -> Result<(), String> {
    let claimed: usize = list(rank).iter().map(|group| list(group).len()).sum();
    for keep in 1..claimed {
        Arc::make_mut(&mut snapshot.replica_set).spec.replicas = i32::try_from(keep).unwrap();
        let plan = reconcile(&snapshot, &[]);
        let deleted = deleted(&plan);
        if deleted.len() != claimed - keep {
            return Err(format!("{deleted:?} deleted to keep {keep} of {claimed}"));
        }
        follows(&deleted, rank)?;
    }
    Ok(())
}

fn deleted(plan: &Plan) -> Vec<&str> {
    let deletes = plan.steps.iter().filter_map(|step| match &step.action {
        Action::DeletePod { target } => Some(target.key.name.as_str()),
        _ => None,
    });
    deletes.collect()
}

fn is_applied(answer: &Outcome) -> bool {
    matches!(answer, Outcome::Applied(_))
}

/// A list, or nothing where it is empty.
fn some(items: Vec<Value>) -> Value {
    if items.is_empty() {
        Value::Null
    } else {
        Value::Array(items)
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
