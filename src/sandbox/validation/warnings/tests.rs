//! What is remarked on, in the recorded words where there are any.

use serde_json::{Value, json};

use super::*;

fn pod(spec: &Value) -> Value {
    let mut pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main"}]}});
    let fields = spec.as_object().cloned().unwrap_or_default();
    for (field, value) in fields {
        pod["spec"][field] = value;
    }
    pod
}

fn deployment(spec: &Value) -> Value {
    let mut template = pod(spec);
    template["metadata"] = json!({});
    json!({"metadata": {"name": "web"}, "spec": {"template": template}})
}

/// As recorded with the API's answers (themes `crud`, `errors` and `patches`).
#[test]
fn remarks_in_the_recorded_words() {
    let named = |name: &str, mut object: Value| {
        object["metadata"]["name"] = name.into();
        object
    };
    let twice = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    let cases = [
        (
            "Pod",
            named("web.1", pod(&json!({}))),
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; \
             a DNS label is recommended: [must not contain dots]",
        ),
        (
            "Deployment",
            named("web.1", deployment(&json!({}))),
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; \
             a DNS label is recommended: [must not contain dots]",
        ),
        (
            "Pod",
            pod(&json!({"containers": [{"name": "main", "env": twice}]})),
            "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply",
        ),
        (
            "Pod",
            pod(&json!({"volumes": [{"name": "v", "projected": {"sources": [{}]}}]})),
            "volume \"v\" (Projected) has no sources provided",
        ),
        (
            "Deployment",
            deployment(&json!({"terminationGracePeriodSeconds": -1})),
            "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and \
             will be treated as 1",
        ),
        (
            "Deployment",
            deployment(&json!({"imagePullSecrets": [{}]})),
            "spec.template.spec.imagePullSecrets[0].name: invalid empty name \"\"",
        ),
        (
            "Deployment",
            deployment(&json!({"topologySpreadConstraints": [{"topologyKey": "zone"}]})),
            "spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in \
             matching no pod",
        ),
        (
            "Secret",
            json!({
                "metadata": {"name": "tls"},
                "type": "kubernetes.io/tls",
                "data": {"tls.crt": "Yw==", "tls.key": "aw=="},
            }),
            "tls: failed to find any PEM data in certificate input",
        ),
    ];
    for (kind, object, expected) in cases {
        assert_eq!(warnings_on_create(kind, &object), [expected]);
    }
}

/// Fields of a pod's spec, and the remarks on it, each in a line of its own. What recordings do not show.
const POD_REMARKS: &str = r#"
{"nodeSelector": {"beta.kubernetes.io/os": "linux"}}
- spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead
{"volumes": [{"name": "v", "gitRepo": {"repository": "r"}}]}
- spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+
{"volumes": [{"name": "v", "configMap": {"name": "m", "items": [{"path": "dir"}, {"path": "dir/file"}]}}]}
- volume "v" (ConfigMap "m"): overlapping paths: "dir/file" with "dir"
{"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s", "items": [{"path": "f"}]}}, {"downwardAPI": {"items": [{"path": "f"}]}}]}}]}
- volume "v" (Projected): overlapping paths: "f" (DownwardAPI) with "f" (Secret "s")
{"imagePullSecrets": [{"name": "s"}, {"name": "s"}]}
- spec.imagePullSecrets[1].name: duplicate name "s"
{"containers": [{"name": "main", "resources": {"requests": {"memory": "100m"}}}]}
- spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer
{"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}}
- spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod
{"containers": [{"ports": [{"containerPort": 80}]}, {"ports": [{"containerPort": 80}]}]}
- spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]
{"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}, {"ports": [{"containerPort": 80}]}]}
- spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]
{"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}, {"ports": [{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}]}]}
- spec.containers[1].ports[0]: dangerously ambiguous port definition with spec.containers[0].ports[0]
{"containers": [{"ports": [{"containerPort": 80, "hostIP": "10.0.0.1", "protocol": "TCP", "name": "web"}]}, {"ports": [{"name": "web"}]}]}
- spec.containers[0].ports[0]: hostIP set without hostPort: {Name:web HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}
- spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]
{"containers": [{"name": "main", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]}]}
"#;

#[test]
fn remarks_on_pods() {
    let mut expected: Vec<(Value, Vec<&str>)> = Vec::new();
    for line in POD_REMARKS.trim().lines() {
        match line.strip_prefix("- ") {
            Some(remark) => expected.last_mut().expect("a spec first").1.push(remark),
            None => expected.push((serde_json::from_str(line).expect(line), Vec::new())),
        }
    }
    for (spec, remarks) in expected {
        assert_eq!(warnings_on_create("Pod", &pod(&spec)), remarks, "{spec}");
    }
}

#[test]
fn an_update_is_remarked_on_when_it_changes_the_spec() {
    let mut old = deployment(&json!({"imagePullSecrets": [{}]}));
    old["metadata"]["generation"] = 1.into();
    let mut new = old.clone();
    assert_eq!(warnings_on_update("Deployment", &new, &old), [""; 0]);
    new["metadata"]["generation"] = 2.into();
    assert_eq!(
        warnings_on_update("Deployment", &new, &old),
        ["spec.template.spec.imagePullSecrets[0].name: invalid empty name \"\""]
    );
    let web = pod(&json!({"imagePullSecrets": [{}]}));
    assert_eq!(warnings_on_update("Pod", &web, &pod(&json!({}))), [""; 0]);
}

#[test]
fn remarks_on_services_and_quotas() {
    let service = json!({"metadata": {"name": "web"}, "spec": {
        "type": "ClusterIP", "clusterIP": "None", "sessionAffinity": "ClientIP", "externalIPs": ["1.2.3.4"],
        "externalName": "x",
    }});
    assert_eq!(
        warnings_on_create("Service", &service),
        [
            "spec.externalIPs is ignored for headless services",
            "spec.SessionAffinity is ignored for headless services",
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ]
    );
    let quota = json!({
        "metadata": {"name": "q"},
        "spec": {"hard": {"cpu": "3", "limits.cpu": "2", "limits.memory": "1Gi"}},
    });
    assert_eq!(
        warnings_on_create("ResourceQuota", &quota),
        ["ResourceQuota cpu (3) should be less than limits.cpu (2)"]
    );
}
