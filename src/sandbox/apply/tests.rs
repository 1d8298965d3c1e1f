//! Server-side apply, case by case.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::{ApplyError, apply};
use crate::sandbox::managed_fields::managers::Managers;
use crate::sandbox::managed_fields::{Tracking, Writer, update};
use crate::schema;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn by(manager: &str) -> Writer<'_> {
    Writer {
        manager,
        subresource: "",
        now: NOW,
    }
}

/// An object of a kind, as the server has it after these writers applied these configurations one after the other.
fn applied(steps: &[(&str, &Value)]) -> Value {
    let mut live = None;
    for (manager, config) in steps {
        live = Some(apply_to(live.as_ref(), manager, config, false).expect("no conflict"));
    }
    live.expect("at least one step")
}

fn apply_to(
    live: Option<&Value>,
    manager: &str,
    config: &Value,
    force: bool,
) -> Result<Value, ApplyError> {
    let text = |name: &str| config[name].as_str().unwrap_or_default();
    let ty = schema::of_kind(text("apiVersion"), text("kind"));
    let ty = ty.unwrap_or_else(|| schema::of_kind("v1", "ConfigMap").expect("ConfigMap"));
    let mut object = apply(ty, live, config, &by(manager), force)?;
    schema::round_trip(ty, &mut object);
    Ok(object)
}

/// Who has what: `one: .data.a .data.b`.
fn owners(object: &Value) -> Vec<String> {
    let managers = Managers::of(object).expect("managedFields");
    let lines = managers
        .iter()
        .map(|(id, entry)| format!("{}: {}", id.manager, entry.fields.paths().join(" ")));
    lines.collect()
}

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})
}

fn deployment(replicas: Option<u32>, containers: &Value) -> Value {
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
        },
    });
    if let Some(replicas) = replicas {
        deployment["spec"]["replicas"] = replicas.into();
    }
    deployment
}

fn main_container(image: &str) -> Value {
    json!([{"name": "main", "image": image}])
}

#[test]
fn a_field_left_out_is_removed() {
    let both = config_map(&json!({"a": "1", "b": "2"}));
    let one = config_map(&json!({"a": "1"}));
    let object = applied(&[("me", &both), ("me", &one)]);
    assert_eq!(object["data"], json!({"a": "1"}));
    assert_eq!(owners(&object), ["me: .data.a"]);
}

#[test]
fn a_field_left_out_stays_while_another_manager_has_it() {
    let both = config_map(&json!({"a": "1", "b": "2"}));
    let one = config_map(&json!({"a": "1"}));
    let object = applied(&[("me", &both), ("you", &both), ("me", &one)]);
    assert_eq!(object["data"], json!({"a": "1", "b": "2"}));
    assert_eq!(owners(&object), ["me: .data.a", "you: .data.a .data.b"]);
    let object = apply_to(Some(&object), "you", &one, false).expect("no conflict");
    assert_eq!(object["data"], json!({"a": "1"}));
}

#[test]
fn the_same_again_changes_nothing() {
    let config = deployment(Some(2), &main_container("img:1"));
    let once = applied(&[("me", &config)]);
    let later = Writer {
        now: Timestamp::MAX,
        ..by("me")
    };
    let ty = schema::of_kind("apps/v1", "Deployment").expect("Deployment");
    assert_eq!(apply(ty, Some(&once), &config, &later, false), Ok(once));
}

#[test]
fn another_value_is_a_conflict_unless_forced() {
    let mine = deployment(Some(2), &main_container("img:1"));
    let yours = deployment(Some(5), &main_container("img:9"));
    let object = applied(&[("one", &mine)]);
    let refusal = apply_to(Some(&object), "two", &yours, false).expect_err("a conflict");
    assert_eq!(
        refusal.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"one\":\n\
         - .spec.replicas\n- .spec.template.spec.containers[name=\"main\"].image"
    );
    let one_field = deployment(Some(5), &main_container("img:1"));
    let refusal = apply_to(Some(&object), "two", &one_field, false).expect_err("a conflict");
    assert_eq!(
        refusal.to_string(),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas"
    );
    let object = apply_to(Some(&object), "two", &one_field, true).expect("forced");
    assert_eq!(object["spec"]["replicas"], 5);
    assert!(
        !owners(&object)[0].contains(".spec.replicas"),
        "{:?}",
        owners(&object)
    );
    assert!(
        owners(&object)[1].contains(".spec.replicas"),
        "{:?}",
        owners(&object)
    );
}

