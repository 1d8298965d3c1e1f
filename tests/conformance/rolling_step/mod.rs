//! `rolling-step`: one whole pass over a Deployment.

mod input;
mod shown;

use kubectl_rs::controller::action::{Outcome, Refusal, RefusalReason};
use kubectl_rs::controller::deployment::reconcile;
use kubectl_rs::controller::invariants::check_deployment;
use kubectl_rs::controller::plan::{End, Plan, SyncError};
use serde_json::{Value, json};

use self::shown::Shown;
use crate::data::{Case, check_all, list, same, spell_out_times, string};
use crate::server::{self, Pass, Server};

#[test]
fn rolling_step() {
    check_all("rolling-step", check);
}

/// A pass that is planned again after a refusal must come out the same up to there, wherever that is and whatever it
/// says: what was sent can't be taken back.
#[test]
fn a_refusal_changes_no_earlier_step() {
    check_all("rolling-step", |case| {
        let snapshot = input::snapshot(&input::fill_in_hash(case));
        let steps = reconcile(&snapshot, &[]).steps;
        for refused in 0..steps.len() {
            for reason in [
                RefusalReason::NotFound,
                RefusalReason::AlreadyExists,
                RefusalReason::Conflict,
                RefusalReason::NamespaceTerminating,
                RefusalReason::Timeout,
            ] {
                let mut answers = vec![Outcome::Applied(server::applied("any")); refused];
                answers.push(Outcome::Refused(Refusal {
                    reason,
                    message: "no".to_owned(),
                }));
                let again = reconcile(&snapshot, &answers).steps;
                if again.get(..=refused) != steps.get(..=refused) {
                    return Err(format!(
                        "{reason:?} at step {refused} changes earlier steps"
                    ));
                }
            }
        }
        Ok(())
    });
}

fn check(case: &Case) -> Result<(), String> {
    let case_with_hash = input::fill_in_hash(case);
    let json = &case_with_hash;
    let snapshot = input::snapshot(json);
    let names = list(&json["replicaSets"]).iter();
    let server = Server {
        faults: &json["faults"],
        replica_sets: names.map(|set| string(&set["metadata"]["name"])).collect(),
    };
    let pass = Pass::run(server, |answers| reconcile(&snapshot, answers), |_, _| {});
    check_deployment(&snapshot, &pass.plan, &pass.answers).map_err(|broken| broken.to_string())?;
    let shown = Shown::of(&snapshot, json, &pass);
    let mut expected = json!({
        "writes": expected_writes(json),
        "events": list(&json["expect"]["events"]),
        "requeue": json["expect"]["requeue"],
        "error": json["expect"]["error"],
    });
    let mut actual = json!({
        "writes": shown.writes,
        "events": shown.events,
        "requeue": server::requeue(&pass.plan),
        "error": error(&pass.plan),
    });
    if case.has_tag("revisionNotANumber") {
        // Upstream compares a revision that is no number by age, others by number. That is no consistent order, so
        // which of two deletes comes first hangs on its sorting algorithm.
        sort_deletes(&mut expected);
        sort_deletes(&mut actual);
    }
    same(&expected, &actual)
}

/// The recorded writes, abbreviations spelt out.
fn expected_writes(case: &Value) -> Vec<Value> {
    let before = list(&case["deployment"]["status"]["conditions"]);
    let mut writes = list(&case["expect"]["writes"]).to_vec();
    for write in &mut writes {
        // What only a controller that sends outdated objects runs into.
        write.as_object_mut().unwrap().remove("stale");
        let conditions = write.pointer_mut("/status/conditions");
        let conditions = conditions.and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            if condition.is_string() {
                let same_type = |stored: &&Value| stored["type"] == *condition;
                *condition = before.iter().find(same_type).unwrap().clone();
            }
        }
        spell_out_times(write);
    }
    writes
}

fn error(plan: &Plan) -> Value {
    let End::Failed(error) = &plan.end else {
        return Value::Null;
    };
    let reason = match error {
        SyncError::Refused(refusal) => server::word(refusal.reason),
        SyncError::NotInSnapshot { .. } => "NotFound",
        _ => "Other",
    };
    json!({"reason": reason, "message": error.to_string()})
}

fn sort_deletes(outcome: &mut Value) {
    let writes = outcome["writes"].as_array_mut().unwrap();
    for deletes in writes.chunk_by_mut(|a, b| a["verb"] == "delete" && b["verb"] == "delete") {
        deletes.sort_by_key(|write| string(&write["name"]));
    }
}
