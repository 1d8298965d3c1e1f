//! The one sentence about a rollout: how it stands, why, and what to do.

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

use super::code::Code;
use super::finding::{Class, Finding, Side, optional_time};
use super::rollout::deadline_exceeded;
use super::snapshot::Snapshot;
use crate::controller::api::{ObjectKey, ReplicaSet};
use crate::controller::condition::get_condition;
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::count;

/// How a rollout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It can't go on by itself, or the deadline has passed.
    Failed,
    /// Somebody outside the rollout has to act.
    Waiting,
    /// It was complete, and pods have been lost since.
    Degraded,
    /// Paused.
    Paused,
    /// Under way.
    Progressing,
    /// The Deployment is being deleted.
    Deleting,
    /// Every pod is of the new template and available, and no other is left.
    Complete,
}

impl Phase {
    /// The word for people and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Degraded => "degraded",
            Self::Paused => "paused",
            Self::Progressing => "progressing",
            Self::Deleting => "deleting",
            Self::Complete => "complete",
        }
    }
}

/// The verdict on a rollout: the same for text, JSON and CI annotations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Which Deployment.
    pub object: ObjectKey,
    /// How its rollout stands.
    pub phase: Phase,
    /// How the cause heals, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The cause, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// One sentence.
    pub message: String,
    /// What the cluster said, word for word.
    pub evidence: Vec<String>,
    /// Since when, where that is known.
    #[serde(
        serialize_with = "optional_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub since: Option<Timestamp>,
    /// Seconds until the progress deadline, where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_left_seconds: Option<i64>,
    /// The step to take; empty where there is nothing to do.
    pub next_step: String,
}

impl Verdict {
    /// The same rollout, failed by this cause.
    #[must_use]
    pub fn failed_by(&self, finding: &Finding) -> Self {
        Self {
            phase: Phase::Failed,
            class: Some(finding.class),
            code: Some(finding.code),
            message: with_pods(finding),
            evidence: finding.evidence.clone(),
            since: finding.since,
            next_step: finding.next_step.clone(),
            ..self.clone()
        }
    }
}

/// Judges. `findings` are in order, the most telling first.
pub(super) fn judge(
    snapshot: &Snapshot,
    overview: &Overview,
    new: Option<&ReplicaSet>,
    findings: &[Finding],
) -> Verdict {
    let plain = |phase, message| Verdict {
        object: overview.key.clone(),
        phase,
        class: None,
        code: None,
        message,
        evidence: Vec::new(),
        since: None,
        deadline_left_seconds: overview
            .deadline
            .map(|deadline| deadline.duration_since(snapshot.now).as_secs().max(0)),
        next_step: String::new(),
    };
    let because = |phase, finding: &Finding| Verdict {
        class: Some(finding.class),
        code: Some(finding.code),
        evidence: finding.evidence.clone(),
        since: finding.since,
        next_step: finding.next_step.clone(),
        ..plain(phase, with_pods(finding))
    };
    let of_code = |code| findings.iter().find(|finding| finding.code == code);
    let cause = findings
        .iter()
        .find(|finding| finding.side != Side::Old && finding.is_trouble());
    if snapshot.deployment.meta.is_deleting() {
        return plain(
            Phase::Deleting,
            "the Deployment is being deleted".to_owned(),
        );
    }
    if let Some(paused) = of_code(Code::Paused) {
        return because(Phase::Paused, paused);
    }
    if let Some(end) = findings.iter().find(|finding| finding.is_final) {
        return because(Phase::Failed, end);
    }
    if overview.complete {
        return plain(Phase::Complete, numbers(overview));
    }
    if let Some(condition) = deadline_exceeded(snapshot, new) {
        return past_deadline(snapshot, condition, cause, plain);
    }
    if let Some(waiting) = cause.filter(|finding| is_waiting(finding)) {
        return because(Phase::Waiting, waiting);
    }
    let phase = if was_complete(snapshot, overview) {
        Phase::Degraded
    } else {
        Phase::Progressing
    };
    match cause.or(of_code(Code::NotObserved)) {
        Some(finding) => because(phase, finding),
        None => plain(phase, numbers(overview)),
    }
}

fn is_waiting(finding: &Finding) -> bool {
    matches!(finding.class, Class::Waiting | Class::ControllerMissing)
}

/// The deadline is a verdict, not a cause.
fn past_deadline(
    snapshot: &Snapshot,
    condition: &str,
    cause: Option<&Finding>,
    plain: impl Fn(Phase, String) -> Verdict,
) -> Verdict {
    let seconds = snapshot
        .deployment
        .spec
        .progress_deadline_seconds
        .unwrap_or(0);
    let since = get_condition(&snapshot.deployment.status.conditions, keys::PROGRESSING)
        .and_then(|condition| condition.last_transition_time.as_ref())
        .map(|time| time.0);
    let mut message = format!("no progress within {seconds}s");
    let mut evidence = vec![condition.to_owned()];
    let mut next_step = String::new();
    if let Some(cause) = cause {
        message = format!("{message}: {}", with_pods(cause));
        evidence.extend(cause.evidence.iter().cloned());
        next_step.clone_from(&cause.next_step);
    }
    Verdict {
        class: Some(cause.map_or(Class::TerminalAfterBudget, |cause| cause.class)),
        code: Some(Code::DeadlineExceeded),
        evidence,
        since,
        next_step,
        ..plain(Phase::Failed, message)
    }
}

/// Whether the rollout of this template had been complete: the condition keeps that for ever.
fn was_complete(snapshot: &Snapshot, overview: &Overview) -> bool {
    let status = &snapshot.deployment.status;
    status.observed_generation >= snapshot.deployment.meta.generation
        && overview
            .new_revision()
            .is_some_and(|new| new.desired == overview.desired)
        && overview.total == overview.desired
        && get_condition(&status.conditions, keys::PROGRESSING)
            .is_some_and(|condition| condition.reason == keys::NEW_REPLICA_SET_AVAILABLE)
}

/// `3 pods: image "web:9" does not exist`.
fn with_pods(finding: &Finding) -> String {
    match finding.pods.len() {
        0 => finding.message.clone(),
        pods => format!(
            "{}: {}",
            count(i64::try_from(pods).unwrap_or(i64::MAX), "pod"),
            finding.message
        ),
    }
}

/// `revision 3: 2 of 5 available`.
fn numbers(overview: &Overview) -> String {
    let desired = overview.desired;
    match overview.new_revision() {
        None => format!("0 of {desired} updated"),
        Some(new) => {
            let name = new
                .revision
                .map_or_else(|| new.replica_set.clone(), |n| format!("revision {n}"));
            format!("{name}: {} of {desired} available", new.available)
        }
    }
}
