//! An API server of a few lines: performs the simulation's writes and feeds them back, in time that a test moves.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::controller::api::ObjectKey;
use crate::kubelet::{
    Cluster, ConfigKind, LOST, Lookup, NodeShape, NodeView, PodView, References, Rules, Write,
    set_condition, set_reachable,
};

/// The instant at which every test begins.
const START: &str = "2026-11-29T16:35:16Z";

pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) pods: BTreeMap<String, Value>,
    pub(super) events: BTreeMap<String, Value>,
    pub(super) objects: Objects,
    pub(super) writes: usize,
    /// Every status that a pod had.
    pub(super) seen: BTreeMap<String, Vec<Value>>,
    nodes: Vec<Value>,
    start: Timestamp,
    now: Timestamp,
    history: Vec<String>,
}

/// ConfigMaps and Secrets with their keys.
#[derive(Default)]
pub(super) struct Objects(pub(super) BTreeMap<String, Vec<String>>);

impl References for Objects {
    fn look_up(&self, _: ConfigKind, _: &str, name: &str, key: Option<&str>) -> Lookup {
        match (self.0.get(name), key) {
            (None, _) => Lookup::NoObject,
            (Some(keys), Some(key)) if !keys.iter().any(|known| known == key) => Lookup::NoKey,
            _ => Lookup::Found,
        }
    }
}

/// A pod with one container, `web`, whose annotations set its behaviour.
pub(super) fn pod(name: &str, behaviour: &[(&str, &str)]) -> Value {
    let annotations: BTreeMap<_, _> = behaviour
        .iter()
        .map(|(key, text)| (format!("sandbox.kubectl-rs.dev/{key}"), *text))
        .collect();
    json!({
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-of-{name}"), "generation": 1,
            "annotations": annotations,
        },
        "spec": {
            "containers": [{"name": "web", "image": "reg.example.com/ok:v1"}],
            "terminationGracePeriodSeconds": 30,
        },
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    })
}

impl World {
    pub(super) fn new() -> Self {
        Self::with_rules(Rules::default())
    }

    pub(super) fn with_rules(rules: Rules) -> Self {
        Self::of(rules, 3)
    }

    pub(super) fn with_nodes(nodes: u32) -> Self {
        Self::of(Rules::default(), nodes)
    }

    fn of(rules: Rules, nodes: u32) -> Self {
        let start = START.parse().expect("an instant");
        let mut world = Self {
            cluster: Cluster::new(rules),
            pods: BTreeMap::new(),
            events: BTreeMap::new(),
            objects: Objects::default(),
            writes: 0,
            seen: BTreeMap::new(),
            nodes: Vec::new(),
            start,
            now: start,
            history: Vec::new(),
        };
        for number in 1..=nodes {
            world.put_node(&NodeShape::default().node(number, start));
        }
        world
    }

    pub(super) fn put_node(&mut self, node: &Value) {
        let view: NodeView = serde_json::from_value(node.clone()).expect("a node");
        self.cluster.node_applied(view, self.now);
        self.nodes
            .retain(|old| old["metadata"]["name"] != node["metadata"]["name"]);
        self.nodes.push(node.clone());
    }

    /// Cuts a node off, or reconnects it.
    pub(super) fn cut_off(&mut self, name: &str, lost: bool) {
        let mut nodes = self.nodes.iter();
        let node = nodes.find(|node| node["metadata"]["name"] == name);
        let mut node = node.expect("the node is there").clone();
        node["metadata"]["annotations"] = json!({LOST: lost.to_string()});
        self.put_node(&node);
        self.settle();
    }

    /// The simulation begins anew and finds the pods as they are.
    pub(super) fn restart(&mut self) {
        self.cluster = Cluster::new(Rules::default());
        for node in std::mem::take(&mut self.nodes) {
            self.put_node(&node);
        }
        self.events.clear();
        for name in self.pods.keys().cloned().collect::<Vec<_>>() {
            self.tell(&name);
        }
        self.settle();
    }

