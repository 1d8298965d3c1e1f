//! Patches, compared with what the API server makes of them.

use k8s_openapi::DeepMerge;
use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvVar, PodSpec, ResourceRequirements, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Decoded, PatchError, PatchKind};
use crate::sandbox::decode::{self, FieldValidation};
use crate::schema::{self, Type};

fn apply_patch(
    kind: PatchKind,
    ty: &'static Type,
    current: &Value,
    body: &[u8],
) -> Result<Decoded, PatchError> {
    super::apply_patch(kind, ty, current, body, |patched| {
        decode::check(ty, patched, FieldValidation::Warn).map_err(|error| error.to_string())
    })
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// `TYPE | before | patch | after`, a line each.
fn check(kind: PatchKind, cases: &str) {
    for line in cases.lines().filter(|line| !line.is_empty()) {
        let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let [ty, before, patch, after] = parts.as_slice() else {
            panic!("not four parts: {line}");
        };
        let ty = schema::named(ty).unwrap_or_else(|| panic!("no type: {line}"));
        let patched = apply_patch(kind, ty, &parse(before), patch.as_bytes());
        assert_eq!(
            patched.map(|patched| patched.object),
            Ok(parse(after)),
            "{line}"
        );
    }
}

#[test]
fn strategic_patches_merge_as_the_type_says() {
    // What the recordings of patches/strategic-* show, and the same for members of other types.
    check(
        PatchKind::Strategic,
        r#"
PodSpec | {"containers": [{"name": "a", "image": "1"}, {"name": "b"}]} | {"containers": [{"name": "a", "image": "2"}]} | {"containers": [{"name": "a", "image": "2"}, {"name": "b"}]}
PodSpec | {"containers": [{"name": "a"}, {"name": "b"}]} | {"containers": [{"name": "c", "image": "3"}]} | {"containers": [{"name": "c", "image": "3"}, {"name": "a"}, {"name": "b"}]}
PodSpec | {"containers": [{"name": "a"}, {"name": "b"}]} | {"containers": [{"name": "b", "$patch": "delete"}, {"name": "c"}]} | {"containers": [{"name": "c"}, {"name": "a"}]}
PodSpec | {"containers": [{"name": "a"}]} | {"containers": [{"name": "x", "$patch": "delete"}]} | {"containers": [{"name": "a"}]}
PodSpec | {"containers": [{"name": "a"}]} | {"containers": [{"name": "f"}, {"$patch": "replace"}]} | {"containers": [{"name": "f"}]}
PodSpec | {"containers": [{"name": "a", "image": "1"}]} | {"containers": [{"name": "a", "image": null}]} | {"containers": [{"name": "a"}]}
PodSpec | {} | {"containers": [{"name": "a", "image": null, "env": [{"name": "x", "$patch": "delete"}]}]} | {"containers": [{"name": "a", "env": []}]}
PodSpec | {"tolerations": [{"key": "a"}]} | {"tolerations": [{"key": "b"}]} | {"tolerations": [{"key": "b"}]}
PodSpec | {"nodeSelector": {"a": "1"}} | {"nodeSelector": {"b": "2"}} | {"nodeSelector": {"a": "1", "b": "2"}}
PodSpec | {"nodeSelector": {"a": "1"}} | {"nodeSelector": {"$patch": "replace", "b": "2"}} | {"nodeSelector": {"b": "2"}}
PodSpec | {"nodeSelector": {"a": "1"}} | {"nodeSelector": {"$patch": "delete"}} | {"nodeSelector": {}}
PodSpec | {"volumes": [{"name": "v", "emptyDir": {}}]} | {"volumes": [{"name": "v", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]} | {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}
Container | {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]} | {"env": [{"name": "B", "value": "3"}, {"name": "C"}]} | {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}, {"name": "C"}]}
Container | {"ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 81}]} | {"ports": [{"containerPort": 82}]} | {"ports": [{"containerPort": 82}, {"containerPort": 80, "name": "http"}, {"containerPort": 81}]}
Container | {"ports": [{"containerPort": 80}, {"containerPort": 81}]} | {"ports": [{"containerPort": 80, "$patch": "delete"}]} | {"ports": [{"containerPort": 81}]}
Container | {"args": ["x", "y"]} | {"args": ["z"]} | {"args": ["z"]}
Container | {"args": ["x"]} | {"args": null} | {}
ObjectMeta | {"finalizers": ["a", "b"]} | {"finalizers": ["c"]} | {"finalizers": ["c", "a", "b"]}
ObjectMeta | {"finalizers": ["a", "b"]} | {"finalizers": ["b", "c"]} | {"finalizers": ["a", "b", "c"]}
ObjectMeta | {"finalizers": ["a", "b"]} | {"$deleteFromPrimitiveList/finalizers": ["a"]} | {"finalizers": ["b"]}
ObjectMeta | {"finalizers": ["a", "b"]} | {"$setElementOrder/finalizers": ["b", "a"]} | {"finalizers": ["b", "a"]}
ObjectMeta | {"ownerReferences": [{"uid": "1", "name": "x"}]} | {"ownerReferences": [{"uid": "1", "$patch": "delete"}]} | {"ownerReferences": []}
PodSpec | {"containers": [{"name": "a"}, {"name": "b"}]} | {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "a", "image": "2"}]} | {"containers": [{"name": "b"}, {"name": "a", "image": "2"}]}
PodSpec | {"containers": [{"name": "a"}, {"name": "b"}]} | {"$setElementOrder/containers": [{"name": "a"}, {"name": "n"}, {"name": "b"}], "containers": [{"name": "n"}]} | {"containers": [{"name": "a"}, {"name": "n"}, {"name": "b"}]}
PodSpec | {"containers": [{"name": "x"}, {"name": "a"}, {"name": "y"}, {"name": "b"}]} | {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]} | {"containers": [{"name": "x"}, {"name": "y"}, {"name": "b"}, {"name": "a"}]}
PodSpec | {} | {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "b"}, {"name": "a"}]} | {"containers": [{"name": "b"}, {"name": "a"}]}
DeploymentSpec | {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}} | {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}} | {"strategy": {"type": "Recreate"}}
DeploymentSpec | {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}} | {"strategy": {"type": "Recreate"}} | {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}
PodDisruptionBudgetSpec | {"selector": {"matchLabels": {"a": "1"}}} | {"selector": {"matchExpressions": []}} | {"selector": {"matchExpressions": []}}
"#,
    );
}

