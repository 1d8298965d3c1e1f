//! How a pod ends: rejected, evicted, or deleted (failure-states spec, sections 11 to 13).

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::{Ending, PodFailure, PodRun};
use crate::controller::action::EventType::{Normal, Warning};
use crate::kubelet::config;
use crate::kubelet::container::{Context, SIGKILL, termination};
use crate::kubelet::container_spec::ContainerSpec;
use crate::kubelet::event::PodEvent;
use crate::kubelet::{names, text};

impl PodRun {
    pub(super) fn reject(&mut self, events: &mut Vec<PodEvent>) {
        let Some((failure, behaviour)) = self.pod_failure(self.bound) else {
            return;
        };
        let (reason, message) = text::rejection(failure, behaviour);
        events.push(PodEvent::kubelet(Warning, reason, message.clone()));
        self.failed = Some(PodFailure {
            reason,
            message: format!("Pod was rejected: {message}"),
            admitted: false,
        });
    }

    pub(super) fn evict(&mut self, at: Timestamp, events: &mut Vec<PodEvent>) {
        let said = self
            .pod_failure(self.bound)
            .and_then(|(_, behaviour)| behaviour.message.clone());
        // The blank at the end is the kubelet's.
        let message = said.unwrap_or_else(|| {
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 86424Ki. ".to_owned()
        });
        events.push(PodEvent::kubelet(Warning, "Evicted", message.clone()));
        for (_, spec) in self.running() {
            events.push(killing(spec));
        }
        self.stop_containers(at, SIGKILL);
        self.failed = Some(PodFailure {
            reason: "Evicted",
            message,
            admitted: true,
        });
    }

    pub(super) fn begin_ending(&mut self, deadline: Timestamp, now: Timestamp) -> Vec<PodEvent> {
        let uid = &self.pod.metadata.uid;
        let default = names::jitter("stop", uid, 500, 1000);
        let limit = deadline.duration_since(now).max(SignedDuration::ZERO);
        let mut events = Vec::new();
        let mut running = Vec::new();
        for (index, spec) in self.running() {
            events.push(killing(spec));
            let takes = self.containers[index].shutdown(spec, default);
            let (after, code) = termination(takes, limit);
            running.push((index, takes.map(|_| now + after), code));
        }
        let stuck = running.iter().any(|(_, until, _)| until.is_none());
        self.ending = Some(Ending {
            running,
            complains: stuck.then_some(now + limit),
        });
        self.end(now, &mut events);
        events
    }

    pub(super) fn end(&mut self, at: Timestamp, events: &mut Vec<PodEvent>) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        if ending.complains.is_some_and(|due| due <= at) {
            ending.complains = None;
            let message = "Container runtime did not kill the pod within specified grace period.";
            events.push(PodEvent::kubelet(Warning, "ExceededGracePeriod", message));
        }
        let is_over = |until: &Option<Timestamp>| until.is_some_and(|until| until <= at);
        let (over, running): (Vec<_>, Vec<_>) = ending
            .running
            .drain(..)
            .partition(|(_, until, _)| is_over(until));
        ending.running = running;
        let all_over = ending.running.is_empty();
        for (index, _, code) in over {
            self.stop_container(index, at, code);
        }
        if all_over {
            self.stop_containers(at, SIGKILL);
            self.ended = true;
        }
    }

    pub(super) fn stop_containers(&mut self, at: Timestamp, exit_code: i32) {
        for index in 0..self.containers.len() {
            self.stop_container(index, at, exit_code);
        }
    }

    fn stop_container(&mut self, index: usize, at: Timestamp, exit_code: i32) {
        let mut nothing = Vec::new();
        let Some(spec) = self.pod.spec.all_containers().nth(index) else {
            return;
        };
        let ctx = Context {
            at,
            pod: &self.pod,
            spec,
            ip: &self.place.pod_ip,
            bound: self.bound,
            references: &config::AllPresent,
            events: &mut nothing,
        };
        self.containers[index].stop(&ctx, exit_code);
    }
}

fn killing(spec: &ContainerSpec) -> PodEvent {
    PodEvent {
        field_path: format!("spec.containers{{{}}}", spec.name),
        ..PodEvent::kubelet(
            Normal,
            "Killing",
            format!("Stopping container {}", spec.name),
        )
    }
}