    /// Stores a pod and lets what is due now happen.
    pub(super) fn put(&mut self, pod: Value) {
        let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
        self.pods.insert(name.clone(), pod);
        self.tell(&name);
        self.settle();
    }

    /// Changes a stored pod.
    pub(super) fn edit(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        change(self.pods.get_mut(name).expect("the pod is there"));
        self.tell(name);
        self.settle();
    }

    /// Deletes a pod as the API server does: with its grace period once it is bound.
    pub(super) fn delete(&mut self, name: &str, grace: i64) {
        if self.pods[name]["spec"]["nodeName"].is_null() || grace == 0 {
            self.remove(name);
            self.settle();
            return;
        }
        let deadline = Time(self.now + SignedDuration::from_secs(grace));
        self.edit(name, |pod| {
            pod["metadata"]["deletionTimestamp"] = json!(deadline);
            pod["metadata"]["deletionGracePeriodSeconds"] = grace.into();
            pod["metadata"]["generation"] = 2.into();
        });
    }

    /// Lets time pass until `seconds` after the beginning.
    pub(super) fn run_until(&mut self, seconds: f64) {
        let end = self.start + SignedDuration::from_secs_f64(seconds);
        while let Some(due) = self.cluster.next_due().filter(|due| *due <= end) {
            assert!(due >= self.now, "a timer in the past");
            self.now = due;
            self.settle();
        }
        self.now = end;
    }

    /// Lets time pass until nothing more is to come.
    pub(super) fn run_out(&mut self) {
        let mut rounds = 0;
        while let Some(due) = self.cluster.next_due() {
            self.now = due;
            self.settle();
            rounds += 1;
            assert!(rounds < 10_000, "it never ends");
        }
    }

    pub(super) fn elapsed(&self) -> f64 {
        self.now.duration_since(self.start).as_secs_f64()
    }

    fn settle(&mut self) {
        for _ in 0..100 {
            let writes = self.cluster.advance(&self.objects, self.now);
            if writes.is_empty() {
                return;
            }
            for write in writes {
                self.writes += 1;
                self.perform(write);
            }
        }
        panic!("the simulation writes for ever at one instant");
    }

    fn perform(&mut self, write: Write) {
        let now = self.now;
        match write {
            Write::Bind { pod, node } => self.change(&pod.key.name, &pod.uid, |pod| {
                pod["spec"]["nodeName"] = node.into();
                let bound = json!({
                    "type": "PodScheduled", "observedGeneration": 1, "status": "True",
                    "lastProbeTime": null, "lastTransitionTime": Time(now),
                });
                pod["status"]["conditions"] = json!([bound]);
            }),
            Write::Condition {
                pod,
                condition,
                generation,
            } => self.change(&pod.key.name, &pod.uid, |pod| {
                set_condition(&mut pod["status"], &condition, generation, now);
            }),
            Write::Status { pod, status } => self.change(&pod.key.name, &pod.uid, |pod| {
                status.write_into(&mut pod["status"], now);
            }),
            Write::Delete { pod } => self.delete(&pod.key.name, 30),
            Write::Node { name, reachable } => {
                let named = |node: &&mut Value| node["metadata"]["name"] == name.as_str();
                let node = self
                    .nodes
                    .iter_mut()
                    .find(named)
                    .expect("the node is there");
                set_reachable(node, reachable, now);
                let view = serde_json::from_value(node.clone()).expect("a node");
                self.cluster.node_applied(view, now);
            }
            Write::Remove { pod } => {
                let finalizers = &self.pods[&pod.key.name]["metadata"]["finalizers"];
                if finalizers.is_null() {
                    self.remove(&pod.key.name);
                } else {
                    self.change(&pod.key.name, &pod.uid, |pod| {
                        pod["metadata"]["deletionGracePeriodSeconds"] = 0.into();
                    });
                }
            }
            Write::Event { event, .. } => {
                assert_eq!(self.events.contains_key(&event.name), event.exists);
                let object = event.object();
                self.events.insert(event.name, object);
            }
        }
    }

