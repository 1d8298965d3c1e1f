//! The same command lines with stock kubectl and with ours, each on a cluster of its own that begins the same.
//!
//! Where there is no kubectl there is nothing to compare with; with `REQUIRE_KUBECTL` set, as in CI, that is a failure.

use std::fmt::Write as _;

use regex::Regex;
use serde_json::{Value, json};

use crate::compare::{compare, with_symbols};
use crate::differences::Differences;
use crate::recording::Case;
use crate::replay;
use crate::stock_kubectl;

/// A pod template with something of everything that is described.
#[expect(clippy::too_many_lines, reason = "it is data")]
fn rich_template(image: &str) -> Value {
    json!({
        "metadata": {
            "labels": {"app": "web", "tier": "front"},
            "annotations": {"note": "short", "long": "x".repeat(150), "lines": "one\ntwo\n"},
        },
        "spec": {
            "serviceAccountName": "runner",
            "initContainers": [{"name": "prep", "image": "prep:1", "command": ["sh", "-c"], "args": ["a\nb"]}],
            "containers": [
                {
                    "name": "main", "image": image,
                    "ports": [
                        {"containerPort": 80, "name": "http"},
                        {"containerPort": 53, "protocol": "UDP", "hostPort": 53},
                    ],
                    "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
                    "livenessProbe": {"httpGet": {"path": "/live?a=b c", "port": "http"}, "periodSeconds": 5},
                    "readinessProbe": {"exec": {"command": ["cat", "/ready"]}, "initialDelaySeconds": 1},
                    "startupProbe": {"tcpSocket": {"port": 80}},
                    "envFrom": [
                        {"configMapRef": {"name": "settings"}},
                        {"secretRef": {"name": "keys", "optional": true}, "prefix": "K_"},
                    ],
                    "env": [
                        {"name": "PLAIN", "value": "a"},
                        {"name": "LINES", "value": "a\nb"},
                        {"name": "EMPTY"},
                        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                        {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "k"}}},
                        {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k", "optional": true}}},
                    ],
                    "volumeMounts": [
                        {"name": "tmp", "mountPath": "/tmp"},
                        {"name": "conf", "mountPath": "/etc/conf", "readOnly": true, "subPath": "a b"},
                    ],
                    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                },
                {"name": "side", "image": "side:1", "ports": [{"containerPort": 9090}],
                 "livenessProbe": {"grpc": {"port": 9090, "service": "s"}}},
            ],
            "volumes": [
                {"name": "tmp", "emptyDir": {}},
                {"name": "big", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
                {"name": "conf", "configMap": {"name": "settings"}},
                {"name": "keys", "secret": {"secretName": "keys", "optional": true}},
                {"name": "host", "hostPath": {"path": "/var"}},
                {"name": "claim", "persistentVolumeClaim": {"claimName": "data", "readOnly": true}},
                {"name": "nfs", "nfs": {"server": "s", "path": "/p"}},
                {"name": "down", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
                {"name": "all", "projected": {"sources": [
                    {"secret": {"name": "keys"}},
                    {"configMap": {"name": "settings"}},
                    {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
                ]}},
                {"name": "csi", "csi": {"driver": "d", "volumeAttributes": {"a": "1", "b": "2"}}},
                {"name": "claimed", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b", "c": "d"}, "annotations": {"a": "b", "c": "d"}},"spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
            ],
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                 "labelSelector": {"matchLabels": {"app": "web"}}},
                {"maxSkew": 2, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway"},
            ],
            "nodeSelector": {"disk": "ssd", "zone": "a"},
            "tolerations": [
                {"operator": "Exists"},
                {"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
                {"key": "a", "value": "v", "effect": "NoSchedule"},
            ],
        },
    })
}

#[expect(clippy::too_many_lines, reason = "it is data")]
pub(crate) fn world() -> Vec<Value> {
    let labels = json!({"matchLabels": {"app": "web"}});
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {"replicas": 2, "selector": labels, "template": rich_template("app:2")},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1, "conditions": [{
            "type": "Available", "status": "False", "lastUpdateTime": -9, "lastTransitionTime": -9,
            "reason": "MinimumReplicasUnavailable",
            "message": "containers with unready status: [a b]: this one is long enough for a line of its own, and more",
        }]},
    });
    deployment["metadata"]["labels"] = json!({"app": "web", "version": "1.10", "on": "y"});
    let set = |number: u32, image: &str| {
        let mut template = rich_template(image);
        template["metadata"]["labels"]["pod-template-hash"] = json!(format!("7f00{number}"));
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": format!("web-7f00{number}"), "namespace": "default",
                "labels": template["metadata"]["labels"],
                "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": [{"kind": "Deployment", "name": "web"}],
            },
            "spec": {"replicas": number - 1, "selector": template["metadata"]["labels"]
                .as_object().map(|labels| json!({"matchLabels": labels})), "template": template},
        })
    };
    let small = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "app:1"}], "restartPolicy": "Never"},
    });
    let mut forever = small.clone();
    forever["spec"]["restartPolicy"] = json!("Always");
    let revision = |kind: &str, name: &str, number: u32| {
        let mut template = forever.clone();
        template["spec"]["containers"][0]["image"] = json!(format!("app:{number}"));
        template["$patch"] = json!("replace");
        json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision",
            "metadata": {
                "name": format!("{name}-{number}"), "namespace": "default", "labels": {"app": "web"},
                "annotations": {"kubernetes.io/change-cause": format!("cause {number}")},
                "ownerReferences": [{"kind": kind, "name": name}],
            },
            "revision": number,
            "data": {"spec": {"template": template}},
        })
    };
    let object = |api_version: &str, kind: &str, name: &str, spec: Value| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec});
    vec![
        deployment,
        set(1, "app:1"),
        set(2, "app:2"),
        object(
            "apps/v1",
            "DaemonSet",
            "agent",
            json!({"selector": labels, "template": forever}),
        ),
        revision("DaemonSet", "agent", 2),
        revision("DaemonSet", "agent", 1),
        object(
            "apps/v1",
            "StatefulSet",
            "db",
            json!({"selector": labels, "serviceName": "db", "template": forever}),
        ),
        revision("StatefulSet", "db", 3),
        revision("StatefulSet", "db", 1),
        object(
            "batch/v1",
            "CronJob",
            "nightly",
            json!({
            "schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": small}}}),
        ),
        object(
            "v1",
            "ReplicationController",
            "old",
            json!({"selector": {"app": "web"}, "template": forever}),
        ),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}),
    ]
}

