//! A pod on its node: from binding to removal, as a state machine without a clock.
//!
//! Whoever drives it asks for the next instant at which something happens ([`PodRun::next_due`]), comes back then
//! ([`PodRun::advance`]) and writes what it says. Nothing here waits, reads or writes.

mod ending;
mod setup;
mod status;

use std::collections::BTreeSet;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::behaviour::{Behaviour, BehaviourError, Failure};
use super::config::{AllPresent, References};
use super::container::{Container, Context, Role, signed};
use super::container_spec::ContainerSpec;
use super::event::PodEvent;
use super::names;
use super::pod::{PodView, SeenContainer};
use crate::controller::action::EventType::Warning;
use crate::controller::api::Phase;

/// The kubelet turns a pod away so long after it was bound.
const REJECTED_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// The kubelet evicts a pod so long after it was bound, unless its behaviour says when.
const EVICTED_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// A pod on its node.
#[derive(Debug)]
pub struct PodRun {
    pod: PodView,
    bound: Timestamp,
    place: Place,
    setup: Setup,
    /// Init containers, then containers, as in the spec.
    containers: Vec<Container>,
    initialized: bool,
    failed: Option<PodFailure>,
    ending: Option<Ending>,
    ended: bool,
    untold: Vec<BehaviourError>,
}

/// Where a pod runs.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The node's address.
    pub host_ip: String,
    /// The address that the pod gets.
    pub pod_ip: String,
}

/// What must be there before the first container.
#[derive(Debug)]
enum Setup {
    /// The kubelet will turn the pod away.
    Rejected { at: Timestamp },
    /// Volumes and sandbox are tried at `at`, after so many tries that failed.
    Tried { at: Timestamp, failures: u32 },
    /// All was there before this simulation began; containers that had not started get their turn at `at`.
    TakenOver { at: Timestamp },
    /// All is there; the status says so with the first news of a container.
    Ready { shown: bool },
}

/// Why the pod as a whole failed.
#[derive(Debug)]
struct PodFailure {
    reason: &'static str,
    message: String,
    /// Whether the containers had been taken on.
    admitted: bool,
}

/// The pod is being deleted: which containers still run, and until when (`None`: for ever).
#[derive(Debug)]
struct Ending {
    running: Vec<(usize, Option<Timestamp>, i32)>,
    /// When the kubelet says that it can't end a container.
    complains: Option<Timestamp>,
}

impl PodRun {
    /// The kubelet takes on a pod that was just bound. `has_image` tells which images its node has.
    pub(super) fn start(
        pod: PodView,
        (behaviours, untold): (Vec<Behaviour>, Vec<BehaviourError>),
        place: Place,
        has_image: &dyn Fn(&str) -> bool,
        now: Timestamp,
    ) -> Self {
        let uid = &pod.metadata.uid;
        let start = names::jitter("start", uid, 1000, 2000);
        let init_start = names::jitter("init", uid, 200, 400);
        let init = pod.spec.init_containers.len();
        let containers: Vec<_> = pod
            .spec
            .all_containers()
            .zip(behaviours)
            .enumerate()
            .map(|(index, (spec, behaviour))| {
                let (role, start) = match (index < init, spec.is_sidecar()) {
                    (true, false) => (Role::Init, init_start),
                    (true, true) => (Role::Sidecar, init_start),
                    (false, _) => (Role::Main, start),
                };
                Container::new(role, behaviour, start, has_image(&spec.image), init > 0)
            })
            .collect();
        let mut run = Self {
            pod,
            bound: now,
            place,
            setup: Setup::Tried {
                at: now,
                failures: 0,
            },
            containers,
            initialized: init == 0,
            failed: None,
            ending: None,
            ended: false,
            untold,
        };
        if let Some((Failure::UnexpectedAdmissionError | Failure::SysctlForbidden, _)) =
            run.pod_failure(now)
        {
            run.setup = Setup::Rejected {
                at: now + REJECTED_AFTER,
            };
        }
        run
    }

    /// Takes over a pod whose status says that it ran before.
    pub(super) fn adopt(&mut self, now: Timestamp) {
        let seen = &self.pod.status;
        // One that can't start is tried again at once, so that what its status says goes on.
        let is_stuck = seen.init_container_statuses.is_empty()
            && seen.container_statuses.iter().any(SeenContainer::is_stuck);
        if seen.phase == Phase::Other || (seen.phase == Phase::Pending && !is_stuck) {
            return;
        }
        self.bound = seen.start_time.as_ref().map_or(now, |time| time.0);
        if !seen.pod_ip.is_empty() {
            self.place.pod_ip.clone_from(&seen.pod_ip);
        }
        self.setup = Setup::TakenOver { at: now };
        self.initialized = true;
        let specs = self.pod.spec.all_containers();
        for (container, spec) in self.containers.iter_mut().zip(specs) {
            let init = seen.init_container_statuses.iter();
            let mut all = init.chain(&seen.container_statuses);
            let Some(status) = all.find(|status| status.name == spec.name) else {
                continue;
            };
            container.adopt(
                status,
                &mut Context {
                    at: now,
                    pod: &self.pod,
                    spec,
                    ip: &self.place.pod_ip,
                    bound: self.bound,
                    references: &AllPresent,
                    events: &mut Vec::new(),
                },
            );
        }
    }

    /// The pod has changed on the server.
    pub(super) fn observe(&mut self, pod: PodView, now: Timestamp) -> Vec<PodEvent> {
        self.pod = pod;
        self.heed_deletion(now)
    }

