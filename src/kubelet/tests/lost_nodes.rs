//! Nodes whose kubelet falls silent.

use serde_json::{Value, json};

use super::world::{World, pod};

fn tolerating(name: &str, seconds: Option<i64>) -> Value {
    let mut pod = pod(name, &[]);
    pod["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "node-2"});
    let mut toleration = json!({"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"});
    if let Some(seconds) = seconds {
        toleration["tolerationSeconds"] = seconds.into();
    }
    pod["spec"]["tolerations"] = json!([toleration]);
    pod
}

fn ready_condition(world: &World, name: &str) -> Value {
    let conditions = world.pods[name]["status"]["conditions"]
        .as_array()
        .expect("conditions");
    let ready = conditions
        .iter()
        .find(|condition| condition["type"] == "Ready");
    ready.expect("Ready").clone()
}

#[test]
fn pods_of_a_lost_node_stay_until_it_comes_back_or_their_patience_ends() {
    let mut world = World::new();
    world.put(tolerating("patient", None));
    world.put(tolerating("usual", Some(300)));
    world.put(tolerating("short", Some(15)));
    world.put(pod("elsewhere", &[]));
    world.run_until(10.0);
    world.history();
    world.cut_off("node-2", true);
    world.run_until(200.0);
    insta::assert_snapshot!(world.history(), @r"
    60.000s patient: Running web=running+
    60.000s short: Running web=running+
    60.000s usual: Running web=running+
    75.000s short: Running web=running+
    ");
    insta::assert_snapshot!(world.events_of("short"), @r#"
    Normal Scheduled x1 Successfully assigned shop/short to node-2
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.344s (1.344s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    Warning NodeNotReady x1 Node is not ready
    Normal TaintManagerEviction x1 Marking for deletion Pod shop/short
    "#);
    let ready = ready_condition(&world, "usual");
    assert_eq!(ready["status"], "False");
    assert!(
        ready["reason"].is_null() && ready["message"].is_null(),
        "{ready}"
    );

    world.put(tolerating("late", Some(300)));
    world.run_until(210.0);
    assert_eq!(world.pods["late"]["spec"]["nodeName"], Value::Null);
    world.history();
    world.cut_off("node-2", false);
    world.run_until(600.0);
    insta::assert_snapshot!(world.history(), @r"
    210.000s patient: Running ready web=running+
    210.000s short: Failed web=Error(137)
    210.000s short: gone
    210.000s usual: Running ready web=running+
    211.000s late: Pending
    211.000s late: Pending web=ContainerCreating
    212.076s late: Running ready web=running+
    ");
    insta::assert_snapshot!(world.events_of("usual"), @r#"
    Normal Scheduled x1 Successfully assigned shop/usual to node-2
    Normal Pulling x1 Pulling image "reg.example.com/ok:v1"
    Normal Pulled x1 Successfully pulled image "reg.example.com/ok:v1" in 1.035s (1.035s including waiting). Image size: 29915253 bytes.
    Normal Created x1 Container created
    Normal Started x1 Container started
    Warning NodeNotReady x1 Node is not ready
    Normal TaintManagerEviction x1 Cancelling deletion of Pod shop/usual
    "#);
    assert_eq!(world.cluster.next_due(), None);
}

#[test]
fn a_node_that_is_back_within_its_grace_was_never_missed() {
    let mut world = World::new();
    world.put(tolerating("web-1", Some(0)));
    world.run_until(10.0);
    let before = world.pods.clone();
    world.cut_off("node-2", true);
    world.run_until(50.0);
    world.cut_off("node-2", false);
    world.run_until(55.0);
    world.cut_off("node-2", true);
    world.run_until(70.0);
    world.cut_off("node-2", false);
    world.run_out();
    assert_eq!(world.pods, before);
}
