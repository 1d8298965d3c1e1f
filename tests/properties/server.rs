//! The world's API server, as far as the controllers' actions go: identity, versions, and what each write does.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubectl_rs::controller::action::{
    Action, AnnotationChanges, Applied, NewPod, NewReplicaSet, Outcome, Refusal, RefusalReason,
    Target,
};
use kubectl_rs::controller::api::{
    Deployment, ObjectMeta, OwnerReference, Phase, Pod, ReplicaSet, ReplicaSetSpec,
    ReplicaSetStatus,
};

use crate::world::World;

type Answer = Result<Applied, RefusalReason>;

/// A refusal for this reason.
pub(crate) fn refused(reason: RefusalReason) -> Outcome {
    Outcome::Refused(Refusal {
        reason,
        message: format!("{reason:?}"),
    })
}

impl World {
    /// Does what an action says, if its object is still there and, for an update, still of the version it relies on.
    pub(crate) fn apply(&mut self, action: &Action) -> Outcome {
        let answer = match action {
            Action::CreateReplicaSet(new) => self.create_replica_set(new),
            Action::ScaleReplicaSet {
                target,
                to,
                annotations,
                ..
            } => self.update_set(target, Some(*to), None, annotations),
            Action::UpdateReplicaSet {
                target,
                min_ready_seconds,
                annotations,
            } => self.update_set(target, None, *min_ready_seconds, annotations),
            Action::UpdateReplicaSetStatus {
                target,
                status,
                reread,
            } => self.update_set_status(target, status, *reread),
            Action::DeleteReplicaSet { target } => self.delete_set(target),
            Action::AdoptReplicaSet { target, owner } => {
                self.set(target).map(|set| own(&mut set.meta, Some(owner)))
            }
            Action::ReleaseReplicaSet { target, .. } => {
                self.set(target).map(|set| own(&mut set.meta, None))
            }
            Action::UpdateDeployment {
                target,
                annotations,
                ..
            } => self
                .deployment(target)
                .map(|deployment| annotate(&mut deployment.meta, annotations)),
            Action::UpdateDeploymentStatus {
                target,
                status,
                annotations,
            } => self.deployment(target).map(|deployment| {
                deployment.status = (**status).clone();
                annotate(&mut deployment.meta, annotations)
            }),
            Action::CreatePod { pod, .. } => Ok(self.create_pod(pod)),
            Action::DeletePod { target } => self.delete_pod(target),
            Action::AdoptPod { target, owner } => {
                self.pod(target).map(|pod| own(&mut pod.meta, Some(owner)))
            }
            Action::ReleasePod { target, .. } => {
                self.pod(target).map(|pod| own(&mut pod.meta, None))
            }
            Action::RecordEvent { .. } => Ok(Applied::default()),
            Action::Collect { .. }
            | Action::Disown { .. }
            | Action::Unblock { .. }
            | Action::RemoveFinalizer { .. } => {
                panic!("no controller does this: {action:?}")
            }
        };
        answer.map_or_else(refused, Outcome::Applied)
    }

    fn create_replica_set(&mut self, new: &NewReplicaSet) -> Answer {
        if self.replica_sets.contains_key(&new.key.name) {
            return Err(RefusalReason::AlreadyExists);
        }
        let set = ReplicaSet {
            meta: ObjectMeta {
                labels: new.labels.clone().into(),
                annotations: new.annotations.clone().into(),
                owner_references: vec![new.owner.clone()].into(),
                ..self.new_meta(new.key.name.clone())
            },
            spec: ReplicaSetSpec {
                replicas: new.replicas,
                min_ready_seconds: new.min_ready_seconds,
                selector: Some(new.selector.clone()),
                template: new.template.clone(),
            },
            status: ReplicaSetStatus::default(),
        };
        let applied = applied(&set.meta);
        self.replica_sets
            .insert(new.key.name.clone(), Arc::new(set));
        Ok(applied)
    }