const LINES: [&str; 42] = [
    "rollout history deploy/web",
    "rollout history deploy/web --revision=1",
    "rollout history deploy/web --revision=2 -o json",
    "rollout history deploy/web -o yaml",
    "rollout history deploy/web -o jsonpath={.metadata.name}/{.spec.replicas}{'\\n'}",
    "rollout history deploy/web -o jsonpath-as-json={.metadata.labels}",
    "rollout history ds,sts",
    "rollout history ds/agent --revision=1",
    "rollout history ds/agent -o yaml",
    "rollout history sts/db --revision=3",
    "rollout history sts/db --revision=2",
    "rollout history sts/db -o name",
    "rollout history cm/settings",
    "rollout history rs/web-7f001",
    "rollout undo deploy/web",
    "rollout undo deploy/web --to-revision=1 -o json",
    "rollout undo deploy/web --to-revision=-1",
    "rollout undo deploy/web --dry-run=client",
    "rollout undo ds/agent --dry-run=client",
    "rollout undo ds/agent --to-revision=1",
    "rollout undo ds/agent --to-revision=7",
    "rollout undo sts/db --dry-run=server",
    "rollout undo sts/db --to-revision=3",
    "rollout undo cj/nightly",
    "rollout restart deploy/web sts/db ds/agent cj/nightly",
    "rollout pause deploy,ds",
    "rollout resume deployment.apps/web deployment/nope",
    "rollout status deploy/web --watch=false",
    "rollout status ds,sts --watch=false",
    "rollout status cj/nightly old",
    "rollout status deploy --revision",
    "rollout status -l app=web",
    "set image cj/nightly main=app:9",
    "set image rc/old *=app:9 -o yaml",
    "set image deploy/web prep=prep:2 side=side:2 -o json",
    "set image deploy/web main=app:2 nope=a:1",
    "set image cm/settings main=a:1",
    "set image ds,sts,rc --all main=app:9",
    "set image deploy/web main=app:9 --dry-run=client -o json",
    "set image deploy/web main-",
    "set image -l app=web main=a:1",
    "set image deploy/web main=app:9 --dry-run=server -o jsonpath={.spec.template.spec.containers[*].image}",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_kubectl_does_the_same() {
    if !stock_kubectl::is_there() {
        return;
    }
    let before = world();
    let mut known = Differences::load();
    let mut report = String::new();
    for line in LINES {
        let mut case = Case::new(&before, line);
        let stock = replay::run_with("kubectl", &case).await;
        case.exit = stock.exit;
        case.stdout = with_symbols(&stock.stdout);
        case.stderr = without_log_heads(&with_symbols(&stock.stderr));
        case.writes = stock.writes;
        case.after = Some(stock.after);
        let problems = compare(&case, &replay::run(&case).await, &mut known);
        if !problems.is_empty() {
            writeln!(report, "{line}\n  {}", problems.join("\n  ")).unwrap();
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// Standard error as the recordings have it: `W1129 12:00:00.000000   12345 history.go:1] text` with symbols.
fn without_log_heads(text: &str) -> String {
    let head = Regex::new(r"(?m)^([WE])\d{4} \S+ +\d+ [^\]]+\] ").unwrap();
    let text = head.replace_all(text, "$1<klog>] ");
    // Some builds say it like this about flags.
    text.replace("Error: ", "error: ")
}
