//! All pods and nodes of a simulated cluster: who is scheduled where, who is due when, what is to be written.
//!
//! A driver tells it what it sees ([`Cluster::pod_applied`] and its siblings), calls [`Cluster::advance`] when
//! something changed or [`Cluster::next_due`] has come, and performs the [`Write`]s in their order. Each call costs as
//! much as there is to do, not as much as there are pods.

mod entry;
mod lost;
mod schedule;

pub use entry::PodRef;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet, VecDeque};

use foldhash::HashMap;
use k8s_openapi::jiff::Timestamp;

use super::config::References;
use super::event::{EventWrite, PodEvent};
use super::node::{Node, NodeView};
use super::pod::PodView;
use super::rules::Rules;
use super::run::{Place, PodRun};
use super::status::{PodCondition, PodStatus};
use crate::controller::api::ObjectKey;
use entry::{Entry, Life, Removal};

/// So many writes are returned at once, about: all that a large cluster writes at one instant would be several times what
/// it stores.
const MANY: usize = 256;

/// What to write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Bind a pod to a node.
    Bind {
        /// Which pod.
        pod: PodRef,
        /// Which node.
        node: String,
    },
    /// Write one condition of a pod ([`set_condition`](super::set_condition)), and leave the rest of its status alone.
    Condition {
        /// Which pod.
        pod: PodRef,
        /// The condition.
        condition: PodCondition,
        /// The generation of the pod that it is about.
        generation: i64,
    },
    /// Write a pod's status ([`PodStatus::write_into`]).
    Status {
        /// Which pod.
        pod: PodRef,
        /// The status.
        status: Box<PodStatus>,
    },
    /// Delete a pod without grace: its containers have stopped.
    Remove {
        /// Which pod.
        pod: PodRef,
    },
    /// Delete a pod, with its grace period.
    Delete {
        /// Which pod.
        pod: PodRef,
    },
    /// Say of a node whether its kubelet is heard of ([`set_reachable`](super::set_reachable)).
    Node {
        /// Which node.
        name: String,
        /// Whether it is.
        reachable: bool,
    },
    /// Record an event.
    Event {
        /// The namespace.
        namespace: String,
        /// The event.
        event: Box<EventWrite>,
    },
}

/// The simulated scheduler and kubelets of one cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    rules: Rules,
    nodes: BTreeMap<String, Node>,
    pods: HashMap<ObjectKey, Entry>,
    timers: BinaryHeap<Reverse<(Timestamp, ObjectKey)>>,
    /// Pods that something was heard of since the last advance, oldest news first.
    news: VecDeque<ObjectKey>,
    queue: schedule::Queue,
    alarms: lost::Alarms,
    writes: Vec<Write>,
}

impl Cluster {
    /// An empty cluster whose containers behave as `rules` say.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// A node was added or changed.
    pub fn node_applied(&mut self, view: NodeView, now: Timestamp) {
        let name = view.metadata.name.clone();
        let is_lost = view.is_lost();
        let node = self.nodes.entry(name.clone()).or_default();
        node.view = view;
        node.measure();
        match (node.lost, is_lost) {
            (None, true) => self.lose(&name, now),
            (Some(_), false) => self.find(&name, now),
            _ => {}
        }
        self.queue.retry_soon(now);
    }

    /// A node was deleted; its pods stay where they are, as their kubelet is gone.
    pub fn node_deleted(&mut self, name: &str) {
        self.nodes.remove(name);
    }

    /// A pod was added or changed.
    pub fn pod_applied(&mut self, view: PodView, now: Timestamp) {
        let key = view.key();
        let known = self
            .pods
            .get(&key)
            .map(|entry| entry.meta.uid == view.metadata.uid);
        if known == Some(false) {
            self.pod_deleted(&key, now);
        }
        if known == Some(true) {
            self.pod_changed(&key, view, now);
        } else {
            let entry = Entry::new(view);
            self.pods.insert(key.clone(), entry);
            self.settle(&key, now);
        }
        self.news.push_back(key);
    }

