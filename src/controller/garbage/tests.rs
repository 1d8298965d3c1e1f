//! What is done about an object, by how its owners and dependents stand.

use super::*;
use crate::controller::action::Applied;
use crate::controller::plan::End;

fn target(kind: Kind, name: &str) -> Target {
    Target {
        kind,
        key: crate::controller::api::ObjectKey::new("default", name),
        uid: format!("uid of {name}"),
        resource_version: "7".to_owned(),
    }
}

fn owner(name: &str, state: OwnerState) -> Owner {
    Owner {
        reference: OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: "ReplicaSet".to_owned(),
            name: name.to_owned(),
            uid: format!("uid of {name}"),
            ..OwnerReference::default()
        },
        state,
        is_confirmed: true,
    }
}

fn dependent(name: &str, blocks: bool) -> Dependent {
    Dependent {
        target: target(Kind::Pod, name),
        blocks,
        waits: false,
    }
}

fn living(owners: Vec<Owner>) -> Snapshot {
    Snapshot {
        target: target(Kind::Pod, "p"),
        is_deleting: false,
        finalizers: Vec::new(),
        owners,
        dependents: Vec::new(),
    }
}

fn going(finalizers: &[&str], dependents: Vec<Dependent>) -> Snapshot {
    Snapshot {
        target: target(Kind::ReplicaSet, "rs"),
        is_deleting: true,
        finalizers: finalizers.iter().map(ToString::to_string).collect(),
        owners: Vec::new(),
        dependents,
    }
}

/// The steps in short, each with its reason.
fn told(plan: &Plan) -> Vec<String> {
    let step = |action: &Action| match action {
        Action::Collect {
            target,
            propagation,
        } => format!("delete {} {propagation:?}", target.key.name),
        Action::Disown { target, owner_uid } => {
            format!("take {owner_uid} from {}", target.key.name)
        }
        Action::RemoveFinalizer {
            finalizer,
            remaining,
            ..
        } => format!("remove {finalizer}, leave {remaining:?}"),
        Action::Unblock { target, owner_uids } => {
            format!("unblock {} for {}", target.key.name, owner_uids.join(", "))
        }
        other => format!("{other:?}"),
    };
    let steps = plan.steps.iter();
    steps
        .map(|one| format!("{}: {}", step(&one.action), one.why))
        .collect()
}

fn check(snapshot: &Snapshot, expected: &[&str]) {
    assert_eq!(told(&collect(snapshot, &[])), expected, "{snapshot:?}");
}

#[test]
fn an_object_goes_when_none_of_its_owners_is_there() {
    use OwnerState::{Gone, There, Waiting};
    check(&living(vec![]), &[]);
    check(&living(vec![owner("a", There)]), &[]);
    check(
        &living(vec![owner("a", Gone)]),
        &["delete p Background: replicaset a is gone"],
    );
    check(
        &living(vec![owner("a", Waiting)]),
        &["delete p Background: replicaset a is being deleted, dependents first"],
    );
    check(
        &living(vec![owner("a", Gone), owner("b", Waiting)]),
        &["delete p Background: replicaset b is being deleted, dependents first"],
    );
}

#[test]
fn an_object_with_an_owner_left_only_forgets_the_others() {
    use OwnerState::{Gone, There, Waiting};
    check(
        &living(vec![
            owner("a", Gone),
            owner("b", There),
            owner("c", Waiting),
        ]),
        &[
            "take uid of a from p: replicaset a is gone",
            "take uid of c from p: replicaset c is being deleted, dependents first",
        ],
    );
}

#[test]
fn what_becomes_of_its_own_dependents_is_told_by_its_finalizers_and_its_owner() {
    use OwnerState::{Gone, Waiting};
    // Finalizer, owner, whether it has dependents, how it is deleted.
    let cases = [
        ("", Gone, true, "Background"),
        ("", Waiting, true, "Foreground"),
        ("", Waiting, false, "Background"),
        ("orphan", Gone, true, "Orphan"),
        ("orphan", Waiting, true, "Foreground"),
        ("foregroundDeletion", Gone, false, "Foreground"),
        ("example.com/mine", Gone, true, "Background"),
    ];
    for (finalizer, state, has_dependents, propagation) in cases {
        let mut snapshot = living(vec![owner("a", state)]);
        snapshot.finalizers = vec![finalizer.to_owned()];
        snapshot.dependents = vec![dependent("d", true); usize::from(has_dependents)];
        let [step] = &collect(&snapshot, &[]).steps[..] else {
            panic!("{finalizer} {state:?}: one step");
        };
        let is = matches!(&step.action, Action::Collect { propagation: found, .. }
            if format!("{found:?}") == propagation);
        assert!(is, "{finalizer} {state:?}: {step:?}");
    }
}

#[test]
fn in_the_foreground_an_object_waits_for_dependents_that_block_it() {
    let finalizers = ["example.com/mine", "foregroundDeletion"];
    check(&going(&finalizers, vec![dependent("d", true)]), &[]);
    for dependents in [vec![], vec![dependent("d", false)]] {
        check(
            &going(&finalizers, dependents),
            &["remove foregroundDeletion, leave [\"example.com/mine\"]: its dependents are gone"],
        );
    }
    check(&going(&["example.com/mine"], vec![]), &[]);
}

