//! Field managers, case by case.

use k8s_openapi::jiff::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::compare::fields_of;
use super::layout::Layout;
use super::managers::Managers;
use super::path::PathElement;
use super::set::FieldSet;
use super::{Tracking, Writer, keep_times, manager_of_user_agent, scale, update};
use crate::schema::{self, Type};

fn deployment() -> &'static Type {
    schema::of_kind("apps/v1", "Deployment").expect("Deployment")
}

fn writer<'a>(manager: &'a str, subresource: &'a str, second: i64) -> Writer<'a> {
    let now = Timestamp::from_second(second).expect("a small number of seconds");
    Writer {
        manager,
        subresource,
        now,
    }
}

/// The object after another write, in a second of its own.
fn written(
    live: &Value,
    manager: &str,
    subresource: &str,
    second: i64,
    change: impl FnOnce(&mut Value),
) -> Value {
    let mut new = live.clone();
    change(&mut new);
    schema::round_trip(deployment(), &mut new);
    let writer = writer(manager, subresource, second);
    update(
        deployment(),
        Some(live),
        &mut new,
        &writer,
        Tracking::FromCreation,
    );
    new
}

fn created(manager: &str) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "template": {"spec": {"containers": [{"name": "main", "image": "i"}], "securityContext": {}}},
        },
    });
    schema::round_trip(deployment(), &mut object);
    update(
        deployment(),
        None,
        &mut object,
        &writer(manager, "", 1),
        Tracking::FromCreation,
    );
    object
}

/// The entries in the order in which they are written: `creator Update 1: .spec.replicas`.
fn entries(object: &Value) -> Vec<String> {
    let list = object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array);
    let lines = list.into_iter().flatten().map(|entry| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let mut words = vec![text("manager"), text("operation"), text("subresource")];
        words.push(
            text("time")
                .replace("1970-01-01T00:00:0", "")
                .replace('Z', ""),
        );
        words.retain(|word| !word.is_empty());
        let fields = FieldSet::from_fields_v1(&entry["fieldsV1"]).paths();
        format!("{}: {}", words.join(" "), fields.join(" "))
    });
    lines.collect()
}

#[test]
fn creating_takes_all_fields_but_those_of_the_server() {
    let expected = json!({
        "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
            "f:template": {"f:spec": {
                "f:containers": {"k:{\"name\":\"main\"}": {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}},
                "f:securityContext": {},
            }},
        },
    });
    assert_eq!(
        created("creator")["metadata"]["managedFields"],
        json!([{
            "manager": "creator", "operation": "Update", "apiVersion": "apps/v1",
            "time": "1970-01-01T00:00:01Z", "fieldsType": "FieldsV1", "fieldsV1": expected,
        }])
    );
}

#[test]
fn a_changed_field_changes_hands_and_a_removed_one_is_nobodys() {
    let object = created("creator");
    let object = written(&object, "updater", "", 2, |object| {
        object["spec"]["replicas"] = 2.into();
    });
    let object = written(&object, "labeler", "", 3, |object| {
        object["metadata"]["labels"]["x"] = "1".into();
    });
    assert_eq!(
        entries(&object)[1..],
        [
            "updater Update 2: .spec.replicas",
            "labeler Update 3: .metadata.labels.x"
        ]
    );
    assert!(
        !entries(&object)[0].contains(".spec.replicas"),
        "{:?}",
        entries(&object)
    );
    let object = written(&object, "creator", "", 4, |object| {
        object["metadata"]["labels"] = json!({"app": "web"});
    });
    assert_eq!(entries(&object)[1..], ["updater Update 2: .spec.replicas"]);
    assert!(
        entries(&object)[0].starts_with("creator Update 1:"),
        "{:?}",
        entries(&object)
    );
}

#[test]
fn a_write_that_changes_nothing_leaves_everything() {
    let object = created("creator");
    assert_eq!(written(&object, "other", "", 9, |_| {}), object);
}

