//! The scheduler's part: which pods it tries, and when it tries again.

use std::collections::BTreeMap;

use foldhash::HashMap;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::{Cluster, Life, Write};
use crate::controller::action::EventType;
use crate::controller::api::ObjectKey;
use crate::kubelet::behaviour::Failure;
use crate::kubelet::container::signed;
use crate::kubelet::event::{PodEvent, Source};
use crate::kubelet::scheduler;
use crate::kubelet::status::PodCondition;

/// After something changed that may help, the scheduler tries again so much later.
const RETRY_AFTER: SignedDuration = SignedDuration::from_secs(1);

/// Pods that wait for a node, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: BTreeMap<u64, Waiting>,
    numbers: HashMap<ObjectKey, u64>,
    arrivals: u64,
    /// The first arrival that was not tried yet.
    untried: u64,
    retry_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Waiting {
    key: ObjectKey,
    since: Option<Timestamp>,
}

impl Queue {
    /// A pod wants a node.
    pub(super) fn add(&mut self, key: ObjectKey) {
        if self.numbers.contains_key(&key) {
            return;
        }
        self.numbers.insert(key.clone(), self.arrivals);
        self.waiting
            .insert(self.arrivals, Waiting { key, since: None });
        self.arrivals += 1;
    }

    /// Something changed that may help those who wait.
    pub(super) fn retry_soon(&mut self, now: Timestamp) {
        if self.waiting.range(..self.untried).next().is_some() {
            self.retry_at.get_or_insert(now + RETRY_AFTER);
        }
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        self.retry_at
    }

    /// The pods to try now.
    fn due_numbers(&mut self, now: Timestamp) -> Vec<u64> {
        let first = if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            0
        } else {
            self.untried
        };
        self.untried = self.arrivals;
        self.waiting
            .range(first..)
            .map(|(number, _)| *number)
            .collect()
    }
}

impl Cluster {
    /// Tries the pods that are new, and those that waited if it is time.
    pub(super) fn schedule(&mut self, now: Timestamp) {
        for number in self.queue.due_numbers(now) {
            let Some(waiting) = self.queue.waiting.get_mut(&number) else {
                continue;
            };
            let since = *waiting.since.get_or_insert(now);
            let key = waiting.key.clone();
            if self.try_to_place(&key, since, now) {
                self.queue.waiting.remove(&number);
                self.queue.numbers.remove(&key);
            }
        }
    }

    /// Returns whether the pod needs no node any more.
    fn try_to_place(&mut self, key: &ObjectKey, since: Timestamp, now: Timestamp) -> bool {
        let Some(entry) = self.pods.get(key) else {
            return true;
        };
        let view = match &entry.life {
            Life::Unbound(view) if view.wants_binding() => view,
            _ => return true,
        };
        let (behaviours, _) = self.rules.resolve(view);
        let forbidden = behaviours
            .iter()
            .find(|b| b.fails == Some(Failure::Unschedulable));
        let found = match forbidden {
            Some(behaviour)
                if behaviour
                    .heals_after
                    .is_none_or(|after| now < since + signed(after)) =>
            {
                if let Some(after) = behaviour.heals_after {
                    let heals = since + signed(after);
                    let earlier = self.queue.retry_at.is_some_and(|at| at <= heals);
                    self.queue.retry_at = self.queue.retry_at.filter(|_| earlier).or(Some(heals));
                }
                let said = behaviour.message.clone();
                Err(said.unwrap_or_else(|| scheduler::nowhere(self.nodes.len())))
            }
            _ => scheduler::choose(&view.spec, &entry.requests, self.nodes.values()),
        };
        match found.map(str::to_owned) {
            Ok(node) => self.bind(key, node, now),
            Err(message) => {
                self.cannot_schedule(key, message, now);
                return false;
            }
        }
        true
    }

    fn bind(&mut self, key: &ObjectKey, node: String, now: Timestamp) {
        let Some(mut entry) = self.pods.remove(key) else {
            return;
        };
        self.occupy(&mut entry, &node, now);
        let message = format!("Successfully assigned {key} to {node}");
        let pod = entry.reference();
        self.pods.insert(key.clone(), entry);
        self.writes.push(Write::Bind { pod, node });
        self.tell_scheduled(
            key,
            EventType::Normal,
            ("Scheduled", "Binding"),
            message,
            now,
        );
    }

    fn cannot_schedule(&mut self, key: &ObjectKey, message: String, now: Timestamp) {
        let Some(entry) = self.pods.get(key) else {
            return;
        };
        self.writes.push(Write::Condition {
            pod: entry.reference(),
            condition: PodCondition {
                type_: "PodScheduled",
                holds: false,
                reason: "Unschedulable",
                message: message.clone(),
            },
            generation: entry.meta.generation,
        });
        let action = ("FailedScheduling", "Scheduling");
        self.tell_scheduled(key, EventType::Warning, action, message, now);
    }

    fn tell_scheduled(
        &mut self,
        key: &ObjectKey,
        type_: EventType,
        (reason, action): (&'static str, &'static str),
        message: String,
        now: Timestamp,
    ) {
        let event = PodEvent {
            type_,
            reason,
            message,
            source: Source::Scheduler(action),
            field_path: String::new(),
        };
        self.tell(key, vec![event], now);
    }
}
