//! Equality, canonical form and round trips of the API's types.

use serde_json::{Value, json};

use super::{
    ListMerge, Ownership, Shape, canonical, named, of_kind, pod_template, round_trip,
    semantically_equal, table,
};

#[test]
fn the_table_names_only_what_it_has() {
    let types = &table().types;
    assert!(types.len() > 250, "{} types", types.len());
    for ty in types {
        for field in ty.fields() {
            let found = ty.field(field.name).map(std::ptr::from_ref);
            assert_eq!(
                found,
                Some(std::ptr::from_ref(field)),
                "{}.{}",
                ty.name(),
                field.name
            );
            check_keys(ty.name(), field);
        }
    }
}

/// Keys of lists must be fields of the elements.
fn check_keys(owner: &str, field: &super::Field) {
    let Shape::List(element) = &field.shape else {
        assert_eq!(field.strategy.merge, None, "{owner}.{}", field.name);
        return;
    };
    let has = |key: &str| match &**element {
        Shape::Struct(ty) => ty.field(key).is_some(),
        _ => false,
    };
    if let Some(ListMerge::ByKey(key)) = field.strategy.merge {
        assert!(has(key), "{owner}.{} by {key}", field.name);
    }
    if let Ownership::ByKeys(keys) = &field.ownership {
        assert!(keys.iter().all(|key| has(key)), "{owner}.{}", field.name);
    }
}

#[test]
fn kinds_are_found_by_group() {
    let core = of_kind("v1", "Event").expect("core events");
    let events = of_kind("events.k8s.io/v1", "Event").expect("events.k8s.io events");
    assert!(core.field("involvedObject").is_some() && core.field("regarding").is_none());
    assert!(events.field("regarding").is_some() && events.field("involvedObject").is_none());
    assert_eq!(events.name(), "Event");
    for (version, kind) in [
        ("v1", "Pod"),
        ("apps/v1", "Deployment"),
        ("batch/v1", "CronJob"),
        ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("policy/v1", "PodDisruptionBudget"),
        ("coordination.k8s.io/v1", "Lease"),
    ] {
        let ty = of_kind(version, kind).unwrap_or_else(|| panic!("{version} {kind}"));
        assert!(ty.field("metadata").is_some() && ty.field("kind").is_some());
        assert_eq!(ty.group_version(), Some(version));
    }
    assert!(of_kind("apps/v1beta1", "Deployment").is_none());
    assert!(named("PodSpec").is_some_and(|ty| ty.group_version().is_none()));
}

#[test]
fn fields_carry_their_directives() {
    let container = named("Container").expect("Container");
    let ports = container.field("ports").expect("ports");
    assert_eq!(
        ports.strategy.merge,
        Some(ListMerge::ByKey("containerPort"))
    );
    assert_eq!(
        ports.ownership,
        Ownership::ByKeys(vec!["containerPort", "protocol"])
    );
    let protocol = named("ContainerPort").and_then(|ty| ty.field("protocol"));
    assert_eq!(protocol.and_then(|field| field.default), Some("TCP"));
    let command = container.field("command").expect("command");
    assert_eq!(
        (&command.strategy.merge, &command.ownership),
        (&None, &Ownership::Atomic)
    );
    let volumes = named("PodSpec").and_then(|ty| ty.field("volumes"));
    assert!(volumes.is_some_and(|field| field.strategy.retains_keys && !field.is_pointer));
    let selector = named("DeploymentSpec").and_then(|ty| ty.field("selector"));
    assert!(selector.is_some_and(|field| {
        field.ownership == Ownership::Atomic && field.is_pointer && field.is_always_written
    }));
    let finalizers = named("ObjectMeta").and_then(|ty| ty.field("finalizers"));
    assert!(finalizers.is_some_and(|field| {
        field.ownership == Ownership::Set && field.strategy.merge == Some(ListMerge::Values)
    }));
}

fn container(extra: &str) -> Value {
    let mut container = json!({"name": "web", "image": "nginx"});
    let extra: Value = serde_json::from_str(extra).unwrap();
    if let (Some(container), Value::Object(extra)) = (container.as_object_mut(), extra) {
        container.extend(extra);
    }
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}})
}

/// Members of a container that mean the same: one pair a line.
const SAME: &str = r#"
{}                                                      ~ {"command": []}
{}                                                      ~ {"command": null, "tty": false}
{}                                                      ~ {"workingDir": ""}
{}                                                      ~ {"resources": {}}
{}                                                      ~ {"resources": {"limits": {}}}
{}                                                      ~ {"securityContext": null}
{"env": [{"name": "A"}]}                                ~ {"env": [{"name": "A", "value": ""}]}
{"ports": [{"containerPort": 80}]}                      ~ {"ports": [{"containerPort": 80, "hostPort": 0}]}
{"livenessProbe": {}}                                   ~ {"livenessProbe": {"periodSeconds": 0}}
{"livenessProbe": {"httpGet": {}}}                      ~ {"livenessProbe": {"httpGet": {"port": 0}}}
{"resources": {"limits": {"cpu": "1"}}}                 ~ {"resources": {"limits": {"cpu": "1000m"}}}
{"resources": {"limits": {"cpu": "1"}}}                 ~ {"resources": {"limits": {"cpu": 1}}}
{"resources": {"limits": {"memory": "1Gi"}}}            ~ {"resources": {"limits": {"memory": "1024Mi"}}}
{"newField": {"a": 1}}                                  ~ {"newField": {"a": 1}}
"#;

