//! Telling new from old, and getting or making the new ReplicaSet (deployment-controller sections 6 and 7).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::ptr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::revision::{max_revision, set_new_replica_set_annotations};
use super::working_copy::WorkingCopy;
use super::{Pass, has_progress_deadline};
use crate::controller::action::{Action, EventType, Kind, NewReplicaSet, Refusal, RefusalReason};
use crate::controller::api::{ConditionStatus, ObjectKey, ReplicaSet};
use crate::controller::claim::new_controller_ref;
use crate::controller::condition::get_condition;
use crate::controller::keys;
use crate::controller::plan::SyncError;
use crate::controller::template::Template;
use crate::controller::why::Why;

/// Longest name of a ReplicaSet, in bytes.
const NAME_LIMIT: usize = 253;

/// The ReplicaSets of a Deployment in one pass.
pub(super) struct ReplicaSets<'a> {
    /// The one with the Deployment's template.
    pub(super) new: Option<WorkingCopy<'a>>,
    /// All others, oldest first.
    pub(super) old: Vec<WorkingCopy<'a>>,
}

impl ReplicaSets<'_> {
    /// All of them: old ones first, oldest first, then the new one.
    pub(super) fn all(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.old.iter().chain(&self.new).map(Deref::deref)
    }
}

/// Pods wanted by ReplicaSets in total.
pub(super) fn replica_count<'s>(sets: impl IntoIterator<Item = &'s ReplicaSet>) -> i32 {
    sum(sets, |set| set.spec.replicas)
}

/// Sums a number over ReplicaSets; holds at the largest number instead of overflowing.
pub(super) fn sum<'s>(
    sets: impl IntoIterator<Item = &'s ReplicaSet>,
    number: impl Fn(&ReplicaSet) -> i32,
) -> i32 {
    sets.into_iter()
        .fold(0, |total: i32, set| total.saturating_add(number(set)))
}

/// The ReplicaSet with the Deployment's template: the oldest, where several have it. `sets` are sorted oldest first.
pub fn find_new_replica_set<'a>(
    template: &Template,
    sets: &[&'a ReplicaSet],
) -> Option<&'a ReplicaSet> {
    sets.iter()
        .find(|set| set.spec.template.is_equal_to(template))
        .copied()
}

/// Whether it is to have any pods.
pub(super) fn is_active(set: &ReplicaSet) -> bool {
    set.spec.replicas > 0
}

/// Orders by age; ReplicaSets of the same second by name.
pub(super) fn older_first(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    (a.meta.created(), &a.meta.name).cmp(&(b.meta.created(), &b.meta.name))
}

/// The claimed ReplicaSets, told apart, as the snapshot has them.
pub(super) struct Claimed<'a> {
    pub(super) new: Option<&'a ReplicaSet>,
    /// Oldest first.
    pub(super) old: Vec<&'a ReplicaSet>,
}

impl<'a> Claimed<'a> {
    /// The new one is recognised by its template, never by its hash; a younger one with the same template is old.
    pub(super) fn tell_apart(mut sets: Vec<&'a ReplicaSet>, template: &Template) -> Self {
        sets.sort_by(|a, b| older_first(a, b));
        let new = find_new_replica_set(template, &sets);
        if let Some(new) = new {
            sets.retain(|set| !ptr::eq(*set, new));
        }
        Self { new, old: sets }
    }

    /// Old ones, oldest first, then the new one.
    pub(super) fn in_order(self) -> Vec<&'a ReplicaSet> {
        self.old.into_iter().chain(self.new).collect()
    }

    /// Working copies of the old ones.
    pub(super) fn old_copies(&self) -> Vec<WorkingCopy<'a>> {
        self.old.iter().map(|set| WorkingCopy::of(set)).collect()
    }

    fn next_revision(&self) -> i64 {
        max_revision(self.old.iter().copied()).saturating_add(1)
    }
}

