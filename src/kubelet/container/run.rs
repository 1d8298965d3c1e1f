//! From a container's start to its end, and to its next start: probes, exits, crash loops (failure-states spec,
//! sections 1.1, 1.4, 4 and 5).

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::start::pause;
use super::{Container, Context, Exit, Role, SIGKILL, Stage, probe_of, signed, termination};
use crate::controller::action::EventType::{Normal, Warning};
use crate::kubelet::behaviour::Failure;
use crate::kubelet::container_spec::RestartPolicy;
use crate::kubelet::probe::{Probe, ProbeKind, Probing};
use crate::kubelet::status::ContainerState;

/// How long a run lasts that fails and does not say when.
const DEFAULT_RUN: SignedDuration = SignedDuration::from_secs(1);
/// How long an init container works that does not say how long.
const DEFAULT_INIT_RUN: SignedDuration = SignedDuration::from_millis(500);
/// How long the kubelet takes to notice an exit and start the container again when nothing holds it back.
const NOTICED: SignedDuration = SignedDuration::from_secs(1);
/// The kubelet looks at a pod that needs nothing after 1 to 1.5 minutes; only then does a pause after an exit show as
/// `CrashLoopBackOff`.
pub(super) const SYNC_PERIOD: SignedDuration = SignedDuration::from_secs(60);
/// A run of more than this forgives the crashes before it.
const FORGIVEN_AFTER: SignedDuration = SignedDuration::from_mins(10);
/// How long an application takes to shut down for a probe's sake where its behaviour does not say.
const DEFAULT_SHUTDOWN: SignedDuration = SignedDuration::ZERO;

impl Container {
    pub(super) fn start(&mut self, ctx: &mut Context) {
        ctx.event(self.role, Normal, "Started", "Container started".to_owned());
        let since = ctx.at;
        self.run(ctx, since);
        if let Some(probe) = probe_of(ProbeKind::Startup, ctx.spec, &self.behaviour) {
            self.startup = Some(ticking(probe, ctx.bound, since, since));
        } else {
            self.come_up(ctx, since);
        }
    }

    /// A run that began at `since`, with the end that is planned for it.
    pub(super) fn run(&mut self, ctx: &Context, since: Timestamp) {
        self.state = ContainerState::Running { since };
        self.serves_at = since + self.warms_up_for(ctx);
        self.forget_probes();
        let planned = self.planned_exit(ctx);
        self.due = planned.map(|(after, _)| ctx.at.max(since + after));
        self.stage = Stage::Running {
            since,
            exit: planned.map_or(Exit::error(0), |(_, exit)| exit),
        };
    }

    /// When the run ends by itself, and how.
    fn planned_exit(&self, ctx: &Context) -> Option<(SignedDuration, Exit)> {
        let behaviour = &self.behaviour;
        let asked = behaviour.runs_for.map(signed);
        let failing = self.failing(ctx);
        let code = match failing {
            Some(Failure::CrashLoopBackOff) => behaviour.exit_code.unwrap_or(1),
            Some(Failure::OOMKilled) => SIGKILL,
            Some(Failure::Completed) => 0,
            _ if self.role == Role::Init && behaviour.fails.is_some() => {
                return Some((DEFAULT_INIT_RUN, Exit::error(0)));
            }
            _ if self.role == Role::Init => {
                let exit = Exit::error(behaviour.exit_code.unwrap_or(0));
                return Some((asked.unwrap_or(DEFAULT_INIT_RUN), exit));
            }
            _ if behaviour.fails.is_none()
                && (asked.is_some() || behaviour.exit_code.is_some()) =>
            {
                let exit = Exit::error(behaviour.exit_code.unwrap_or(0));
                return Some((asked.unwrap_or(DEFAULT_RUN), exit));
            }
            _ => return None,
        };
        let mut exit = Exit::error(code);
        exit.failure = true;
        if failing == Some(Failure::OOMKilled) {
            exit.reason = "OOMKilled";
        }
        Some((asked.unwrap_or(DEFAULT_RUN), exit))
    }

