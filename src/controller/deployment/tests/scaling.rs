//! Sections 11 and 12: a changed replica count, spread over ReplicaSets.

use insta::assert_snapshot;

use super::*;

/// ReplicaSets of these sizes, oldest first, the last one new, all last sized for `before` pods in total; then the
/// replica count changes. Their sizes afterwards.
fn resize(sizes: &[i32], before: i32, replicas: i32, surge: i32) -> Vec<i32> {
    let mut world = World::rolling(replicas, surge, 1).deployment("spec", json!({"paused": true}));
    let names = ["a", "b", "c"];
    for (i, size) in sizes.iter().enumerate() {
        let name = if i + 1 == sizes.len() {
            "new"
        } else {
            names[i]
        };
        let annotations = [("max-replicas", &*before.to_string())];
        world = world.set(name, *size, 0).annotated(&annotations);
    }
    let mut after = sizes.to_vec();
    for step in world.plan().steps {
        if let Action::ScaleReplicaSet { target, to, .. } = step.action {
            let index = world
                .sets
                .iter()
                .position(|set| set["metadata"]["name"] == target.key.name);
            after[index.unwrap()] = to;
        }
    }
    after
}

#[test]
fn each_set_takes_its_share() {
    for (sizes, before, replicas, surge, expected) in [
        (&[8, 5][..], 13, 15, 3, &[11, 7][..]),
        (&[8, 5], 13, 5, 3, &[5, 3]),
        (&[1, 1, 1], 3, 4, 0, &[1, 1, 2]),
        (&[1, 1, 1], 3, 2, 0, &[0, 1, 1]),
        (&[5, 5], 10, 7, 0, &[3, 4]),
        (&[5, 5], 10, 5, 0, &[2, 3]),
        (&[1, 8], 9, 4, 0, &[0, 4]),
        (&[8, 5], 13, 0, 3, &[0, 0]),
        // Far beyond what 32 bits can multiply, and beyond what they can add.
        (&[60_000, 30_000], 90_000, 180_000, 0, &[120_000, 60_000]),
        (&[i32::MAX, 5], 10, i32::MAX, i32::MAX, &[i32::MAX, 5]),
    ] {
        assert_eq!(
            resize(sizes, before, replicas, surge),
            expected,
            "{sizes:?} to {replicas}"
        );
    }
}

#[test]
fn one_active_set_takes_it_all_and_keeps_outdated_annotations_at_the_right_size() {
    let outdated = [("desired-replicas", "3"), ("max-replicas", "4")];
    let world = |size| {
        World::rolling(5, 1, 1)
            .set("old", 0, 0)
            .set("new", size, size)
            .annotated(&outdated)
    };
    assert_snapshot!(world(3).scales().join("\n"), @"new 3→5: scaled to 5");
    assert_eq!(world(5).scales(), [""; 0]);
    assert!(
        !world(5)
            .plan()
            .steps
            .iter()
            .any(|step| matches!(step.action, Action::ScaleReplicaSet { .. }))
    );
}

#[test]
fn a_saturated_new_set_needs_no_old_ones() {
    let world = World::rolling(5, 1, 1)
        .set("a", 1, 1)
        .annotated(&[("desired-replicas", "4")])
        .set("b", 2, 2)
        .set("new", 5, 5)
        .annotated(&[("desired-replicas", "5")]);
    assert_snapshot!(world.scales().join("\n"), @"
    b 2→0: the new ReplicaSet is complete
    a 1→0: the new ReplicaSet is complete
    ");
}

#[test]
fn with_no_active_set_the_youngest_grows() {
    let paused = |world: World| world.deployment("spec", json!({"paused": true}));
    let world = World::rolling(5, 1, 1).set("a", 0, 0).set("b", 0, 0);
    assert_snapshot!(paused(world.clone()).scales().join("\n"), @"b 0→5: scaled to 5");
    assert_snapshot!(paused(world.set("new", 0, 0)).scales().join("\n"), @"new 0→5: scaled to 5");
    assert_eq!(paused(World::rolling(5, 1, 1)).scales(), [""; 0]);
}

#[test]
fn counts_that_are_none_are_ignored() {
    for (text, is_event) in [
        ("4", true),
        ("5", false),
        ("", false),
        ("+4", false),
        ("-4", false),
        ("4.0", false),
        ("4294967295", false),
        ("007", true),
    ] {
        let world = World::rolling(5, 1, 1)
            .set("old", 4, 4)
            .annotated(&[("desired-replicas", text)]);
        // A scaling pass makes no ReplicaSet for the new template; a rollout would.
        let creates = world
            .scales()
            .iter()
            .any(|scale| scale.starts_with("create"));
        assert_eq!(creates, !is_event, "{text:?}");
    }
}

#[test]
fn what_was_copied_without_a_write_travels_with_the_next_one() {
    // A revision that is no number keeps the copied annotation from being written on its own.
    let world = World::rolling(5, 1, 1)
        .deployment("metadata", json!({"annotations": {"team": "blue"}}))
        .set("new", 3, 3)
        .annotated(&[("revision", "odd")]);
    let mut writes = world
        .plan()
        .steps
        .into_iter()
        .filter_map(|step| match step.action {
            Action::UpdateReplicaSet { .. } => panic!("nothing is reported"),
            Action::ScaleReplicaSet { annotations, .. } => Some(annotations),
            _ => None,
        });
    let annotations = writes.next().unwrap();
    assert_eq!(annotations["team"].as_deref(), Some("blue"));
    assert_eq!(annotations.len(), 3);
}
