//! A ReplicaSet that a pass changes while it plans.

use std::borrow::Cow;
use std::ops::Deref;

use crate::controller::action::{AnnotationChanges, Kind, NewReplicaSet, Target};
use crate::controller::api::{ObjectMeta, ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};

/// A ReplicaSet as a pass sees it: as in the snapshot until a step changes it.
#[derive(Clone, Debug)]
pub(super) struct WorkingCopy<'a> {
    object: Cow<'a, ReplicaSet>,
    /// Changes to annotations that no write has carried yet; the next one does.
    unwritten: AnnotationChanges,
}

impl<'a> WorkingCopy<'a> {
    /// The ReplicaSet as the snapshot has it.
    pub(super) fn of(set: &'a ReplicaSet) -> Self {
        Self {
            object: Cow::Borrowed(set),
            unwritten: AnnotationChanges::new(),
        }
    }

    /// What the server has after a creation.
    pub(super) fn created(new: NewReplicaSet, uid: String) -> Self {
        let meta = ObjectMeta {
            namespace: new.key.namespace.into(),
            name: new.key.name,
            uid,
            labels: new.labels.into(),
            annotations: new.annotations.into(),
            owner_references: vec![new.owner].into(),
            ..ObjectMeta::default()
        };
        let spec = ReplicaSetSpec {
            replicas: new.replicas,
            min_ready_seconds: new.min_ready_seconds,
            selector: Some(new.selector),
            template: new.template,
        };
        Self {
            object: Cow::Owned(ReplicaSet {
                meta,
                spec,
                status: ReplicaSetStatus::default(),
            }),
            unwritten: AnnotationChanges::new(),
        }
    }

    /// Notes changes to annotations that are not worth a write of their own.
    pub(super) fn set_unwritten(&mut self, changes: AnnotationChanges) {
        self.unwritten = changes;
    }

    pub(super) fn target(&self) -> Target {
        Target::new(Kind::ReplicaSet, &self.meta)
    }

    /// Changes still to be written, together with `further` ones.
    pub(super) fn changes(&self, further: AnnotationChanges) -> AnnotationChanges {
        let mut changes = self.unwritten.clone();
        changes.extend(further);
        changes
    }

    /// Makes the copy what the server has after a write that changed its annotations and more.
    pub(super) fn apply(
        &mut self,
        annotations: AnnotationChanges,
        change: impl FnOnce(&mut ReplicaSetSpec),
    ) {
        let object = self.object.to_mut();
        change(&mut object.spec);
        self.unwritten.clear();
        for (key, value) in annotations {
            match value {
                Some(value) => object.meta.annotations.insert(key, value),
                None => object.meta.annotations.remove(&key),
            };
        }
    }
}

impl Deref for WorkingCopy<'_> {
    type Target = ReplicaSet;

    fn deref(&self) -> &ReplicaSet {
        &self.object
    }
}
