//! Every small rolling update: replicas × bounds × sizes × availability, each pass held against the promises that a
//! rolling update makes.
//!
//! The promises are written down here from what the API's documentation says, without the controller's code: how many
//! pods there may be, how many must stay available, and that a healthy rollout never stands still.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, Time};
use k8s_openapi::jiff::Timestamp;
use kubectl_rs::controller::action::Action;
use kubectl_rs::controller::api::{
    Deployment, IntOrPercent, ObjectMeta, OwnerReference, ReplicaSet, Strategy,
};
use kubectl_rs::controller::deployment::{Snapshot, reconcile};
use kubectl_rs::controller::keys;
use kubectl_rs::controller::plan::Plan;
use kubectl_rs::controller::template::Template;
use serde_json::json;

/// `spec.replicas` and available pods of one ReplicaSet.
type Size = (i32, i32);

/// What a Deployment promises while it rolls: its own reading of maxSurge and maxUnavailable.
#[derive(Clone, Copy, Debug)]
struct Promise {
    most: i32,
    fewest: i32,
}

impl Promise {
    /// Both are plain numbers here. A rollout that may do neither is allowed to miss one pod.
    fn of(replicas: i32, surge: i32, unavailable: i32) -> Self {
        let missing = if surge == 0 && unavailable == 0 {
            1
        } else {
            unavailable
        };
        Self {
            most: replicas + surge,
            fewest: (replicas - missing).max(0),
        }
    }
}

