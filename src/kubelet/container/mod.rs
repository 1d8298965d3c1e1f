//! One container of a simulated pod: a state machine that moves at instants of its own choosing.
//!
//! `start.rs` brings it from its turn to a run, `run.rs` from the run's start to its end and the next one, `ending.rs`
//! ends it with its pod, `adopt.rs` goes on with one that somebody else began. The pod
//! ([`super::run`]) decides whose turn it is and what the whole amounts to.

mod adopt;
mod ending;
mod run;
mod start;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

pub(super) use ending::{SIGKILL, SIGTERM, termination};

use super::behaviour::{Behaviour, Failure};
use super::config::References;
use super::container_spec::ContainerSpec;
use super::event::PodEvent;
use super::names;
use super::pod::PodView;
use super::probe::{Probe, ProbeKind, Probing};
use super::status::{ContainerState, ContainerStatus, Ids, Terminated};
use crate::controller::action::EventType;

/// The kubelet looks again at what it could not start after 10 to 15 s; this is the middle of it.
pub(super) const RETRY: SignedDuration = SignedDuration::from_secs(13);

/// What a container is to its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It runs to its end before the next one starts.
    Init,
    /// It starts before the next one and goes on.
    Sidecar,
    /// It is what the pod is for.
    Main,
}

/// Where a container is between its turn and its end.
#[derive(Clone, Debug)]
enum Stage {
    /// Its turn has not come.
    Blocked,
    /// Its image is being got.
    Pulling,
    /// Its image could not be got. `next_shown` is what the next sync writes: a status lags its cause by one.
    PullBackOff {
        retry_at: Timestamp,
        next_shown: PullStatus,
    },
    /// It can't be created; tried again soon.
    Refused,
    /// It runs.
    Running { since: Timestamp, exit: Exit },
    /// It has ended and waits to be started again.
    BackOff {
        until: Timestamp,
        pause: SignedDuration,
    },
    /// It has ended for good.
    Done,
}

/// The two faces of a failed pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PullStatus {
    Failed,
    BackOff,
}

/// How a run ends.
#[derive(Clone, Copy, Debug)]
struct Exit {
    code: i32,
    reason: &'static str,
    /// The kubelet ended it, for a probe.
    killed: bool,
    /// It counts against [`Behaviour::restarts`].
    failure: bool,
}

/// A container at work.
#[derive(Clone, Debug)]
pub(super) struct Container {
    role: Role,
    behaviour: Behaviour,
    /// How long its start takes where the behaviour does not say.
    default_start: SignedDuration,
    /// Whether its image is on the node.
    image_present: bool,
    stage: Stage,
    due: Option<Timestamp>,
    state: ContainerState,
    last: Option<Terminated>,
    ready: bool,
    started: bool,
    restarts: u32,
    /// How often its failure has befallen it.
    failures: u32,
    /// Where it is on the ladder of pauses between restarts.
    rung: u32,
    /// How often it was created.
    runs: u32,
    serves_at: Timestamp,
    startup: Option<Probing>,
    liveness: Option<Probing>,
    readiness: Option<Probing>,
}

/// What a container needs to know to move.
pub(super) struct Context<'a> {
    /// Now.
    pub(super) at: Timestamp,
    /// Its pod.
    pub(super) pod: &'a PodView,
    /// Its spec.
    pub(super) spec: &'a ContainerSpec,
    /// The pod's address.
    pub(super) ip: &'a str,
    /// When the pod was bound.
    pub(super) bound: Timestamp,
    /// The cluster's ConfigMaps and Secrets.
    pub(super) references: &'a dyn References,
    /// Where events go.
    pub(super) events: &'a mut Vec<PodEvent>,
}

impl Context<'_> {
    fn event(&mut self, role: Role, type_: EventType, reason: &'static str, message: String) {
        let field = if role == Role::Main {
            "containers"
        } else {
            "initContainers"
        };
        self.events.push(PodEvent {
            field_path: format!("spec.{field}{{{}}}", self.spec.name),
            ..PodEvent::kubelet(type_, reason, message)
        });
    }

    /// `web-1_shop(uid)`: how the kubelet names a pod in texts.
    fn pod_text(&self) -> String {
        let meta = &self.pod.metadata;
        format!("{}_{}({})", meta.name, meta.namespace, meta.uid)
    }
}

impl Container {
    pub(super) fn new(
        role: Role,
        behaviour: Behaviour,
        default_start: SignedDuration,
        image_present: bool,
        waits_for_init: bool,
    ) -> Self {
        let reason = if waits_for_init {
            "PodInitializing"
        } else {
            "ContainerCreating"
        };
        Self {
            role,
            behaviour,
            default_start,
            image_present,
            stage: Stage::Blocked,
            due: None,
            state: ContainerState::Waiting {
                reason,
                message: String::new(),
            },
            last: None,
            ready: false,
            started: false,
            restarts: 0,
            failures: 0,
            rung: 0,
            runs: 0,
            serves_at: Timestamp::MIN,
            startup: None,
            liveness: None,
            readiness: None,
        }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Whether the next container may start: an init container has done its work, a sidecar has come up.
    pub(super) fn is_out_of_the_way(&self) -> bool {
        match self.role {
            Role::Init => self.has_succeeded(),
            Role::Sidecar => self.started,
            Role::Main => false,
        }
    }

    pub(super) fn is_blocked(&self) -> bool {
        matches!(self.stage, Stage::Blocked)
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running { .. })
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether it was created at least once; one that was and waits counts as stopped, not as waiting.
    pub(super) fn was_created(&self) -> bool {
        self.last.is_some() || !matches!(self.state, ContainerState::Waiting { .. })
    }

    pub(super) fn has_succeeded(&self) -> bool {
        matches!(&self.state, ContainerState::Terminated(end) if end.exit_code == 0)
    }

    /// What of the pod's fate this container's behaviour decides, while it lasts.
    pub(super) fn pod_failure(&self) -> Option<(Failure, &Behaviour)> {
        let failure = self.behaviour.fails?;
        failure
            .is_of_the_pod()
            .then_some((failure, &self.behaviour))
    }

    /// When it moves next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let probes = [&self.startup, &self.liveness, &self.readiness];
        let tries = probes
            .into_iter()
            .filter_map(|probing| probing.as_ref()?.next);
        tries.chain(self.due).min()
    }

