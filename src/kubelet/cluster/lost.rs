//! Nodes that are lost: what the controllers that look after nodes do when a kubelet falls silent, and when it is
//! heard of again (failure-states spec, section 11).

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::{Cluster, Entry, Life, Write};
use crate::controller::action::EventType::{self, Normal, Warning};
use crate::controller::api::ObjectKey;
use crate::kubelet::event::{PodEvent, Source};
use crate::kubelet::node::UNREACHABLE;
use crate::kubelet::pod::PodView;
use crate::kubelet::status::PodCondition;

/// A kubelet that is silent for so long counts as unreachable.
const GRACE: SignedDuration = SignedDuration::from_secs(50);
const NODE_CONTROLLER: Source = Source::NodeController("node-controller");
const TAINT_CONTROLLER: Source = Source::NodeController("taint-eviction-controller");

/// What is to happen to lost nodes and their pods, by time.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    pending: BTreeMap<(Timestamp, u64), Alarm>,
    count: u64,
}

#[derive(Debug)]
enum Alarm {
    /// The node counts as unreachable, if it is lost since this instant.
    Unreachable(String, Timestamp),
    /// The pod has borne its node's taint for long enough, if the node is lost since this instant.
    Evict(ObjectKey, Timestamp),
}

impl Alarms {
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.pending.first_key_value().map(|((at, _), _)| *at)
    }

    fn set(&mut self, at: Timestamp, alarm: Alarm) {
        self.pending.insert((at, self.count), alarm);
        self.count += 1;
    }

    fn take(&mut self, now: Timestamp) -> Option<Alarm> {
        let first = self.pending.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

impl Cluster {
    /// A kubelet falls silent: nothing happens to its pods any more.
    pub(super) fn lose(&mut self, name: &str, now: Timestamp) {
        if let Some(node) = self.nodes.get_mut(name) {
            node.lost = Some(now);
            self.alarms
                .set(now + GRACE, Alarm::Unreachable(name.to_owned(), now));
        }
    }

    /// A kubelet is heard of again: it catches up with what it missed.
    pub(super) fn find(&mut self, name: &str, now: Timestamp) {
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        node.lost = None;
        let was_unreachable = std::mem::take(&mut node.unreachable);
        if was_unreachable {
            let name = name.to_owned();
            self.writes.push(Write::Node {
                name,
                reachable: true,
            });
        }
        for key in self.pods_on(name) {
            self.catch_up(&key, was_unreachable, now);
        }
    }

    fn catch_up(&mut self, key: &ObjectKey, was_unreachable: bool, now: Timestamp) {
        let Some(entry) = self.pods.get_mut(key) else {
            return;
        };
        let mut events = Vec::new();
        if let Life::Bound(run) = &mut entry.life {
            let marked = entry
                .unheard
                .as_ref()
                .is_some_and(|view| view.deadline().is_some());
            if was_unreachable && !marked {
                let message = format!("Cancelling deletion of Pod {key}");
                events.push(event(
                    TAINT_CONTROLLER,
                    Normal,
                    "TaintManagerEviction",
                    message,
                ));
            }
            if let Some(view) = entry.unheard.take() {
                events.extend(run.observe(*view, now));
            }
        }
        entry.written = None;
        self.tell(key, events, now);
        self.news.push_back(key.clone());
    }

    pub(super) fn sound_alarms(&mut self, now: Timestamp) {
        while let Some(alarm) = self.alarms.take(now) {
            match alarm {
                Alarm::Unreachable(node, since) => self.give_up(&node, since, now),
                Alarm::Evict(key, since) => self.evict(&key, since, now),
            }
        }
    }

    /// The node counts as unreachable: it is tainted, its pods count as not ready, and are given until the taint is
    /// no longer borne.
    fn give_up(&mut self, name: &str, since: Timestamp, now: Timestamp) {
        let Some(node) = self
            .nodes
            .get_mut(name)
            .filter(|node| node.lost == Some(since))
        else {
            return;
        };
        node.unreachable = true;
        self.writes.push(Write::Node {
            name: name.to_owned(),
            reachable: false,
        });
        for key in self.pods_on(name) {
            self.mark_not_ready(&key, since, now);
        }
    }

    fn mark_not_ready(&mut self, key: &ObjectKey, since: Timestamp, now: Timestamp) {
        let Some(entry) = self.pods.get_mut(key) else {
            return;
        };
        let Life::Bound(run) = &entry.life else {
            return;
        };
        let bears = bears_for(run.pod());
        let was_ready = run.status().is_some_and(|status| status.is_ready());
        if let Some(bears) = bears {
            let alarm = Alarm::Evict(key.clone(), since);
            self.alarms.set(now + bears, alarm);
        }
        if was_ready {
            let unready = condition("Ready", false, "", "");
            self.write_condition(key, unready);
            let message = "Node is not ready".to_owned();
            let events = vec![event(NODE_CONTROLLER, Warning, "NodeNotReady", message)];
            self.tell(key, events, now);
        }
    }

    fn evict(&mut self, key: &ObjectKey, since: Timestamp, now: Timestamp) {
        let Some(entry) = self.pods.get(key) else {
            return;
        };
        let node = entry.node.as_ref().and_then(|node| self.nodes.get(node));
        if node.is_none_or(|node| node.lost != Some(since)) || is_marked(entry) {
            return;
        }
        let pod = entry.reference();
        let message = format!("Marking for deletion Pod {key}");
        let events = vec![event(
            TAINT_CONTROLLER,
            Normal,
            "TaintManagerEviction",
            message,
        )];
        self.tell(key, events, now);
        let why = "Taint manager: deleting due to NoExecute taint";
        self.write_condition(
            key,
            condition("DisruptionTarget", true, "DeletionByTaintManager", why),
        );
        self.writes.push(Write::Delete { pod });
    }

    fn write_condition(&mut self, key: &ObjectKey, condition: PodCondition) {
        if let Some(entry) = self.pods.get(key) {
            self.writes.push(Write::Condition {
                pod: entry.reference(),
                condition,
                generation: entry.meta.generation,
            });
        }
    }

    fn pods_on(&self, node: &str) -> Vec<ObjectKey> {
        let on_it = self
            .pods
            .iter()
            .filter(|(_, entry)| entry.node.as_deref() == Some(node));
        let mut keys: Vec<_> = on_it.map(|(key, _)| key.clone()).collect();
        keys.sort();
        keys
    }
}

/// Whether the pod is being deleted already.
fn is_marked(entry: &Entry) -> bool {
    entry.meta.deletion_timestamp.is_some()
}

/// How long the pod bears an unreachable node; `None`: for ever.
fn bears_for(pod: &PodView) -> Option<SignedDuration> {
    let tolerations = pod.spec.tolerations.iter();
    let bearing: Vec<_> = tolerations
        .filter(|toleration| {
            let key = toleration.key == UNREACHABLE || toleration.key.is_empty();
            key && matches!(toleration.effect.as_str(), "" | "NoExecute")
        })
        .collect();
    if bearing.is_empty() {
        return Some(SignedDuration::ZERO);
    }
    // The shortest limit counts; without any it is for ever.
    let limits = bearing.iter().filter_map(|toleration| toleration.seconds);
    limits
        .min()
        .map(|seconds| SignedDuration::from_secs(seconds.max(0)))
}

fn event(source: Source, type_: EventType, reason: &'static str, message: String) -> PodEvent {
    PodEvent {
        source,
        ..PodEvent::kubelet(type_, reason, message)
    }
}

fn condition(
    type_: &'static str,
    holds: bool,
    reason: &'static str,
    message: &str,
) -> PodCondition {
    PodCondition {
        type_,
        holds,
        reason,
        message: message.to_owned(),
    }
}
