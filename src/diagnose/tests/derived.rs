//! States that were not recorded: what the specification says is written in them (failure-states), and trial inputs from
//! public reports. Class and phase are the specification's; a budget that is not used up fails nothing.

use serde_json::json;

use super::super::Class::{self, Note, TerminalAfterBudget, TerminalNow, Transient, Waiting};
use super::super::Code;
use super::rules::{event, pod, rolling, waiting, world};
use super::world::{World, told};

/// Phase, code and class.
type Verdict = (&'static str, Code, Class);

fn of(world: &World) -> (&'static str, Code, Class) {
    let diagnosis = world.diagnosis();
    let first = diagnosis.findings.first();
    let first = first.unwrap_or_else(|| panic!("no cause: {:?}", diagnosis.verdict));
    (diagnosis.verdict.phase.name(), first.code, first.class)
}

/// Builds a state from each text, and compares.
fn check(build: impl Fn(&str, &str) -> World, cases: &[(&str, &str, Verdict)]) {
    for (reason, text, expected) in cases {
        let world = build(reason, text);
        assert_eq!(
            of(&world),
            *expected,
            "{reason} {text}\n{}",
            told(&world.diagnosis())
        );
    }
}

fn waits(reason: &str, text: &str) -> World {
    let mut world = world();
    world.pods.push(pod("web-1-a", &waiting(reason, text)));
    world
}

/// A pod whose containers can't begin, with an event that says why.
fn cannot_begin(reason: &str, text: &str) -> World {
    let mut world = waits("ContainerCreating", "");
    world.events = vec![event("Pod", "web-1-a", reason, text, 3)];
    world
}

fn refused(reason: &str, text: &str) -> World {
    let mut world = world();
    world.set["status"] = json!({"replicas": 0, "observedGeneration": 1, "conditions": [
        {"type": "ReplicaFailure", "status": "True", "reason": reason,
         "lastTransitionTime": "2026-11-29T16:39:00Z", "message": text}]});
    world
}

fn rejected(reason: &str, text: &str) -> World {
    let mut world = world();
    let message = format!("Pod was rejected: {text}");
    world.pods.push(json!({"metadata": {"name": "web-1-a"},
        "status": {"phase": "Failed", "reason": reason, "message": message}}));
    world
}

fn unschedulable(_: &str, text: &str) -> World {
    let mut world = world();
    world.pods.push(json!({"metadata": {"name": "web-1-a"}, "spec": {}, "status": {"phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}]}}));
    world
}

/// Section 2. The third pull has failed a minute after the pod got its node.
#[test]
fn pulls() {
    let bounded = |code| ("progressing", code, TerminalAfterBudget);
    check(
        waits,
        &[
            (
                "ErrImagePull",
                "failed to do request: Head \"https://reg.example.com/v2/web/manifests/2\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
                ("waiting", Code::RegistryCertificate, Waiting),
            ),
            (
                "ErrImagePull",
                "rpc error: code = NotFound desc = failed to pull and unpack image: no match for platform in manifest: not found",
                ("failed", Code::ImagePlatform, TerminalNow),
            ),
            (
                "ErrImagePull",
                "failed to copy: write /var/lib/containerd/io.containerd.content.v1.content/ingest/1/data: no space left on device",
                bounded(Code::NodeDiskFull),
            ),
            (
                "ErrImagePull",
                "manifest for reg.example.com/web:2 not found: manifest unknown: manifest unknown",
                ("failed", Code::ImageNotFound, TerminalNow),
            ),
            (
                "ImagePullBackOff",
                "Back-off pulling image \"reg.example.com/web:2\": ErrImagePull: unexpected status from HEAD request: 403 Forbidden",
                ("failed", Code::ImageUnauthorized, TerminalNow),
            ),
            (
                "ErrImagePull",
                "pull access denied, repository does not exist or may require authorization",
                ("failed", Code::ImageUnauthorized, TerminalNow),
            ),
            (
                "ErrImagePull",
                "toomanyrequests: You have reached your pull rate limit",
                bounded(Code::RegistryRateLimit),
            ),
            (
                "ErrImagePull",
                "dial tcp: lookup reg.example.com: no such host",
                bounded(Code::RegistryUnreachable),
            ),
            (
                "ErrImagePull",
                "net/http: TLS handshake timeout",
                bounded(Code::RegistryUnreachable),
            ),
            (
                "ErrImagePull",
                "rpc error: code = Unavailable desc = RegistryUnavailable: away",
                bounded(Code::RegistryUnreachable),
            ),
            (
                "ErrImagePull",
                "rpc error: code = Unknown desc = something new",
                bounded(Code::ImagePull),
            ),
            (
                "ImageInspectError",
                "Failed to inspect image \"sha256:1\": timeout",
                ("progressing", Code::ImageInspect, Transient),
            ),
        ],
    );
}

/// Section 3.
#[test]
fn configuration_creation_and_start() {
    let create = ("progressing", Code::ContainerCreate, TerminalAfterBudget);
    let not_ready = ("progressing", Code::ConfigNotReady, Transient);
    let sub_path = ("progressing", Code::SubPath, TerminalAfterBudget);
    check(
        waits,
        &[
            (
                "CreateContainerConfigError",
                "failed to sync secret cache: timed out waiting for the condition",
                not_ready,
            ),
            (
                "CreateContainerConfigError",
                "object \"shop\"/\"conf\" not registered",
                not_ready,
            ),
            (
                "CreateContainerConfigError",
                "services have not yet been read at least once, cannot construct envvars",
                not_ready,
            ),
            (
                "CreateContainerConfigError",
                "failed to prepare subPath for volumeMount \"v\" of container \"web\"",
                sub_path,
            ),
            (
                "CreateContainerConfigError",
                "failed to create subPath directory for volumeMount \"v\" of container \"web\"",
                sub_path,
            ),
            ("CreateContainerError", "context deadline exceeded", create),
            ("PreCreateHookError", "device plug-in away", create),
            ("PreStartHookError", "device plug-in away", create),
            (
                "RunContainerError",
                "failed to create shim task: context deadline exceeded",
                ("progressing", Code::ContainerStart, TerminalAfterBudget),
            ),
        ],
    );
}

/// Section 10.
#[test]
fn volumes_and_sandboxes() {
    let sandbox = ("progressing", Code::PodSandbox, TerminalAfterBudget);
    let mount = ("progressing", Code::VolumeMount, TerminalAfterBudget);
    let attach = ("progressing", Code::VolumeAttach, TerminalAfterBudget);
    let multi = ("waiting", Code::MultiAttach, Waiting);
    let missing = ("waiting", Code::ConfigMissing, Waiting);
    check(
        cannot_begin,
        &[
            (
                "FailedMount",
                "MountVolume.SetUp failed for volume \"v\" : secret \"absent\" not found",
                missing,
            ),
            (
                "FailedMount",
                "MountVolume.SetUp failed for volume \"kube-api-access-x\" : configmap \"kube-root-ca.crt\" not found",
                missing,
            ),
            (
                "FailedMount",
                "MountVolume.SetUp failed for volume \"v\" : hostPath type check failed: /data is not a directory",
                mount,
            ),
            (
                "FailedMount",
                "MountVolume.WaitForAttach failed for volume \"v\" : timeout",
                mount,
            ),
            (
                "FailedMapVolume",
                "MapVolume.SetUpDevice failed for volume \"v\" : busy",
                mount,
            ),
            (
                "FailedAttachVolume",
                "AttachVolume.Attach failed for volume \"pv-1\" : rpc error: code = DeadlineExceeded",
                attach,
            ),
            (
                "FailedAttachVolume",
                "Multi-Attach error for volume \"pv-1\" Volume is already exclusively attached to one node and can't be attached to another",
                multi,
            ),
            (
                "FailedAttachVolume",
                "Multi-Attach error for volume \"pv-1\" Volume is already used by 2 pod(s) in different namespaces",
                multi,
            ),
            (
                "FailedCreatePodSandBox",
                "Failed to create pod sandbox: no runtime for \"gvisor\" is configured",
                sandbox,
            ),
            (
                "NetworkNotReady",
                "network is not ready: cni config uninitialized",
                sandbox,
            ),
            (
                "FailedCreatePodContainer",
                "unable to ensure pod container exists: cgroup",
                sandbox,
            ),
            (
                "FailedPrepareDynamicResources",
                "Failed to prepare dynamic resources: timeout",
                sandbox,
            ),
        ],
    );
}

/// Section 12. One pod that is refused fails nothing: its replacement may go to another node.
#[test]
fn rejections() {
    let hopeless = ("progressing", Code::PodRejected, TerminalNow);
    let bounded = ("progressing", Code::PodRejected, TerminalAfterBudget);
    check(
        rejected,
        &[
            (
                "SysctlForbidden",
                "forbidden sysctl: \"kernel.msgmax\" not allowlisted",
                hopeless,
            ),
            (
                "AppArmor",
                "Cannot enforce AppArmor: profile \"x\" is not loaded",
                hopeless,
            ),
            (
                "PodOSSelectorNodeLabelDoesNotMatch",
                "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
                hopeless,
            ),
            (
                "OutOfmemory",
                "Node didn't have enough resource: memory, requested: 2, used: 1, capacity: 2",
                bounded,
            ),
            (
                "OutOfpods",
                "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110",
                bounded,
            ),
            (
                "TaintToleration",
                "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
                bounded,
            ),
            (
                "TopologyAffinityError",
                "Resources cannot be allocated with Topology locality",
                bounded,
            ),
            (
                "VolumeAttachmentLimitExceeded",
                "Node has reached its volume attachment limit, rejecting pod.",
                bounded,
            ),
            (
                "Evicted",
                "The node had condition: [MemoryPressure]. ",
                ("progressing", Code::Evicted, Transient),
            ),
            (
                "NodeShutdown",
                "Pod was rejected as the node is shutting down.",
                ("progressing", Code::NodeShutdown, Transient),
            ),
            ("", "", ("progressing", Code::PodFailed, Transient)),
        ],
    );
}

/// Section 9.
#[test]
fn scheduling() {
    let node = ("waiting", Code::Unschedulable, Waiting);
    let claim = ("waiting", Code::VolumeClaim, Waiting);
    let of_nodes = |reason: &str| {
        format!(
            "0/3 nodes are available: 3 {reason}. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        )
    };
    let reasons = [
        "Insufficient ephemeral-storage",
        "Too many pods",
        "node(s) had untolerated taint {node.kubernetes.io/not-ready: }",
        "node(s) didn't satisfy plugin(s) [NodeAffinity]",
        "node(s) did not have enough free storage",
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
        "node(s) exceed max volume count",
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        "node(s) didn't match Pod's required features",
    ];
    for reason in reasons {
        check(unschedulable, &[("", &of_nodes(reason), node)]);
    }
    check(
        unschedulable,
        &[
            (
                "",
                "0/3 nodes are available: persistentvolumeclaim \"data\" is being deleted. not found",
                claim,
            ),
            (
                "",
                "0/3 nodes are available: persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"pv-1\". not found",
                claim,
            ),
        ],
    );
}

/// Section 14.
#[test]
fn refusals() {
    let webhook = ("waiting", Code::WebhookUnreachable, Waiting);
    let call = |why: &str| {
        format!(
            "Internal error occurred: failed calling webhook \"wh.example.com\": failed to call webhook: {why}"
        )
    };
    for why in [
        "Post \"https://wh.policy.svc:443/v?timeout=10s\": no endpoints available for service \"wh\"",
        "Post \"https://wh.policy.svc:443/v?timeout=10s\": dial tcp: lookup wh.policy.svc: no such host",
        "the server could not find the requested resource",
        "couldn't get version/kind; json parse error: unexpected end of JSON input",
    ] {
        check(refused, &[("FailedCreate", &call(why), webhook)]);
    }
    check(
        refused,
        &[
            (
                "FailedCreate",
                "pods \"web-1-x\" is forbidden: insufficient quota to consume: pods",
                ("waiting", Code::QuotaExceeded, Waiting),
            ),
            (
                "FailedCreate",
                "pods \"web-1-x\" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high]}]",
                ("waiting", Code::QuotaExceeded, Waiting),
            ),
            (
                "FailedCreate",
                "pods \"web-1-x\" is forbidden: status unknown for quota: compute, resources: pods",
                ("progressing", Code::QuotaExceeded, Transient),
            ),
            (
                "FailedCreate",
                "pods \"web-1-x\" is forbidden: minimum cpu usage per Container is 1.  No request is specified",
                ("failed", Code::LimitRange, TerminalNow),
            ),
            (
                "FailedCreate",
                "pods \"web-1-\" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
                ("failed", Code::PodInvalid, TerminalNow),
            ),
            (
                "FailedCreate",
                "pods \"web-1-x\" is forbidden: unable to create new content in namespace shop because it is being terminated",
                ("failed", Code::NamespaceTerminating, TerminalNow),
            ),
            (
                "FailedCreate",
                "etcdserver: request is too large",
                ("waiting", Code::CreateRefused, Waiting),
            ),
            (
                "FailedDelete",
                "pods \"web-1-a\" is forbidden: User \"limited\" cannot delete resource \"pods\" in API group \"\" in the namespace \"shop\"",
                ("waiting", Code::CreateRefused, Waiting),
            ),
        ],
    );
}

/// Sections 5 and 7: a container that runs, has started and is not ready has a readiness probe that does not pass, though
/// its events may be held back, gone, or not ours to read.
#[test]
fn probes_without_events() {
    let runs_since = |time: &str, started: bool| {
        let state = json!({"running": {"startedAt": time}});
        let mut world = world();
        let status = json!({"ready": false, "started": started, "state": state});
        world.pods.push(pod("web-1-a", &status));
        world
    };
    let (now, before) = ("2026-11-29T16:39:50Z", "2026-11-29T16:38:50Z");
    let cases = [
        (now, true, Code::ReadinessProbe, Note),
        (before, true, Code::ReadinessProbe, TerminalAfterBudget),
        (now, false, Code::Starting, Note),
        (before, false, Code::StartupProbe, TerminalAfterBudget),
    ];
    for (since, started, code, class) in cases {
        let world = runs_since(since, started);
        assert_eq!(
            of(&world),
            ("progressing", code, class),
            "{since} {started}"
        );
    }
}

/// Reports 26, 30, 33, 39 and 48: what was told wrongly elsewhere.
#[test]
fn trial_inputs() {
    let mut surge = rolling();
    surge.deployment["spec"]["replicas"] = json!(1);
    surge.deployment["status"] = json!({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1,
        "readyReplicas": 1, "availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]});
    surge.set["spec"]["replicas"] = json!(1);
    surge.set["status"] = json!({"replicas": 1, "observedGeneration": 1});
    surge.old_sets[0]["spec"]["replicas"] = json!(1);
    surge.old_sets[0]["status"] =
        json!({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1});
    insta::assert_snapshot!(told(&surge.diagnosis()), @"progressing: revision 2: 0 of 1 available");

    let mut quota = surge.clone();
    quota.set["status"] = refused("FailedCreate", "pods \"web-1-x\" is forbidden: exceeded quota: one, requested: pods=1, used: pods=1, limited: pods=1").set["status"].clone();
    insta::assert_snapshot!(told(&quota.diagnosis()), @r#"
    waiting: quota "one" is used up: requested: pods=1, used: pods=1, limited: pods=1
      quotaExceeded (Waiting, New): quota "one" is used up: requested: pods=1, used: pods=1, limited: pods=1
        « pods "web-1-x" is forbidden: exceeded quota: one, requested: pods=1, used: pods=1, limited: pods=1
        → raise the quota, or free some of it
    "#);

    let mut image = surge.clone();
    let not_found = waiting(
        "ImagePullBackOff",
        "Back-off pulling image \"reg.example.com/web:2\": ErrImagePull: manifest unknown",
    );
    image.pods.push(pod("web-1-a", &not_found));
    insta::assert_snapshot!(told(&image.diagnosis()), @r#"
    failed: 1 pod: image "reg.example.com/web:2" does not exist
      imageNotFound (TerminalNow, New, final) [web]: image "reg.example.com/web:2" does not exist
        « manifest unknown
        → push the image, or set one that exists
    "#);

    let mut recreate = surge.clone();
    recreate.deployment["spec"]["strategy"] = json!({"type": "Recreate"});
    recreate.deployment["status"] = json!({"observedGeneration": 1});
    recreate.set["status"] = json!({"replicas": 0, "observedGeneration": 1});
    recreate.old_sets[0]["spec"]["replicas"] = json!(0);
    recreate.old_sets[0]["status"] = json!({"replicas": 0});
    recreate.old_pods = rejected("Evicted", "The node was low on resource: memory. ").pods;
    insta::assert_snapshot!(told(&recreate.diagnosis()), @"
    progressing: revision 2: 0 of 1 available
      evicted (Transient, Old): evicted: The node was low on resource: memory
        « Pod was rejected: The node was low on resource: memory.
        → if it happens again: check requests and limits against the node's resources
    ");

    let mut undone = surge;
    undone.deployment["status"] = json!({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1,
        "readyReplicas": 1, "availableReplicas": 1});
    undone.set["status"] = json!({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1});
    undone.old_sets[0]["spec"]["replicas"] = json!(0);
    undone.old_sets[0]["status"] = json!({"replicas": 1});
    let mut held = pod(
        "web-0-a",
        &waiting("CreateContainerConfigError", "secret \"absent\" not found"),
    );
    held["metadata"]["deletionTimestamp"] = json!("2026-11-29T16:39:10Z");
    undone.old_pods = vec![held];
    insta::assert_snapshot!(told(&undone.diagnosis()), @"
    progressing: revision 2: 1 of 1 available
      stuckTerminating (TerminalAfterBudget, Old): deleted, and still there after its grace period
        → check the node's kubelet and runtime
    ");
}