    /// Moves once, if it is due.
    pub(super) fn fire(&mut self, ctx: &mut Context) {
        let is_due = |due: Option<Timestamp>| due.is_some_and(|due| due <= ctx.at);
        if is_due(self.due) {
            self.due = None;
            self.move_on(ctx);
            return;
        }
        for kind in [
            ProbeKind::Startup,
            ProbeKind::Readiness,
            ProbeKind::Liveness,
        ] {
            if is_due(self.probing(kind).as_ref().and_then(|probing| probing.next)) {
                self.probe(kind, ctx);
                return;
            }
        }
    }

    fn move_on(&mut self, ctx: &mut Context) {
        match self.stage {
            Stage::Pulling | Stage::Refused => self.try_to_start(ctx),
            Stage::PullBackOff {
                retry_at,
                next_shown,
            } => self.sync_pull(ctx, retry_at, next_shown),
            Stage::Running { since, exit } => self.exit(ctx, since, exit),
            Stage::BackOff { until, pause } => self.sync_back_off(ctx, until, pause),
            Stage::Blocked | Stage::Done => {}
        }
    }

    /// The status to write.
    pub(super) fn status(&self, pod: &PodView, spec: &ContainerSpec) -> ContainerStatus {
        ContainerStatus {
            name: spec.name.clone(),
            state: self.state.clone(),
            last: self.last.clone(),
            ready: self.ready,
            started: self.started,
            restarts: self.restarts,
            image: spec.image.clone(),
            ids: (self.runs > 0).then(|| Ids {
                image: names::image_id(&spec.image),
                container: self.container_id(pod, spec),
            }),
        }
    }

    fn container_id(&self, pod: &PodView, spec: &ContainerSpec) -> String {
        names::container_id(&pod.metadata.uid, &spec.name, self.runs)
    }

    /// What goes wrong with it now.
    fn failing(&self, ctx: &Context) -> Option<Failure> {
        let used_up = self
            .behaviour
            .restarts
            .is_some_and(|times| self.failures >= times);
        let healed = self
            .behaviour
            .heals_after
            .is_some_and(|after| ctx.at.duration_since(ctx.bound) >= signed(after));
        self.behaviour.fails.filter(|_| !used_up && !healed)
    }

    fn ended(
        &self,
        ctx: &Context,
        started: Option<Timestamp>,
        exit: Exit,
        message: String,
    ) -> Terminated {
        Terminated {
            exit_code: exit.code,
            reason: exit.reason,
            message,
            started,
            finished: Some(ctx.at),
            container_id: self.container_id(ctx.pod, ctx.spec),
        }
    }

    fn probing(&mut self, kind: ProbeKind) -> &mut Option<Probing> {
        match kind {
            ProbeKind::Startup => &mut self.startup,
            ProbeKind::Liveness => &mut self.liveness,
            ProbeKind::Readiness => &mut self.readiness,
        }
    }

    fn forget_probes(&mut self) {
        self.startup = None;
        self.liveness = None;
        self.readiness = None;
    }
}

impl Exit {
    /// An exit of its own accord.
    fn error(code: i32) -> Self {
        Self {
            code,
            reason: reason_of(code),
            killed: false,
            failure: false,
        }
    }
}

fn reason_of(exit_code: i32) -> &'static str {
    if exit_code == 0 { "Completed" } else { "Error" }
}

/// A duration that can be added to an instant; one beyond all bounds counts as a hundred years.
pub(super) fn signed(duration: std::time::Duration) -> SignedDuration {
    const LONGEST: SignedDuration = SignedDuration::from_hours(100 * 365 * 24);
    SignedDuration::try_from(duration)
        .unwrap_or(LONGEST)
        .min(LONGEST)
}

/// The probe of a kind: the spec's, or a plain one where the behaviour wants it to fail and the spec has none.
fn probe_of<'a>(
    kind: ProbeKind,
    spec: &'a ContainerSpec,
    behaviour: &Behaviour,
) -> Option<&'a Probe> {
    static PLAIN: std::sync::LazyLock<Probe> = std::sync::LazyLock::new(Probe::default);
    let (declared, failure) = match kind {
        ProbeKind::Startup => (&spec.startup_probe, Failure::StartupProbe),
        ProbeKind::Liveness => (&spec.liveness_probe, Failure::LivenessProbe),
        ProbeKind::Readiness => (&spec.readiness_probe, Failure::NeverReady),
    };
    declared
        .as_ref()
        .or_else(|| (behaviour.fails == Some(failure)).then_some(&*PLAIN))
}
