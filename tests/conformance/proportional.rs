//! The scaling step alone, seen through a pass over a paused Deployment.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use kubectl_rs::controller::action::Action;
use kubectl_rs::controller::api::{Deployment, ReplicaSet};
use kubectl_rs::controller::deployment::{Fenceposts, Snapshot, reconcile};
use kubectl_rs::controller::keys;
use serde_json::{Value, json};

use crate::data::{Case, check_all, list, now, same, spell_out_times, string, template};

/// The recorded controller multiplies a size by the allowed total in 32 bits. Cases where that wraps around carry this
/// tag.
const WRAPS: &str = "int32Overflow";

#[test]
fn proportional() {
    check_all("proportional", check);
}

fn check(case: &Case) -> Result<(), String> {
    let snapshot = snapshot(&case.json);
    let scaled = scale(&snapshot);
    if !case.has_tag(WRAPS) {
        return same(&case.json["expect"], &scaled);
    }
    // The proof that wrapping is all that differs: the same formula gives the recorded sizes with a 32-bit product,
    // and ours with a wide one.
    let sizes = |product| sizes_by_formula(&snapshot, product);
    same(&case.json["expect"]["sizes"], &json!(sizes(wrapped)))
        .map_err(|difference| format!("not explained by wrapping:\n{difference}"))?;
    same(&json!(sizes(wide)), &scaled["sizes"])
}

fn snapshot(case: &Value) -> Snapshot {
    let input = &case["deployment"];
    let mut strategy = json!({"type": input["strategy"]});
    if input["strategy"] == keys::ROLLING_UPDATE {
        strategy["rollingUpdate"] =
            json!({"maxSurge": input["maxSurge"], "maxUnavailable": input["maxUnavailable"]});
    }
    let deployment = json!({
        "metadata": {"namespace": "default", "name": "web", "uid": "d-uid"},
        "spec": {
            "replicas": input["replicas"],
            // Scaling is all that a paused Deployment's pass does with sizes.
            "paused": true,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": strategy,
            "template": template("new"),
        },
        "status": {"replicas": input["statusReplicas"]},
    });
    Snapshot {
        now: now(),
        deployment: Arc::new(Deployment::from_json(&deployment).unwrap()),
        replica_sets: list(&case["replicaSets"])
            .iter()
            .map(|input| Arc::new(replica_set(input)))
            .collect(),
        ..Snapshot::default()
    }
}

fn replica_set(input: &Value) -> ReplicaSet {
    let name = string(&input["name"]);
    let is_new = input["new"] == true;
    let mut object = json!({
        "metadata": {
            "namespace": "default",
            "name": name,
            "uid": format!("uid-{name}"),
            "labels": {"app": "web"},
            "annotations": input["annotations"],
            "creationTimestamp": input["creationTimestamp"],
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d-uid", "controller": true}],
        },
        "spec": {
            "replicas": input["replicas"],
            "template": template(if is_new { "new" } else { &name }),
        },
        "status": {"availableReplicas": input["availableReplicas"]},
    });
    spell_out_times(&mut object);
    ReplicaSet::from_json(&object).unwrap()
}

/// The sizes after the pass, and its scaling writes, as the recording shows them.
fn scale(snapshot: &Snapshot) -> Value {
    let mut sizes: BTreeMap<&str, i32> = BTreeMap::new();
    let mut annotations = BTreeMap::new();
    for set in &snapshot.replica_sets {
        sizes.insert(&set.meta.name, set.spec.replicas);
        annotations.insert(&set.meta.name, set.meta.annotations.clone());
    }
    let mut writes = Vec::new();
    let plan = reconcile(snapshot, &[]);
    for step in &plan.steps {
        let Action::ScaleReplicaSet {
            target,
            to,
            annotations: changes,
            ..
        } = &step.action
        else {
            continue;
        };
        let name = target.key.name.as_str();
        sizes.insert(name, *to);
        let annotations = annotations.get_mut(&target.key.name).unwrap();
        for (key, value) in changes {
            annotations.insert(key.clone(), value.clone().unwrap());
        }
        writes.push(json!({"name": name, "replicas": to, "annotations": annotations}));
    }
    json!({"sizes": sizes, "writes": writes})
}

fn wrapped(size: i32, total: i32) -> f64 {
    size.wrapping_mul(total).into()
}

fn wide(size: i32, total: i32) -> f64 {
    f64::from(size) * f64::from(total)
}

/// Proportional scaling written down once more, in floating point, with the product to choose.
fn sizes_by_formula(snapshot: &Snapshot, product: fn(i32, i32) -> f64) -> BTreeMap<String, i64> {
    let bounds = Fenceposts::of(&snapshot.deployment);
    let mut sets: Vec<&ReplicaSet> = snapshot.replica_sets.iter().map(AsRef::as_ref).collect();
    let mut sizes: BTreeMap<String, i64> = sets
        .iter()
        .map(|set| (set.meta.name.clone(), set.spec.replicas.into()))
        .collect();
    sets.retain(|set| set.spec.replicas > 0);
    if let [only] = sets[..] {
        sizes.insert(only.meta.name.clone(), bounds.desired.into());
        return sizes;
    }
    let to_add = i64::from(bounds.max_total()) - sizes.values().sum::<i64>();
    sets.sort_by_key(|set| (set.meta.created(), &set.meta.name));
    if to_add > 0 {
        sets.reverse();
    }
    sets.sort_by_key(|set| Reverse(set.spec.replicas));
    let mut added = 0;
    for set in &sets {
        let size = set.spec.replicas;
        let before = set
            .meta
            .annotation(keys::MAX_REPLICAS)
            .and_then(|text| text.parse().ok())
            .filter(|before| *before != 0)
            .unwrap_or(snapshot.deployment.status.replicas);
        let share = (product(size, bounds.max_total()) / f64::from(before)).round();
        #[allow(clippy::cast_possible_truncation, reason = "a count of pods")]
        let fraction = share as i64 - i64::from(size);
        let remaining = to_add - added;
        let proportion = if to_add > 0 {
            fraction.min(remaining)
        } else {
            fraction.max(remaining)
        };
        added += proportion;
        *sizes.get_mut(&set.meta.name).unwrap() += proportion;
    }
    let first = sizes.get_mut(&sets[0].meta.name).unwrap();
    *first = (*first + to_add - added).max(0);
    sizes
}
