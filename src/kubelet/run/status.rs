//! The status that a pod on its node amounts to (failure-states spec, sections 1.2, 1.3, 11 and 12).

use super::{PodRun, Setup};
use crate::controller::api::ConditionStatus;
use crate::kubelet::container::{Container, Role};
use crate::kubelet::container_spec::RestartPolicy;
use crate::kubelet::status::{PodCondition, PodStatus};

impl PodRun {
    /// What the kubelet writes now; `None` while it has not made up its mind whether to take the pod.
    pub fn status(&self) -> Option<PodStatus> {
        let rejected = self.failed.as_ref().is_some_and(|failed| !failed.admitted);
        if matches!(self.setup, Setup::Rejected { .. }) && !rejected {
            return None;
        }
        let phase = self.phase();
        let mut status = PodStatus {
            observed_generation: self.pod.metadata.generation,
            phase,
            start_time: Some(self.bound),
            ..PodStatus::default()
        };
        if let Some(failed) = &self.failed {
            status.reason = failed.reason;
            status.message.clone_from(&failed.message);
        }
        if rejected {
            return Some(status);
        }
        let sandbox = matches!(
            self.setup,
            Setup::Ready { shown: true } | Setup::TakenOver { .. }
        );
        status.host_ip.clone_from(&self.place.host_ip);
        if sandbox {
            status.pod_ip.clone_from(&self.place.pod_ip);
        }
        status.conditions = self.conditions(phase, sandbox);
        let specs = self.pod.spec.all_containers();
        let mut all = self
            .containers
            .iter()
            .zip(specs)
            .map(|(container, spec)| container.status(&self.pod, spec));
        let init = self.pod.spec.init_containers.len();
        status.init_containers = all.by_ref().take(init).collect();
        status.containers = all.collect();
        status.containers.sort_by(|a, b| a.name.cmp(&b.name));
        Some(status)
    }

    fn phase(&self) -> &'static str {
        if self.failed.is_some() {
            return "Failed";
        }
        if self.ended {
            return if self.main_containers().all(Container::has_succeeded) {
                "Succeeded"
            } else {
                "Failed"
            };
        }
        if !self.initialized {
            let init_failed = |container: &Container| {
                container.role() == Role::Init && container.is_done() && !container.has_succeeded()
            };
            return if self.containers.iter().any(init_failed) {
                "Failed"
            } else {
                "Pending"
            };
        }
        if !self.main_containers().all(Container::was_created) {
            return "Pending";
        }
        if !self.main_containers().all(Container::is_done) {
            return "Running";
        }
        if self.main_containers().all(Container::has_succeeded) {
            "Succeeded"
        } else if self.pod.spec.restart_policy == RestartPolicy::Never {
            "Failed"
        } else {
            "Running"
        }
    }

    fn conditions(&self, phase: &'static str, sandbox: bool) -> Vec<PodCondition> {
        let over = match phase {
            "Succeeded" => Some("PodCompleted"),
            "Failed" => Some("PodFailed"),
            _ => None,
        };
        let mut conditions = Vec::new();
        if let Some(failed) = &self.failed {
            let message = failed.message.clone();
            conditions.push(condition(
                "DisruptionTarget",
                true,
                "TerminationByKubelet",
                message,
            ));
        }
        let set_up = sandbox && over.is_none();
        conditions.push(condition(
            "PodReadyToStartContainers",
            set_up,
            "",
            String::new(),
        ));
        conditions.push(self.initialized_condition(phase));
        let containers_ready = match over {
            Some(reason) => condition("ContainersReady", false, reason, String::new()),
            None => self.containers_ready(),
        };
        conditions.push(self.ready(&containers_ready));
        conditions.push(containers_ready);
        conditions.push(condition("PodScheduled", true, "", String::new()));
        conditions
    }

    fn initialized_condition(&self, phase: &str) -> PodCondition {
        if phase == "Succeeded" {
            return condition("Initialized", true, "PodCompleted", String::new());
        }
        if self.initialized {
            return condition("Initialized", true, "", String::new());
        }
        let incomplete = self
            .names(|container| container.role() != Role::Main && !container.is_out_of_the_way());
        let message = format!("containers with incomplete status: [{incomplete}]");
        condition("Initialized", false, "ContainersNotInitialized", message)
    }

    fn containers_ready(&self) -> PodCondition {
        let unready =
            self.names(|container| container.role() != Role::Init && !container.is_ready());
        if unready.is_empty() {
            return condition("ContainersReady", true, "", String::new());
        }
        let message = format!("containers with unready status: [{unready}]");
        condition("ContainersReady", false, "ContainersNotReady", message)
    }

    fn ready(&self, containers_ready: &PodCondition) -> PodCondition {
        if !containers_ready.holds {
            return PodCondition {
                type_: "Ready",
                ..containers_ready.clone()
            };
        }
        let closed: Vec<_> = self
            .pod
            .spec
            .readiness_gates
            .iter()
            .filter_map(|gate| self.closed_gate(&gate.condition_type))
            .collect();
        if closed.is_empty() {
            return condition("Ready", true, "", String::new());
        }
        condition("Ready", false, "ReadinessGatesNotReady", closed.join(", "))
    }

    fn closed_gate(&self, gate: &str) -> Option<String> {
        let mut conditions = self.pod.status.conditions.iter();
        match conditions.find(|condition| condition.type_ == gate) {
            None => Some(format!(
                "corresponding condition of pod readiness gate {gate:?} does not exist."
            )),
            Some(seen) if seen.status == ConditionStatus::True => None,
            Some(seen) => Some(format!(
                "the status of pod readiness gate {gate:?} is not \"True\", but {}",
                seen.status
            )),
        }
    }

    /// The containers that are so, by name, in the order of the spec.
    fn names(&self, is_so: impl Fn(&Container) -> bool) -> String {
        let specs = self.pod.spec.all_containers();
        let named = self
            .containers
            .iter()
            .zip(specs)
            .filter(|(container, _)| is_so(container));
        named
            .map(|(_, spec)| spec.name.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn condition(
    type_: &'static str,
    holds: bool,
    reason: &'static str,
    message: String,
) -> PodCondition {
    PodCondition {
        type_,
        holds,
        reason,
        message,
    }
}