#[test]
fn merge_patches_replace_lists() {
    check(
        PatchKind::Merge,
        r#"
PodSpec | {"containers": [{"name": "a", "image": "1"}]} | {"containers": [{"name": "b"}]} | {"containers": [{"name": "b"}]}
ObjectMeta | {"labels": {"a": "1"}} | {"labels": {"b": "2", "a": null, "c": null}} | {"labels": {"b": "2"}}
ObjectMeta | {"labels": {"a": "1"}} | {"labels": null} | {}
ObjectMeta | {"name": "x"} | {} | {"name": "x"}
"#,
    );
}

#[test]
fn json_patches_follow_kubernetes_where_it_differs_from_the_rfc() {
    check(
        PatchKind::Json,
        r#"
ConfigMap | {"data": {"k": "v"}} | [] | {"data": {"k": "v"}}
ConfigMap | {"data": {"k": "v"}} | [{"op": "add", "path": "/data/n", "value": "1"}] | {"data": {"k": "v", "n": "1"}}
ConfigMap | {"data": {"k": "v"}} | [{"op": "replace", "path": "/data/n", "value": "1"}] | {"data": {"k": "v", "n": "1"}}
ConfigMap | {"data": {"k": "v"}} | [{"op": "copy", "from": "/data/k", "path": "/data/n"}] | {"data": {"k": "v", "n": "v"}}
ConfigMap | {"data": {"k": "v"}} | [{"op": "copy", "from": "/nothing", "path": "/data/n"}] | {"data": {"k": "v", "n": null}}
ConfigMap | {"data": {"k": "v"}} | [{"op": "move", "from": "/data/k", "path": "/data/n"}] | {"data": {"n": "v"}}
ConfigMap | {"data": {"k": "v"}} | [{"op": "test", "path": "/data/k", "value": "v"}, {"op": "remove", "path": "/data/k"}] | {"data": {}}
ConfigMap | {"metadata": {"labels": {}}} | [{"op": "add", "path": "/metadata/labels/ex.test~1r", "value": "x"}] | {"metadata": {"labels": {"ex.test/r": "x"}}}
PodSpec | {"tolerations": [{"key": "a"}]} | [{"op": "add", "path": "/tolerations/-", "value": {"key": "b"}}] | {"tolerations": [{"key": "a"}, {"key": "b"}]}
"#,
    );
    let refused = [
        json!([{"op": "replace", "path": "/data/k", "value": "z"}, {"op": "test", "path": "/data/k", "value": "v"}]),
        json!([{"op": "add", "path": "/metadata/annotations/a/b", "value": "1"}]),
        json!([{"op": "remove", "path": "/data/nope"}]),
        json!([{"op": "test", "path": "/data/nope", "value": null}]),
        json!([{"op": "frobnicate", "path": "/x"}]),
        json!([{"op": "add", "path": "data", "value": 1}]),
        json!([{"op": "remove", "path": ""}]),
        json!([{"path": "/data"}]),
        json!([{"op": "move", "from": "/data/nope", "path": "/data/k"}]),
    ];
    let ty = schema::named("ConfigMap").expect("ConfigMap");
    for patch in refused {
        let current = json!({"data": {"k": "v"}});
        let answer = apply_patch(PatchKind::Json, ty, &current, patch.to_string().as_bytes());
        assert_eq!(answer, Err(PatchError::Inapplicable), "{patch}");
    }
}

