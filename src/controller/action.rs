//! What a controller wants written: typed, complete, with the reason for each.
//!
//! An action holds everything that its API call needs, so the executor decides nothing: it sends, and reports an
//! [`Outcome`] back. Actions are the only product of the reconcile functions; dry-run, `--step`, the forecast, the
//! progress view and the executor all read the same list.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::Serialize;
use serde_json::Value;

use super::api::{DeploymentStatus, ObjectKey, ObjectMeta, OwnerReference, ReplicaSetStatus};
use super::garbage::Propagation;
use super::template::Template;
use super::why::Why;

pub use super::outcome::{Applied, Outcome, Refusal, RefusalReason};

/// The kinds that the controllers write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Kind {
    /// `apps/v1` Deployment.
    Deployment,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `v1` Pod.
    Pod,
}

impl Kind {
    /// The word that names the kind on kubectl's command line: `deployment`, `replicaset`, `pod`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deployment => "deployment",
            Self::ReplicaSet => "replicaset",
            Self::Pod => "pod",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::Pod => "Pod",
        })
    }
}

/// An object that an action is about, with the precondition the action relies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Its kind.
    pub kind: Kind,
    /// Namespace and name.
    #[serde(flatten)]
    pub key: ObjectKey,
    /// Its UID: an object of the same name that was made anew is another one.
    pub uid: String,
    /// The version that was read. Writes made by the same pass raise it; the executor carries that forward.
    pub resource_version: String,
}

impl Target {
    /// The target that `meta` describes.
    pub fn new(kind: Kind, meta: &ObjectMeta) -> Self {
        Self {
            kind,
            key: meta.key(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        }
    }
}

/// Annotations to set (`Some`) and to remove (`None`); all others stay.
pub type AnnotationChanges = BTreeMap<String, Option<String>>;

/// A ReplicaSet to create (deployment-controller section 7.4).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewReplicaSet {
    /// Namespace and name.
    #[serde(flatten)]
    pub key: ObjectKey,
    /// Template labels plus the hash label.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// The Deployment.
    pub owner: OwnerReference,
    /// `spec.replicas`.
    pub replicas: i32,
    /// `spec.minReadySeconds`.
    pub min_ready_seconds: i32,
    /// The Deployment's selector plus the hash label.
    pub selector: LabelSelector,
    /// The Deployment's template plus the hash label.
    pub template: Template,
}

/// A pod to create (replicaset-controller section 8). All pods of one pass share it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewPod {
    /// The namespace.
    pub namespace: String,
    /// The prefix that the server completes to a name.
    pub generate_name: String,
    /// Template labels.
    pub labels: BTreeMap<String, String>,
    /// Template annotations.
    pub annotations: BTreeMap<String, String>,
    /// Template finalizers.
    pub finalizers: Vec<String>,
    /// The ReplicaSet.
    pub owner: OwnerReference,
    /// Template spec, verbatim.
    pub spec: Value,
}

/// `Normal` or `Warning`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum EventType {
    /// Nothing to worry about.
    Normal,
    /// Something went wrong.
    Warning,
}

