//! The causes that a diagnosis can name: stable words for scripts, each with its meaning and the step to take.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:literal, $next:literal;)+) => {
        /// What is the matter. The words are part of the interface: they are only added to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word for scripts.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The step to take, in general; empty where there is nothing to do.
            pub fn next_step(self) -> &'static str {
                match self {
                    $(Self::$variant => $next,)+
                }
            }
        }
    };
}

codes! {
    /// The image's name can't be read.
    ImageNameInvalid, "imageNameInvalid", "correct the image's name in the template";
    /// The image is not on the node and must not be pulled.
    ImageNeverPull, "imageNeverPull", "load the image on the node, or set another imagePullPolicy";
    /// The registry has no such image.
    ImageNotFound, "imageNotFound", "push the image, or set one that exists";
    /// The registry wants other credentials, or has no such image.
    ImageUnauthorized, "imageUnauthorized", "check the image's name and the pull Secret (imagePullSecrets)";
    /// The registry limits how often images are pulled.
    RegistryRateLimit, "registryRateLimit", "wait, pull with an account, or use a mirror";
    /// The registry, or the way to it, does not work.
    RegistryUnreachable, "registryUnreachable", "check the registry and the node's way to it";
    /// The node does not trust the registry's certificate.
    RegistryCertificate, "registryCertificate", "have the node trust the registry's certificate authority";
    /// The image is not built for the node's architecture.
    ImagePlatform, "imagePlatform", "build the image for the node's architecture, or choose nodes of another";
    /// The node's disk is full.
    NodeDiskFull, "nodeDiskFull", "free disk space on the node";
    /// The image's signature is not accepted.
    ImageSignature, "imageSignature", "sign the image, or set one that is signed";
    /// The image can't be pulled, for a reason that is not known here.
    ImagePull, "imagePull", "check the registry's answer";
    /// The node could not look at its own images.
    ImageInspect, "imageInspect", "";
    /// A ConfigMap, a Secret or a key of one is missing.
    ConfigMissing, "configMissing", "create what is missing; the pod goes on by itself within about 15 s";
    /// The kubelet has not read the configuration yet.
    ConfigNotReady, "configNotReady", "";
    /// The image would run as root, and the template forbids that.
    RunAsNonRoot, "runAsNonRoot", "set runAsUser to a number other than 0, or build the image with a numeric user";
    /// A subPath can't be prepared.
    SubPath, "subPath", "check the volume's contents and the subPath";
    /// The runtime refuses to create the container.
    ContainerCreate, "containerCreate", "check the runtime's answer and the node";
    /// The container can't be started.
    ContainerStart, "containerStart", "check the command and the image's contents";
    /// The container ends again and again.
    CrashLoop, "crashLoop", "read its log: kubectl logs --previous";
    /// The command ends by itself; a Deployment's containers are to go on.
    CommandEnds, "commandEnds", "run a command that goes on, or use a Job";
    /// The container uses more memory than its limit.
    OutOfMemory, "outOfMemory", "raise the memory limit, or have the application use less";
    /// The liveness probe has the container killed.
    LivenessProbe, "livenessProbe", "check the probe's target, and its times against how long the application takes";
    /// The startup probe has the container killed, or has not passed yet.
    StartupProbe, "startupProbe", "check the probe's target, and its times against how long the application takes";
    /// The readiness probe fails.
    ReadinessProbe, "readinessProbe", "check the probe's target and the application's log";
    /// The postStart hook fails.
    PostStartHook, "postStartHook", "check the hook's command";
    /// An init container runs on.
    InitWaiting, "initWaiting", "read its log: it waits for something";
    /// A readiness gate is not set.
    ReadinessGate, "readinessGate", "look at the controller that sets the gate";
    /// Ready, but not for long enough to count.
    MinReadySeconds, "minReadySeconds", "";
    /// Starting, and nothing says that anything is wrong.
    Starting, "starting", "";
    /// No node takes the pod.
    Unschedulable, "unschedulable", "add room or nodes, or change what the pod asks for";
    /// The cluster has no node.
    NoNodes, "noNodes", "add a node";
    /// The pod is not to be scheduled yet.
    SchedulingGate, "schedulingGate", "look at the controller that removes the gate";
    /// No scheduler looks at the pod.
    NoScheduler, "noScheduler", "check that the pod's scheduler runs";
    /// A claim is missing, unbound, or bound to what is gone.
    VolumeClaim, "volumeClaim", "look at the claim's events";
    /// A volume can't be mounted.
    VolumeMount, "volumeMount", "check the volume's source";
    /// A volume can't be attached.
    VolumeAttach, "volumeAttach", "check the volume and the node's attachments";
    /// A volume is attached to another node, whose pod has it.
    MultiAttach, "multiAttach", "use strategy Recreate or maxUnavailable of at least 1, or a volume that several nodes may have";
    /// The pod's sandbox or network can't be made.
    PodSandbox, "podSandbox", "check the node's runtime and network plug-in";
    /// The node does not answer.
    NodeUnreachable, "nodeUnreachable", "check the node; its pods are replaced elsewhere after their toleration";
    /// Evicted; a replacement is made.
    Evicted, "evicted", "if it happens again: check requests and limits against the node's resources";
    /// Made room for a pod of higher priority; a replacement is made.
    Preempted, "preempted", "if it happens again: add room, or raise the pod's priority";
    /// The node shut down; a replacement is made.
    NodeShutdown, "nodeShutdown", "";
    /// The kubelet refuses the pod.
    PodRejected, "podRejected", "change what the template asks for, then delete the failed pods";
    /// Ended for another reason; a replacement is made.
    PodFailed, "podFailed", "";
    /// Being deleted, within its grace period.
    Terminating, "terminating", "";
    /// Deleted, and still there.
    StuckTerminating, "stuckTerminating", "check the node's kubelet and runtime";
    /// Deleted, and held by finalizers.
    Finalizers, "finalizers", "look at the controllers that own the finalizers";
    /// A quota is used up.
    QuotaExceeded, "quotaExceeded", "raise the quota, or free some of it";
    /// A quota wants requests or limits that the template does not state.
    QuotaNeedsRequests, "quotaNeedsRequests", "state the requests and limits, or give the namespace defaults (LimitRange)";
    /// A LimitRange forbids what the template states.
    LimitRange, "limitRange", "change requests and limits to what the LimitRange allows";
    /// Pod Security admission forbids the template.
    PodSecurity, "podSecurity", "change the template's securityContext, or the namespace's level";
    /// An admission policy forbids the template.
    AdmissionPolicy, "admissionPolicy", "change the template to what the policy wants";
    /// A webhook denies the pods.
    WebhookDenied, "webhookDenied", "change the template to what the webhook wants, or ask its owner";
    /// A webhook that must be asked can't be.
    WebhookUnreachable, "webhookUnreachable", "get the webhook to work; the controller tries again by itself";
    /// The controller lacks a right.
    Forbidden, "forbidden", "give the controller the right";
    /// The service account is missing.
    ServiceAccountMissing, "serviceAccountMissing", "create the service account";
    /// The priority class is missing.
    PriorityClassMissing, "priorityClassMissing", "create the priority class, or name another";
    /// The runtime class is missing.
    RuntimeClassMissing, "runtimeClassMissing", "create the runtime class, or name another";
    /// The template makes pods that are not valid.
    PodInvalid, "podInvalid", "correct the template";
    /// The namespace is being deleted.
    NamespaceTerminating, "namespaceTerminating", "use another namespace";
    /// Creating is refused, for a reason that is not known here.
    CreateRefused, "createRefused", "check the server's answer";
    /// No progress within the deadline.
    DeadlineExceeded, "deadlineExceeded", "";
    /// The rollout is paused.
    Paused, "paused", "kubectl rs rollout resume";
    /// Neither side of a rolling update may move.
    BlockedByBounds, "blockedByBounds", "";
    /// The controller has not seen the newest change.
    NotObserved, "notObserved", "";
    /// No controller acts.
    ControllerMissing, "controllerMissing", "act from here: kubectl rs sync --controller=client --wait";
    /// Old pods are in trouble, too.
    OldPodsUnhealthy, "oldPodsUnhealthy", "look for a cause outside the new version";
    /// Another Deployment selects the same pods.
    SelectorOverlap, "selectorOverlap", "give the Deployments different labels";
    /// ReplicaSets without an owner match the selector.
    Orphans, "orphans", "";
    /// An autoscaler sets the number of pods.
    Autoscaled, "autoscaled", "";
    /// A quota leaves less room than the rollout may want.
    QuotaHeadroom, "quotaHeadroom", "raise the quota, or lower maxSurge";
    /// The Deployment has no progress deadline.
    NoDeadline, "noDeadline", "";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