    /// Begins to stop the containers of a pod that is being deleted.
    pub(super) fn heed_deletion(&mut self, now: Timestamp) -> Vec<PodEvent> {
        match (self.pod.deadline(), &mut self.ending) {
            (Some(deadline), None) if !self.ended => self.begin_ending(deadline, now),
            // A second deletion may cut the grace period short.
            (Some(deadline), Some(ending)) => {
                for (_, until, _) in &mut ending.running {
                    *until = until.map(|until| until.min(deadline.max(now)));
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The pod as it was last seen.
    pub fn pod(&self) -> &PodView {
        &self.pod
    }

    /// Whether its containers have stopped for a deletion: the object may go.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Images that are on the node since its containers run, and were not known to be there.
    pub(super) fn new_images(&self, known: &BTreeSet<String>) -> Vec<String> {
        let images = self.running().map(|(_, spec)| &spec.image);
        images
            .filter(|image| !known.contains(*image))
            .cloned()
            .collect()
    }

    /// When something happens next; `None`: never, if nobody changes the pod.
    pub fn next_due(&self) -> Option<Timestamp> {
        if self.ended {
            return None;
        }
        if let Some(ending) = &self.ending {
            let stops = ending.running.iter().filter_map(|(_, until, _)| *until);
            return stops.chain(ending.complains).min();
        }
        if self.failed.is_some() {
            return None;
        }
        let setup = match self.setup {
            Setup::Rejected { at } | Setup::Tried { at, .. } | Setup::TakenOver { at } => Some(at),
            Setup::Ready { .. } => None,
        };
        let containers = self.containers.iter().filter_map(Container::next_due);
        containers.chain(setup).chain(self.evicted_at()).min()
    }

    /// Lets everything happen that is due, and returns what is to be told.
    pub fn advance(&mut self, references: &dyn References, now: Timestamp) -> Vec<PodEvent> {
        let mut events = Vec::new();
        for error in self.untold.drain(..) {
            events.push(PodEvent::kubelet(
                Warning,
                "InvalidBehaviour",
                error.to_string(),
            ));
        }
        while let Some(at) = self.next_due().filter(|at| *at <= now) {
            if self.ending.is_some() {
                self.end(at, &mut events);
            } else {
                self.fire(at, references, &mut events);
            }
        }
        events
    }

    fn fire(&mut self, at: Timestamp, references: &dyn References, events: &mut Vec<PodEvent>) {
        match self.setup {
            Setup::Rejected { at: due } if due <= at => return self.reject(events),
            Setup::Tried { at: due, failures } if due <= at => {
                self.set_up(at, failures, references, events);
            }
            Setup::TakenOver { .. } => self.setup = Setup::Ready { shown: true },
            _ => {}
        }
        if self.evicted_at().is_some_and(|due| due <= at) {
            return self.evict(at, events);
        }
        let specs = self.pod.spec.all_containers();
        for (container, spec) in self.containers.iter_mut().zip(specs) {
            if container.next_due().is_some_and(|due| due <= at) {
                self.setup = Setup::Ready { shown: true };
                container.fire(&mut Context {
                    at,
                    pod: &self.pod,
                    spec,
                    ip: &self.place.pod_ip,
                    bound: self.bound,
                    references,
                    events,
                });
            }
        }
        self.promote(at, references, events);
    }

    /// Gives containers their turn whose predecessors are out of the way.
    fn promote(&mut self, at: Timestamp, references: &dyn References, events: &mut Vec<PodEvent>) {
        if !matches!(self.setup, Setup::Ready { .. }) {
            return;
        }
        let init = self.pod.spec.init_containers.len();
        let specs = self.pod.spec.all_containers();
        let mut clear = true;
        for (index, (container, spec)) in self.containers.iter_mut().zip(specs).enumerate() {
            if index == init {
                self.initialized |= clear;
            }
            if container.is_blocked() && clear {
                container.begin(&mut Context {
                    at,
                    pod: &self.pod,
                    spec,
                    ip: &self.place.pod_ip,
                    bound: self.bound,
                    references,
                    events,
                });
            }
            clear &= index >= init || container.is_out_of_the_way();
        }
        if self.main_containers().all(Container::is_done) {
            self.stop_containers(at, 0);
        }
    }

    fn main_containers(&self) -> impl Iterator<Item = &Container> {
        self.containers
            .iter()
            .filter(|container| container.role() == Role::Main)
    }

    /// What befalls the pod as a whole, while it lasts.
    fn pod_failure(&self, at: Timestamp) -> Option<(Failure, &Behaviour)> {
        let failure = self.containers.iter().find_map(Container::pod_failure);
        failure.filter(|(_, behaviour)| {
            let heals = behaviour
                .heals_after
                .map(|after| self.bound + signed(after));
            heals.is_none_or(|heals| at < heals)
        })
    }

    fn evicted_at(&self) -> Option<Timestamp> {
        match self.pod_failure(self.bound) {
            Some((Failure::Evicted, behaviour)) if self.failed.is_none() => {
                Some(self.bound + behaviour.runs_for.map_or(EVICTED_AFTER, signed))
            }
            _ => None,
        }
    }

    fn running(&self) -> impl Iterator<Item = (usize, &ContainerSpec)> {
        let specs = self.pod.spec.all_containers().enumerate();
        let running = self.containers.iter().zip(specs);
        running
            .filter(|(container, _)| container.is_running())
            .map(|(_, spec)| spec)
    }
}
