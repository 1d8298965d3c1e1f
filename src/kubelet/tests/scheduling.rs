//! Where pods go, and what is said when they go nowhere; the messages are the recorded ones.

use std::path::Path;

use serde_json::{Value, json};

use super::world::{World, pod};
use crate::kubelet::NodeShape;

/// The recorded message of a variant; empty: of the file's own pod.
fn recorded(file: &str, variant: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance/failure-objects")
        .join(file)
        .with_extension("json");
    let text = std::fs::read_to_string(path).expect("the recording is there");
    let file: Value = serde_json::from_str(&text).expect("the recording is JSON");
    let of = |what: &Value| {
        what["pod"]["status"]["conditions"][0]["message"]
            .as_str()
            .map(str::to_owned)
    };
    let found = if variant.is_empty() {
        of(&file)
    } else {
        let variants = file["variants"].as_array().expect("variants");
        variants
            .iter()
            .find(|one| one["variant"] == variant)
            .and_then(of)
    };
    found.expect("the message is recorded")
}

fn with_spec(name: &str, spec: &Value) -> Value {
    let mut pod = pod(name, &[]);
    for (field, value) in spec.as_object().expect("fields") {
        pod["spec"][field] = value.clone();
    }
    pod
}

fn requesting(name: &str, requests: &Value) -> Value {
    with_spec(
        name,
        &json!({"containers": [{"name": "web", "image": "img:1", "resources": {"requests": requests}}]}),
    )
}

fn node_of(world: &World, name: &str) -> String {
    world.pods[name]["spec"]["nodeName"]
        .as_str()
        .unwrap_or("-")
        .to_owned()
}

fn message_of(world: &World, name: &str) -> String {
    let conditions = world.pods[name]["status"]["conditions"]
        .as_array()
        .expect("conditions");
    let scheduled = conditions
        .iter()
        .find(|condition| condition["type"] == "PodScheduled");
    scheduled.expect("PodScheduled")["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn node(number: u32, change: impl FnOnce(&mut Value)) -> Value {
    let now = "2026-11-29T16:35:16Z".parse().expect("an instant");
    let mut node = NodeShape::default().node(number, now);
    change(&mut node);
    node
}

#[test]
fn pods_that_no_node_takes_are_told_why() {
    let both = json!({"cpu": "5", "memory": "20Gi"});
    let affinity = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}}}});
    for (variant, pod) in [
        ("", requesting("a", &json!({"cpu": "5"}))),
        ("no-both", requesting("a", &both)),
        ("no-gpu", requesting("a", &json!({"nvidia.com/gpu": "1"}))),
        (
            "selector",
            with_spec("a", &json!({"nodeSelector": {"disk": "ssd"}})),
        ),
        ("selector", with_spec("a", &affinity)),
    ] {
        let mut world = World::new();
        world.put(pod);
        world.run_out();
        assert_eq!(
            message_of(&world, "a"),
            recorded("unschedulable-resources", variant)
        );
        assert_eq!(node_of(&world, "a"), "-");
        assert_eq!(
            world.cluster.next_due(),
            None,
            "nothing can help, nothing is tried"
        );
    }
}