#[test]
fn between_an_owner_and_a_dependent_that_both_wait_it_blocks_no_owner() {
    use OwnerState::{Gone, Waiting};
    let circle = |state, blocks, waits| {
        let mut snapshot = living(vec![owner("a", state), owner("b", state)]);
        snapshot.owners[1].reference.block_owner_deletion = blocks;
        snapshot.dependents = vec![dependent("a", true), dependent("d", true)];
        snapshot.dependents[0].waits = waits;
        snapshot
    };
    let delete = "delete p Foreground: replicaset a is being deleted, dependents first";
    let unblock = "unblock p for uid of b: replicaset a is being deleted, dependents first";
    check(&circle(Waiting, true, true), &[unblock, delete]);
    check(&circle(Waiting, false, true), &[delete]);
    check(&circle(Waiting, true, false), &[delete]);
    let gone = "delete p Background: replicaset a is gone";
    check(&circle(Gone, true, true), &[gone]);
}

#[test]
fn an_orphaning_object_releases_its_dependents_and_only_then_goes() {
    let snapshot = going(
        &["orphan"],
        vec![dependent("d", true), dependent("e", false)],
    );
    check(
        &snapshot,
        &[
            "take uid of rs from d: replicaset rs is being deleted without its dependents",
            "take uid of rs from e: replicaset rs is being deleted without its dependents",
            "remove orphan, leave []: no dependents are left to it",
        ],
    );
    let batches: Vec<u32> = collect(&snapshot, &[])
        .steps
        .iter()
        .map(|step| step.batch)
        .collect();
    assert_eq!(batches, [1, 1, 2], "the finalizer goes last");
}

#[test]
fn a_release_that_is_refused_keeps_the_finalizer_and_one_of_what_is_gone_does_not() {
    let snapshot = going(
        &["orphan"],
        vec![dependent("d", true), dependent("e", true)],
    );
    let applied = || Outcome::Applied(Applied::default());
    let refused = |reason| {
        Outcome::Refused(Refusal {
            reason,
            message: "no".to_owned(),
        })
    };
    let plan = collect(&snapshot, &[refused(RefusalReason::Forbidden), applied()]);
    assert_eq!(plan.steps.len(), 2, "{plan:?}");
    assert!(matches!(plan.end, End::Failed(SyncError::Refused(_))));
    let plan = collect(&snapshot, &[refused(RefusalReason::NotFound), applied()]);
    assert_eq!(plan.steps.len(), 3, "{plan:?}");
    assert!(plan.end.is_done());
    let gone = refused(RefusalReason::NotFound);
    let plan = collect(&living(vec![owner("a", OwnerState::Gone)]), &[gone]);
    assert!(plan.end.is_done(), "what was to go is gone: {plan:?}");
}

#[test]
fn many_dependents_are_released_in_bursts() {
    let dependents = (0..60).map(|n| dependent(&format!("d{n}"), true)).collect();
    let plan = collect(&going(&["orphan"], dependents), &[]);
    let of_batch = |batch| plan.steps.iter().filter(|step| step.batch == batch).count();
    assert_eq!([1, 2, 3, 4].map(of_batch), [25, 25, 10, 1]);
}

#[test]
fn only_kinds_that_can_be_seen_are_owners() {
    let cases = [
        ("apps/v1", "Deployment", Some(Kind::Deployment)),
        ("apps/v1", "ReplicaSet", Some(Kind::ReplicaSet)),
        ("apps/v1beta2", "ReplicaSet", Some(Kind::ReplicaSet)),
        ("apps/v1", "StatefulSet", None),
        ("extensions/v1beta1", "ReplicaSet", None),
        ("example.com/v1", "ReplicaSet", None),
        ("v1", "Pod", None),
        ("", "", None),
    ];
    for (api_version, kind, expected) in cases {
        let reference = OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            ..OwnerReference::default()
        };
        assert_eq!(kind_of(&reference), expected, "{api_version} {kind}");
    }
}

#[test]
fn what_is_done_on_an_owners_account_waits_for_a_fresh_read_of_it() {
    let unconfirmed = |state| Owner {
        is_confirmed: false,
        ..owner("a", state)
    };
    // Whether the object is being deleted, its owners, how many must be read.
    let cases = [
        (false, vec![unconfirmed(OwnerState::Gone)], 1),
        (
            false,
            vec![
                unconfirmed(OwnerState::Waiting),
                unconfirmed(OwnerState::There),
            ],
            1,
        ),
        (false, vec![owner("a", OwnerState::Gone)], 0),
        (true, vec![unconfirmed(OwnerState::Gone)], 0),
    ];
    for (is_deleting, owners, expected) in cases {
        let mut snapshot = Snapshot {
            is_deleting,
            ..living(owners)
        };
        assert_eq!(snapshot.unconfirmed().count(), expected, "{snapshot:?}");
    }
}
