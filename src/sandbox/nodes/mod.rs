//! The cluster's simulated nodes: drives the simulation of scheduler and kubelets (`kubelet`) on the store.
//!
//! One task hears of pods and nodes, sleeps until the simulation has something to do, and performs its writes the
//! way requests are performed. What is decided is decided in `kubelet`; nothing here looks into a pod.

mod direct;

use std::sync::Arc;

use foldhash::HashMap;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Duration, sleep};

use super::admission::NOT_READY;
use super::status::ApiError;
use super::store::Change;
use super::{Changes, Object, Sandbox};
use crate::controller::api::ObjectKey;
use crate::kubelet::{
    AllPresent, Cluster, ConfigKind, EventWrite, Lookup, NodeShape, PodRef, References, Rules,
    Write, set_reachable,
};

/// The longest sleep; a timer that is further away is looked at again then.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// What the simulated nodes are like, and their pods.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// How many nodes there are.
    pub count: u32,
    /// What each of them has.
    pub shape: NodeShape,
    /// How containers behave whose pods do not say.
    pub rules: Rules,
    /// Whether a pod fails that refers to a ConfigMap or Secret that is not there. Switch it off where only
    /// workloads are loaded and what they refer to is left out.
    pub check_references: bool,
}

impl Default for NodeOptions {
    fn default() -> Self {
        Self {
            count: 3,
            shape: NodeShape::default(),
            rules: Rules::default(),
            check_references: true,
        }
    }
}

/// Running nodes. They stop when this is dropped: pods stay as they are.
#[derive(Debug)]
#[must_use = "the nodes stop when this is dropped"]
pub struct Nodes {
    task: JoinHandle<()>,
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sandbox {
    /// Registers simulated nodes and starts what binds and runs pods on them. It needs a tokio runtime around it.
    ///
    /// # Errors
    /// When a node of the same name is there already.
    pub fn start_nodes(&self, options: NodeOptions) -> Result<Nodes, ApiError> {
        let kubelet = self.as_manager("kubelet");
        for number in 1..=options.count {
            let mut node = options.shape.node(number, self.now());
            let status = node["status"].take();
            let created = kubelet.create("nodes", "", node)?;
            kubelet.update_status("nodes", "", created.name(), |written| *written = status)?;
            self.admit_pods(created.name())?;
        }
        let driver = Driver::new(self, options.rules, options.check_references)?;
        Ok(Nodes {
            task: tokio::spawn(driver.run()),
        })
    }

    /// Takes the taint of a new node away, as the controller does that watches over nodes.
    fn admit_pods(&self, node: &str) -> Result<(), ApiError> {
        let controller = self.as_manager("kube-controller-manager");
        controller.update("nodes", "", node, |node| {
            if let Some(taints) = node["spec"]["taints"].as_array_mut() {
                taints.retain(|taint| taint["key"] != NOT_READY);
            }
        })?;
        Ok(())
    }

    fn now(&self) -> Timestamp {
        self.server.lock().now()
    }
}

struct Driver {
    sandbox: Sandbox,
    kubelet: Sandbox,
    scheduler: Sandbox,
    cluster: Cluster,
    pods: Changes,
    nodes: Changes,
    /// The latest version of a pod that is the kubelet's own writing and tells it nothing.
    own_versions: HashMap<ObjectKey, u64>,
    check_references: bool,
}

impl Driver {
    fn new(sandbox: &Sandbox, rules: Rules, check_references: bool) -> Result<Self, ApiError> {
        let (nodes, node_changes) = sandbox.subscribe("nodes")?;
        let (pods, pod_changes) = sandbox.subscribe("pods")?;
        let mut driver = Self {
            sandbox: sandbox.clone(),
            kubelet: sandbox.as_manager("kubelet"),
            scheduler: sandbox.as_manager("kube-scheduler"),
            cluster: Cluster::new(rules),
            pods: pod_changes,
            nodes: node_changes,
            own_versions: HashMap::default(),
            check_references,
        };
        driver.take_in(&nodes, &pods);
        Ok(driver)
    }