#[test]
fn every_small_rolling_update_keeps_its_promises() {
    let objects = Objects::new();
    let mut cases = 0;
    for replicas in 0..=5 {
        for surge in [0, 1, 2, 5] {
            for unavailable in [0, 1, 2, 5] {
                let deployment = deployment(replicas, surge, unavailable);
                let promise = Promise::of(replicas, surge, unavailable);
                for sizes in worlds() {
                    let snapshot = Snapshot {
                        now: Timestamp::UNIX_EPOCH,
                        deployment: deployment.clone(),
                        replica_sets: objects.sets(&sizes),
                        ..Snapshot::default()
                    };
                    let plan = reconcile(&snapshot, &[]);
                    if let Err(broken) = check(&plan, &sizes, replicas, promise) {
                        panic!(
                            "{broken}: {replicas} replicas, surge {surge}, unavailable {unavailable}, {sizes:?}: {plan:#?}"
                        );
                    }
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 6 * 16 * 6 * 10 * 22);
}

/// Two old ReplicaSets of up to 2 and 3 pods, and a new one of up to 5 or none.
fn worlds() -> impl Iterator<Item = BTreeMap<&'static str, Size>> {
    let up_to =
        |most: i32| (0..=most).flat_map(|size| (0..=size).map(move |available| (size, available)));
    up_to(2).flat_map(move |older| {
        up_to(3).flat_map(move |old| {
            up_to(5).map(Some).chain([None]).map(move |new| {
                let mut sizes = BTreeMap::from([("older", older), ("old", old)]);
                sizes.extend(new.map(|new| ("new", new)));
                sizes
            })
        })
    })
}

/// Goes through the steps one by one, on the worst terms: a ReplicaSet that shrinks loses available pods as soon as it
/// has no others left.
fn check(
    plan: &Plan,
    before: &BTreeMap<&str, Size>,
    replicas: i32,
    promise: Promise,
) -> Result<(), &'static str> {
    let mut sizes = before.clone();
    let mut directions = Vec::new();
    for step in &plan.steps {
        let (name, from, to) = match &step.action {
            Action::CreateReplicaSet(new) => ("new", 0, new.replicas),
            Action::ScaleReplicaSet {
                target, from, to, ..
            } => (target.key.name.as_str(), *from, *to),
            _ => continue,
        };
        let (name, (size, available)) = sizes
            .get_key_value(name)
            .map_or(("new", (0, 0)), |(k, v)| (*k, *v));
        if size != from {
            return Err("a step starts from another size");
        }
        let left = available_pods(&sizes);
        sizes.insert(name, (to, available.min(to)));
        if to > from && total_pods(&sizes) > promise.most {
            return Err("more pods than allowed");
        }
        if to < from && available_pods(&sizes) < left.min(promise.fewest) {
            return Err("fewer available pods than promised");
        }
        if to < 0 {
            return Err("fewer than no pods");
        }
        if to != from && name != "new" {
            directions.push(to > from);
        }
    }
    if directions.contains(&true) {
        return Err("old pods came back");
    }
    let is_done = sizes
        .iter()
        .all(|(name, (size, _))| *size == if *name == "new" { replicas } else { 0 })
        && sizes.contains_key("new");
    let moved = sizes != *before;
    let is_healthy = before.values().all(|(size, available)| size == available);
    if is_healthy && !moved && !is_done {
        return Err("stands still though all pods are available");
    }
    let is_available = is_done && sizes["new"].1 == replicas;
    if !moved && !is_available && plan.waiting.is_empty() {
        return Err("stands still without saying why");
    }
    Ok(())
}

fn total_pods(sizes: &BTreeMap<&str, Size>) -> i32 {
    sizes.values().map(|(size, _)| size).sum()
}

fn available_pods(sizes: &BTreeMap<&str, Size>) -> i32 {
    sizes.values().map(|(_, available)| available).sum()
}

/// The ReplicaSets of all worlds, made once.
struct Objects(BTreeMap<(&'static str, Size), Arc<ReplicaSet>>);

impl Objects {
    fn new() -> Self {
        let sets = ["older", "old", "new"].into_iter().zip(1..);
        let sizes = (0..=5).flat_map(|size| (0..=size).map(move |available| (size, available)));
        Self(
            sets.flat_map(|(name, second)| {
                sizes
                    .clone()
                    .map(move |size| ((name, size), replica_set(name, second, size)))
            })
            .collect(),
        )
    }

    fn sets(&self, sizes: &BTreeMap<&'static str, Size>) -> Vec<Arc<ReplicaSet>> {
        sizes
            .iter()
            .map(|(name, size)| self.0[&(*name, *size)].clone())
            .collect()
    }
}

fn labels() -> BTreeMap<String, String> {
    BTreeMap::from([("app".to_owned(), "web".to_owned())])
}

fn template(name: &str) -> Template {
    Template::new(json!({"metadata": {"labels": {"app": "web"}}, "spec": {"hostname": name}}))
}

fn deployment(replicas: i32, surge: i32, unavailable: i32) -> Arc<Deployment> {
    let mut deployment = Deployment {
        meta: ObjectMeta {
            name: "web".to_owned(),
            uid: "d".to_owned(),
            ..ObjectMeta::default()
        },
        ..Deployment::default()
    };
    let spec = &mut deployment.spec;
    spec.replicas = replicas;
    spec.selector = Some(LabelSelector {
        match_labels: Some(labels()),
        match_expressions: None,
    });
    spec.template = template("new");
    spec.strategy = Strategy {
        type_: keys::ROLLING_UPDATE.to_owned(),
        max_surge: Some(IntOrPercent::Int(surge)),
        max_unavailable: Some(IntOrPercent::Int(unavailable)),
    };
    Arc::new(deployment)
}

fn replica_set(name: &str, second: i64, (size, available): Size) -> Arc<ReplicaSet> {
    let created = Timestamp::from_second(second).expect("a valid instant");
    let mut set = ReplicaSet {
        meta: ObjectMeta {
            name: name.to_owned(),
            uid: name.to_owned(),
            creation_timestamp: Some(Time(created)),
            labels: labels().into(),
            owner_references: vec![OwnerReference {
                uid: "d".to_owned(),
                controller: true,
                ..OwnerReference::default()
            }]
            .into(),
            ..ObjectMeta::default()
        },
        ..ReplicaSet::default()
    };
    set.spec.replicas = size;
    set.spec.template = template(name);
    set.status.replicas = size;
    set.status.ready_replicas = available;
    set.status.available_replicas = available;
    Arc::new(set)
}
