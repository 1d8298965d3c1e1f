//! Creating missing pods and deleting surplus ones (replicaset-controller sections 7 and 8).

use std::cmp::Ordering;
use std::iter;
use std::sync::Arc;

use crate::controller::action::{Action, EventType, Kind, NewPod, RefusalReason, Target};
use crate::controller::api::{OwnerReference, Pod, ReplicaSet};
use crate::controller::plan::{Recorder, SyncError};
use crate::controller::selector::Selector;
use crate::controller::template::Mould;
use crate::controller::why::Why;

use super::{Snapshot, ranking};

/// The most pods that one pass creates or deletes.
pub const BURST: usize = 500;

/// Brings the number of active pods to `spec.replicas`, as far as one burst goes.
pub(super) fn manage_replicas(
    snapshot: &Snapshot,
    active: &[&Pod],
    owner: OwnerReference,
    recorder: &mut Recorder<'_>,
) -> Result<(), SyncError> {
    let replica_set = &snapshot.replica_set;
    let desired = usize::try_from(replica_set.spec.replicas).unwrap_or(0);
    match active.len().cmp(&desired) {
        Ordering::Less => {
            let why = Why::TooFewPods {
                active: super::count(active.len()),
                desired: replica_set.spec.replicas,
            };
            let missing = desired - active.len();
            let limits = &snapshot.limits;
            if limits.brake.is_some() {
                return Ok(());
            }
            let room = limits.room.unwrap_or(missing);
            let count = missing.min(room).min(BURST);
            create(replica_set, owner, count, &why, recorder)
        }
        Ordering::Equal => Ok(()),
        Ordering::Greater => {
            let surplus = active.len() - desired;
            delete(snapshot, active, surplus.min(BURST), recorder)
        }
    }
}

/// Creates `count` pods in batches of 1, 2, 4 and so on, each sent when the one before went through: where no pod is
/// admitted, one is refused and not five hundred.
fn create(
    replica_set: &ReplicaSet,
    owner: OwnerReference,
    count: usize,
    why: &Why,
    recorder: &mut Recorder<'_>,
) -> Result<(), SyncError> {
    let pod = Arc::new(new_pod(replica_set, owner)?);
    let mut events = Events::about(replica_set);
    let mut rest = count;
    let mut batch = 1;
    while rest > 0 {
        // What the last batch did is told beside the next one.
        recorder.next_batch();
        events.send(recorder);
        let mut refused = None;
        for _ in 0..batch.min(rest) {
            let action = Action::CreatePod {
                replica_set: events.target.clone(),
                pod: Arc::clone(&pod),
            };
            match recorder.perform_in_batch(action, why.clone()) {
                Ok(created) => {
                    let name = if created.name.is_empty() {
                        format!("{}<generated>", pod.generate_name)
                    } else {
                        created.name
                    };
                    events.normal("SuccessfulCreate", format!("Created pod: {name}"));
                }
                // Nothing new can live there, and nothing will: no reason to complain or to come back.
                Err(refusal) if refusal.reason == RefusalReason::NamespaceTerminating => {}
                Err(refusal) => {
                    events.warning("FailedCreate", format!("Error creating: {refusal}"));
                    refused.get_or_insert(refusal);
                }
            }
        }
        if let Some(refusal) = refused {
            recorder.next_batch();
            events.send(recorder);
            return Err(refusal.into());
        }
        rest -= batch.min(rest);
        batch *= 2;
    }
    recorder.next_batch();
    events.send(recorder);
    Ok(())
}

/// Deletes `count` of the active pods, all at once.
fn delete(
    snapshot: &Snapshot,
    active: &[&Pod],
    count: usize,
    recorder: &mut Recorder<'_>,
) -> Result<(), SyncError> {
    let replica_set = &snapshot.replica_set;
    let why = Why::TooManyPods {
        active: super::count(active.len()),
        desired: replica_set.spec.replicas,
    };
    let victims = if count < active.len() {
        let active = active.iter().copied();
        ranking::victims(active, related_pods(snapshot), count, snapshot.now)
    } else {
        active.to_vec()
    };
    let mut events = Events::about(replica_set);
    let mut refused = None;
    recorder.next_batch();
    for pod in victims {
        let target = Target::new(Kind::Pod, &pod.meta);
        match recorder.perform_in_batch(Action::DeletePod { target }, why.clone()) {
            Ok(_) => {
                events.normal(
                    "SuccessfulDelete",
                    format!("Deleted pod: {}", pod.meta.name),
                );
            }
            Err(refusal) if refusal.reason == RefusalReason::NotFound => {}
            Err(refusal) => {
                events.warning("FailedDelete", format!("Error deleting: {refusal}"));
                refused.get_or_insert(refusal);
            }
        }
    }
    recorder.next_batch();
    events.send(recorder);
    refused.map_or(Ok(()), |refusal| Err(SyncError::DeletePods(refusal)))
}

/// The pods that all ReplicaSets of this one's controller select, whoever owns them. None without a controller.
fn related_pods(snapshot: &Snapshot) -> impl Iterator<Item = &Pod> {
    let ours = controller_uid(&snapshot.replica_set);
    // A sibling with a selector that can't be read selects nothing.
    let selectors: Vec<Selector> = iter::once(&snapshot.replica_set)
        .chain(&snapshot.siblings)
        .filter(|sibling| ours.is_some() && controller_uid(sibling) == ours)
        .filter_map(|sibling| Selector::compile(sibling.spec.selector.as_ref()).ok())
        .collect();
    snapshot.pods.iter().map(Arc::as_ref).filter(move |pod| {
        selectors
            .iter()
            .any(|selector| selector.matches(&pod.meta.labels))
    })
}

fn controller_uid(replica_set: &ReplicaSet) -> Option<&str> {
    let controller = replica_set.meta.controller()?;
    Some(&controller.uid)
}

/// The pod that a ReplicaSet's template describes.
fn new_pod(replica_set: &ReplicaSet, owner: OwnerReference) -> Result<NewPod, SyncError> {
    let Mould {
        labels,
        annotations,
        finalizers,
        spec,
    } = replica_set.spec.template.mould();
    if labels.is_empty() {
        return Err(SyncError::NoLabels);
    }
    let meta = &replica_set.meta;
    Ok(NewPod {
        namespace: meta.namespace.to_string(),
        // The server looks away from a prefix's last dash, so every name of a ReplicaSet makes a valid prefix.
        generate_name: format!("{}-", meta.name),
        labels,
        annotations,
        finalizers,
        owner,
        spec,
    })
}

/// Events that wait for their turn: an event tells what was answered, so it can't be sent beside what it tells.
struct Events {
    target: Target,
    waiting: Vec<Action>,
}

impl Events {
    fn about(replica_set: &ReplicaSet) -> Self {
        Self {
            target: Target::new(Kind::ReplicaSet, &replica_set.meta),
            waiting: Vec::new(),
        }
    }

    fn normal(&mut self, reason: &'static str, message: String) {
        self.add(EventType::Normal, reason, message);
    }

    fn warning(&mut self, reason: &'static str, message: String) {
        self.add(EventType::Warning, reason, message);
    }

    fn add(&mut self, type_: EventType, reason: &'static str, message: String) {
        self.waiting.push(Action::RecordEvent {
            regarding: self.target.clone(),
            type_,
            reason,
            message,
        });
    }

    /// Adds the events to the present batch.
    fn send(&mut self, recorder: &mut Recorder<'_>) {
        for event in self.waiting.drain(..) {
            // Whether an event could be recorded never matters.
            let _ = recorder.perform_in_batch(event, Why::Tells);
        }
    }
}
