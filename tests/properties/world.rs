//! A small world in memory: one Deployment with its ReplicaSets and pods, beside things that are not its own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kubectl_rs::controller::api::{
    ConditionStatus, Deployment, IntOrPercent, ObjectMeta, OwnerReference, Phase, Pod,
    ReadyCondition, ReplicaSet,
};
use kubectl_rs::controller::keys;
use kubectl_rs::controller::template::Template;
use serde_json::json;

/// UID of the Deployment.
const DEPLOYMENT_UID: &str = "uid-web";

/// UID of the owner of what is not ours.
const STRANGER_UID: &str = "uid-stranger";

/// How a Deployment starts.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) replicas: i32,
    pub(crate) max_surge: IntOrPercent,
    pub(crate) max_unavailable: IntOrPercent,
    pub(crate) min_ready_seconds: i32,
    pub(crate) history_limit: i32,
}

/// Everything there is at one instant. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) deployment: Arc<Deployment>,
    pub(crate) replica_sets: BTreeMap<String, Arc<ReplicaSet>>,
    pub(crate) pods: BTreeMap<String, Arc<Pod>>,
    /// Counts versions, names and UIDs.
    counter: u64,
}

impl World {
    pub(crate) fn new(start: &Start) -> Self {
        let text = |bound: &IntOrPercent| serde_json::to_value(bound).unwrap();
        let deployment = json!({
            "metadata": {
                "namespace": "default", "name": "web", "uid": DEPLOYMENT_UID, "generation": 1,
                "resourceVersion": "0", "annotations": {"team": "blue"},
            },
            "spec": {
                "replicas": start.replicas,
                "selector": {"matchLabels": {"app": "web"}},
                "template": template(0),
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {
                    "maxSurge": text(&start.max_surge), "maxUnavailable": text(&start.max_unavailable),
                }},
                "minReadySeconds": start.min_ready_seconds,
                "revisionHistoryLimit": start.history_limit,
                "progressDeadlineSeconds": 600,
            },
        });
        let mut world = Self {
            now: Timestamp::UNIX_EPOCH,
            deployment: Arc::new(Deployment::from_json(&deployment).unwrap()),
            replica_sets: BTreeMap::new(),
            pods: BTreeMap::new(),
            counter: 0,
        };
        world.add_strangers();
        world
    }

    /// A ReplicaSet of another owner with the same labels, one of its pods, and an orphan that nobody selects.
    fn add_strangers(&mut self) {
        let mut set = ReplicaSet {
            meta: self.new_meta("stranger".to_owned()),
            ..ReplicaSet::default()
        };
        set.meta.labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]).into();
        set.meta.owner_references = vec![owner(STRANGER_UID)].into();
        set.spec.template = Template::new(template(0));
        self.replica_sets
            .insert("stranger".to_owned(), Arc::new(set));
        for (name, label, owners) in [
            ("stranger-pod", "web", vec![owner("uid-1")]),
            ("orphan", "lonely", Vec::new()),
        ] {
            let mut pod = Pod {
                meta: self.new_meta(name.to_owned()),
                phase: Phase::Running,
                ..Pod::default()
            };
            pod.meta.labels = BTreeMap::from([("app".to_owned(), label.to_owned())]).into();
            pod.meta.owner_references = owners.into();
            self.pods.insert(name.to_owned(), Arc::new(pod));
        }
    }

    /// What must stay as it is, whatever the controllers do.
    pub(crate) fn strangers(&self) -> (Option<&ReplicaSet>, Vec<Option<&Pod>>) {
        let pods = ["stranger-pod", "orphan"].map(|name| self.pods.get(name).map(AsRef::as_ref));
        let set = self.replica_sets.get("stranger").map(AsRef::as_ref);
        (set, pods.to_vec())
    }

    /// The Deployment's ReplicaSets, those included that it is going to adopt.
    pub(crate) fn own_replica_sets(&self) -> impl Iterator<Item = &Arc<ReplicaSet>> {
        self.replica_sets.values().filter(|set| {
            let owner = set.meta.controller();
            owner.is_none_or(|owner| owner.uid == DEPLOYMENT_UID)
        })
    }

    /// Active pods that a ReplicaSet has, or will adopt.
    pub(crate) fn active_pods(&self, set: &ReplicaSet) -> impl Iterator<Item = &Arc<Pod>> {
        let hash = set.meta.labels.get(keys::POD_TEMPLATE_HASH).cloned();
        let uid = set.meta.uid.clone();
        self.pods.values().filter(move |pod| {
            let is_ours = pod.meta.controller().is_none_or(|owner| owner.uid == uid);
            let selected = pod.meta.labels.get("app").is_some_and(|app| app == "web")
                && hash.is_some()
                && pod.meta.labels.get(keys::POD_TEMPLATE_HASH) == hash.as_ref();
            pod.is_active() && is_ours && selected
        })
    }

    /// Active pods that some ReplicaSet made and still selects.
    pub(crate) fn active(&self) -> i64 {
        self.count(Pod::is_active)
    }

    /// The ready ones among them.
    pub(crate) fn ready(&self) -> i64 {
        self.count(|pod| pod.is_active() && pod.is_ready())
    }

    fn count(&self, matches: impl Fn(&Pod) -> bool) -> i64 {
        let pods = self.pods.values().filter(|pod| {
            let labels = &pod.meta.labels;
            labels["app"] == "web" && labels.contains_key(keys::POD_TEMPLATE_HASH) && matches(pod)
        });
        pods.map(|_| 1).sum()
    }

    /// Pods that the ReplicaSets are to have.
    pub(crate) fn wanted(&self) -> i64 {
        let sets = self.own_replica_sets();
        sets.map(|set| i64::from(set.spec.replicas)).sum()
    }

    /// Terminating pods go, all others become ready. Returns whether there were any.
    pub(crate) fn let_pods_go_on(&mut self) -> bool {
        let before = self.pods.len();
        self.pods.retain(|_, pod| !pod.is_terminating());
        let mut changed = self.pods.len() < before;
        while self.pick_pod(0, is_unready).is_some() {
            self.make_ready(0);
            changed = true;
        }
        changed
    }

    /// Changes the pod at `index` of those that match, counted around; nothing where none does.
    pub(crate) fn change_pod(
        &mut self,
        index: usize,
        matches: impl Fn(&Pod) -> bool,
        change: impl FnOnce(&mut Pod),
    ) {
        let version = self.next();
        if let Some(name) = self.pick_pod(index, matches)
            && let Some(pod) = self.pods.get_mut(&name)
        {
            let pod = Arc::make_mut(pod);
            pod.meta.resource_version = version;
            change(pod);
        }
    }

    /// Removes the pod at `index` of those that match.
    pub(crate) fn remove_pod(&mut self, index: usize, matches: impl Fn(&Pod) -> bool) {
        if let Some(name) = self.pick_pod(index, matches) {
            self.pods.remove(&name);
        }
    }

    fn pick_pod(&self, index: usize, matches: impl Fn(&Pod) -> bool) -> Option<String> {
        let is_made = |pod: &Pod| pod.meta.labels.contains_key(keys::POD_TEMPLATE_HASH);
        let pods = self
            .pods
            .iter()
            .filter(|(_, pod)| is_made(pod) && matches(pod));
        let names: Vec<&String> = pods.map(|(name, _)| name).collect();
        names
            .get(index % names.len().max(1))
            .map(|name| (*name).clone())
    }

    /// Changes the label that selectors look at, of a pod that has it.
    pub(crate) fn relabel_pod(&mut self, index: usize, from: &str, to: &str) {
        self.change_pod(
            index,
            |pod| pod.meta.labels["app"] == from,
            |pod| {
                pod.meta.labels.insert("app".to_owned(), to.to_owned());
            },
        );
    }

    /// Takes a ReplicaSet's owner away.
    pub(crate) fn orphan_set(&mut self, name: &str) {
        let version = self.next();
        if let Some(set) = self.replica_sets.get_mut(name) {
            let meta = &mut Arc::make_mut(set).meta;
            meta.owner_references.clear();
            meta.resource_version = version;
        }
    }

    /// Makes a pod ready now.
    pub(crate) fn make_ready(&mut self, index: usize) {
        let now = self.now;
        self.change_pod(index, is_unready, |pod| {
            "node".clone_into(&mut pod.node_name);
            pod.phase = Phase::Running;
            pod.ready = Some(ReadyCondition {
                status: ConditionStatus::True,
                last_transition_time: Some(now),
            });
        });
    }

    /// Removes the pods that match.
    pub(crate) fn remove_pods(&mut self, matches: impl Fn(&Pod) -> bool) {
        self.pods.retain(|_, pod| !matches(pod));
    }

    /// Edits the Deployment as a user does.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Deployment)) {
        let version = self.next();
        let deployment = Arc::make_mut(&mut self.deployment);
        change(deployment);
        deployment.meta.generation += 1;
        deployment.meta.resource_version = version;
    }

    /// A new version, also good for names and UIDs.
    pub(crate) fn next(&mut self) -> String {
        self.counter += 1;
        self.counter.to_string()
    }

    pub(crate) fn new_meta(&mut self, name: String) -> ObjectMeta {
        ObjectMeta {
            namespace: "default".into(),
            name,
            uid: format!("uid-{}", self.next()),
            resource_version: self.next(),
            generation: 1,
            creation_timestamp: Some(Time(self.now)),
            ..ObjectMeta::default()
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = &self.deployment.spec;
        writeln!(
            f,
            "{} wanted, {:?}, paused: {}",
            spec.replicas, spec.strategy, spec.paused
        )?;
        for set in self.own_replica_sets() {
            let pods: Vec<&Arc<Pod>> = self.active_pods(set).collect();
            let ready = pods.iter().filter(|pod| pod.is_ready()).count();
            writeln!(
                f,
                "{}: {} wanted, {} active, {ready} ready; said to be {}, {} available; {:?}",
                set.meta.name,
                set.spec.replicas,
                pods.len(),
                set.status.replicas,
                set.status.available_replicas,
                set.meta.annotations
            )?;
        }
        Ok(())
    }
}

/// The template with a certain image.
pub(crate) fn template(image: u8) -> serde_json::Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": format!("web:{image}")}]},
    })
}

fn is_unready(pod: &Pod) -> bool {
    pod.is_active() && !pod.is_ready()
}

fn owner(uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: "Whatever".to_owned(),
        name: "stranger".to_owned(),
        uid: uid.to_owned(),
        controller: true,
        block_owner_deletion: true,
    }
}
