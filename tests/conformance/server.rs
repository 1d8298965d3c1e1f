//! Plays a pass against the API server of a vector: one that does everything but what its faults refuse.

use std::collections::BTreeSet;

use kubectl_rs::controller::action::{Action, Applied, Outcome, Refusal, RefusalReason};
use kubectl_rs::controller::plan::{End, LiveOwner, Outcomes, Plan, Requeue};
use serde_json::{Value, json};

use crate::data::{list, string};

/// What the API server has and does when the pass begins.
pub(crate) struct Server<'a> {
    /// The faults of the vector.
    pub(crate) faults: &'a Value,
    /// The names of its ReplicaSets: creating one again is refused.
    pub(crate) replica_sets: BTreeSet<String>,
}

/// A pass that was sent to its end.
pub(crate) struct Pass {
    /// The last plan; every step of it has its answer.
    pub(crate) plan: Plan,
    /// The answers.
    pub(crate) answers: Vec<Outcome>,
}

impl Pass {
    /// Runs a pass batch by batch, planning again with the answers after each, as the engine does. `before_batch` is
    /// told the plan and how many of its steps were sent.
    pub(crate) fn run(
        server: Server<'_>,
        reconcile: impl Fn(&Outcomes) -> Plan,
        mut before_batch: impl FnMut(&Plan, usize),
    ) -> Self {
        let Server {
            faults,
            replica_sets,
        } = server;
        let mut faults: Vec<Fault> = list(faults).iter().map(Fault::new).collect();
        let mut answers = Vec::new();
        let mut plan = reconcile(&answers);
        while let Some(next) = plan.steps.get(answers.len()) {
            let batch = next.batch;
            before_batch(&plan, answers.len());
            let sent = plan.steps[answers.len()..].iter();
            for step in sent.take_while(|step| step.batch == batch) {
                answers.push(answer(&step.action, &mut faults, &replica_sets));
            }
            let again = reconcile(&answers);
            let known = answers.len();
            assert_eq!(
                again.steps[..known],
                plan.steps[..known],
                "answered steps changed"
            );
            plan = again;
        }
        Self { plan, answers }
    }

    /// The writes with their answers, events left out.
    pub(crate) fn writes(&self) -> impl Iterator<Item = (&Action, &Outcome)> {
        let actions = self.plan.steps.iter().map(|step| &step.action);
        actions
            .zip(&self.answers)
            .filter(|(action, _)| !action.is_event())
    }
}

/// How a call looks to a fault: verb, resource, subresource, name.
fn call(action: &Action) -> [&str; 4] {
    match action {
        Action::CreateReplicaSet(new) => ["create", "replicasets", "", &new.key.name],
        Action::ScaleReplicaSet { target, .. } | Action::UpdateReplicaSet { target, .. } => {
            ["update", "replicasets", "", &target.key.name]
        }
        Action::DeleteReplicaSet { target } => ["delete", "replicasets", "", &target.key.name],
        Action::AdoptReplicaSet { target, .. } | Action::ReleaseReplicaSet { target, .. } => {
            ["patch", "replicasets", "", &target.key.name]
        }
        Action::UpdateDeployment { target, .. } => ["update", "deployments", "", &target.key.name],
        Action::UpdateDeploymentStatus { target, .. } => {
            ["update", "deployments", "status", &target.key.name]
        }
        Action::CreatePod { .. } => ["create", "pods", "", "<pod>"],
        Action::DeletePod { target } => ["delete", "pods", "", &target.key.name],
        Action::AdoptPod { target, .. } | Action::ReleasePod { target, .. } => {
            ["patch", "pods", "", &target.key.name]
        }
        Action::UpdateReplicaSetStatus { target, .. } => {
            ["update", "replicasets", "status", &target.key.name]
        }
        Action::RecordEvent { .. } => ["create", "events", "", ""],
        Action::Collect { .. }
        | Action::Disown { .. }
        | Action::Unblock { .. }
        | Action::RemoveFinalizer { .. } => {
            panic!("no controller does this: {action:?}")
        }
    }
}

fn answer(action: &Action, faults: &mut [Fault], replica_sets: &BTreeSet<String>) -> Outcome {
    let call = call(action);
    // One fault answers, but a call counts for all that it matches.
    let refused: Vec<Refusal> = faults
        .iter_mut()
        .filter_map(|fault| fault.meet(call))
        .collect();
    let mut refused = refused.into_iter().chain(name_taken(action, replica_sets));
    match refused.next() {
        Some(refusal) => Outcome::Refused(refusal),
        None => Outcome::Applied(applied(call[3])),
    }
}