impl<'a> Pass<'a> {
    /// The new ReplicaSet, brought up to the Deployment's annotations and minReadySeconds where it is not (section
    /// 7.1). Otherwise the Deployment takes over its revision.
    pub(super) fn get_new_replica_set(
        &mut self,
        claimed: &Claimed<'a>,
    ) -> Result<Option<WorkingCopy<'a>>, SyncError> {
        let Some(set) = claimed.new else {
            return Ok(None);
        };
        let mut new = WorkingCopy::of(set);
        let sync = set_new_replica_set_annotations(
            &self.deployment.meta.annotations,
            &new.meta.annotations,
            claimed.next_revision(),
        );
        let wanted = self.deployment.spec.min_ready_seconds;
        let min_ready_seconds = (new.spec.min_ready_seconds != wanted).then_some(wanted);
        if sync.reported || min_ready_seconds.is_some() {
            let action = Action::UpdateReplicaSet {
                target: new.target(),
                min_ready_seconds,
                annotations: sync.changes.clone(),
            };
            self.recorder.perform(action, Why::FollowDeployment)?;
            new.apply(sync.changes, |spec| spec.min_ready_seconds = wanted);
            return Ok(Some(new));
        }
        new.set_unwritten(sync.changes);
        let revision = set.meta.annotation(keys::REVISION).unwrap_or_default();
        let mut needs_update = self.set_deployment_revision(revision);
        let is_unknown = get_condition(&self.status.conditions, keys::PROGRESSING).is_none();
        if has_progress_deadline(self.deployment) && is_unknown {
            self.set_progressing(
                ConditionStatus::True,
                keys::FOUND_NEW_REPLICA_SET,
                format!("Found new replica set \"{}\"", set.meta.name),
            );
            needs_update = true;
        }
        if needs_update {
            self.update_status(Why::Revision {
                revision: revision.to_owned(),
            })?;
        }
        Ok(Some(new))
    }

    /// The new ReplicaSet, created where there is none.
    pub(super) fn get_or_create_new_replica_set(
        &mut self,
        claimed: &Claimed<'a>,
    ) -> Result<WorkingCopy<'a>, SyncError> {
        match self.get_new_replica_set(claimed)? {
            Some(new) => Ok(new),
            None => self.create_new_replica_set(claimed),
        }
    }

    /// Creates the new ReplicaSet (section 7.4) and goes on with it, or says why that failed (section 7.5).
    pub(super) fn create_new_replica_set(
        &mut self,
        claimed: &Claimed<'a>,
    ) -> Result<WorkingCopy<'a>, SyncError> {
        let revision = claimed.next_revision();
        let total = replica_count(claimed.old.iter().copied());
        let replicas = self.new_rs_new_replicas(total, 0)?;
        let new = self.new_replica_set(replicas, revision);
        let why = Why::NewTemplate {
            revision,
            replicas,
            max_total: self.bounds.max_total(),
        };
        let action = Action::CreateReplicaSet(Box::new(new.clone()));
        let (set, created) = match self.recorder.perform(action, why) {
            Ok(applied) => (WorkingCopy::created(new, applied.uid), true),
            Err(refusal) if refusal.reason == RefusalReason::AlreadyExists => {
                (self.existing_or_collision(&new.key, refusal)?, false)
            }
            Err(refusal) if refusal.reason == RefusalReason::NamespaceTerminating => {
                return Err(refusal.into());
            }
            Err(refusal) => {
                self.tell_create_error(&new.key.name, &refusal);
                return Err(refusal.into());
            }
        };
        let name = &set.meta.name;
        if created && replicas > 0 {
            self.event(
                EventType::Normal,
                "ScalingReplicaSet",
                format!("Scaled up replica set {name} from 0 to {replicas}"),
            );
        }
        let mut needs_update = self.set_deployment_revision(&revision.to_string());
        if created && has_progress_deadline(self.deployment) {
            self.set_progressing(
                ConditionStatus::True,
                keys::NEW_REPLICA_SET_CREATED,
                format!("Created new replica set \"{name}\""),
            );
            needs_update = true;
        }
        if needs_update {
            self.update_status(Why::Revision {
                revision: revision.to_string(),
            })?;
        }
        Ok(set)
    }

    fn new_replica_set(&self, replicas: i32, revision: i64) -> NewReplicaSet {
        let meta = &self.deployment.meta;
        let spec = &self.deployment.spec;
        let hash = spec.template.hash(self.status.collision_count);
        let template = spec.template.with_hash_label(&hash);
        let mut annotations =
            set_new_replica_set_annotations(&meta.annotations, &BTreeMap::new(), revision).changes;
        annotations.extend(self.replicas_annotations());
        NewReplicaSet {
            key: ObjectKey::new(&meta.namespace, replica_set_name(&meta.name, &hash)),
            labels: template.labels(),
            annotations: annotations
                .into_iter()
                .filter_map(|(key, value)| value.map(|value| (key, value)))
                .collect(),
            owner: new_controller_ref(Kind::Deployment, meta),
            replicas,
            min_ready_seconds: spec.min_ready_seconds,
            selector: with_hash_label(spec.selector.as_ref(), hash),
            template,
        }
    }

    /// The name is taken. By our own ReplicaSet of this template: go on with it. By another one: the next pass hashes
    /// anew.
    fn existing_or_collision(
        &mut self,
        key: &ObjectKey,
        refusal: Refusal,
    ) -> Result<WorkingCopy<'a>, SyncError> {
        let snapshot = self.snapshot;
        let Some(existing) = snapshot
            .replica_sets
            .iter()
            .find(|set| set.meta.name == key.name && set.meta.namespace == key.namespace)
        else {
            return Err(SyncError::NotInSnapshot {
                name: key.name.clone(),
            });
        };
        let is_ours = existing
            .meta
            .controller()
            .is_some_and(|owner| owner.uid == self.deployment.meta.uid);
        let template = &self.deployment.spec.template;
        if is_ours && existing.spec.template.is_equal_to(template) {
            return Ok(WorkingCopy::of(existing));
        }
        let collisions = self.status.collision_count.unwrap_or(0);
        self.status.collision_count = Some(collisions.saturating_add(1));
        // Where this is refused, the next pass collides again and counts then.
        let _ = self.update_status(Why::HashCollision);
        Err(refusal.into())
    }

    fn tell_create_error(&mut self, name: &str, refusal: &Refusal) {
        let message = format!("Failed to create new replica set \"{name}\": {refusal}");
        if has_progress_deadline(self.deployment) {
            self.set_progressing(
                ConditionStatus::False,
                keys::REPLICA_SET_CREATE_ERROR,
                message.clone(),
            );
            // The refusal of the creation is the news; the next pass writes the status again.
            let _ = self.update_status(Why::StatusChanged);
        }
        self.event(EventType::Warning, keys::REPLICA_SET_CREATE_ERROR, message);
    }
}

/// `DEPLOYMENT-HASH`, the Deployment's name cut where the whole would be too long.
fn replica_set_name(deployment: &str, hash: &str) -> String {
    let mut end = deployment.len().min(NAME_LIMIT - 1 - hash.len());
    while !deployment.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{hash}", &deployment[..end])
}

/// The Deployment's selector with the hash label added.
fn with_hash_label(selector: Option<&LabelSelector>, hash: String) -> LabelSelector {
    let mut selector = selector.cloned().unwrap_or_default();
    selector
        .match_labels
        .get_or_insert_default()
        .insert(keys::POD_TEMPLATE_HASH.to_owned(), hash);
    selector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_join_deployment_and_hash_within_the_limit() {
        assert_eq!(replica_set_name("web", "56789bcdf4"), "web-56789bcdf4");
        let long = replica_set_name(&"x".repeat(253), "56789bcdf4");
        assert_eq!(long.len(), 253);
        assert!(long.ends_with("x-56789bcdf4"));
    }
}