/// What a Deployment of one container answers to a patch.
fn refusal(kind: PatchKind, patch: &str) -> String {
    let ty = schema::of_kind("apps/v1", "Deployment").expect("Deployment");
    let deployment = json!({
        "kind": "Deployment",
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "main", "image": "img:1"}]}}},
    });
    let answer = apply_patch(kind, ty, &deployment, patch.as_bytes());
    answer.expect_err(patch).to_string()
}

#[test]
fn what_is_no_patch_is_refused_in_kubernetes_words() {
    use PatchKind::{Json, Merge, Strategic};
    let decoding = "error decoding patch: ";
    let no_map = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    let no_list = "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp";
    let cut = "unexpected end of JSON input";
    for (kind, patch, expected) in [
        (Merge, "{", format!("{decoding}{cut}")),
        (Strategic, "{", cut.to_owned()),
        (Json, "", format!("{decoding}{cut}")),
        (Json, "{\"op\": \"test\"}", format!("{decoding}{no_list}")),
        (Merge, "[]", format!("{decoding}{no_map}")),
        (Strategic, "[]", no_map.to_owned()),
        (Merge, "null", "Invalid JSON Patch".to_owned()),
    ] {
        assert_eq!(refusal(kind, patch), expected, "{patch}");
    }
    let many = Value::from(vec![json!({"op": "test", "path": "/kind"}); 10_001]).to_string();
    let expected = "The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!(refusal(Json, &many), expected);
}

#[test]
fn what_cannot_be_merged_is_refused_in_kubernetes_words() {
    let in_pod = |spec: &str| format!(r#"{{"spec": {{"template": {{"spec": {spec}}}}}}}"#);
    for (patch, expected) in [
        (
            r#"{"spec": {"replicas": "x"}}"#.to_owned(),
            "unrecognized type: int32",
        ),
        (
            r#"{"spec": {"$patch": "explode"}}"#.to_owned(),
            "unknown patch type: explode in map: map[$patch:explode]",
        ),
        (
            r#"{"spec": {"$retainKeys": ["replicas"], "paused": true}}"#.to_owned(),
            "invalid patch format of retainKeys",
        ),
        (
            in_pod(r#"{"containers": [{"image": "img:2"}]}"#),
            "map: map[image:img:2] does not contain declared merge key: name",
        ),
        (
            in_pod(r#"{"containers": {"name": "x"}}"#),
            "cannot restore slice from map",
        ),
        (
            in_pod(
                r#"{"$setElementOrder/containers": [{"name": "side"}], "containers": [{"name": "main", "image": "x:1"}]}"#,
            ),
            "The order in patch list:\n[map[image:x:1 name:main]]\n doesn't match $setElementOrder list:\n[map[name:side]]\n",
        ),
    ] {
        assert_eq!(refusal(PatchKind::Strategic, &patch), expected, "{patch}");
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-d]"
}

prop_compose! {
    fn container()(
        name in name(),
        image in option::of("[a-z]:[0-9]"),
        args in option::of(vec("[xyz]", 1..3)),
        env in btree_map(name(), option::of("[0-9]"), 0..4),
        ports in btree_map(80..84_i32, option::of(name()), 0..4),
        mounts in btree_map("/[a-d]", name(), 0..4),
        limits in btree_map("cpu|memory", "[1-9]", 0..3),
    ) -> Container {
        Container {
            name,
            image,
            args,
            env: some(env, |(name, value)| EnvVar { name, value, ..EnvVar::default() }),
            ports: some(ports, |(container_port, name)| ContainerPort { container_port, name, ..ContainerPort::default() }),
            volume_mounts: some(mounts, |(mount_path, name)| VolumeMount { mount_path, name, ..VolumeMount::default() }),
            resources: Some(ResourceRequirements {
                limits: Some(limits.into_iter().map(|(name, amount)| (name, Quantity(amount))).collect()),
                ..ResourceRequirements::default()
            }),
            ..Container::default()
        }
    }
}

fn some<K, V, T>(
    entries: impl IntoIterator<Item = (K, V)>,
    to: impl Fn((K, V)) -> T,
) -> Option<Vec<T>> {
    let list: Vec<T> = entries.into_iter().map(to).collect();
    (!list.is_empty()).then_some(list)
}

prop_compose! {
    fn pod_spec()(
        containers in btree_map(name(), container(), 0..4),
        volumes in btree_map(name(), Just(()), 0..4),
        host_network in option::of(any::<bool>()),
        grace in option::of(0..9_i64),
    ) -> PodSpec {
        PodSpec {
            containers: containers.into_iter().map(|(name, container)| Container { name, ..container }).collect(),
            volumes: some(volumes, |(name, ())| Volume { name, ..Volume::default() }),
            host_network,
            termination_grace_period_seconds: grace,
            ..PodSpec::default()
        }
    }
}

fn json_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("API types serialize")
}

/// Merged lists compare as sets: the two differ in where they put what is new.
fn sorted(mut spec: Value) -> Value {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(list) => {
                list.iter_mut().for_each(sort);
                list.sort_by_key(Value::to_string);
            }
            Value::Object(members) => members.values_mut().for_each(sort),
            _ => {}
        }
    }
    sort(&mut spec);
    spec
}

