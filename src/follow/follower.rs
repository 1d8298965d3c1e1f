//! When the waiting for one rollout is over: a state machine that looks feed.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::gathered::Seen;
use crate::controller::api::{Deployment, OBSERVED_WITHIN};
use crate::controller::template::Template;
use crate::diagnose::api::{Container, Pod};
use crate::diagnose::{Code, Diagnosis, Finding, Phase, Side};

/// How long new pods are watched after completion where something speaks for it.
const SETTLE: Duration = Duration::from_secs(10);

/// How the waiting for a rollout ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Complete, and it stayed so.
    Complete,
    /// It failed: the verdict says why.
    Failed,
    /// Paused.
    Paused,
    /// Another template took its place.
    Overtaken {
        /// The field manager that wrote it, where that is known.
        by: Option<String>,
    },
    /// Deleted, or deleted and made anew.
    Deleted,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aim {
    /// How long new pods are watched after completion; `None`: as long as something speaks for it.
    pub settle: Option<Duration>,
    /// Whether pods that are shutting down are waited for, too.
    pub terminated: bool,
}

/// Follows one rollout: the one it is pinned to, or else the one of the template that it sees first.
#[derive(Clone, Debug)]
pub struct Follower {
    aim: Aim,
    pinned: Option<Pin>,
    settling: Option<Settling>,
    paused_since: Option<Timestamp>,
}

/// What tells one rollout of a Deployment from another.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The Deployment's UID.
    pub uid: String,
    /// Its pod template.
    pub template: Template,
}

impl Pin {
    /// The rollout of a Deployment as it is.
    pub fn of(deployment: &Deployment) -> Self {
        Self {
            uid: deployment.meta.uid.clone(),
            template: deployment.spec.template.clone(),
        }
    }

    /// Whether the Deployment is still about this rollout.
    pub fn holds(&self, deployment: &Deployment) -> bool {
        self.uid == deployment.meta.uid && self.template.is_equal_to(&deployment.spec.template)
    }
}

/// The new pods since they were complete.
#[derive(Clone, Copy, Debug)]
struct Settling {
    since: Timestamp,
    restarts: i32,
}

impl Follower {
    /// A follower that has seen nothing.
    pub fn new(aim: Aim, pinned: Option<Pin>) -> Self {
        Self {
            aim,
            pinned,
            settling: None,
            paused_since: None,
        }
    }

    /// Looks once. `diagnosis` is of what was seen; where new pods crash after completion, its verdict is made to say so.
    pub fn look(&mut self, seen: &Seen, diagnosis: &mut Diagnosis) -> Option<Ending> {
        let deployment = &seen.snapshot.deployment;
        let pin = self.pinned.get_or_insert_with(|| Pin {
            uid: seen.uid.clone(),
            ..Pin::of(deployment)
        });
        if pin.uid != seen.uid || diagnosis.verdict.phase == Phase::Deleting {
            return Some(Ending::Deleted);
        }
        if !pin.template.is_equal_to(&deployment.spec.template) {
            let by = seen
                .last_change
                .as_ref()
                .map(|change| change.manager.clone());
            return Some(Ending::Overtaken { by });
        }
        match diagnosis.verdict.phase {
            Phase::Failed => Some(Ending::Failed),
            Phase::Complete => self.settle(seen, diagnosis),
            phase => {
                self.settling = None;
                self.paused(seen, phase)
            }
        }
    }

    /// Paused counts once a controller has seen it, or none does: until then steps may be under way.
    fn paused(&mut self, seen: &Seen, phase: Phase) -> Option<Ending> {
        if phase != Phase::Paused {
            self.paused_since = None;
            return None;
        }
        let now = seen.snapshot.now;
        let since = *self.paused_since.get_or_insert(now);
        let deployment = &seen.snapshot.deployment;
        let waited = Duration::try_from(now.duration_since(since)).unwrap_or_default();
        (deployment.is_observed() || waited >= OBSERVED_WITHIN).then_some(Ending::Paused)
    }

    /// Complete is no proof of health: a container without a readiness probe is ready whenever it runs.
    fn settle(&mut self, seen: &Seen, diagnosis: &mut Diagnosis) -> Option<Ending> {
        let now = seen.snapshot.now;
        let health = Health::of(seen, diagnosis);
        let settling = *self.settling.get_or_insert(Settling {
            since: now,
            restarts: health.restarts,
        });
        if health.restarts > settling.restarts
            && let Some(crash) = crash(diagnosis)
        {
            diagnosis.verdict = diagnosis.verdict.failed_by(&crash);
            return Some(Ending::Failed);
        }
        let auto = if health.is_doubtful {
            SETTLE
        } else {
            Duration::ZERO
        };
        if self.aim.terminated && is_shutting_down(seen, diagnosis) {
            return None;
        }
        let settle = self.aim.settle.unwrap_or(auto);
        let settle = SignedDuration::try_from(settle).unwrap_or(SignedDuration::MAX);
        (now.duration_since(settling.since) >= settle).then_some(Ending::Complete)
    }
}

/// Whether pods are left that were deleted. Only where pods can't be read the status counts: nobody may keep it up to
/// date once the rollout is complete.
fn is_shutting_down(seen: &Seen, diagnosis: &Diagnosis) -> bool {
    let mut unreadable = seen.snapshot.unreadable.iter();
    if unreadable.any(|it| it.resource.starts_with("pods")) {
        return diagnosis.overview.terminating > 0;
    }
    let mut pods = seen.snapshot.pods.iter();
    pods.any(|pod| pod.meta.is_deleting())
}

/// What the new pods say about themselves.
struct Health {
    restarts: i32,
    is_doubtful: bool,
}

impl Health {
    fn of(seen: &Seen, diagnosis: &Diagnosis) -> Self {
        let name = diagnosis
            .overview
            .new_revision()
            .map_or("", |new| new.replica_set.as_str());
        let sets = &seen.snapshot.replica_sets;
        let uid = sets
            .iter()
            .find(|set| set.meta.name == name)
            .map_or("", |set| set.meta.uid.as_str());
        let new = seen.snapshot.pods.iter().filter(|pod| {
            !pod.meta.is_deleting()
                && !pod.is_finished()
                && pod.meta.controller().is_some_and(|owner| owner.uid == uid)
        });
        let exits = |pod: &Pod| -> i32 {
            pod.containers
                .iter()
                .map(Container::exits)
                .fold(0, i32::saturating_add)
        };
        let (mut restarts, mut count, mut probed) = (0_i32, 0, 0);
        for pod in new {
            restarts = restarts.saturating_add(exits(pod));
            count += 1;
            probed += i32::from(pod.is_probed);
        }
        Self {
            restarts,
            is_doubtful: restarts > 0 || (count > 0 && probed == 0),
        }
    }
}

/// The finding about new pods that end.
fn crash(diagnosis: &Diagnosis) -> Option<Finding> {
    let is_crash = |finding: &&Finding| {
        finding.side == Side::New
            && matches!(
                finding.code,
                Code::CrashLoop
                    | Code::CommandEnds
                    | Code::OutOfMemory
                    | Code::LivenessProbe
                    | Code::StartupProbe
                    | Code::PostStartHook
                    | Code::ContainerStart
            )
    };
    diagnosis.findings.iter().find(is_crash).cloned()
}
