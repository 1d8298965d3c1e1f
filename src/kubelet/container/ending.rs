//! A container's end with its pod.

use k8s_openapi::jiff::SignedDuration;

use super::{Container, Context, Exit, Stage, signed};
use crate::kubelet::behaviour::Patience;
use crate::kubelet::container_spec::ContainerSpec;
use crate::kubelet::status::{ContainerState, Terminated};

/// The exit code of what SIGTERM ended.
pub(in crate::kubelet) const SIGTERM: i32 = 143;
/// The exit code of what SIGKILL ended.
pub(in crate::kubelet) const SIGKILL: i32 = 137;

/// The exit code after SIGTERM, and when it comes: a container that takes longer than `limit` is killed then.
pub(in crate::kubelet) fn termination(
    takes: Option<SignedDuration>,
    limit: SignedDuration,
) -> (SignedDuration, i32) {
    match takes {
        Some(takes) if takes <= limit => (takes, SIGTERM),
        _ => (limit.max(SignedDuration::ZERO), SIGKILL),
    }
}

impl Container {
    /// How long it takes to shut down; `None`: it never does.
    pub(in crate::kubelet) fn shutdown(
        &self,
        spec: &ContainerSpec,
        default: SignedDuration,
    ) -> Option<SignedDuration> {
        let hook = SignedDuration::from_secs(spec.lifecycle.pre_stop.sleep.seconds.max(0));
        match self.behaviour.terminates_after {
            Some(Patience::Never) => None,
            Some(Patience::For(asked)) => Some(hook.saturating_add(signed(asked))),
            None => Some(hook.saturating_add(default)),
        }
    }

    /// Ends the container with its pod; one that does not run keeps how it ended.
    pub(in crate::kubelet) fn stop(&mut self, ctx: &Context, exit_code: i32) {
        let ended = match (&self.state, &self.stage, self.last.take()) {
            (ContainerState::Terminated(_), _, last) => {
                self.last = last;
                None
            }
            (_, &Stage::Running { since, .. }, last) => {
                self.last = last;
                let exit = Exit::error(exit_code);
                Some(self.ended(ctx, Some(since), exit, String::new()))
            }
            (_, _, Some(last)) => Some(last),
            (_, _, None) => Some(Terminated {
                exit_code: SIGKILL,
                reason: "ContainerStatusUnknown",
                message: "The container could not be located when the pod was terminated"
                    .to_owned(),
                started: None,
                finished: None,
                container_id: String::new(),
            }),
        };
        if let Some(ended) = ended {
            self.state = ContainerState::Terminated(ended);
            self.ready = false;
            self.started = false;
        }
        self.stage = Stage::Done;
        self.due = None;
        self.forget_probes();
    }
}