    /// A pod was bound as a [`Write::Bind`] had it, and nothing else was changed: it need not be read for that.
    pub fn pod_bound(&mut self, key: &ObjectKey, node: String, now: Timestamp) {
        let entry = self.pods.get_mut(key);
        if let Some(Life::Unbound(view)) = entry.map(|entry| &mut entry.life) {
            view.spec.node_name = node;
            self.settle(key, now);
            self.news.push_back(key.clone());
        }
    }

    /// A pod is gone.
    pub fn pod_deleted(&mut self, key: &ObjectKey, now: Timestamp) {
        if let Some(mut entry) = self.pods.remove(key) {
            self.release(&mut entry, now);
        }
    }

    /// Forgets all pods but these: for a driver that missed changes and lists anew.
    pub fn retain_pods(&mut self, alive: &HashSet<ObjectKey>, now: Timestamp) {
        let gone = self.pods.keys().filter(|key| !alive.contains(key));
        for key in gone.cloned().collect::<Vec<_>>() {
            self.pod_deleted(&key, now);
        }
    }

    /// Forgets all nodes but these.
    pub fn retain_nodes(&mut self, alive: &HashSet<&str>) {
        self.nodes.retain(|name, _| alive.contains(name.as_str()));
    }

    /// When [`Cluster::advance`] has something to do next; `None`: when something changes.
    pub fn next_due(&self) -> Option<Timestamp> {
        let timer = self.timers.peek().map(|Reverse((at, _))| *at);
        let others = self.queue.due().into_iter().chain(self.alarms.due());
        let news = (!self.news.is_empty()).then_some(Timestamp::MIN);
        timer.into_iter().chain(others).chain(news).min()
    }

    /// Lets what is due happen, and returns what is to be written. Where much is due at one instant, not all happens at
    /// once: nothing is written when nothing is due any more.
    pub fn advance(&mut self, references: &dyn References, now: Timestamp) -> Vec<Write> {
        self.schedule(now);
        self.sound_alarms(now);
        while self.writes.len() < MANY
            && let Some(key) = self.news.pop_front()
        {
            self.move_pod(&key, references, now);
        }
        while self.writes.len() < MANY
            && let Some(Reverse((at, key))) = self.timers.pop()
        {
            if at > now {
                self.timers.push(Reverse((at, key)));
                break;
            }
            let counts = |entry: &Entry| entry.timer == Some(at);
            if self.pods.get(&key).is_some_and(counts) {
                self.move_pod(&key, references, now);
            }
        }
        std::mem::take(&mut self.writes)
    }

    fn pod_changed(&mut self, key: &ObjectKey, view: PodView, now: Timestamp) {
        let Some(entry) = self.pods.get_mut(key) else {
            return;
        };
        entry.meta = view.metadata.clone();
        let served = is_served(&self.nodes, entry);
        match &mut entry.life {
            Life::Finished(removal) if *removal != Removal::Asked => *removal = Removal::of(&view),
            Life::Finished(_) => {}
            Life::Unbound(old) => **old = view,
            // Somebody else may have ended it; after a final status of our own there is nothing to do either.
            Life::Bound(_) if view.is_finished() && view.deadline().is_none() => {
                entry.life = Life::Finished(Removal::NotWanted);
                entry.timer = None;
            }
            Life::Bound(_) if !served => entry.unheard = Some(Box::new(view)),
            Life::Bound(run) => {
                let events = run.observe(view, now);
                self.tell(key, events, now);
            }
        }
        self.settle(key, now);
    }

    /// Finds the pod's place in life: finished, on its node, or to be scheduled.
    fn settle(&mut self, key: &ObjectKey, now: Timestamp) {
        let Some(mut entry) = self.pods.remove(key) else {
            return;
        };
        let mut events = Vec::new();
        if let Life::Unbound(view) = &entry.life {
            let node = view.spec.node_name.clone();
            if view.is_finished() {
                entry.life = Life::Finished(Removal::of(view));
            } else if self.nodes.contains_key(&node) {
                self.occupy(&mut entry, &node, now);
                events = self.take_on(&mut entry, &node, now);
            } else if view.wants_binding() && entry.node.is_none() {
                self.queue.add(key.clone());
            }
        }
        if matches!(entry.life, Life::Finished(_)) {
            self.release(&mut entry, now);
        }
        self.pods.insert(key.clone(), entry);
        self.tell(key, events, now);
    }