#[test]
fn updates_conflict_with_their_version_and_subresource() {
    let ty = schema::of_kind("apps/v1", "Deployment").expect("Deployment");
    let mut object = deployment(Some(1), &main_container("img:1"));
    schema::round_trip(ty, &mut object);
    update(
        ty,
        None,
        &mut object,
        &by("creator"),
        Tracking::FromCreation,
    );
    let mut scaled = object.clone();
    scaled["spec"]["replicas"] = 3.into();
    let hpa = Writer {
        subresource: "scale",
        ..by("hpa")
    };
    update(ty, Some(&object), &mut scaled, &hpa, Tracking::FromCreation);
    let config = deployment(Some(9), &main_container("img:2"));
    let refusal = apply_to(Some(&scaled), "me", &config, false).expect_err("a conflict");
    assert_eq!(
        refusal.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"creator\" using apps/v1:\n\
         - .spec.template.spec.containers[name=\"main\"].image\n\
         conflicts with \"hpa\" with subresource \"scale\" using apps/v1:\n- .spec.replicas"
    );
}

#[test]
fn what_was_there_before_the_first_apply_has_a_manager() {
    let ty = schema::of_kind("apps/v1", "Deployment").expect("Deployment");
    let mut object = deployment(Some(3), &main_container("img:1"));
    schema::round_trip(ty, &mut object);
    update(
        ty,
        None,
        &mut object,
        &by("creator"),
        Tracking::FromFirstApply,
    );
    assert_eq!(object.pointer("/metadata/managedFields"), None);
    let config = deployment(Some(9), &main_container("img:1"));
    let refusal = apply_to(Some(&object), "me", &config, false).expect_err("a conflict");
    assert_eq!(
        refusal.to_string(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: .spec.replicas"
    );
}

#[test]
fn lists_merge_by_their_keys() {
    let one = deployment(
        None,
        &json!([
            {"name": "main", "image": "img:1"},
            {"name": "side", "image": "s:1", "args": ["x"], "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80}]},
        ]),
    );
    let two = deployment(
        None,
        &json!([{"name": "side", "env": [{"name": "B", "value": "2"}]}]),
    );
    let object = applied(&[("one", &one), ("two", &two)]);
    let side = &object["spec"]["template"]["spec"]["containers"][1];
    assert_eq!(
        side["env"],
        json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])
    );
    assert_eq!(side["image"], "s:1");

    let refused = deployment(
        None,
        &json!([{"name": "side", "args": ["z"], "env": [{"name": "B", "value": "2"}]}]),
    );
    let refusal = apply_to(Some(&object), "two", &refused, false).expect_err("a conflict");
    assert_eq!(
        refusal.to_string(),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.template.spec.containers[name=\"side\"].args"
    );

    // What `one` drops goes, except for the element that `two` has a part of.
    let less = deployment(None, &main_container("img:1"));
    let object = apply_to(Some(&object), "one", &less, false).expect("no conflict");
    assert_eq!(
        object["spec"]["template"]["spec"]["containers"][1],
        json!({"name": "side", "env": [{"name": "B", "value": "2"}], "resources": {}})
    );
}

#[test]
fn elements_stand_where_the_configuration_has_them() {
    // live, configuration, merged: what both have follows the configuration, the rest keeps its neighbours.
    let cases = [
        ("ab", "ba", "ba"),
        ("abc", "ca", "bca"),
        ("abc", "d", "abcd"),
        ("abc", "bd", "abcd"),
        ("abc", "db", "adbc"),
        ("abcd", "dxa", "bcdxa"),
        ("ab", "cab", "cab"),
    ];
    let config = |letters: &str| {
        let finalizers: Vec<String> = letters
            .chars()
            .map(|letter| format!("x.y/{letter}"))
            .collect();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "finalizers": finalizers}})
    };
    for (live, configured, merged) in cases {
        let object = applied(&[("one", &config(live)), ("two", &config(configured))]);
        assert_eq!(
            object["metadata"]["finalizers"],
            config(merged)["metadata"]["finalizers"],
            "{live} {configured}"
        );
    }
}