/// What the server says about an object that it wrote.
pub(crate) fn applied(name: &str) -> Applied {
    Applied {
        name: name.to_owned(),
        ..Applied::default()
    }
}

fn name_taken(action: &Action, replica_sets: &BTreeSet<String>) -> Option<Refusal> {
    match action {
        Action::CreateReplicaSet(new) if replica_sets.contains(&new.key.name) => Some(Refusal {
            reason: RefusalReason::AlreadyExists,
            message: format!("replicasets.apps \"{}\" already exists", new.key.name),
        }),
        _ => None,
    }
}

/// What a fresh read of the owner answers, in a vector's word for it.
pub(crate) fn live_owner(word: &str, other_uid: &str, not_found: &str) -> LiveOwner {
    match word {
        "" => LiveOwner::Unchanged,
        "deleting" => LiveOwner::Deleting {
            since: "1999-12-31T23:59:59Z".parse().expect("a valid instant"),
        },
        "otherUID" => LiveOwner::Recreated {
            uid: other_uid.to_owned(),
        },
        "gone" => LiveOwner::Unreadable(Refusal {
            reason: RefusalReason::NotFound,
            message: not_found.to_owned(),
        }),
        other => panic!("unknown answer of a fresh read: {other}"),
    }
}

/// When the pass asks to be run again.
pub(crate) fn requeue(plan: &Plan) -> Value {
    match &plan.end {
        End::Done(Requeue::After(after)) => json!({"afterSeconds": after.as_secs()}),
        End::Done(Requeue::RateLimited) => json!({"rateLimited": true}),
        End::Done(Requeue::No) | End::Failed(_) => Value::Null,
    }
}

/// The API's word for a refusal.
pub(crate) fn word(reason: RefusalReason) -> &'static str {
    match reason {
        RefusalReason::NotFound => "NotFound",
        RefusalReason::AlreadyExists => "AlreadyExists",
        RefusalReason::Conflict => "Conflict",
        RefusalReason::Invalid => "Invalid",
        RefusalReason::NamespaceTerminating | RefusalReason::Forbidden => "Forbidden",
        RefusalReason::Timeout => "Timeout",
        RefusalReason::Other => "InternalError",
        other @ RefusalReason::Busy => {
            panic!("no write of a vector is refused like this: {other:?}")
        }
    }
}

/// Calls that match are let through `after` times, then refused `times` times.
struct Fault {
    pattern: [Option<String>; 4],
    after: u64,
    times: u64,
    refusal: Refusal,
}

impl Fault {
    fn new(fault: &Value) -> Self {
        let text = |key: &str| fault[key].as_str().map(str::to_owned);
        let subresource = Some(string(&fault["subresource"]));
        Self {
            pattern: [text("verb"), text("resource"), subresource, text("name")],
            after: fault["after"].as_u64().unwrap_or(0),
            times: fault["times"].as_u64().unwrap_or(u64::MAX),
            refusal: Refusal {
                reason: reason(&string(&fault["kind"])),
                message: string(&fault["message"]),
            },
        }
    }

    fn meet(&mut self, call: [&str; 4]) -> Option<Refusal> {
        let mut pairs = self.pattern.iter().zip(call);
        if !pairs.all(|(pattern, actual)| pattern.as_ref().is_none_or(|text| text == actual)) {
            return None;
        }
        if self.after > 0 {
            self.after -= 1;
            return None;
        }
        self.times = self.times.checked_sub(1)?;
        Some(Refusal {
            message: about(call[3], &self.refusal.message),
            ..self.refusal
        })
    }
}

/// The recorded text names the object of the last call that was refused, or `<pod>` for any: this puts in the right one.
fn about(name: &str, message: &str) -> String {
    match message.splitn(3, '"').collect::<Vec<_>>()[..] {
        [before, recorded, after] if recorded != "<pod>" => format!("{before}\"{name}\"{after}"),
        _ => message.to_owned(),
    }
}

fn reason(kind: &str) -> RefusalReason {
    match kind {
        "notFound" => RefusalReason::NotFound,
        "alreadyExists" => RefusalReason::AlreadyExists,
        "conflict" => RefusalReason::Conflict,
        "invalid" => RefusalReason::Invalid,
        "namespaceTerminating" => RefusalReason::NamespaceTerminating,
        "quota" | "forbidden" => RefusalReason::Forbidden,
        "timeout" => RefusalReason::Timeout,
        "serverTimeout" | "tooManyRequests" => RefusalReason::Busy,
        "internal" => RefusalReason::Other,
        other => panic!("unknown kind of fault: {other}"),
    }
}
