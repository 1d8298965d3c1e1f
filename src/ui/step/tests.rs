//! Steps in words.

use std::collections::BTreeMap;

use super::super::scene::{self, NEW, OLD};
use super::*;
use crate::controller::action::Step;
use crate::controller::api::OwnerReference;
use crate::controller::garbage::Propagation;
use crate::controller::template::Template;
use crate::controller::why::Why;

fn words(naming: Naming, steps: &[Step]) -> Vec<String> {
    let mut revisions = Revisions::default();
    revisions.learn(&scene::overview(&[(1, [5, 5, 5, 5])]));
    let mut told = Vec::new();
    for step in steps {
        revisions.learn_step(&step.action);
        let words = Words::new(&step.action, &revisions, naming);
        told.push(format!("{} | {}", words.to_do(), words.done()));
    }
    told
}

/// The kinds of step that `scene` has no function for.
fn rare_actions() -> Vec<Action> {
    let replica_set = || scene::target(Kind::ReplicaSet, OLD);
    let pod = || scene::target(Kind::Pod, "web-6d4b-x1");
    let deployment = || scene::target(Kind::Deployment, "web");
    let owner = OwnerReference::default;
    let owner_uid = String::new;
    let annotations = BTreeMap::new;
    vec![
        Action::DeleteReplicaSet {
            target: replica_set(),
        },
        Action::AdoptReplicaSet {
            target: replica_set(),
            owner: owner(),
        },
        Action::ReleaseReplicaSet {
            target: replica_set(),
            owner_uid: owner_uid(),
        },
        Action::AdoptPod {
            target: pod(),
            owner: owner(),
        },
        Action::ReleasePod {
            target: pod(),
            owner_uid: owner_uid(),
        },
        Action::UpdateDeployment {
            target: deployment(),
            template: Some(Template::default()),
            annotations: annotations(),
        },
        Action::UpdateDeployment {
            target: deployment(),
            template: None,
            annotations: annotations(),
        },
        Action::UpdateReplicaSet {
            target: replica_set(),
            min_ready_seconds: None,
            annotations: annotations(),
        },
        Action::UpdateReplicaSetStatus {
            target: replica_set(),
            status: Box::default(),
            reread: false,
        },
        Action::Collect {
            target: replica_set(),
            propagation: Propagation::Background,
        },
        Action::Disown {
            target: pod(),
            owner_uid: owner_uid(),
        },
        Action::Unblock {
            target: pod(),
            owner_uids: vec![owner_uid()],
        },
        Action::RemoveFinalizer {
            target: deployment(),
            finalizer: "orphan",
            remaining: Vec::new(),
        },
    ]
}

#[test]
fn every_step_has_words() {
    let mut steps = vec![
        scene::create(1),
        scene::scale(NEW, 1, 2),
        scene::scale(OLD, 5, 4),
        scene::scale(OLD, 4, 4),
        scene::create_pod(NEW),
        scene::delete_pod("web-6d4b-x1"),
        scene::update_status(),
        scene::tell(),
    ];
    steps.extend(
        rare_actions()
            .into_iter()
            .map(|action| scene::step(action, Why::Tells)),
    );
    insta::assert_snapshot!(words(Naming::Full, &steps).join("\n"), @"
    create web-7f9c (revision 2) with 1 pod | created web-7f9c (revision 2) with 1 pod
    scale up web-7f9c (revision 2) 1→2 | scaled up web-7f9c (revision 2) 1→2
    scale down web-6d4b (revision 1) 5→4 | scaled down web-6d4b (revision 1) 5→4
    update annotations of web-6d4b (revision 1) | updated annotations of web-6d4b (revision 1)
    create pod for web-7f9c (revision 2) | created pod for web-7f9c (revision 2)
    delete pod web-6d4b-x1 | deleted pod web-6d4b-x1
    update status of deployment web | updated status of deployment web
    record event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2 | recorded event SuccessfulCreate for replicaset web-7f9c: Created pod: web-7f9c-x2
    delete web-6d4b (revision 1) | deleted web-6d4b (revision 1)
    adopt web-6d4b (revision 1) | adopted web-6d4b (revision 1)
    release web-6d4b (revision 1) | released web-6d4b (revision 1)
    adopt pod web-6d4b-x1 | adopted pod web-6d4b-x1
    release pod web-6d4b-x1 | released pod web-6d4b-x1
    roll back deployment web | rolled back deployment web
    update annotations of deployment web | updated annotations of deployment web
    update annotations of web-6d4b (revision 1) | updated annotations of web-6d4b (revision 1)
    update status of web-6d4b (revision 1) | updated status of web-6d4b (revision 1)
    delete web-6d4b (revision 1) | deleted web-6d4b (revision 1)
    release pod web-6d4b-x1 | released pod web-6d4b-x1
    unblock pod web-6d4b-x1 | unblocked pod web-6d4b-x1
    remove finalizer orphan of deployment web | removed finalizer orphan of deployment web
    ");
}

#[test]
fn a_replica_set_goes_by_its_name_until_its_revision_is_known() {
    let steps = [scene::scale("web-other", 3, 0), scene::scale(OLD, 5, 0)];
    let told = |naming| {
        let lines = words(naming, &steps);
        lines
            .iter()
            .map(|line| line.split(" | ").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told(Naming::Full),
        [
            "scale down web-other 3→0",
            "scale down web-6d4b (revision 1) 5→0"
        ]
    );
    assert_eq!(
        told(Naming::Revision),
        ["scale down web-other 3→0", "scale down revision 1 5→0"]
    );
    assert_eq!(
        told(Naming::Short),
        ["scale down web-other 3→0", "scale down r1 5→0"]
    );
}

#[test]
fn a_new_number_is_learned_from_the_step_that_gives_it() {
    let mut revisions = Revisions::default();
    revisions.learn(&scene::overview(&[(1, [5, 5, 5, 5])]));
    revisions.learn_step(&Action::UpdateReplicaSet {
        target: scene::target(Kind::ReplicaSet, OLD),
        min_ready_seconds: None,
        annotations: [(keys::REVISION.to_owned(), Some("3".to_owned()))].into(),
    });
    assert_eq!(revisions.of(OLD), Some(3));
    assert_eq!(revisions.owner_of_pod("web-6d4b-x1"), Some(OLD));
    assert_eq!(revisions.owner_of_pod("stranger"), None);
}

#[test]
fn bookkeeping_weighs_less_than_pods_than_steps() {
    assert_eq!(weight(&scene::scale(OLD, 5, 4).action), Weight::Step);
    assert_eq!(weight(&scene::scale(OLD, 5, 5).action), Weight::Bookkeeping);
    assert_eq!(weight(&scene::create(1).action), Weight::Step);
    assert_eq!(
        weight(&scene::delete_pod("web-6d4b-x1").action),
        Weight::Pod
    );
    assert_eq!(weight(&scene::update_status().action), Weight::Bookkeeping);
    assert_eq!(weight(&scene::tell().action), Weight::Bookkeeping);
}