    async fn run(mut self) {
        loop {
            self.act();
            let wait = self.next_wait();
            tokio::select! {
                biased;
                changes = self.nodes.next() => match changes {
                    Some(changes) => changes.iter().for_each(|change| self.node_changed(change)),
                    None => if self.list_again().is_err() { return },
                },
                changes = self.pods.next() => match changes {
                    Some(changes) => changes.iter().for_each(|change| self.pod_changed(change)),
                    None => if self.list_again().is_err() { return },
                },
                () = sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
        }
    }

    fn next_wait(&self) -> Option<Duration> {
        let due = self.cluster.next_due()?;
        let wait = due.duration_since(self.sandbox.now());
        Some(
            Duration::try_from(wait)
                .unwrap_or_default()
                .min(LONGEST_SLEEP),
        )
    }

    /// Changes were missed: what is there now is as good as what was missed.
    fn list_again(&mut self) -> Result<(), ApiError> {
        let (nodes, node_changes) = self.sandbox.subscribe("nodes")?;
        let (pods, pod_changes) = self.sandbox.subscribe("pods")?;
        (self.nodes, self.pods) = (node_changes, pod_changes);
        let now = self.sandbox.now();
        let alive = pods.iter().map(|pod| pod.key().clone()).collect();
        self.cluster.retain_pods(&alive, now);
        let alive = nodes.iter().map(|node| node.name()).collect();
        self.cluster.retain_nodes(&alive);
        self.take_in(&nodes, &pods);
        Ok(())
    }

    fn take_in(&mut self, nodes: &[Arc<Object>], pods: &[Arc<Object>]) {
        for node in nodes {
            self.node_applied(node);
        }
        for pod in pods {
            self.pod_applied(pod);
        }
    }

    fn node_changed(&mut self, change: &Change) {
        match (&change.after, &change.before) {
            (Some(node), _) => self.node_applied(node),
            (None, Some(node)) => self.cluster.node_deleted(node.name()),
            (None, None) => {}
        }
    }

    fn pod_changed(&mut self, change: &Change) {
        match (&change.after, &change.before) {
            (Some(pod), _) => {
                let own = self.own_versions.remove(pod.key());
                if own != Some(pod.resource_version()) {
                    self.pod_applied(pod);
                }
            }
            (None, Some(pod)) => {
                self.own_versions.remove(pod.key());
                let now = self.sandbox.now();
                self.cluster.pod_deleted(pod.key(), now);
            }
            (None, None) => {}
        }
    }

    fn node_applied(&mut self, node: &Object) {
        match node.decode() {
            Ok(view) => self.cluster.node_applied(view, self.sandbox.now()),
            Err(error) => tracing::warn!(node = node.name(), %error, "unreadable node"),
        }
    }

    fn pod_applied(&mut self, pod: &Object) {
        match pod.decode() {
            Ok(view) => self.cluster.pod_applied(view, self.sandbox.now()),
            Err(error) => tracing::warn!(pod = %pod.key(), %error, "unreadable pod"),
        }
    }

    fn act(&mut self) {
        let now = self.sandbox.now();
        let stored = StoredReferences(&self.sandbox);
        let references: &dyn References = if self.check_references {
            &stored
        } else {
            &AllPresent
        };
        for write in self.cluster.advance(references, now) {
            if let Err(error) = self.perform(write, now) {
                // Somebody else was faster; the watch brings what they did.
                tracing::debug!(%error, "write refused");
            }
        }
    }

    /// Binds a pod. Unless something was not heard yet of it, there is nothing new to read then.
    fn bind(&mut self, pod: PodRef, node: String, now: Timestamp) -> Result<(), ApiError> {
        let versions = self.scheduler.bind_pod(&pod, &node)?;
        if let Some([before, after]) = versions
            && before <= self.pods.heard()
        {
            self.cluster.pod_bound(&pod.key, node, now);
            self.own_versions.insert(pod.key, after);
        }
        Ok(())
    }

    fn perform(&mut self, write: Write, now: Timestamp) -> Result<(), ApiError> {
        match write {
            Write::Bind { pod, node } => self.bind(pod, node, now)?,
            Write::Condition {
                pod,
                condition,
                generation,
            } => {
                self.write_status(&self.scheduler, &pod, |before| {
                    condition.over(before, generation, now)
                })?;
            }
            Write::Status { pod, status } => {
                let version =
                    self.write_status(&self.kubelet, &pod, |before| status.over(before, now))?;
                if let (Some(version), false) = (version, status.is_final()) {
                    self.own_versions.insert(pod.key, version);
                }
            }
            Write::Remove { pod } => {
                if self.current(&pod).is_some() {
                    let ObjectKey { namespace, name } = &pod.key;
                    self.kubelet.delete("pods", namespace, name, Some(0))?;
                }
            }
            Write::Delete { pod } => {
                if self.current(&pod).is_some() {
                    let ObjectKey { namespace, name } = &pod.key;
                    self.sandbox.delete("pods", namespace, name, None)?;
                }
            }
            Write::Node { name, reachable } => self.write_node(&name, reachable, now)?,
            Write::Event { namespace, event } => self.write_event(&namespace, &event)?,
        }
        Ok(())
    }

    /// Writes a pod's status; returns the version that this made, if it changed anything.
    fn write_status(
        &self,
        writer: &Sandbox,
        pod: &PodRef,
        over: impl Fn(&str) -> serde_json::Result<String>,
    ) -> Result<Option<u64>, ApiError> {
        let Some(before) = self.current(pod) else {
            return Ok(None);
        };
        let after = writer.write_pod_status(&pod.key, over)?;
        let version = after.resource_version();
        Ok((version != before.resource_version()).then_some(version))
    }

    /// The stored pod, if it is this one and not a namesake.
    fn current(&self, pod: &PodRef) -> Option<Arc<Object>> {
        let ObjectKey { namespace, name } = &pod.key;
        let stored = self.sandbox.get("pods", namespace, name)?;
        (stored.uid() == pod.uid).then_some(stored)
    }

    fn write_node(&self, name: &str, reachable: bool, now: Timestamp) -> Result<(), ApiError> {
        self.kubelet.update("nodes", "", name, |node| {
            set_reachable(node, reachable, now);
        })?;
        self.kubelet.update_status("nodes", "", name, |status| {
            let mut node = json!({"status": status.take()});
            set_reachable(&mut node, reachable, now);
            *status = node["status"].take();
        })?;
        Ok(())
    }

    fn write_event(&self, namespace: &str, event: &EventWrite) -> Result<(), ApiError> {
        if !event.exists {
            return self.kubelet.create_event(namespace, event);
        }
        self.kubelet
            .update("events", namespace, &event.name, |stored| {
                if let Value::Object(content) = json!(event.content) {
                    for (field, value) in content {
                        stored[field] = value;
                    }
                }
            })?;
        Ok(())
    }
}

/// The ConfigMaps and Secrets in the store.
struct StoredReferences<'a>(&'a Sandbox);

impl References for StoredReferences<'_> {
    fn look_up(&self, kind: ConfigKind, namespace: &str, name: &str, key: Option<&str>) -> Lookup {
        let plural = match kind {
            ConfigKind::ConfigMap => "configmaps",
            ConfigKind::Secret => "secrets",
        };
        let Some(object) = self.0.get(plural, namespace, name) else {
            return Lookup::NoObject;
        };
        match key {
            Some(key) if !has_key(&object, key) => Lookup::NoKey,
            _ => Lookup::Found,
        }
    }
}

fn has_key(object: &Arc<Object>, key: &str) -> bool {
    let content: Map<String, Value> = object.decode().unwrap_or_default();
    let mut data = ["data", "binaryData"]
        .into_iter()
        .filter_map(|field| content.get(field));
    data.any(|data| data.get(key).is_some())
}

#[cfg(test)]
mod tests;