/// One write, in full.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "verb",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    /// Create a ReplicaSet.
    CreateReplicaSet(Box<NewReplicaSet>),
    /// Change a ReplicaSet's size (and the annotations that go with it).
    ScaleReplicaSet {
        /// Which.
        target: Target,
        /// `spec.replicas` before.
        from: i32,
        /// `spec.replicas` after; may equal `from` when only annotations are refreshed.
        to: i32,
        /// desired-replicas and max-replicas.
        annotations: AnnotationChanges,
    },
    /// Bring a ReplicaSet's annotations and minReadySeconds up to its Deployment's.
    UpdateReplicaSet {
        /// Which.
        target: Target,
        /// `spec.minReadySeconds`, when it changes.
        min_ready_seconds: Option<i32>,
        /// Changes to annotations.
        annotations: AnnotationChanges,
    },
    /// Delete a ReplicaSet.
    DeleteReplicaSet {
        /// Which.
        target: Target,
    },
    /// Make an orphaned ReplicaSet ours.
    AdoptReplicaSet {
        /// Which.
        target: Target,
        /// The reference to add.
        owner: OwnerReference,
    },
    /// Give up a ReplicaSet that the selector no longer matches.
    ReleaseReplicaSet {
        /// Which.
        target: Target,
        /// UID of the reference to remove.
        owner_uid: String,
    },
    /// Write a Deployment itself (only the server-side rollback does).
    UpdateDeployment {
        /// Which.
        target: Target,
        /// The new template, when it changes.
        template: Option<Template>,
        /// Changes to annotations.
        annotations: AnnotationChanges,
    },
    /// Write a Deployment's status; annotations travel with it (deployment-controller section 2).
    UpdateDeploymentStatus {
        /// Which.
        target: Target,
        /// The status, whole.
        status: Box<DeploymentStatus>,
        /// Changes to annotations.
        annotations: AnnotationChanges,
    },
    /// Create a pod.
    CreatePod {
        /// The ReplicaSet it is for.
        replica_set: Target,
        /// The pod.
        pod: Arc<NewPod>,
    },
    /// Delete a pod.
    DeletePod {
        /// Which.
        target: Target,
    },
    /// Make an orphaned pod ours.
    AdoptPod {
        /// Which.
        target: Target,
        /// The reference to add.
        owner: OwnerReference,
    },
    /// Give up a pod that the selector no longer matches.
    ReleasePod {
        /// Which.
        target: Target,
        /// UID of the reference to remove.
        owner_uid: String,
    },
    /// Write a ReplicaSet's status.
    UpdateReplicaSetStatus {
        /// Which.
        target: Target,
        /// The status, whole.
        status: Box<ReplicaSetStatus>,
        /// Whether to read the ReplicaSet afresh and write over the version found, instead of `target`'s: so the one
        /// retry of a refused write does (replicaset-controller section 10.3). A failed read is the step's answer.
        reread: bool,
    },
    /// Delete an object whose owners are gone or going.
    Collect {
        /// Which.
        target: Target,
        /// What becomes of its own dependents.
        propagation: Propagation,
    },
    /// Take an owner out of an object's references.
    Disown {
        /// Which.
        target: Target,
        /// UID of the reference to remove.
        owner_uid: String,
    },
    /// Have owners wait for an object no longer.
    Unblock {
        /// Which.
        target: Target,
        /// UIDs of the references that block.
        owner_uids: Vec<String>,
    },
    /// Take away the finalizer by which an object waits for the garbage collector.
    RemoveFinalizer {
        /// Which.
        target: Target,
        /// The finalizer.
        finalizer: &'static str,
        /// Those that stay.
        remaining: Vec<String>,
    },
    /// Record an event. Its failure never matters.
    RecordEvent {
        /// The object it is about.
        regarding: Target,
        /// Its type.
        #[serde(rename = "type")]
        type_: EventType,
        /// Its reason.
        reason: &'static str,
        /// Its message.
        message: String,
    },
}

/// The actions that change an object which is there, as a pattern: one list for `target` and `target_mut`.
macro_rules! targeted {
    ($target:ident) => {
        Action::ScaleReplicaSet {
            target: $target,
            ..
        } | Action::UpdateReplicaSet {
            target: $target,
            ..
        } | Action::DeleteReplicaSet {
            target: $target,
            ..
        } | Action::AdoptReplicaSet {
            target: $target,
            ..
        } | Action::ReleaseReplicaSet {
            target: $target,
            ..
        } | Action::UpdateDeployment {
            target: $target,
            ..
        } | Action::UpdateDeploymentStatus {
            target: $target,
            ..
        } | Action::DeletePod {
            target: $target,
            ..
        } | Action::AdoptPod {
            target: $target,
            ..
        } | Action::ReleasePod {
            target: $target,
            ..
        } | Action::UpdateReplicaSetStatus {
            target: $target,
            ..
        } | Action::Collect {
            target: $target,
            ..
        } | Action::Disown {
            target: $target,
            ..
        } | Action::Unblock {
            target: $target,
            ..
        } | Action::RemoveFinalizer {
            target: $target,
            ..
        }
    };
}

impl Action {
    /// Whether this is an event rather than a write that decides something.
    pub fn is_event(&self) -> bool {
        matches!(self, Self::RecordEvent { .. })
    }

    /// The object it changes; `None` for creates and events.
    pub fn target(&self) -> Option<&Target> {
        match self {
            targeted!(target) => Some(target),
            Self::CreateReplicaSet(_) | Self::CreatePod { .. } | Self::RecordEvent { .. } => None,
        }
    }

    /// The same, to bring its precondition up to date.
    pub fn target_mut(&mut self) -> Option<&mut Target> {
        match self {
            targeted!(target) => Some(target),
            Self::CreateReplicaSet(_) | Self::CreatePod { .. } | Self::RecordEvent { .. } => None,
        }
    }

    /// The kind of object it writes; for an event, of the object it is about.
    pub fn kind(&self) -> Kind {
        match self {
            Self::CreateReplicaSet(_) => Kind::ReplicaSet,
            Self::CreatePod { .. } => Kind::Pod,
            Self::RecordEvent { regarding, .. } => regarding.kind,
            _ => self.target().map_or(Kind::Pod, |target| target.kind),
        }
    }

    /// Whether it only keeps the books (status, annotations, events) rather than changing what runs.
    pub fn is_bookkeeping(&self) -> bool {
        match self {
            Self::UpdateReplicaSet { .. }
            | Self::UpdateDeploymentStatus { .. }
            | Self::UpdateReplicaSetStatus { .. }
            | Self::RecordEvent { .. } => true,
            Self::ScaleReplicaSet { from, to, .. } => from == to,
            _ => false,
        }
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// What to write.
    pub action: Action,
    /// Why, with the numbers behind it.
    pub why: Why,
    /// Steps with the same number may be sent at once; the next number starts when all of them were answered.
    pub batch: u32,
}