#[test]
fn full_nodes_are_told_from_small_ones_and_room_is_used_when_it_comes() {
    let mut world = World::new();
    for number in 1..=3 {
        world.put(requesting(
            &format!("first-{number}"),
            &json!({"cpu": "3500m"}),
        ));
    }
    world.put(requesting("late", &json!({"cpu": "1"})));
    world.run_until(10.0);
    let nodes: Vec<_> = (1..=3)
        .map(|number| node_of(&world, &format!("first-{number}")))
        .collect();
    assert_eq!(nodes, ["node-1", "node-2", "node-3"]);
    assert_eq!(
        message_of(&world, "late"),
        recorded("unschedulable-resources", "full")
    );

    world.delete("first-2", 30);
    world.run_out();
    assert_eq!(node_of(&world, "late"), "node-2");
    insta::assert_snapshot!(world.events_of("late"), @r#"
    Warning FailedScheduling x1 0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.
    Normal Scheduled x1 Successfully assigned shop/late to node-2
    Normal Pulled x1 Container image "img:1" already present on machine and can be accessed by the pod
    Normal Created x1 Container created
    Normal Started x1 Container started
    "#);
}

#[test]
fn cordoned_and_tainted_nodes_take_only_pods_that_bear_it() {
    let mut world = World::with_nodes(0);
    world.put(pod("early", &[]));
    assert_eq!(
        message_of(&world, "early"),
        recorded("unschedulable-taints", "no-nodes")
    );

    let taint = |effect: &str| json!([{"key": "dedicated", "value": "db", "effect": effect}]);
    world.put_node(&node(1, |node| node["spec"]["unschedulable"] = true.into()));
    world.put_node(&node(2, |node| {
        node["spec"]["taints"] = taint("NoSchedule");
    }));
    world.put_node(&node(3, |node| node["spec"]["taints"] = taint("NoExecute")));
    world.run_until(5.0);
    assert_eq!(
        message_of(&world, "early"),
        recorded("unschedulable-taints", "")
    );
    let tolerating = |toleration: Value| json!({"tolerations": [toleration]});
    let equal =
        json!({"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"});
    let other = json!({"key": "dedicated", "operator": "Equal", "value": "web"});
    world.put(with_spec("equal", &tolerating(equal)));
    world.put(with_spec("other", &tolerating(other)));
    world.put(with_spec(
        "exists",
        &tolerating(json!({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"})),
    ));
    world.put(with_spec("all", &tolerating(json!({"operator": "Exists"}))));
    world.run_until(10.0);
    let nodes: Vec<_> = ["equal", "other", "exists", "all"]
        .map(|name| node_of(&world, name))
        .into();
    assert_eq!(nodes, ["node-2", "-", "node-3", "node-1"]);

    world.put_node(&node(1, |_| {}));
    world.run_out();
    assert_eq!(node_of(&world, "early"), "node-1", "uncordoned");
}

#[test]
fn affinity_terms_are_alternatives_and_their_expressions_go_together() {
    let place = |terms: Value| {
        let mut world = World::new();
        world.put(with_spec(
            "a",
            &json!({"affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}),
        ));
        world.run_out();
        node_of(&world, "a")
    };
    let host = "kubernetes.io/hostname";
    for (terms, expected) in [
        (
            json!([{"matchExpressions": [{"key": host, "operator": "In", "values": ["node-3"]}]}]),
            "node-3",
        ),
        (
            json!([{"matchExpressions": [{"key": host, "operator": "NotIn", "values": ["node-1", "node-2"]}]}]),
            "node-3",
        ),
        (
            json!([{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-2"]}]}]),
            "node-2",
        ),
        (
            json!([{"matchExpressions": [{"key": host, "operator": "Exists"}, {"key": "gpu", "operator": "DoesNotExist"}]}]),
            "node-1",
        ),
        (
            json!([{"matchExpressions": [{"key": host, "operator": "Gt", "values": ["1"]}]}]),
            "-",
        ),
        (json!([{}]), "-"),
        (json!([]), "-"),
    ] {
        assert_eq!(place(terms.clone()), expected, "{terms}");
    }
}

#[test]
fn pods_spread_and_slots_run_out() {
    let mut world = World::new();
    for number in 0..331 {
        world.put(pod(&format!("web-{number:03}"), &[]));
    }
    world.run_out();
    for node in ["node-1", "node-2", "node-3"] {
        let on_it = world
            .pods
            .values()
            .filter(|pod| pod["spec"]["nodeName"] == node)
            .count();
        assert_eq!(on_it, 110);
    }
    assert_eq!(
        message_of(&world, "web-330"),
        "0/3 nodes are available: 3 Too many pods. no new claims to deallocate, preemption: \
         0/3 nodes are available: 3 No preemption victims found for incoming pod."
    );
    let mut addresses: Vec<_> = world
        .pods
        .values()
        .filter_map(|pod| pod["status"]["podIP"].as_str())
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), 330, "every pod has an address of its own");
}

#[test]
fn pods_of_others_are_left_alone() {
    let mut world = World::new();
    world.put(with_spec("other", &json!({"schedulerName": "batch"})));
    world.put(with_spec(
        "gated",
        &json!({"schedulingGates": [{"name": "example.com/wait"}]}),
    ));
    world.put(with_spec("elsewhere", &json!({"nodeName": "real-node"})));
    world.run_out();
    assert_eq!(world.writes, 0);
    world.edit("gated", |pod| pod["spec"]["schedulingGates"] = json!([]));
    world.run_out();
    assert_eq!(node_of(&world, "gated"), "node-1");
}

#[test]
fn init_containers_count_only_where_they_need_more() {
    let container = |name: &str, cpu: &str, policy: Option<&str>| json!({"name": name, "image": "img:1", "restartPolicy": policy, "resources": {"requests": {"cpu": cpu}}});
    for (init, main, fits) in [
        (json!([container("a", "4", None)]), "1", true),
        (json!([container("a", "4100m", None)]), "1", false),
        (json!([container("a", "2", Some("Always"))]), "2", true),
        (json!([container("a", "2", Some("Always"))]), "2100m", false),
        (
            json!([
                container("a", "2", Some("Always")),
                container("b", "2100m", None)
            ]),
            "1",
            false,
        ),
        (
            json!([
                container("b", "4", None),
                container("a", "2", Some("Always"))
            ]),
            "2",
            true,
        ),
    ] {
        let mut world = World::new();
        let spec = json!({"initContainers": init, "containers": [container("web", main, None)]});
        world.put(with_spec("a", &spec));
        assert_eq!(node_of(&world, "a") != "-", fits, "{spec}");
    }
}