    /// The container has started for good: from now on the other two probes count. The first try for readiness comes
    /// with the start; liveness keeps the rhythm that it has had since the pod was bound.
    pub(super) fn come_up(&mut self, ctx: &Context, since: Timestamp) {
        self.started = true;
        match probe_of(ProbeKind::Readiness, ctx.spec, &self.behaviour) {
            Some(probe) => {
                let first = probe.first_try(ctx.at, since + probe.initial_delay());
                self.readiness = Some(Probing::starting_at(first));
            }
            // An init container is ready when it is done.
            None => self.ready = self.role != Role::Init,
        }
        if self.behaviour.fails == Some(Failure::LivenessProbe)
            && let Some(probe) = probe_of(ProbeKind::Liveness, ctx.spec, &self.behaviour)
        {
            self.liveness = Some(ticking(probe, ctx.bound, since, ctx.at));
        }
    }

    /// One try of a probe.
    pub(super) fn probe(&mut self, kind: ProbeKind, ctx: &mut Context) {
        let Stage::Running { since, .. } = self.stage else {
            self.forget_probes();
            return;
        };
        let Some(probe) = probe_of(kind, ctx.spec, &self.behaviour) else {
            *self.probing(kind) = None;
            return;
        };
        let up = ctx.at >= self.serves_at;
        let broken = self.breaks(kind, ctx, since);
        let success = !broken && (up || kind == ProbeKind::Liveness);
        if !success {
            let said = self.behaviour.message.clone().filter(|_| broken);
            let output = said.unwrap_or_else(|| probe.output(ctx.ip, &ctx.spec.ports, up));
            let message = format!("{kind} probe failed: {output}");
            ctx.event(self.role, Warning, "Unhealthy", message);
        }
        let may_break = self.failing(ctx) == Some(failure_of(kind));
        let Some(probing) = self.probing(kind) else {
            return;
        };
        let decided = probing.note(probe, success);
        // A probe that succeeded and has no reason to fail need not be watched any more.
        let settled = decided && success && !may_break;
        probing.next = (!settled).then(|| ctx.at + probe.period());
        if decided {
            self.decide(kind, success, ctx, since);
        }
    }

    fn breaks(&self, kind: ProbeKind, ctx: &Context, since: Timestamp) -> bool {
        let works_for = self.behaviour.runs_for.map_or(SignedDuration::ZERO, signed);
        self.failing(ctx) == Some(failure_of(kind)) && ctx.at >= since + works_for
    }

    fn decide(&mut self, kind: ProbeKind, success: bool, ctx: &mut Context, since: Timestamp) {
        match (kind, success) {
            (ProbeKind::Readiness, _) => self.ready = success,
            (ProbeKind::Startup, true) => {
                self.startup = None;
                self.come_up(ctx, since);
            }
            (ProbeKind::Liveness, true) => {}
            (ProbeKind::Startup, false) => self.kill(ctx, since, "startup"),
            (ProbeKind::Liveness, false) => self.kill(ctx, since, "liveness"),
        }
    }

    fn kill(&mut self, ctx: &mut Context, since: Timestamp, probe: &str) {
        let restarted = if self.role == Role::Main {
            ", will be restarted"
        } else {
            ""
        };
        let word = self.role.word();
        let message = format!("{word} {} failed {probe} probe{restarted}", ctx.spec.name);
        ctx.event(self.role, Normal, "Killing", message);
        let takes = self.shutdown(ctx.spec, DEFAULT_SHUTDOWN);
        let (after, code) = termination(takes, ctx.pod.grace());
        self.forget_probes();
        self.due = Some(ctx.at + after);
        let exit = Exit {
            killed: true,
            failure: true,
            ..Exit::error(code)
        };
        self.stage = Stage::Running { since, exit };
    }

    /// The run ends.
    pub(super) fn exit(&mut self, ctx: &mut Context, since: Timestamp, exit: Exit) {
        let said = self
            .behaviour
            .message
            .clone()
            .filter(|_| exit.failure && !exit.killed);
        let ended = self.ended(ctx, Some(since), exit, said.unwrap_or_default());
        let previous = self.last_end();
        self.state = ContainerState::Terminated(ended);
        let noticed_after = self.readiness_notices(ctx).unwrap_or(SYNC_PERIOD);
        self.forget_probes();
        self.ready = false;
        self.started = false;
        self.failures += u32::from(exit.failure);
        if ctx.at.duration_since(since) > FORGIVEN_AFTER {
            self.rung = 0;
        }
        if !self.is_restarted(ctx, exit.code) {
            self.ready = self.role == Role::Init && exit.code == 0;
            self.stage = Stage::Done;
        } else if exit.killed {
            self.restart_killed(ctx, previous);
        } else {
            self.back_off(ctx, noticed_after);
        }
    }