#[test]
fn what_the_server_resets_is_nobodys() {
    let ty = schema::of_kind("v1", "Pod").expect("Pod");
    let config = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "1"}},
        "spec": {"nodeName": "n"}, "status": {"phase": "Running"},
    });
    let object = apply(ty, None, &config, &by("me"), false).expect("applied");
    assert_eq!(owners(&object), ["me: .metadata.labels.a .spec.nodeName"]);
    let writer = Writer {
        subresource: "status",
        ..by("kubelet")
    };
    let object = apply(ty, Some(&object), &config, &writer, false).expect("applied");
    assert_eq!(
        owners(&object)[0],
        "kubelet: .metadata.labels.a .status.phase"
    );
}

#[test]
fn what_does_not_fit_the_type_is_refused() {
    let cases = [
        (
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}),
            "invalid object type: /v1, Kind=Pod",
        ),
        (
            json!({"apiVersion": "apps/v1", "metadata": {"name": "c"}}),
            "invalid object type: apps/v1, Kind=",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": []}}),
            "metadata.managedFields must be nil",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "spec": {}}),
            "failed to create typed patch object (n/c; /v1, Kind=ConfigMap): .spec: field not declared in schema",
        ),
        (
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": 1}, "immutable": "no"}),
            "failed to create typed patch object (/c; /v1, Kind=ConfigMap): errors:\n  \
             .data.a: expected string, got &value.valueUnstructured{Value:1}\n  \
             .immutable: expected boolean, got &{no}",
        ),
    ];
    let ty = schema::of_kind("v1", "ConfigMap").expect("ConfigMap");
    for (config, message) in cases {
        let refusal = apply(ty, None, &config, &by("me"), false).expect_err(message);
        assert_eq!(refusal.to_string(), message);
    }
}

#[test]
fn duplicates_in_a_keyed_list_are_refused() {
    let container =
        |member: &str, list: Value| json!([{"name": "main", "image": "i", member: list}]);
    let cases = [
        (
            container(
                "ports",
                json!([{"containerPort": 80}, {"containerPort": 80}]),
            ),
            "ports: duplicate entries for key [containerPort=80,protocol=\"TCP\"]",
        ),
        (
            container(
                "env",
                json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
            ),
            "env: duplicate entries for key [name=\"A\"]",
        ),
        (
            container("env", json!([{"value": "1"}])),
            "env: element 0: associative list with keys has an element that omits all key fields [\"name\"] \
             (and doesn't have default values for any key fields)",
        ),
    ];
    for (containers, problem) in cases {
        let refusal = apply_to(None, "one", &deployment(None, &containers), false);
        assert_eq!(
            refusal.expect_err(problem).to_string(),
            format!(
                "failed to create typed patch object (/web; apps/v1, Kind=Deployment): \
                 .spec.template.spec.containers[name=\"main\"].{problem}"
            )
        );
    }
}

#[test]
fn kubectl_may_change_what_client_side_apply_set() {
    let ty = schema::of_kind("v1", "ConfigMap").expect("ConfigMap");
    let before = config_map(&json!({"a": "1", "b": "1"}));
    let mut object = before.clone();
    object["data"]["b"] = "changed by hand".into();
    object["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": before.to_string()});
    update(
        ty,
        None,
        &mut object,
        &by("kubectl-client-side-apply"),
        Tracking::FromCreation,
    );

    let config = config_map(&json!({"a": "2"}));
    let object = apply_to(Some(&object), "kubectl", &config, false).expect("no conflict");
    assert_eq!(object["data"]["a"], "2");
    let annotation =
        &object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    assert_eq!(*annotation, format!("{config}\n"));

    let config = config_map(&json!({"b": "2"}));
    let refusal = apply_to(Some(&object), "kubectl", &config, false).expect_err("a conflict");
    assert_eq!(
        refusal.to_string(),
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.b"
    );
    apply_to(
        Some(&object),
        "somebody",
        &config_map(&json!({"a": "3"})),
        false,
    )
    .expect_err("a conflict");
}
