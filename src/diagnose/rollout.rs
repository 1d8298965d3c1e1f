//! What is to be said about the Deployment as a whole, pods apart (failure-states section 15).

use super::budget::Budgets;
use super::code::Code;
use super::finding::{Class, Finding, Side};
use super::quota::headroom;
use super::refusal;
use super::snapshot::{Presence, Snapshot};
use crate::controller::api::{ConditionStatus, Deployment, OBSERVED_WITHIN, ReplicaSet};
use crate::controller::condition::get_condition;
use crate::controller::deployment::has_progress_deadline;
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::{agree, count};
use crate::controller::selector::Selector;
use crate::controller::why::WaitingOn;

/// Everything about the Deployment and its ReplicaSets that is not about single pods.
pub(super) fn examine(
    snapshot: &Snapshot,
    budgets: &Budgets,
    overview: &Overview,
    new: Option<&ReplicaSet>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(refused_replica_set(snapshot, budgets));
    findings.extend(refused_pods(snapshot, budgets, new));
    if snapshot.surroundings.is_namespace_terminating {
        findings.push(refusal::namespace_terminating().ending(!budgets.is_none()));
    }
    findings.extend(gone(snapshot, overview).or_else(|| unobserved(snapshot)));
    findings.extend(paused(overview));
    findings.extend(blocked(overview));
    findings.extend(overlaps(snapshot));
    findings.extend(orphans(snapshot));
    findings.extend(autoscaled(snapshot));
    if !overview.complete && !overview.paused {
        findings.extend(headroom(snapshot, overview, new));
        if !has_progress_deadline(&snapshot.deployment) {
            findings.push(Finding::new(
                Code::NoDeadline,
                Class::Note,
                "there is no progress deadline: the cluster never calls this rollout failed",
            ));
        }
    }
    findings
}

/// The Deployment's ReplicaSet could not be made; nothing else of the status is written then.
fn refused_replica_set(snapshot: &Snapshot, budgets: &Budgets) -> Option<Finding> {
    let conditions = &snapshot.deployment.status.conditions;
    let condition = get_condition(conditions, keys::PROGRESSING)
        .filter(|condition| condition.reason == keys::REPLICA_SET_CREATE_ERROR)?;
    let (_, text) = condition.message.split_once("\": ")?;
    let since = condition.last_update_time.as_ref().map(|time| time.0);
    Some(refusal::judge(snapshot, budgets, text, since))
}

fn refused_pods(snapshot: &Snapshot, budgets: &Budgets, new: Option<&ReplicaSet>) -> Vec<Finding> {
    let sets = snapshot.replica_sets.iter().filter(|set| {
        set.meta
            .controller()
            .is_some_and(|owner| owner.uid == snapshot.deployment.meta.uid)
    });
    sets.filter_map(|set| {
        let is_new = new.is_some_and(|new| new.meta.uid == set.meta.uid);
        let side = if is_new { Side::New } else { Side::Old };
        refusal::examine(snapshot, budgets, set, side)
    })
    .collect()
}

/// A change that no controller has looked at.
fn unobserved(snapshot: &Snapshot) -> Option<Finding> {
    let deployment = &snapshot.deployment;
    let (wanted, seen) = (
        deployment.meta.generation,
        deployment.status.observed_generation,
    );
    let is_seen = seen >= wanted
        || get_condition(&deployment.status.conditions, keys::PROGRESSING)
            .is_some_and(|condition| condition.reason == keys::REPLICA_SET_CREATE_ERROR);
    if is_seen {
        return None;
    }
    let changed = snapshot.last_change.as_ref().map(|change| change.at);
    let created = deployment.meta.created().filter(|_| wanted <= 1);
    let since = changed.or(created);
    let is_overdue = since.is_some_and(|since| snapshot.age(since) >= OBSERVED_WITHIN);
    let is_missing = match snapshot.controller {
        Presence::Acting => false,
        Presence::Unknown | Presence::Missing(_) => is_overdue,
    };
    let message = format!("the controller has not seen generation {wanted} (but {seen})");
    Some(
        if is_missing {
            Finding::new(
                Code::ControllerMissing,
                Class::ControllerMissing,
                format!("no controller has looked at generation {wanted}"),
            )
        } else {
            Finding::new(Code::NotObserved, Class::Note, message)
        }
        .since(since),
    )
}

/// A controller manager that has gone away, with work left to do.
fn gone(snapshot: &Snapshot, overview: &Overview) -> Option<Finding> {
    let Presence::Missing(since) = snapshot.controller else {
        return None;
    };
    (!overview.complete && !overview.paused).then(|| {
        Finding::new(
            Code::ControllerMissing,
            Class::ControllerMissing,
            "the controller manager is gone: it renews its Lease no more",
        )
        .evidence(format!(
            "Lease kube-system/kube-controller-manager: renewTime {since:.0}"
        ))
        .since(Some(since))
    })
}