    fn change(&mut self, name: &str, uid: &str, change: impl FnOnce(&mut Value)) {
        let pod = self.pods.get_mut(name).expect("the pod is there");
        assert_eq!(pod["metadata"]["uid"], uid);
        change(pod);
        self.note(name);
        self.tell(name);
    }

    fn remove(&mut self, name: &str) {
        self.pods.remove(name);
        self.history.push(format!("{} {name}: gone", self.clock()));
        let key = ObjectKey::new("shop", name);
        self.cluster.pod_deleted(&key, self.now);
    }

    fn tell(&mut self, name: &str) {
        let view = PodView::from_json(&self.pods[name]).expect("a pod");
        self.cluster.pod_applied(view, self.now);
    }

    fn clock(&self) -> String {
        format!("{:8.3}s", self.elapsed())
    }

    fn note(&mut self, name: &str) {
        let line = format!("{} {name}: {}", self.clock(), summary(&self.pods[name]));
        self.history.push(line);
        let seen = self.seen.entry(name.to_owned()).or_default();
        seen.push(self.pods[name]["status"].clone());
    }

    /// What was written since the last call: a line for each write of a pod.
    pub(super) fn history(&mut self) -> String {
        std::mem::take(&mut self.history).join("\n")
    }

    /// Events as `Type Reason xCount message`, in the order of their first occurrence.
    pub(super) fn events(&self) -> String {
        self.events_of("")
    }

    /// The events of one pod.
    pub(super) fn events_of(&self, pod: &str) -> String {
        let of_it = |event: &&Value| pod.is_empty() || event["involvedObject"]["name"] == pod;
        let mut events: Vec<_> = self.events.values().filter(of_it).collect();
        events.sort_by_key(|event| {
            event["metadata"]["name"]
                .as_str()
                .map(|name| name.rsplit_once('.').map(|(_, suffix)| suffix.to_owned()))
        });
        let lines = events.into_iter().map(|event| {
            let count = event["count"]
                .as_u64()
                .or(event["series"]["count"].as_u64());
            format!(
                "{} {} x{} {}",
                event["type"].as_str().unwrap_or_default(),
                event["reason"].as_str().unwrap_or_default(),
                count.unwrap_or(1),
                event["message"].as_str().unwrap_or_default()
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// `Running ready web=running`: what `kubectl get` would tell, a little longer.
fn summary(pod: &Value) -> String {
    let status = &pod["status"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut words = vec![text(&status["phase"])];
    if let Some(reason) = status["reason"].as_str() {
        words.push(reason.to_owned());
    }
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let condition = |type_: &str| {
        conditions
            .iter()
            .find(|condition| condition["type"] == type_)
    };
    if condition("Ready").is_some_and(|ready| ready["status"] == "True") {
        words.push("ready".to_owned());
    }
    if let Some(scheduled) = condition("PodScheduled").filter(|c| c["status"] == "False") {
        words.push(text(&scheduled["reason"]));
    }
    let init = status["initContainerStatuses"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let main = status["containerStatuses"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for container in init.iter().chain(&main) {
        words.push(container_summary(container));
    }
    words.join(" ")
}

fn container_summary(container: &Value) -> String {
    let state = &container["state"];
    let name = container["name"].as_str().unwrap_or_default();
    let restarts = match container["restartCount"].as_u64() {
        Some(0) | None => String::new(),
        Some(count) => format!("#{count}"),
    };
    let word = if state["running"].is_object() {
        let up = container["started"] == true;
        if up {
            "running".to_owned()
        } else {
            "starting".to_owned()
        }
    } else if let Some(reason) = state["waiting"]["reason"].as_str() {
        reason.to_owned()
    } else {
        let end = &state["terminated"];
        format!(
            "{}({})",
            end["reason"].as_str().unwrap_or_default(),
            end["exitCode"]
        )
    };
    let ready = if container["ready"] == true { "+" } else { "" };
    format!("{name}{restarts}={word}{ready}")
}