    fn last_end(&self) -> Option<Timestamp> {
        self.last.as_ref().and_then(|last| last.finished)
    }

    /// A readiness probe that had passed notices the exit within a period.
    fn readiness_notices(&self, ctx: &Context) -> Option<SignedDuration> {
        let probe = ctx.spec.readiness_probe.as_ref()?;
        self.ready.then(|| probe.period())
    }

    pub(super) fn is_restarted(&self, ctx: &Context, code: i32) -> bool {
        match (self.role, ctx.pod.spec.restart_policy) {
            (Role::Init, RestartPolicy::Always | RestartPolicy::OnFailure)
            | (Role::Main, RestartPolicy::OnFailure) => code != 0,
            (Role::Main, RestartPolicy::Always) | (Role::Sidecar, _) => true,
            (_, RestartPolicy::Never) => false,
        }
    }

    /// The sync that killed the container does not see this exit yet, only the one before: if the pause since then is
    /// over it starts the container again at once; otherwise the pause is counted from this exit, and shows.
    fn restart_killed(&mut self, ctx: &mut Context, previous: Option<Timestamp>) {
        let pause = self.next_pause();
        match previous {
            None => self.restart(ctx),
            Some(end) if ctx.at.duration_since(end) >= pause => {
                self.rung += 1;
                self.restart(ctx);
            }
            Some(_) => self.back_off(ctx, SignedDuration::ZERO),
        }
    }

    /// The pause before the next restart; none before the first.
    fn next_pause(&self) -> SignedDuration {
        self.rung.checked_sub(1).map_or(SignedDuration::ZERO, pause)
    }

    /// Waits to be started again; the wait shows as such after `shown_after`.
    pub(super) fn back_off(&mut self, ctx: &mut Context, shown_after: SignedDuration) {
        let pause = self.next_pause();
        let until = ctx.at + pause.max(NOTICED);
        self.rung += 1;
        self.stage = Stage::BackOff { until, pause };
        if shown_after.is_zero() {
            self.sync_back_off(ctx, until, pause);
            return;
        }
        if !pause.is_zero() {
            self.tell_back_off(ctx);
        }
        self.due = Some(until.min(ctx.at + shown_after));
    }

    /// A sync while the container waits to be started again.
    pub(super) fn sync_back_off(
        &mut self,
        ctx: &mut Context,
        until: Timestamp,
        pause: SignedDuration,
    ) {
        if ctx.at >= until {
            self.restart(ctx);
            return;
        }
        if let ContainerState::Terminated(ended) = &self.state {
            self.last = Some(ended.clone());
        }
        self.state = ContainerState::Waiting {
            reason: "CrashLoopBackOff",
            message: format!(
                "back-off {} restarting failed container={} pod={}",
                minutes_and_seconds(pause),
                ctx.spec.name,
                ctx.pod_text()
            ),
        };
        self.tell_back_off(ctx);
        self.due = Some(until.min(ctx.at + SYNC_PERIOD));
    }

    fn tell_back_off(&self, ctx: &mut Context) {
        let name = &ctx.spec.name;
        let message = format!(
            "Back-off restarting failed container {name} in pod {}",
            ctx.pod_text()
        );
        ctx.event(self.role, Warning, "BackOff", message);
    }

    fn restart(&mut self, ctx: &mut Context) {
        self.restarts += 1;
        if let ContainerState::Terminated(ended) = &self.state {
            self.last = Some(ended.clone());
        }
        self.try_to_start(ctx);
    }
}

/// A probe that has ticked since `bound`, at a container that started at `since`, after `now`.
pub(super) fn ticking(
    probe: &Probe,
    bound: Timestamp,
    since: Timestamp,
    now: Timestamp,
) -> Probing {
    let later = now + SignedDuration::from_nanos(1);
    let earliest = later.max(since + probe.initial_delay());
    Probing::starting_at(probe.first_try(bound, earliest))
}

fn failure_of(kind: ProbeKind) -> Failure {
    match kind {
        ProbeKind::Startup => Failure::StartupProbe,
        ProbeKind::Liveness => Failure::LivenessProbe,
        ProbeKind::Readiness => Failure::NeverReady,
    }
}

/// `40s`, `1m20s`, `5m0s`: as Go prints durations of whole seconds.
fn minutes_and_seconds(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    match seconds / 60 {
        0 => format!("{seconds}s"),
        minutes => format!("{minutes}m{}s", seconds % 60),
    }
}
