//! Cases from the recordings of a real API server (theme `errors`), each with its whole list of sentences, and a few
//! beside them whose wording Kubernetes' own types fix.

use serde_json::{Value, json};

use super::{validate_create, validate_status_update, validate_update};
use crate::sandbox::defaults;
use crate::sandbox::field_error::FieldError;

fn sentences(errors: &[FieldError]) -> String {
    let sentences: Vec<String> = errors
        .iter()
        .map(|error| format!("{}: {}", error.field, error.message))
        .collect();
    sentences.join("\n")
}

/// What is wrong with a new object, after defaulting.
fn check(kind: &str, mut object: Value) -> String {
    object["metadata"]["namespace"] = json!("n");
    defaults::apply_defaults(kind, &mut object);
    sentences(&validate_create(kind, &object))
}

fn deployment(spec: &Value) -> Value {
    let mut deployment = json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "img:1"}]},
            },
        },
    });
    json_patch::merge(&mut deployment["spec"], spec);
    deployment
}

fn pod(spec: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": "p1", "uid": "u", "resourceVersion": "1"},
        "spec": {"containers": [{"name": "main", "image": "img:1"}]},
    });
    json_patch::merge(&mut pod["spec"], spec);
    pod
}

#[test]
fn everything_wrong_with_a_deployment_in_order() {
    let bad = json!({
        "metadata": {"name": "Bad_Name", "labels": {"a b": "c!"}},
        "spec": {
            "replicas": -1,
            "minReadySeconds": -1,
            "revisionHistoryLimit": -1,
            "strategy": {"type": "X"},
            "selector": {"matchLabels": {"app": "x"}},
            "template": {
                "metadata": {"labels": {"app": "y"}},
                "spec": {
                    "restartPolicy": "Never",
                    "activeDeadlineSeconds": 1,
                    "containers": [
                        {"name": "A", "imagePullPolicy": "X", "ports": [{"containerPort": 0}]},
                        {"image": ""},
                    ],
                },
            },
        },
    });
    insta::assert_snapshot!(check("Deployment", bad), @r#"
    metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
    metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')
    metadata.labels: Invalid value: "c!": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
    spec.replicas: Invalid value: -1: must be greater than or equal to 0
    spec.template.metadata.labels: Invalid value: {"app":"y"}: `selector` does not match template `labels`
    spec.template.spec.containers[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
    spec.template.spec.containers[0].image: Required value
    spec.template.spec.containers[0].ports[0].containerPort: Required value
    spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"
    spec.template.spec.containers[1].name: Required value
    spec.template.spec.containers[1].image: Required value
    spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"
    spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported
    spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"
    spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0
    spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0
    "#);
}

#[test]
fn deployments() {
    for (spec, expected) in [
        (json!({}), ""),
        (
            json!({"selector": null}),
            "spec.selector: Required value\n\
             spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`",
        ),
        (
            json!({"selector": {"matchLabels": null}}),
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        ),
        (
            json!({"selector": {"matchLabels": null, "matchExpressions": [{"key": "app", "operator": "In"}]}}),
            "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'\n\
             spec.selector: Invalid value: {\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\"}]}: invalid label selector",
        ),
        (
            json!({"strategy": {"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": 0}}}),
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ),
        (
            json!({"strategy": {"rollingUpdate": {"maxUnavailable": "200%", "maxSurge": "x%"}}}),
            "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x%\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')\n\
             spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"200%\": must not be greater than 100%",
        ),
        (
            json!({"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            json!({"minReadySeconds": 600}),
            "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
        ),
    ] {
        assert_eq!(check("Deployment", deployment(&spec)), expected, "{spec}");
    }
}

#[test]
fn pods() {
    let container = |fields: Value| {
        let mut container = json!({"name": "main", "image": "img:1"});
        json_patch::merge(&mut container, &fields);
        json!({"containers": [container]})
    };
    for (spec, expected) in [
        (
            container(json!({"image": " img"})),
            "spec.containers[0].image: Invalid value: \" img\": must not have leading or trailing whitespace",
        ),
        (
            container(json!({"volumeMounts": [{"name": "v", "mountPath": "/x"}]})),
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"",
        ),
        (
            container(
                json!({"resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}}),
            ),
            "spec.containers[0].resources.requests: Invalid value: \"2Gi\": must be less than or equal to memory limit of 1Gi",
        ),
        (
            container(
                json!({"resources": {"requests": {"cpu": "-1", "gpu": "1", "x.test/gpu": "1500m"}}}),
            ),
            "spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0\n\
             spec.containers[0].resources.requests[gpu]: Invalid value: \"gpu\": must be a standard resource type or fully qualified\n\
             spec.containers[0].resources.requests[gpu]: Invalid value: \"gpu\": must be a standard resource for containers\n\
             spec.containers[0].resources.requests[x.test/gpu]: Invalid value: \"1500m\": must be an integer\n\
             spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            container(
                json!({"livenessProbe": {"successThreshold": 2, "exec": {"command": ["x"]}, "tcpSocket": {"port": 80}}}),
            ),
            "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type\n\
             spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            container(json!({"readinessProbe": {"httpGet": {"port": "Web"}, "periodSeconds": -1}})),
            "spec.containers[0].readinessProbe.httpGet.port: Invalid value: \"Web\": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)\n\
             spec.containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            container(json!({"startupProbe": {}})),
            "spec.containers[0].startupProbe: Required value: must specify a handler type",
        ),
        (
            json!({"initContainers": [
                {"name": "main", "image": "x"},
                {"name": "i", "image": "x", "readinessProbe": {"exec": {"command": ["x"]}}},
                {"name": "s", "image": "x", "restartPolicy": "Always", "readinessProbe": {"exec": {"command": ["x"]}}},
            ]}),
            "spec.initContainers[0].name: Duplicate value: \"main\"\n\
             spec.initContainers[1].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
        ),
        (
            json!({"nodeName": "n1", "schedulingGates": [{"name": "g"}]}),
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (
            json!({"volumes": [{"name": "v", "emptyDir": {}, "secret": {"secretName": "s"}}]}),
            "spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type",
        ),
    ] {
        assert_eq!(check("Pod", pod(&spec)), expected, "{spec}");
    }
}

#[test]
fn owners_and_finalizers() {
    let owner = |name: &str| json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": "u", "controller": true});
    let object = json!({"metadata": {
        "name": "c",
        "ownerReferences": [owner("a"), owner("b"), {"kind": "X"}],
        "finalizers": ["x.test/a", "bad"],
    }});
    insta::assert_snapshot!(check("ConfigMap", object), @r#"
    metadata.ownerReferences: Invalid value: [{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"a","uid":"u","controller":true},{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"b","uid":"u","controller":true},{"apiVersion":"","kind":"X","name":"","uid":""}]: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/a and ReplicaSet/b
    metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty
    metadata.ownerReferences.name: Invalid value: "": must not be empty
    metadata.ownerReferences.uid: Invalid value: "": must not be empty
    metadata.finalizers[1]: Invalid value: "bad": name is neither a standard finalizer name nor is it fully qualified
    "#);
    let big = json!({"metadata": {"name": "c", "annotations": {"a": "x".repeat(256 * 1024)}}});
    assert_eq!(
        check("ConfigMap", big),
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    );
}

#[test]
fn updates() {
    let update = |kind: &str, new: &Value, old: &Value| sentences(&validate_update(kind, new, old));
    let mut old = pod(
        &json!({"activeDeadlineSeconds": 30, "tolerations": [{"key": "a", "operator": "Exists"}]}),
    );
    old["metadata"]["namespace"] = json!("n");
    defaults::apply_defaults("Pod", &mut old);
    let changed = |patch: Value| {
        let mut new = old.clone();
        json_patch::merge(&mut new, &patch);
        update("Pod", &new, &old)
    };
    assert_eq!(changed(json!({"metadata": {"labels": {"a": "b"}}})), "");
    assert_eq!(
        changed(json!({"spec": {"activeDeadlineSeconds": 90}})),
        "spec.activeDeadlineSeconds: Invalid value: 90: must be less than or equal to previous value"
    );
    assert_eq!(
        changed(json!({"spec": {"activeDeadlineSeconds": null}})),
        "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"
    );
    assert_eq!(
        changed(json!({"spec": {"tolerations": []}})),
        "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
    );
    assert_eq!(
        changed(json!({"spec": {"schedulingGates": [{"name": "g"}]}})),
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"
    );
    assert_eq!(
        changed(json!({"spec": {"containers": []}})),
        "spec.containers: Required value\nspec.containers: Forbidden: pod updates may not add or remove containers"
    );
    let uid = changed(json!({"metadata": {"uid": "other"}}));
    assert!(uid.starts_with("metadata.uid: Invalid value: \"other\": field is immutable"));
}

#[test]
fn statuses() {
    let object = |status: Value| {
        let mut object = deployment(&json!({}));
        object["metadata"] = json!({"name": "web", "namespace": "n", "resourceVersion": "1"});
        object["status"] = status;
        object
    };
    let old = object(json!({"collisionCount": 2}));
    for (status, expected) in [
        (json!({"collisionCount": 2}), ""),
        (
            json!({"collisionCount": 1}),
            "status.collisionCount: Invalid value: 1: cannot be decremented",
        ),
        (
            json!({"collisionCount": 2, "replicas": 1, "availableReplicas": 2}),
            "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas\n\
             status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas",
        ),
        (
            json!({"collisionCount": 2, "replicas": 1, "updatedReplicas": 2}),
            "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas",
        ),
    ] {
        let errors = validate_status_update("Deployment", &object(status.clone()), &old);
        assert_eq!(sentences(&errors), expected, "{status}");
    }
    let terminated =
        json!({"containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 0}}}]});
    let running = json!({"containerStatuses": [{"name": "main", "state": {"running": {}}}]});
    let with_status = |policy: &str, status: &Value| {
        let mut pod = pod(&json!({"restartPolicy": policy}));
        pod["metadata"]["namespace"] = json!("n");
        pod["status"] = status.clone();
        pod
    };
    for (policy, expected) in [
        ("Always", ""),
        (
            "OnFailure",
            "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
        ),
    ] {
        let (new, old) = (
            with_status(policy, &running),
            with_status(policy, &terminated),
        );
        let errors = validate_status_update("Pod", &new, &old);
        assert_eq!(sentences(&errors), expected, "{policy}");
    }
}
