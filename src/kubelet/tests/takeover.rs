//! A simulation that begins where another one ended.

use serde_json::{Value, json};

use super::world::{World, pod};

#[test]
fn running_pods_stay_as_they_are_and_can_be_deleted() {
    let mut world = World::new();
    for number in 1..=4 {
        world.put(pod(&format!("web-{number}"), &[]));
    }
    world.run_until(10.0);
    let before = world.pods.clone();
    world.restart();
    world.run_out();
    assert_eq!(world.pods, before);

    world.history();
    world.put(pod("web-5", &[]));
    world.delete("web-1", 30);
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
    10.000s web-5: Pending
    10.000s web-5: Pending web=ContainerCreating
    10.000s web-1: Running ready web=running+
    10.644s web-1: Failed web=Error(143)
    10.644s web-1: gone
    11.290s web-5: Running ready web=running+
    ");
    let mut addresses: Vec<_> = world
        .pods
        .values()
        .map(|pod| pod["status"]["podIP"].to_string())
        .collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 4, "no address is given out twice");
}

/// Pods that have not come to rest after 20 seconds.
fn on_their_way() -> Vec<Value> {
    let probe = |failures: u32| json!({"httpGet": {"path": "/", "port": 80}, "periodSeconds": 4, "failureThreshold": failures});
    let mut slow = pod("slow", &[("ready-after", "30s")]);
    slow["spec"]["containers"][0]["readinessProbe"] = probe(3);
    let mut starting = pod("starting", &[("ready-after", "30s")]);
    starting["spec"]["containers"][0]["startupProbe"] = probe(20);
    let mut init = pod("init", &[("runs-for.load", "60s")]);
    init["spec"]["initContainers"] = json!([{"name": "load", "image": "img:1"}]);
    let missing = [("fails.other", "ErrImagePull"), ("restarts.other", "1")];
    let mut twins = pod("twins", &missing);
    twins["spec"]["containers"] = json!([
        {"name": "other", "image": "img:2"},
        {"name": "web", "image": "img:1"},
    ]);
    let late = [
        ("fails", "CrashLoopBackOff"),
        ("runs-for", "25s"),
        ("restarts", "1"),
    ];
    vec![
        slow,
        starting,
        init,
        twins,
        pod("crash", &[("fails", "CrashLoopBackOff"), ("restarts", "6")]),
        pod(
            "waits",
            &[("fails", "ErrImagePull"), ("heals-after", "40s")],
        ),
        pod(
            "nowhere",
            &[("fails", "Unschedulable"), ("heals-after", "40s")],
        ),
        pod("late", &late),
    ]
}

#[test]
fn pods_on_their_way_go_on() {
    let mut world = World::new();
    for pod in on_their_way() {
        world.put(pod);
    }
    world.run_until(20.0);
    world.delete("slow", 30);
    world.delete("late", 30);
    world.history();
    world.restart();
    world.run_out();
    insta::assert_snapshot!(world.history(), @r"
     20.000s nowhere: Pending Unschedulable
     20.000s crash: Running web#2=Error(1)
     20.000s init: Pending load=PodInitializing web=PodInitializing
     20.000s late: Running ready web=running+
     20.000s slow: Running web=running
     20.000s starting: Running web=starting
     20.000s twins: Running ready other=running+ web=running+
     20.000s waits: Pending web=ErrImagePull
     20.371s init: Pending load=running web=PodInitializing
     20.603s late: Failed web=Error(143)
     20.603s late: gone
     20.862s slow: Failed web=Error(143)
     20.862s slow: gone
     32.000s starting: Running ready web=running+
     33.000s waits: Pending web=ImagePullBackOff
     40.000s crash: Running ready web#3=running+
     41.000s crash: Running web#3=Error(1)
     46.000s waits: Pending web=ErrImagePull
     59.000s waits: Pending web=ImagePullBackOff
     60.000s nowhere: Pending
     60.000s nowhere: Pending web=ContainerCreating
     60.805s waits: Running ready web=running+
     61.473s nowhere: Running ready web=running+
     80.371s init: Pending load=Completed(0)+ web=PodInitializing
     81.000s crash: Running ready web#4=running+
     81.760s init: Running ready load=Completed(0)+ web=running+
     82.000s crash: Running web#4=Error(1)
    142.000s crash: Running web#4=CrashLoopBackOff
    162.000s crash: Running ready web#5=running+
    163.000s crash: Running web#5=Error(1)
    223.000s crash: Running web#5=CrashLoopBackOff
    323.000s crash: Running ready web#6=running+
    ");
}

#[test]
fn a_crash_loop_goes_on_where_it_was() {
    let mut world = World::new();
    world.put(pod("web-1", &[("fails", "CrashLoopBackOff")]));
    world.run_until(140.0);
    world.history();
    world.restart();
    world.run_until(400.0);
    insta::assert_snapshot!(world.history(), @r"
    140.000s web-1: Running web#4=CrashLoopBackOff
    220.000s web-1: Running ready web#5=running+
    221.000s web-1: Running web#5=Error(1)
    281.000s web-1: Running web#5=CrashLoopBackOff
    381.000s web-1: Running ready web#6=running+
    382.000s web-1: Running web#6=Error(1)
    ");
}
