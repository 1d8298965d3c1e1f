//! Sections 8.3, 9 and 10: what one pass of a rollout moves, and what it waits for where it moves nothing.

use insta::assert_snapshot;

use super::*;

fn check(world: &World) -> String {
    let scales = world.scales();
    let waits = world
        .waits()
        .into_iter()
        .map(|what| format!("waits: {what}"));
    scales
        .into_iter()
        .chain(waits)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_new_set_starts_and_grows_within_the_surge() {
    let start = |old| World::rolling(10, 3, 2).set("old", old, old);
    assert_snapshot!(check(&start(10)), @"
    create at 3: new template: at most 13 pods in total
    old 10→8: availability room 2: available 10, at least 8 must stay
    ");
    assert_snapshot!(check(&start(8).set("new", 3, 3)), @"new 3→5: surge room 2: total 11 of at most 13");
    assert_snapshot!(check(&start(3).set("new", 5, 5)), @"new 5→10: surge room 5: total 8 of at most 13");
    assert_snapshot!(check(&start(13)), @"
    create at 0: new template: at most 13 pods in total
    old 13→8: availability room 5: available 13, at least 8 must stay
    ");
    assert_snapshot!(check(&World::rolling(10, 3, 2).set("new", 12, 12)), @"new 12→10: more than the 10 wanted");
}

#[test]
fn old_pods_go_as_far_as_availability_allows() {
    let world = || World::rolling(10, 3, 2);
    assert_snapshot!(check(&world().set("old", 10, 10).set("new", 3, 0)), @"old 10→8: availability room 2: available 10, at least 8 must stay");
    assert_snapshot!(check(&world().set("old", 8, 8).set("new", 5, 0)), @"waits: total 13 = 10 + maxSurge 3, available 8 = 10 − maxUnavailable 2: neither side may move until 1 of 5 new pods is ready");
    assert_snapshot!(check(&world().set("a", 3, 0).set("b", 7, 7).set("new", 3, 3)), @"
    a 3→0: 3 old pods are not available, up to 5 may go
    b 7→5: availability room 2: available 10, at least 8 must stay
    ");
    assert_snapshot!(check(&world().set("old", 8, 6).set("new", 5, 5)), @"
    old 8→6: 2 old pods are not available, up to 5 may go
    old 6→3: availability room 3: available 11, at least 8 must stay
    ");
}

#[test]
fn a_rollout_that_cannot_move_says_why() {
    let stuck = World::rolling(5, 1, 1).set("old", 4, 4).set("new", 2, 0);
    assert_snapshot!(check(&stuck), @"waits: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready");
    let last_pods = World::rolling(5, 1, 1).set("old", 0, 0).set("new", 5, 3);
    assert_snapshot!(check(&last_pods), @"waits: 2 of 5 new pods to become available");
    let old_leaving = World::rolling(5, 1, 1)
        .set("old", 0, 0)
        .with_status(json!({"replicas": 2}))
        .set("new", 5, 5);
    assert_snapshot!(check(&old_leaving), @"waits: 2 old pods to go");
    let scale_down_under_way = World::rolling(5, 1, 1).set("old", 2, 4).set("new", 4, 4);
    assert_snapshot!(check(&scale_down_under_way), @"waits: 2 old pods to go");
    let quota = World::rolling(5, 1, 1).set("old", 4, 4).set("new", 2, 0).with_status(json!({
        "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "pods \"x\" is forbidden: exceeded quota"}],
    }));
    assert_snapshot!(check(&quota), @r#"
    waits: pods "x" is forbidden: exceeded quota
    waits: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready
    "#);
}

#[test]
fn a_steady_rollout_takes_the_steps_of_the_specification() {
    let mut world = World::rolling(10, "25%", "25%")
        .set("old", 8, 8)
        .set("new", 3, 3);
    let mut trace = Vec::new();
    while !world.scales().is_empty() {
        for step in world.plan().steps {
            if let Action::ScaleReplicaSet { target, to, .. } = step.action {
                world = world.resized(&target.key.name, to);
            }
        }
        let size = |set: usize| world.sets[set]["spec"]["replicas"].as_i64().unwrap();
        trace.push((size(1), size(0)));
    }
    assert_eq!(trace, [(5, 8), (5, 3), (10, 3), (10, 0)]);
}

#[test]
fn a_single_pod_is_replaced_without_a_gap() {
    let world = World::rolling(1, "25%", "25%").set("old", 1, 1);
    assert_snapshot!(check(&world), @"
    create at 1: new template: at most 2 pods in total
    waits: 1 new pod to become available
    ");
    assert_snapshot!(check(&world.clone().set("new", 1, 0)), @"waits: 1 new pod to become available");
    assert_snapshot!(check(&world.set("new", 1, 1)), @"old 1→0: availability room 1: available 2, at least 1 must stay");
}

#[test]
fn recreate_waits_for_old_pods() {
    let world = || World::recreate(4).set("old", 0, 0);
    assert_snapshot!(check(&World::recreate(4).set("old", 4, 4)), @"old 4→0: Recreate: old pods go before new ones start");
    assert_snapshot!(check(&world().with_status(json!({"replicas": 2}))), @"waits: 2 old pods to go");
    assert_snapshot!(check(&world().pod("old", "Running", true)), @"waits: 1 old pod to go");
    assert_snapshot!(check(&world().pod("old", "", false).pod("old", "Unknown", false)), @"waits: 2 old pods to go");
    assert_snapshot!(check(&world().pod("old", "Failed", false).pod("old", "Succeeded", true)), @"
    create at 4: new template: at most 4 pods in total
    waits: 4 new pods to become available
    ");
    assert_snapshot!(check(&world().set("new", 2, 2).pod("new", "Running", false)), @"new 2→4: Recreate: old pods are gone");
    assert_snapshot!(check(&world().set("new", 6, 6)), @"new 6→4: more than the 4 wanted");
}

#[test]
fn paused_holds_a_template_change_back() {
    let paused = |world: World| world.deployment("spec", json!({"paused": true}));
    assert_snapshot!(check(&paused(World::rolling(5, 1, 1).set("old", 5, 5))), @"waits: paused, a template change is held back");
    assert_snapshot!(check(&paused(World::rolling(5, 1, 1).set("new", 3, 3))), @"
    new 3→5: scaled to 5
    waits: paused
    ");
}

#[test]
fn an_unknown_strategy_is_an_error() {
    let unknown =
        |world: World| world.deployment("spec", json!({"strategy": {"type": "BlueGreen"}}));
    let error = |world: World| format!("{:?}", unknown(world).plan().end);
    assert_snapshot!(error(World::rolling(5, 1, 1).set("new", 5, 5)), @r#"Failed(UnexpectedStrategy("BlueGreen"))"#);
}