fn paused(overview: &Overview) -> Option<Finding> {
    overview.paused.then(|| {
        Finding::new(
            Code::Paused,
            Class::Waiting,
            match overview.new_revision() {
                None => "paused, a change of the template is held back",
                Some(_) => "paused",
            },
        )
    })
}

fn blocked(overview: &Overview) -> Option<Finding> {
    let new = overview.new_revision()?;
    let old_is_active = overview
        .revisions
        .iter()
        .any(|revision| !revision.new && revision.desired > 0);
    let is_blocked = overview.strategy == keys::ROLLING_UPDATE
        && !overview.paused
        && old_is_active
        && new.desired < overview.desired
        && overview.total >= overview.max_total()
        && overview.available <= overview.min_available();
    is_blocked.then(|| {
        let arithmetic = WaitingOn::Blocked {
            total: overview.total,
            desired: overview.desired,
            max_surge: overview.max_surge,
            available: overview.available,
            max_unavailable: overview.max_unavailable,
            new_unavailable: new.desired.saturating_sub(new.available),
        };
        Finding::new(Code::BlockedByBounds, Class::Note, arithmetic.to_string())
    })
}

/// Ownership keeps two Deployments with one selector apart; orphans, Services and autoscalers don't.
fn overlaps(snapshot: &Snapshot) -> Option<Finding> {
    let own = &snapshot.deployment;
    let selects = |selecting: &Deployment, selected: &Deployment| {
        Selector::compile(selecting.spec.selector.as_ref())
            .is_ok_and(|selector| selector.matches(&selected.spec.template.labels()))
    };
    let names: Vec<&str> = snapshot
        .surroundings
        .neighbours
        .iter()
        .filter(|other| {
            other.meta.uid != own.meta.uid && (selects(own, other) || selects(other, own))
        })
        .map(|other| other.meta.name.as_str())
        .collect();
    let (first, more) = names.split_first()?;
    let others = match more.len() {
        0 => format!("Deployment {first}"),
        more => format!("Deployment {first} and {more} more"),
    };
    Some(Finding::new(
        Code::SelectorOverlap,
        Class::Note,
        format!(
            "{others} {} the same pods by labels",
            agree(i64::from(more.is_empty()), "selects", "select")
        ),
    ))
}

fn orphans(snapshot: &Snapshot) -> Option<Finding> {
    let selector = Selector::compile(snapshot.deployment.spec.selector.as_ref()).ok()?;
    let names: Vec<&str> = snapshot
        .replica_sets
        .iter()
        .filter(|set| set.meta.controller().is_none() && !set.meta.is_deleting())
        .filter(|set| !selector.selects_all() && selector.matches(&set.meta.labels))
        .map(|set| set.meta.name.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        let number = i64::try_from(names.len()).unwrap_or(i64::MAX);
        Finding::new(
            Code::Orphans,
            Class::Note,
            format!(
                "{} without an owner {} the selector and will be adopted: {}",
                count(number, "ReplicaSet"),
                agree(number, "matches", "match"),
                names.join(", ")
            ),
        )
    })
}

fn autoscaled(snapshot: &Snapshot) -> Option<Finding> {
    let name = &snapshot.deployment.meta.name;
    let scaler = snapshot.surroundings.autoscalers.iter().find(|scaler| {
        let target = &scaler.spec.scale_target_ref;
        target.kind == "Deployment" && target.name == *name
    })?;
    let spec = &scaler.spec;
    Some(Finding::new(
        Code::Autoscaled,
        Class::Note,
        format!(
            "autoscaler {} keeps {} to {} pods, and wants {} now",
            scaler.meta.name,
            spec.min_replicas.unwrap_or(1),
            spec.max_replicas,
            scaler.status.desired_replicas
        ),
    ))
}

/// Whether the cluster has given up on the rollout of this template. A condition that names another ReplicaSet is left
/// over from another rollout, and one from before the newest change was seen is no verdict at all.
pub(super) fn deadline_exceeded<'a>(
    snapshot: &'a Snapshot,
    new: Option<&ReplicaSet>,
) -> Option<&'a str> {
    let deployment = &snapshot.deployment;
    if !deployment.is_observed() {
        return None;
    }
    let condition = get_condition(&deployment.status.conditions, keys::PROGRESSING)
        .filter(|condition| condition.status == ConditionStatus::False)
        .filter(|condition| condition.reason == keys::PROGRESS_DEADLINE_EXCEEDED)?;
    let named = new.map_or(&deployment.meta.name, |new| &new.meta.name);
    condition
        .message
        .contains(&format!("{named:?}"))
        .then_some(condition.message.as_str())
}
