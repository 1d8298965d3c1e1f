//! Pods and ReplicaSets that the API server refuses to create (failure-states section 14): its words, told apart.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::budget::Budgets;
use super::case::between;
use super::code::Code;
use super::finding::{Class, Finding, Side};
use super::snapshot::Snapshot;
use crate::controller::api::{Condition, ConditionStatus, ReplicaSet};
use crate::controller::condition::get_condition;
use crate::controller::keys;

/// A namespace's default service account is made within this time.
const FIRST_MOMENTS: Duration = Duration::from_secs(5);

/// What keeps a ReplicaSet from having its pods, if creating them is refused.
pub(super) fn examine(
    snapshot: &Snapshot,
    budgets: &Budgets,
    set: &ReplicaSet,
    side: Side,
) -> Option<Finding> {
    let condition = get_condition(&set.status.conditions, keys::REPLICA_FAILURE)
        .filter(|condition| condition.status == ConditionStatus::True)?;
    if condition.reason != "FailedCreate" {
        let message = format!("pods can't be deleted: {}", condition.message);
        return Some(Finding {
            side,
            ..Finding::new(Code::CreateRefused, Class::Waiting, message)
                .since(transition(condition))
        });
    }
    let text = newest_words(snapshot, set, condition);
    let finding = judge(snapshot, budgets, &text, transition(condition));
    Some(Finding {
        side,
        is_final: finding.is_final && side == Side::New,
        ..finding
    })
}

/// The condition keeps the first error of an episode (rule 3); the newest event has the present one.
fn newest_words(snapshot: &Snapshot, set: &ReplicaSet, condition: &Condition) -> String {
    let since = transition(condition);
    snapshot
        .events_about("ReplicaSet", &set.meta.name)
        .filter(|event| event.reason == "FailedCreate")
        .filter(|event| {
            event
                .last_seen
                .is_none_or(|last| since.is_none_or(|since| last >= since))
        })
        .max_by_key(|event| event.last_seen)
        .map_or(condition.message.as_str(), |event| {
            event
                .message
                .strip_prefix("Error creating: ")
                .unwrap_or(&event.message)
        })
        .to_owned()
}

/// A refusal in the API server's words, as a finding.
pub(super) fn judge(
    snapshot: &Snapshot,
    budgets: &Budgets,
    text: &str,
    since: Option<Timestamp>,
) -> Finding {
    let mut finding = classify(text);
    let is_young = since.is_none_or(|since| snapshot.age(since) < FIRST_MOMENTS);
    if finding.code == Code::ServiceAccountMissing && is_young && text.contains("/default:") {
        finding.class = Class::Transient;
    }
    let is_final = match finding.class {
        Class::TerminalNow => !budgets.is_none(),
        Class::Waiting => snapshot.is_overdue(budgets.waiting, since),
        _ => false,
    };
    finding.evidence(text).since(since).ending(is_final)
}

fn transition(condition: &Condition) -> Option<Timestamp> {
    condition.last_transition_time.as_ref().map(|time| time.0)
}

/// Who refuses, by the words.
fn classify(text: &str) -> Finding {
    quota(text)
        .or_else(|| policy(text))
        .or_else(|| webhook(text))
        .or_else(|| identity(text))
        .unwrap_or_else(|| {
            Finding::new(
                Code::CreateRefused,
                Class::Waiting,
                format!("creating pods is refused: {text}"),
            )
        })
}

fn quota(text: &str) -> Option<Finding> {
    if let Some((_, rest)) = text.split_once("exceeded quota: ") {
        let (name, numbers) = rest.split_once(", ").unwrap_or((rest, ""));
        return Some(Finding::new(
            Code::QuotaExceeded,
            Class::Waiting,
            format!("quota {name:?} is used up: {numbers}"),
        ));
    }
    if let Some((_, rest)) = text.split_once("failed quota: ") {
        let (name, what) = rest.split_once(": ").unwrap_or((rest, ""));
        return Some(Finding::new(
            Code::QuotaNeedsRequests,
            Class::TerminalNow,
            format!("quota {name:?} wants the template to state more: {what}"),
        ));
    }
    if let Some((_, rest)) = text.split_once("status unknown for quota: ") {
        return Some(Finding::new(
            Code::QuotaExceeded,
            Class::Transient,
            format!("quota {rest} has not been counted yet"),
        ));
    }
    let at = text.find("insufficient quota to ")?;
    Some(Finding::new(
        Code::QuotaExceeded,
        Class::Waiting,
        format!("no quota allows it: {}", &text[at..]),
    ))
}

