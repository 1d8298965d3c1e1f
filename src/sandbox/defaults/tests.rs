//! Cases from the recordings of a real API server (themes `crud`, `errors`), and of its published defaults.

use serde_json::{Value, json};

use super::{apply_defaults, pod_admission, qos_class};

fn defaulted(kind: &str, mut object: Value) -> Value {
    apply_defaults(kind, &mut object);
    object
}

/// What defaulting adds to the containers and the rest of a pod spec with one container.
fn plain_pod_spec(image: &str, pull_policy: &str) -> Value {
    json!({
        "containers": [{
            "name": "main",
            "image": image,
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": pull_policy,
        }],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    })
}

#[test]
fn a_deployment_gets_its_strategy_and_limits() {
    let spec = json!({
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"spec": {"containers": [{"name": "main", "image": "img:1"}]}},
    });
    let expected = json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"spec": plain_pod_spec("img:1", "IfNotPresent")},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    });
    assert_eq!(
        defaulted("Deployment", json!({"spec": spec}))["spec"],
        expected
    );
}

#[test]
fn zero_is_a_value_where_the_field_is_a_pointer() {
    let spec = json!({
        "replicas": 0,
        "revisionHistoryLimit": 0,
        "progressDeadlineSeconds": null,
        "strategy": {"type": "Recreate"},
    });
    let spec = &defaulted("Deployment", json!({"spec": spec}))["spec"];
    assert_eq!(spec["replicas"], 0);
    assert_eq!(spec["revisionHistoryLimit"], 0);
    assert_eq!(spec["progressDeadlineSeconds"], 600);
    assert_eq!(spec["strategy"], json!({"type": "Recreate"}));
    let probe = json!({"periodSeconds": 0, "httpGet": {"port": 80, "path": ""}});
    let pod = json!({"spec": {"containers": [{"readinessProbe": probe}]}});
    assert_eq!(
        defaulted("Pod", pod)["spec"]["containers"][0]["readinessProbe"],
        json!({
            "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        })
    );
}

#[test]
fn rolling_update_fills_what_the_strategy_leaves_out() {
    for (strategy, expected) in [
        (
            json!({}),
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}),
        ),
        (
            json!({"type": "RollingUpdate", "rollingUpdate": null}),
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}),
        ),
        (
            json!({"rollingUpdate": {"maxSurge": 0}}),
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 0}}),
        ),
        (json!({"type": "BlueGreen"}), json!({"type": "BlueGreen"})),
    ] {
        let object = json!({"spec": {"strategy": strategy}});
        assert_eq!(
            defaulted("Deployment", object)["spec"]["strategy"],
            expected
        );
    }
}

#[test]
fn image_pull_policy_follows_the_tag() {
    for (image, expected) in [
        ("img:1", "IfNotPresent"),
        ("img", "Always"),
        ("img:latest", "Always"),
        ("host:5000/img", "Always"),
        ("host:5000/img:1", "IfNotPresent"),
        ("img@sha256:0000", "IfNotPresent"),
        ("img:latest@sha256:0000", "Always"),
        ("", "IfNotPresent"),
        ("Upper", "IfNotPresent"),
        ("a b", "IfNotPresent"),
    ] {
        let pod = json!({"spec": {"containers": [{"image": image}]}});
        let policy = &defaulted("Pod", pod)["spec"]["containers"][0]["imagePullPolicy"];
        assert_eq!(policy, expected, "{image}");
    }
}

#[test]
fn only_pods_copy_limits_to_requests_and_host_ports() {
    let spec = json!({
        "hostNetwork": true,
        "serviceAccount": "sa",
        "containers": [{
            "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1000m"}, "requests": {"memory": "64Mi"}},
        }],
    });
    let pod = &defaulted("Pod", json!({"spec": spec}))["spec"];
    assert_eq!(
        pod["containers"][0]["resources"],
        json!({"limits": {"cpu": "1"}, "requests": {"cpu": "1", "memory": "64Mi"}})
    );
    assert_eq!(
        pod["containers"][0]["ports"],
        json!([{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}])
    );
    assert_eq!(pod["serviceAccountName"], "sa");
    assert_eq!(pod["enableServiceLinks"], true);
    let set = defaulted("ReplicaSet", json!({"spec": {"template": {"spec": spec}}}));
    let template = &set["spec"]["template"]["spec"];
    assert_eq!(
        template["containers"][0]["resources"],
        json!({"limits": {"cpu": "1"}, "requests": {"memory": "64Mi"}})
    );
    assert_eq!(
        template["containers"][0]["ports"],
        json!([{"containerPort": 80, "protocol": "TCP"}])
    );
    assert_eq!(template["enableServiceLinks"], Value::Null);
}

