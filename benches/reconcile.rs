//! One pass of the controllers over one object, by the number of its pods.
//!
//! `cargo bench --bench reconcile`. The numbers to hold: a Deployment with 10 ReplicaSets and 1,000 pods well under
//! 100 µs, and ten times the pods in at most ten times the time.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, Time};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kubectl_rs::controller::api::{
    ConditionStatus, Deployment, Pod, ReadyCondition, ReplicaSet, ReplicaSetStatus, Shared,
};
use kubectl_rs::controller::keys;
use kubectl_rs::controller::replica_set::ranking;
use kubectl_rs::controller::{deployment, replica_set};
use serde_json::{Value, json};

const REPLICA_SETS: i32 = 10;

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).expect("a valid instant")
}

fn ago(seconds: i32) -> String {
    (now() - SignedDuration::from_secs(seconds.into())).to_string()
}

/// A template of ordinary size: two containers with environment, probes and resources.
fn template(image: &str) -> Value {
    let env: Vec<Value> = (0..10)
        .map(|i| json!({"name": format!("SETTING_{i}"), "value": format!("value {i}")}))
        .collect();
    let container = |name: &str| {
        json!({
            "name": name,
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "env": env,
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http", "scheme": "HTTP"}, "periodSeconds": 10},
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
        })
    };
    json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"prometheus.io/scrape": "true"}},
        "spec": {
            "containers": [container("web"), container("sidecar")],
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
            "volumes": [{"name": "config", "configMap": {"name": "web", "defaultMode": 420}}],
        },
    })
}

/// A Deployment in the middle of a rollout: 8 empty ReplicaSets, the last old one, and the new one. Under Recreate the
/// old one is empty as well, but its pods have not all gone.
fn snapshot(strategy: &Value, pods: i32) -> deployment::Snapshot {
    let newest = REPLICA_SETS - 1;
    let deployment = json!({
        "metadata": {
            "namespace": "default", "name": "web", "uid": "d", "generation": 1,
            "annotations": {(keys::REVISION): REPLICA_SETS.to_string()},
        },
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": strategy,
            "template": template(&format!("web:{newest}")),
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
        },
        "status": {"observedGeneration": 1, "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
            {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "lastUpdateTime": ago(1), "lastTransitionTime": ago(1)},
        ]},
    });
    let sizes = |i: i32| match newest - i {
        0 => pods / 2,
        1 if strategy["type"] == keys::ROLLING_UPDATE => pods - pods / 2,
        _ => 0,
    };
    deployment::Snapshot {
        now: now(),
        deployment: Arc::new(Deployment::from_json(&deployment).expect("a Deployment")),
        replica_sets: (0..REPLICA_SETS)
            .map(|i| Arc::new(replica_set(i, sizes(i), pods)))
            .collect(),
        pods: (0..pods)
            .map(|i| Arc::new(pod(i, newest - i % 2)))
            .collect(),
        ..deployment::Snapshot::default()
    }
}

fn replica_set(i: i32, size: i32, pods: i32) -> ReplicaSet {
    let name = format!("web-{i}");
    let mut template = template(&format!("web:{i}"));
    template["metadata"]["labels"][keys::POD_TEMPLATE_HASH] = json!(i.to_string());
    let object = json!({
        "metadata": {
            "namespace": "default", "name": name, "uid": name, "generation": 1,
            "creationTimestamp": ago(10_000 - i),
            "labels": {"app": "web", (keys::POD_TEMPLATE_HASH): i.to_string()},
            "annotations": {
                (keys::REVISION): (i + 1).to_string(),
                (keys::DESIRED_REPLICAS): pods.to_string(),
                (keys::MAX_REPLICAS): (pods + pods / 4).to_string(),
            },
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": true}],
        },
        "spec": {"replicas": size, "template": template},
        "status": {
            "replicas": size, "readyReplicas": size, "availableReplicas": size,
            "terminatingReplicas": 0, "observedGeneration": 1,
        },
    });
    ReplicaSet::from_json(&object).expect("a ReplicaSet")
}

fn pod(i: i32, set: i32) -> Pod {
    let set = format!("web-{set}");
    let object = json!({
        "metadata": {
            "namespace": "default", "name": format!("{set}-{i}"), "uid": format!("pod-{i}"),
            "labels": {"app": "web"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set, "controller": true}],
        },
        "status": {"phase": "Running"},
    });
    Pod::from_json(&object).expect("a pod")
}