#[test]
fn status_is_managed_through_its_subresource_alone() {
    let object = created("creator");
    let set = |object: &mut Value| {
        object["status"] =
            json!({"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]});
    };
    assert_eq!(entries(&written(&object, "other", "", 2, set)).len(), 1);
    let object = written(&object, "controller", "status", 2, |object| {
        set(object);
        object["spec"]["replicas"] = 7.into();
        object["metadata"]["labels"]["x"] = "1".into();
    });
    assert_eq!(
        entries(&object)[1],
        "controller Update status 2: .status.conditions .status.replicas .status.conditions[type=\"Available\"] \
         .status.conditions[type=\"Available\"].lastTransitionTime .status.conditions[type=\"Available\"].lastUpdateTime \
         .status.conditions[type=\"Available\"].status .status.conditions[type=\"Available\"].type"
    );
}

#[test]
fn one_empty_entry_ends_the_tracking() {
    let object = created("creator");
    let object = written(&object, "z", "", 2, |object| {
        object["metadata"]["managedFields"] = json!([{}]);
    });
    assert_eq!(object["metadata"].get("managedFields"), None);
    let object = written(&object, "z", "", 3, |object| {
        object["spec"]["replicas"] = 5.into();
    });
    assert_eq!(object["metadata"].get("managedFields"), None);
}

#[test]
fn managers_in_the_request_count_unless_they_cannot_be_read() {
    let object = created("creator");
    let taken = written(&object, "thief", "", 2, |object| {
        object["metadata"]["managedFields"][0]["manager"] = "other".into();
    });
    assert!(
        entries(&taken)[0].starts_with("other Update 1: "),
        "{:?}",
        entries(&taken)
    );
    let kept = written(&object, "thief", "", 2, |object| {
        object["metadata"]["managedFields"][0]["operation"] = "Steal".into();
    });
    assert_eq!(kept, object);
    let kept = written(&object, "thief", "status", 2, |object| {
        object["metadata"]["managedFields"][0]["manager"] = "other".into();
    });
    assert_eq!(kept, object);
}

#[test]
fn the_oldest_of_many_updaters_are_put_together() {
    let mut object = created("creator");
    for second in 2..14 {
        let name = format!("m{second:02}");
        object = written(&object, &name, "", second, |object| {
            object["metadata"]["labels"][&name] = "1".into();
        });
    }
    let entries = entries(&object);
    assert_eq!(entries.len(), 10);
    assert!(
        entries[0].starts_with("ancient-changes Update 4:"),
        "{entries:?}"
    );
    assert!(entries[0].contains(".metadata.labels.m02 .metadata.labels.m03 .metadata.labels.m04"));
    assert!(entries[0].contains(".spec.replicas"));
}

#[test]
fn times_alone_do_not_make_a_change() {
    let object = created("creator");
    let with_time = |time: &str| {
        let mut object = object.clone();
        object["metadata"]["managedFields"][0]["time"] = time.into();
        object
    };
    let mut later = with_time("2024-01-01T00:00:00Z");
    keep_times(&object, &mut later);
    assert_eq!(later, object);
    let mut changed = with_time("2024-01-01T00:00:00Z");
    changed["spec"]["replicas"] = 9.into();
    let expected = changed.clone();
    keep_times(&object, &mut changed);
    assert_eq!(changed, expected);
}

#[test]
fn the_managers_of_replicas_are_those_of_the_scale() {
    let object = created("creator");
    let parent = Managers::of(&object).expect("managers");
    let scale_type = schema::of_kind("autoscaling/v1", "Scale").expect("Scale");
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "web", "managedFields": scale::to_scale(&parent).encode()},
        "spec": {"replicas": 1}, "status": {"replicas": 0},
    });
    let mut scaled = scale.clone();
    scaled["spec"]["replicas"] = 3.into();
    update(
        scale_type,
        Some(&scale),
        &mut scaled,
        &writer("hpa", "scale", 2),
        Tracking::FromCreation,
    );
    assert_eq!(entries(&scaled), ["hpa Update scale 2: .spec.replicas"]);
    let mut object = object;
    let managers = Managers::of(&scaled).expect("managers");
    scale::to_parent(&parent, &managers, "apps/v1").write_to(&mut object);
    assert_eq!(entries(&object)[0], "hpa Update scale: .spec.replicas");
    assert!(
        !entries(&object)[1].contains("replicas"),
        "{:?}",
        entries(&object)
    );
    let unscaled = scale::to_parent(&parent, &scale::to_scale(&parent), "apps/v1");
    assert_eq!(unscaled, parent);
}