#[test]
fn each_volume_gets_its_own_defaults() {
    let volumes = json!([
        {"name": "a"},
        {"name": "c", "configMap": {"name": "c"}},
        {"name": "s", "secret": {"secretName": "s"}},
        {"name": "h", "hostPath": {"path": "/x"}},
        {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "d", "downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ]);
    let pod = defaulted("Pod", json!({"spec": {"volumes": volumes}}));
    let reference = json!({"apiVersion": "v1", "fieldPath": "metadata.name"});
    let token = json!({"expirationSeconds": 3600, "path": "t"});
    let expected = json!([
        {"name": "a", "emptyDir": {}},
        {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
        {"name": "s", "secret": {"secretName": "s", "defaultMode": 420}},
        {"name": "h", "hostPath": {"path": "/x", "type": ""}},
        {"name": "p", "projected": {"sources": [{"serviceAccountToken": token}], "defaultMode": 420}},
        {"name": "d", "downwardAPI": {"items": [{"path": "n", "fieldRef": reference}], "defaultMode": 420}},
    ]);
    assert_eq!(pod["spec"]["volumes"], expected);
}

#[test]
fn admission_adds_the_tolerations_that_a_pod_lacks() {
    let mut pod = json!({"spec": {"tolerations": [
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
    ]}});
    pod_admission(&mut pod);
    assert_eq!(pod["spec"]["tolerations"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        pod["spec"]["tolerations"][1],
        json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    );
    let mut all = json!({"spec": {"tolerations": [{"operator": "Exists"}]}});
    pod_admission(&mut all);
    assert_eq!(all["spec"]["tolerations"].as_array().map(Vec::len), Some(1));
}

#[test]
fn other_kinds() {
    let service = json!({"spec": {"ports": [{"port": 80}, {"port": 81, "targetPort": "http"}]}});
    assert_eq!(
        defaulted("Service", service)["spec"],
        json!({
            "ports": [
                {"port": 80, "targetPort": 80, "protocol": "TCP"},
                {"port": 81, "targetPort": "http", "protocol": "TCP"},
            ],
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
        })
    );
    assert_eq!(
        defaulted(
            "Secret",
            json!({"stringData": {"k": "plain", "l": "x"}, "data": {"k": "b2xk"}})
        ),
        json!({"type": "Opaque", "data": {"k": "cGxhaW4=", "l": "eA=="}})
    );
    assert_eq!(
        defaulted("Namespace", json!({"metadata": {"name": "n"}})),
        json!({
            "metadata": {"name": "n", "labels": {"kubernetes.io/metadata.name": "n"}},
            "status": {"phase": "Active"},
        })
    );
    let limits = json!([{"type": "Container", "max": {"cpu": "2"}}]);
    assert_eq!(
        defaulted("LimitRange", json!({"spec": {"limits": limits}}))["spec"]["limits"][0],
        json!({"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "2"}, "defaultRequest": {"cpu": "2"}})
    );
    let job = defaulted("Job", json!({"metadata": {}}));
    assert_eq!(job["spec"]["completions"], 1);
    assert_eq!(job["spec"]["template"]["spec"]["restartPolicy"], "Always");
    assert_eq!(defaulted("Pod", json!("not an object")), "not an object");
}

#[test]
fn qos_class_follows_the_resources() {
    let requests = |cpu: &str, memory: &str| json!({"cpu": cpu, "memory": memory});
    let both = json!({"requests": requests("1", "1Gi"), "limits": requests("1000m", "1024Mi")});
    let lower = json!({"requests": requests("500m", "1Gi"), "limits": requests("1", "1Gi")});
    let pod = |containers: &[&Value], own: Value| {
        let containers: Vec<Value> = containers
            .iter()
            .map(|one| json!({"resources": one}))
            .collect();
        json!({"spec": {"containers": containers, "resources": own}})
    };
    for (pod, expected) in [
        (pod(&[&json!({})], Value::Null), "BestEffort"),
        (
            pod(
                &[&json!({"requests": {"example.com/gpu": "1"}})],
                Value::Null,
            ),
            "BestEffort",
        ),
        (
            pod(&[&json!({"requests": {"cpu": "0"}})], Value::Null),
            "BestEffort",
        ),
        (pod(&[&both], Value::Null), "Guaranteed"),
        (pod(&[&both, &both], Value::Null), "Guaranteed"),
        (pod(&[&both, &json!({})], Value::Null), "Burstable"),
        (pod(&[&lower], Value::Null), "Burstable"),
        (pod(&[&json!({})], both.clone()), "Guaranteed"),
        (pod(&[&both], lower.clone()), "Burstable"),
    ] {
        assert_eq!(qos_class(&pod), expected, "{pod}");
    }
}
