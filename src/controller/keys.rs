//! Label and annotation keys, condition types and reasons: the strings that make up the observable contract.

/// The revision number, on ReplicaSets and on their Deployment.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// Revision numbers that a ReplicaSet had before, comma-separated.
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's `spec.replicas` when the ReplicaSet was last sized.
pub const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// `spec.replicas` plus surge when the ReplicaSet was last sized.
pub const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// Asks the controller to roll back.
pub const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
/// kubectl's record of the last client-side apply.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Why a revision was made, in its author's words.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";
/// Set on the template by `rollout restart`.
pub const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";
/// Keeps the pods of one Deployment's ReplicaSets apart.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";
/// Orders pods for deletion.
pub const POD_DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Finalizer: the object goes when its dependents are gone.
pub const FOREGROUND_DELETION: &str = "foregroundDeletion";
/// Finalizer: the object goes when its dependents are nobody's.
pub const ORPHAN: &str = "orphan";

/// Condition: the rollout moves, or did.
pub const PROGRESSING: &str = "Progressing";
/// Condition: enough pods are available.
pub const AVAILABLE: &str = "Available";
/// Condition: pods can't be created or deleted.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Strategy: replace pods gradually.
pub const ROLLING_UPDATE: &str = "RollingUpdate";
/// Strategy: take all pods down first.
pub const RECREATE: &str = "Recreate";

/// Reason: a new ReplicaSet was created.
pub const NEW_REPLICA_SET_CREATED: &str = "NewReplicaSetCreated";
/// Reason: the template's ReplicaSet was there already.
pub const FOUND_NEW_REPLICA_SET: &str = "FoundNewReplicaSet";
/// Reason: pods of the new template came up, or old ones went.
pub const REPLICA_SET_UPDATED: &str = "ReplicaSetUpdated";
/// Reason: the rollout is complete.
pub const NEW_REPLICA_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
/// Reason: the new ReplicaSet could not be created.
pub const REPLICA_SET_CREATE_ERROR: &str = "ReplicaSetCreateError";
/// Reason: no progress within the deadline.
pub const PROGRESS_DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
/// Reason: paused.
pub const DEPLOYMENT_PAUSED: &str = "DeploymentPaused";
/// Reason: resumed.
pub const DEPLOYMENT_RESUMED: &str = "DeploymentResumed";
/// Reason: enough pods are available.
pub const MINIMUM_REPLICAS_AVAILABLE: &str = "MinimumReplicasAvailable";
/// Reason: too few pods are available.
pub const MINIMUM_REPLICAS_UNAVAILABLE: &str = "MinimumReplicasUnavailable";