/// Rules about what a pod may say.
fn policy(text: &str) -> Option<Finding> {
    let told = |code, message: String| Some(Finding::new(code, Class::TerminalNow, message));
    if let Some((_, rest)) = text.split_once("violates PodSecurity ") {
        let (level, what) = rest.split_once(": ").unwrap_or((rest, ""));
        return told(
            Code::PodSecurity,
            format!("Pod Security {level} forbids it: {what}"),
        );
    }
    if let Some(policy) = between(text, "ValidatingAdmissionPolicy '", "'") {
        let what = text
            .split_once(" denied request: ")
            .map_or("", |(_, what)| what);
        return told(
            Code::AdmissionPolicy,
            format!("admission policy {policy:?} forbids it: {what}"),
        );
    }
    let is_limit_range = [
        " usage per Container is ",
        " usage per Pod is ",
        " max limit to request ratio per ",
    ]
    .iter()
    .any(|words| text.contains(words));
    if is_limit_range {
        let what = text.split_once(" is forbidden: ").map_or(text, |(_, w)| w);
        return told(
            Code::LimitRange,
            format!("a LimitRange forbids it: {}", in_order(what)),
        );
    }
    if let Some((_, what)) = text.split_once(" is invalid: ") {
        return told(Code::PodInvalid, format!("the pods are not valid: {what}"));
    }
    if text.contains("must not be provided in pod spec") {
        let what = text.split_once(" is forbidden: ").map_or(text, |(_, w)| w);
        return told(Code::PodInvalid, format!("the pods are not valid: {what}"));
    }
    text.contains("unable to create new content in namespace")
        .then(namespace_terminating)
}

/// The namespace takes nothing new any more.
pub(super) fn namespace_terminating() -> Finding {
    Finding::new(
        Code::NamespaceTerminating,
        Class::TerminalNow,
        "the namespace is being deleted",
    )
}

/// Several violations come in random order, in brackets.
fn in_order(what: &str) -> String {
    let Some(inner) = what.strip_prefix('[').and_then(|w| w.strip_suffix(']')) else {
        return what.to_owned();
    };
    let marked = [" maximum ", " minimum "]
        .iter()
        .fold(format!(" {inner}"), |text, word| {
            text.replace(&format!(",{word}"), &format!("\n{word}"))
        });
    let mut parts: Vec<&str> = marked.split('\n').map(str::trim).collect();
    parts.sort_unstable();
    parts.join(", ")
}

fn webhook(text: &str) -> Option<Finding> {
    if let Some(name) = between(text, "admission webhook \"", "\"") {
        let what = text.split_once(" denied the request: ");
        let why = what.map_or("without saying why", |(_, why)| why);
        return Some(Finding::new(
            Code::WebhookDenied,
            Class::TerminalNow,
            format!("webhook {name:?} denies it: {why}"),
        ));
    }
    let name = between(text, "failed calling webhook \"", "\"")?;
    let why = text
        .split_once("failed to call webhook: ")
        .map_or(text, |(_, why)| why);
    Some(Finding::new(
        Code::WebhookUnreachable,
        Class::Waiting,
        format!("webhook {name:?} can't be asked: {why}"),
    ))
}

/// Whom and what the pods name, and who asks.
fn identity(text: &str) -> Option<Finding> {
    let told = |code, message: String| Some(Finding::new(code, Class::Waiting, message));
    if let Some((_, rest)) = text.split_once("error looking up service account ") {
        let name = rest.split(':').next().unwrap_or(rest);
        return told(
            Code::ServiceAccountMissing,
            format!("service account {name} does not exist"),
        );
    }
    if let Some(name) = between(text, "no PriorityClass with name ", " was found") {
        return told(
            Code::PriorityClassMissing,
            format!("priority class {name} does not exist"),
        );
    }
    if let Some(name) = between(text, "RuntimeClass \"", "\" not found") {
        return told(
            Code::RuntimeClassMissing,
            format!("runtime class {name} does not exist"),
        );
    }
    let user = between(text, "User \"", "\"")?;
    let (_, act) = text.split_once("\" cannot ")?;
    told(Code::Forbidden, format!("user {user} cannot {act}"))
}