fn deployments(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("deployment");
    let rolling = json!({
        "type": keys::ROLLING_UPDATE,
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    });
    let recreate = json!({"type": keys::RECREATE});
    for pods in [1_000, 10_000] {
        for (name, strategy) in [("rolling", &rolling), ("recreate", &recreate)] {
            let snapshot = snapshot(strategy, pods);
            group.bench_function(BenchmarkId::new(name, pods), |bencher| {
                bencher.iter(|| deployment::reconcile(black_box(&snapshot), &[]));
            });
        }
        let snapshot = snapshot(&rolling, pods);
        group.bench_function(BenchmarkId::new("overview", pods), |bencher| {
            bencher.iter(|| deployment::overview::of(black_box(&snapshot)));
        });
    }
    group.finish();
}

/// The new ReplicaSet of that Deployment with all pods ready and said to be, of which `keep` are wanted. The pods differ
/// in all that they are ranked by.
fn pods_of_replica_set(pods: i32, keep: i32) -> replica_set::Snapshot {
    let newest = REPLICA_SETS - 1;
    let sized = |i: i32| {
        let mut set = replica_set(i, 0, pods);
        set.spec.selector = Some(LabelSelector {
            match_labels: Some(BTreeMap::clone(&set.meta.labels)),
            ..LabelSelector::default()
        });
        Arc::new(set)
    };
    let mut set = sized(newest);
    let new = Arc::make_mut(&mut set);
    new.spec.replicas = keep;
    new.status = ReplicaSetStatus {
        replicas: pods,
        fully_labeled_replicas: pods,
        ready_replicas: pods,
        available_replicas: pods,
        terminating_replicas: Some(0),
        observed_generation: 1,
        ..ReplicaSetStatus::default()
    };
    replica_set::Snapshot {
        now: now(),
        siblings: (0..newest).map(sized).collect(),
        pods: ready_pods(pods, &set.meta.labels),
        replica_set: set,
        expectations_met: true,
        ..replica_set::Snapshot::default()
    }
}

/// Pods that have in common what the engine's store keeps once for all pods of a ReplicaSet.
fn ready_pods(count: i32, labels: &Shared<BTreeMap<String, String>>) -> Vec<Arc<Pod>> {
    let first = ready_pod(0, labels);
    let pods = (0..count).map(|i| {
        let mut pod = ready_pod(i, labels);
        pod.meta.namespace.share_with(&first.meta.namespace);
        let owners = &mut pod.meta.owner_references;
        owners.share_with(&first.meta.owner_references);
        Arc::new(pod)
    });
    pods.collect()
}

fn ready_pod(i: i32, labels: &Shared<BTreeMap<String, String>>) -> Pod {
    let mut pod = pod(i, REPLICA_SETS - 1);
    pod.meta.labels.clone_from(labels);
    pod.node_name = format!("node-{}", i % 97);
    pod.restarts = i % 3;
    pod.meta.creation_timestamp = Some(Time(now() - SignedDuration::from_mins((i % 1_009).into())));
    pod.ready = Some(ReadyCondition {
        status: ConditionStatus::True,
        last_transition_time: Some(now() - SignedDuration::from_secs((i % 5_003).into())),
    });
    pod
}

fn replica_sets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replicaset");
    for pods in [1_000, 10_000] {
        for (name, keep) in [
            ("settled", pods),
            ("create", pods + 100),
            ("delete", pods - 100),
        ] {
            let snapshot = pods_of_replica_set(pods, keep);
            group.bench_function(BenchmarkId::new(name, pods), |bencher| {
                bencher.iter(|| replica_set::reconcile(black_box(&snapshot), &[]));
            });
        }
        let snapshot = pods_of_replica_set(pods, pods);
        for (name, count) in [("rank-500", 500), ("rank-all", snapshot.pods.len())] {
            group.bench_function(BenchmarkId::new(name, pods), |bencher| {
                let pods = || snapshot.pods.iter().map(AsRef::as_ref);
                bencher.iter(|| ranking::victims(black_box(pods()), pods(), count, now()));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, deployments, replica_sets);
criterion_main!(benches);