fn patched(before: &Value, patch: &PodSpec) -> Value {
    let ty = schema::named("PodSpec").expect("PodSpec");
    let text = json_of(patch).to_string();
    let patched = apply_patch(PatchKind::Strategic, ty, before, text.as_bytes());
    patched.expect("no directives").object
}

proptest! {
    #[test]
    fn without_directives_a_strategic_patch_is_a_deep_merge(before in pod_spec(), patch in pod_spec()) {
        let patched = patched(&json_of(&before), &patch);
        let mut merged = before;
        merged.merge_from(patch);
        prop_assert_eq!(sorted(patched), sorted(json_of(&merged)));
    }

    #[test]
    fn a_strategic_patch_applied_twice_changes_nothing_more(before in pod_spec(), patch in pod_spec()) {
        let once = patched(&json_of(&before), &patch);
        let twice = patched(&once, &patch);
        prop_assert_eq!(sorted(twice), sorted(once));
    }
}

#[test]
fn what_cannot_be_read_after_a_patch_is_quoted() {
    let ty = schema::of_kind("apps/v1", "Deployment").expect("Deployment");
    let deployment = json!({
        "kind": "Deployment", "apiVersion": "apps/v1",
        "metadata": {"name": "web", "namespace": "n", "labels": {"a": "<"}},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "1"}}, "template": {"spec": {"containers": [{"name": "m", "image": "i"}]}}},
        "status": {},
    });
    let expected = concat!(
        r#"{"apiVersion":"apps/v1","kind":"Deployment","#,
        r#""metadata":{"name":"web","namespace":"n","labels":{"a":"\u003c"}},"#,
        r#""spec":{"paused":"x","replicas":1,"selector":{"matchLabels":{"a":"1"}},"#,
        r#""template":{"spec":{"containers":[{"name":"m","image":"i"}]}}},"status":{}}"#,
    );
    let expected = PatchError::Untyped {
        patch: expected.to_owned(),
        problem: "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool".to_owned(),
    };
    for (kind, patch) in [
        (PatchKind::Merge, r#"{"spec": {"paused": "x"}}"#),
        (
            PatchKind::Json,
            r#"[{"op": "add", "path": "/spec/paused", "value": "x"}]"#,
        ),
    ] {
        let answer = apply_patch(kind, ty, &deployment, patch.as_bytes());
        assert_eq!(answer, Err(expected.clone()), "{patch}");
    }
    let patch = r#"{"spec": {"paused": false, "nosuch": 1}}"#;
    let answer = apply_patch(PatchKind::Merge, ty, &deployment, patch.as_bytes());
    assert_eq!(
        answer.map(|decoded| decoded.warnings),
        Ok(vec!["unknown field \"spec.nosuch\"".to_owned()])
    );
}