    fn take_on(&mut self, entry: &mut Entry, node: &str, now: Timestamp) -> Vec<PodEvent> {
        let (Some(node), Life::Unbound(view)) = (self.nodes.get_mut(node), &mut entry.life) else {
            return Vec::new();
        };
        let view = std::mem::take(&mut **view);
        let behaviours = self.rules.resolve(&view);
        node.keep_pod_ip(&view.status.pod_ip);
        let place = Place {
            host_ip: node.view.internal_ip().to_owned(),
            pod_ip: node.next_pod_ip(),
        };
        let has_image = |image: &str| node.images.contains(image);
        let mut run = PodRun::start(view, behaviours, place, &has_image, now);
        run.adopt(now);
        let events = run.heed_deletion(now);
        entry.life = Life::Bound(Box::new(run));
        events
    }

    fn occupy(&mut self, entry: &mut Entry, node: &str, now: Timestamp) {
        if entry.node.as_deref() == Some(node) {
            return;
        }
        self.release(entry, now);
        if let Some(taken) = self.nodes.get_mut(node) {
            taken.take(&entry.requests);
            entry.node = Some(node.to_owned());
        }
    }

    /// The room that the pod took is free.
    fn release(&mut self, entry: &mut Entry, now: Timestamp) {
        if let Some(node) = entry.node.take() {
            if let Some(node) = self.nodes.get_mut(&node) {
                node.give_back(&entry.requests);
            }
            self.queue.retry_soon(now);
        }
    }

    /// Lets a pod do what is due, tells it, writes what has changed and sets its timer.
    fn move_pod(&mut self, key: &ObjectKey, references: &dyn References, now: Timestamp) {
        let Some(entry) = self.pods.get_mut(key) else {
            return;
        };
        let served = is_served(&self.nodes, entry);
        let events = match &mut entry.life {
            Life::Bound(_) if !served => {
                entry.timer = None;
                return;
            }
            Life::Bound(run) => run.advance(references, now),
            Life::Finished(removal) if *removal == Removal::Wanted => {
                *removal = Removal::Asked;
                let pod = entry.reference();
                self.writes.push(Write::Remove { pod });
                return;
            }
            Life::Unbound(_) | Life::Finished(_) => return,
        };
        self.tell(key, events, now);
        self.write_status(key);
    }

    fn write_status(&mut self, key: &ObjectKey) {
        let Some(entry) = self.pods.get_mut(key) else {
            return;
        };
        let pod = entry.reference();
        let Life::Bound(run) = &entry.life else {
            return;
        };
        let status = run.status();
        let due = run.next_due();
        let ended = run.has_ended();
        if let Some(status) = status
            && entry.written.as_ref() != Some(&status)
        {
            let node = entry.node.as_ref();
            if let Some(node) = node.and_then(|node| self.nodes.get_mut(node)) {
                node.images.extend(run.new_images(&node.images));
            }
            self.writes.push(Write::Status {
                pod: pod.clone(),
                status: Box::new(status.clone()),
            });
            entry.written = Some(status);
        }
        if entry.timer != due {
            entry.timer = due;
            self.timers.extend(due.map(|at| Reverse((at, key.clone()))));
        }
        if ended {
            entry.life = Life::Finished(Removal::Asked);
            self.writes.push(Write::Remove { pod });
        }
    }

    fn tell(&mut self, key: &ObjectKey, events: Vec<PodEvent>, now: Timestamp) {
        let Some(entry) = self.pods.get_mut(key) else {
            return;
        };
        let node = entry.node.as_deref().unwrap_or_default();
        for event in events {
            if let Some(event) = entry.log.record(event, &entry.meta, node, now) {
                self.writes.push(Write::Event {
                    namespace: key.namespace.clone(),
                    event: Box::new(event),
                });
            }
        }
    }
}

/// Whether the pod's node has a kubelet that looks after it.
fn is_served(nodes: &BTreeMap<String, Node>, entry: &Entry) -> bool {
    let node = entry.node.as_ref().and_then(|node| nodes.get(node));
    node.is_some_and(|node| node.lost.is_none())
}