    fn update_set(
        &mut self,
        target: &Target,
        replicas: Option<i32>,
        min_ready_seconds: Option<i32>,
        annotations: &AnnotationChanges,
    ) -> Answer {
        self.check_set_version(target)?;
        let set = self.set(target)?;
        let before = set.spec.clone();
        set.spec.replicas = replicas.unwrap_or(before.replicas);
        set.spec.min_ready_seconds = min_ready_seconds.unwrap_or(before.min_ready_seconds);
        set.meta.generation += i64::from(set.spec != before);
        Ok(annotate(&mut set.meta, annotations))
    }

    fn update_set_status(
        &mut self,
        target: &Target,
        status: &ReplicaSetStatus,
        reread: bool,
    ) -> Answer {
        if !reread {
            self.check_set_version(target)?;
        }
        let set = self.set(target)?;
        set.status = status.clone();
        Ok(applied(&set.meta))
    }

    /// The pods go with it: a cluster collects them.
    fn delete_set(&mut self, target: &Target) -> Answer {
        let uid = self.set(target)?.meta.uid.clone();
        self.replica_sets.remove(&target.key.name);
        self.remove_pods(|pod| pod.meta.controller().is_some_and(|owner| owner.uid == uid));
        Ok(Applied::default())
    }

    fn create_pod(&mut self, new: &NewPod) -> Applied {
        let name = format!("{}{}", new.generate_name, self.next());
        let pod = Pod {
            meta: ObjectMeta {
                labels: new.labels.clone().into(),
                annotations: new.annotations.clone().into(),
                owner_references: vec![new.owner.clone()].into(),
                ..self.new_meta(name.clone())
            },
            phase: Phase::Pending,
            ..Pod::default()
        };
        let applied = applied(&pod.meta);
        self.pods.insert(name, Arc::new(pod));
        applied
    }

    /// A pod goes slowly: it stays, terminating, until something removes it.
    fn delete_pod(&mut self, target: &Target) -> Answer {
        let now = Time(self.now);
        let pod = self.pod(target)?;
        pod.meta.deletion_timestamp.get_or_insert(now);
        Ok(applied(&pod.meta))
    }

    fn check_set_version(&self, target: &Target) -> Result<(), RefusalReason> {
        match self.replica_sets.get(&target.key.name) {
            Some(set) if set.meta.resource_version != target.resource_version => {
                Err(RefusalReason::Conflict)
            }
            _ => Ok(()),
        }
    }

    /// The ReplicaSet to write to, with its new version.
    fn set(&mut self, target: &Target) -> Result<&mut ReplicaSet, RefusalReason> {
        let version = self.next();
        let set = self.replica_sets.get_mut(&target.key.name);
        let set = set.filter(|set| set.meta.uid == target.uid);
        let set = Arc::make_mut(set.ok_or(RefusalReason::NotFound)?);
        set.meta.resource_version = version;
        Ok(set)
    }

    /// The pod to write to, with its new version.
    fn pod(&mut self, target: &Target) -> Result<&mut Pod, RefusalReason> {
        let version = self.next();
        let pod = self.pods.get_mut(&target.key.name);
        let pod = pod.filter(|pod| pod.meta.uid == target.uid);
        let pod = Arc::make_mut(pod.ok_or(RefusalReason::NotFound)?);
        pod.meta.resource_version = version;
        Ok(pod)
    }

    /// The Deployment to write to, with its new version.
    fn deployment(&mut self, target: &Target) -> Result<&mut Deployment, RefusalReason> {
        if self.deployment.meta.resource_version != target.resource_version {
            return Err(RefusalReason::Conflict);
        }
        let version = self.next();
        let deployment = Arc::make_mut(&mut self.deployment);
        deployment.meta.resource_version = version;
        Ok(deployment)
    }
}

fn applied(meta: &ObjectMeta) -> Applied {
    Applied {
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        resource_version: meta.resource_version.clone(),
    }
}

fn annotate(meta: &mut ObjectMeta, changes: &AnnotationChanges) -> Applied {
    for (key, value) in changes {
        match value {
            Some(value) => meta.annotations.insert(key.clone(), value.clone()),
            None => meta.annotations.remove(key),
        };
    }
    applied(meta)
}

/// Sets the controller, or takes it away.
fn own(meta: &mut ObjectMeta, owner: Option<&OwnerReference>) -> Applied {
    meta.owner_references = owner.into_iter().cloned().collect();
    applied(meta)
}