/// Members of a container that mean different things.
const DIFFERENT: &str = r#"
{}                                                      ~ {"image": "other"}
{}                                                      ~ {"securityContext": {}}
{"securityContext": {}}                                 ~ {"securityContext": {"runAsUser": 0}}
{"resources": {"limits": {}}}                           ~ {"resources": {"limits": {"cpu": "0"}}}
{"resources": {"limits": {"memory": "1G"}}}             ~ {"resources": {"limits": {"memory": "1Gi"}}}
{"livenessProbe": {"httpGet": {"port": 80}}}            ~ {"livenessProbe": {"httpGet": {"port": "80"}}}
{"args": ["a", "b"]}                                    ~ {"args": ["b", "a"]}
{"args": []}                                            ~ {"args": [""]}
{}                                                      ~ {"newField": []}
{"newField": 1}                                         ~ {"newField": "1"}
"#;

#[test]
fn templates_compare_by_meaning() {
    let ty = pod_template();
    for (cases, expected) in [(SAME, true), (DIFFERENT, false)] {
        for line in cases.lines().filter(|line| !line.is_empty()) {
            let (a, b) = line.split_once(" ~ ").unwrap();
            let (a, b) = (container(a), container(b));
            assert_eq!(semantically_equal(ty, &a, &b), expected, "{line}");
            assert_eq!(semantically_equal(ty, &b, &a), expected, "mirrored: {line}");
            let identical = canonical(ty, &a) == canonical(ty, &b);
            assert_eq!(identical, expected, "canonical: {line}");
        }
    }
}

#[test]
fn whole_objects_compare_by_meaning() {
    let ty = pod_template();
    let cases = [
        (
            json!({}),
            json!({"metadata": {"creationTimestamp": null}, "spec": {}}),
            true,
        ),
        (
            json!({"metadata": {"labels": {"a": ""}}}),
            json!({"metadata": {"labels": {}}}),
            false,
        ),
        (
            json!({"spec": {"terminationGracePeriodSeconds": 0}}),
            json!({}),
            false,
        ),
        (
            json!({"metadata": {"deletionTimestamp": "2024-05-01T12:00:00Z"}}),
            json!({"metadata": {"deletionTimestamp": "2024-05-01T14:00:00+02:00"}}),
            true,
        ),
        (
            json!({"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}}),
            json!({"spec": {"volumes": [{"name": "a"}]}}),
            false,
        ),
        (
            json!({"spec": {"nodeSelector": null}}),
            json!({"spec": {"nodeSelector": {}}}),
            true,
        ),
        (
            json!({"spec": {"containers": [null]}}),
            json!({"spec": {"containers": [{}]}}),
            true,
        ),
        (json!({"spec": "broken"}), json!({"spec": {}}), false),
    ];
    for (a, b, expected) in cases {
        assert_eq!(semantically_equal(ty, &a, &b), expected, "{a} = {b}");
        assert_eq!(semantically_equal(ty, &b, &a), expected, "{b} = {a}");
        assert_eq!(
            canonical(ty, &a) == canonical(ty, &b),
            expected,
            "{a} ~ {b}"
        );
    }
}

#[test]
fn a_round_trip_writes_what_the_api_server_writes() {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "unknown": 1,
        "metadata": {"name": "web", "labels": {}, "creationTimestamp": null, "annotations": null},
        "spec": {
            "replicas": 0, "paused": false, "minReadySeconds": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"spec": {
                "securityContext": {},
                "containers": [{
                    "name": "web", "image": "", "tty": false, "command": [], "nope": true,
                    "resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}, "requests": {"cpu": 2}},
                    "volumeMounts": [{"name": "v", "readOnly": false}],
                }],
            }},
        },
        "status": {"conditions": [{"type": "A", "status": "True", "lastUpdateTime": "2024-05-01T12:00:00.5+02:00"}]},
    });
    round_trip(
        of_kind("apps/v1", "Deployment").expect("Deployment"),
        &mut object,
    );
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {},
            "template": {"metadata": {}, "spec": {
                "securityContext": {},
                "containers": [{
                    "name": "web",
                    "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "2"}},
                    "volumeMounts": [{"name": "v", "mountPath": ""}],
                }],
            }},
        },
        "status": {"conditions": [{
            "type": "A", "status": "True",
            "lastUpdateTime": "2024-05-01T10:00:00Z", "lastTransitionTime": null,
        }]},
    });
    assert_eq!(object, expected);
}
