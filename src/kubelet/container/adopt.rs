//! Taking over a container that ran before this simulation began.

use k8s_openapi::jiff::SignedDuration;

use super::run::SYNC_PERIOD;
use super::{Container, Context, Role, Stage, probe_of, reason_of};
use crate::kubelet::behaviour::Failure;
use crate::kubelet::pod::{SeenContainer, SeenTerminated};
use crate::kubelet::probe::ProbeKind;
use crate::kubelet::status::{ContainerState, Terminated};

impl Container {
    /// Goes on from what its status says. One that never ran starts like a new one.
    pub(in crate::kubelet) fn adopt(&mut self, seen: &SeenContainer, ctx: &mut Context) {
        self.restarts = seen.restart_count;
        self.failures = seen.restart_count;
        self.rung = seen.restart_count;
        self.last = seen.last_state.terminated.as_ref().map(ended);
        if let Some(running) = &seen.state.running {
            self.runs = seen.restart_count + 1;
            self.image_present = true;
            let since = running.started_at.as_ref().map_or(ctx.at, |time| time.0);
            self.run(ctx, since);
            if seen.started {
                self.come_up(ctx, since);
                self.ready = seen.ready;
                if seen.ready && self.behaviour.fails != Some(Failure::NeverReady) {
                    self.readiness = None;
                }
            } else if let Some(probe) = probe_of(ProbeKind::Startup, ctx.spec, &self.behaviour) {
                self.startup = Some(super::run::ticking(probe, ctx.bound, since, ctx.at));
            }
        } else if let Some(terminated) = &seen.state.terminated {
            self.adopt_ended(ended(terminated), ctx);
        } else if self.last.is_some() {
            self.runs = seen.restart_count + 1;
            self.failures += 1;
            self.image_present = true;
            self.back_off(ctx, SignedDuration::ZERO);
        } else if seen.is_stuck() {
            self.try_to_start(ctx);
        }
    }

    fn adopt_ended(&mut self, ended: Terminated, ctx: &mut Context) {
        let code = ended.exit_code;
        self.runs = self.restarts + 1;
        self.failures += u32::from(code != 0);
        self.image_present = true;
        self.state = ContainerState::Terminated(ended);
        if self.is_restarted(ctx, code) {
            self.back_off(ctx, SYNC_PERIOD);
        } else {
            self.stage = Stage::Done;
            self.ready = self.role == Role::Init && code == 0;
        }
    }
}

fn ended(seen: &SeenTerminated) -> Terminated {
    let known = ["OOMKilled", "StartError", "ContainerStatusUnknown"];
    let known = known.into_iter().find(|reason| *reason == seen.reason);
    Terminated {
        exit_code: seen.exit_code,
        reason: known.unwrap_or(reason_of(seen.exit_code)),
        message: seen.message.clone(),
        started: seen.started_at.as_ref().map(|time| time.0),
        finished: seen.finished_at.as_ref().map(|time| time.0),
        container_id: seen.container_id.clone(),
    }
}