#[test]
fn a_user_agent_names_a_manager() {
    let cases = [
        ("kubectl/v1.36.0 (linux/amd64)", "kubectl"),
        ("client", "client"),
        ("", ""),
        ("a\u{7}b/1", "ab"),
    ];
    for (user_agent, manager) in cases {
        assert_eq!(manager_of_user_agent(user_agent), manager);
    }
    assert_eq!(manager_of_user_agent(&"é".repeat(200)), "é".repeat(64));
}

#[test]
fn an_element_that_is_there_twice_has_no_fields_of_its_own() {
    let layout = Layout::of_type(schema::named("Container").expect("Container"));
    let container =
        json!({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "B"}]});
    assert_eq!(
        fields_of(layout, &container).paths(),
        [
            ".env[name=\"A\"]",
            ".env[name=\"B\"]",
            ".env[name=\"B\"].name"
        ]
    );
}

fn step() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        "[a-c]".prop_map(|name| PathElement::named(&name)),
        "[a-c]".prop_map(|name| PathElement::Value(name.into())),
        (0..3_i64).prop_map(PathElement::Index),
        ("[a-c]", 80..82_i64).prop_map(|(name, port): (String, i64)| PathElement::Key(vec![
            ("containerPort".into(), port.into()),
            ("name".into(), name.into()),
        ])),
    ]
}

fn field_set() -> impl Strategy<Value = FieldSet> {
    let paths = vec(vec(step(), 1..4), 0..12);
    paths.prop_map(|paths| {
        let sets = paths.into_iter().map(|path| {
            let mut steps = path.into_iter().rev();
            let mut set = FieldSet::default();
            let mut is_member = true;
            for step in steps.by_ref() {
                let mut above = FieldSet::default();
                above.attach(step, is_member, set);
                set = above;
                is_member = false;
            }
            set
        });
        sets.reduce(FieldSet::union).unwrap_or_default()
    })
}

proptest! {
    #[test]
    fn a_set_survives_fields_v1(set in field_set()) {
        let fields = set.to_fields_v1();
        let read = if set.is_empty() { FieldSet::default() } else { FieldSet::from_fields_v1(&fields) };
        prop_assert_eq!(read, set);
    }

    #[test]
    fn sets_add_up(a in field_set(), b in field_set()) {
        let mut without = a.clone();
        without.subtract(&b);
        let both = a.intersection(&b);
        prop_assert_eq!(&both, &b.intersection(&a));
        prop_assert!(without.intersection(&b).is_empty());
        prop_assert_eq!(without.clone().union(both), a.clone());
        prop_assert_eq!(without.union(b.clone()), a.clone().union(b.clone()));
        let mut deeply = a.clone();
        deeply.subtract_deeply(&b);
        prop_assert_eq!(deeply.intersection(&a), deeply);
    }

    #[test]
    fn whoever_writes_last_has_what_changed(replicas in vec(0..4_i64, 1..6)) {
        let mut object = created("creator");
        for (count, second) in replicas.iter().zip(2..) {
            let manager = format!("m{second}");
            let before = object["spec"]["replicas"].clone();
            object = written(&object, &manager, "", second, |object| object["spec"]["replicas"] = (*count).into());
            let managers = Managers::of(&object).expect("managers");
            let having = managers.iter().filter(|(_, entry)| entry.fields.has_path(&["spec", "replicas"]));
            let names: Vec<_> = having.map(|(id, _)| id.manager.clone()).collect();
            prop_assert_eq!(names.len(), 1);
            prop_assert_eq!(names[0] == manager, before != *count);
        }
    }
}
