//! The controllers at work on a world: passes over what they see of it, sent batch by batch, with faults.

use std::collections::HashMap;
use std::sync::Arc;

use kubectl_rs::controller::action::{Action, Outcome, RefusalReason, Target};
use kubectl_rs::controller::api::{ObjectKey, Pod, ReplicaSet};
use kubectl_rs::controller::expectations::Expectations;
use kubectl_rs::controller::invariants::{Violation, check_deployment, check_replica_set};
use kubectl_rs::controller::plan::{LiveOwner, Outcomes, Plan};
use kubectl_rs::controller::{deployment, replica_set};

use crate::server::refused;
use crate::world::World;

/// What goes wrong in a pass, at the write with this number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    /// The API refuses the write.
    Refuse(usize, RefusalReason),
    /// The pod that it is about has just gone.
    Gone(usize),
    /// The write is done, but its answer never arrives.
    LoseAnswer(usize),
    /// The process dies before the write.
    CrashBefore(usize),
    /// The process dies after the write, before it knows.
    CrashAfter(usize),
}

/// How a pass ended.
pub(crate) enum Ended {
    /// The process died.
    Crashed,
    /// All steps of this plan were sent.
    Sent(Plan),
}

/// A world, and a process that acts on it.
#[derive(Clone)]
pub(crate) struct Cluster {
    /// How things are.
    pub(crate) world: World,
    /// How the process's caches show them.
    pub(crate) seen: World,
    expectations: Expectations,
    /// Whether a pass has deleted a ReplicaSet that it had just brought to size.
    pub(crate) has_deleted_what_it_scaled: bool,
}

impl Cluster {
    pub(crate) fn new(world: World) -> Self {
        Self {
            seen: world.clone(),
            world,
            expectations: Expectations::default(),
            has_deleted_what_it_scaled: false,
        }
    }

    /// One pass over the Deployment. Afterwards its own writes are seen: a Deployment's size is spread over several
    /// objects, and no version guards their sum.
    pub(crate) fn deployment_pass(&mut self, fault: Fault) -> Ended {
        let snapshot = self.deployment_snapshot();
        let ended = self.pass(
            None,
            fault,
            |answers| deployment::reconcile(&snapshot, answers),
            |plan, answers| check_deployment(&snapshot, plan, answers),
        );
        if let Ended::Sent(plan) = &ended {
            self.has_deleted_what_it_scaled |= deletes_what_it_scales(plan);
        }
        self.refresh();
        ended
    }

    /// What a pass over the Deployment would do.
    pub(crate) fn deployment_plan(&self) -> Plan {
        deployment::reconcile(&self.deployment_snapshot(), &[])
    }

    fn deployment_snapshot(&self) -> deployment::Snapshot {
        deployment::Snapshot {
            now: self.world.now,
            deployment: self.seen.deployment.clone(),
            replica_sets: self.seen.replica_sets.values().cloned().collect(),
            pods: self.seen.pods.values().cloned().collect(),
            live_owner: LiveOwner::Unchanged,
            omits_terminating_replicas: false,
        }
    }

    /// One pass over a ReplicaSet, if it is seen. It may end with fewer pods than it began with, or with as many as it
    /// saw wanted, but never with more than both: not even where the caches are late, answers get lost and the process
    /// dies.
    pub(crate) fn replica_set_pass(&mut self, name: &str, fault: Fault) -> Option<Ended> {
        let replica_set = self.seen.replica_sets.get(name)?.clone();
        let active = self.world.active_pods(&replica_set).count();
        let wanted = usize::try_from(replica_set.spec.replicas).unwrap();
        let ended = self.send_replica_set_pass(Arc::clone(&replica_set), fault);
        let left = self.world.active_pods(&replica_set).count();
        assert!(
            left <= active.max(wanted),
            "{name} has {left} pods of {wanted}, and had {active}"
        );
        Some(ended)
    }

    fn send_replica_set_pass(&mut self, replica_set: Arc<ReplicaSet>, fault: Fault) -> Ended {
        let key = replica_set.meta.key();
        let siblings = self.seen.replica_sets.values();
        let snapshot = replica_set::Snapshot {
            now: self.world.now,
            siblings: siblings
                .filter(|set| set.meta.uid != replica_set.meta.uid)
                .cloned()
                .collect(),
            replica_set,
            pods: self.seen.pods.values().cloned().collect(),
            expectations_met: self.expectations.are_met(&key, self.world.now),
            limits: replica_set::Limits::default(),
            live_owner: LiveOwner::Unchanged,
            omits_terminating_replicas: false,
        };
        self.pass(
            Some(&key),
            fault,
            |answers| replica_set::reconcile(&snapshot, answers),
            |plan, answers| check_replica_set(&snapshot, plan, answers),
        )
    }

    fn pass(
        &mut self,
        replica_set: Option<&ObjectKey>,
        fault: Fault,
        reconcile: impl Fn(&Outcomes) -> Plan,
        check: impl Fn(&Plan, &Outcomes) -> Result<(), Violation>,
    ) -> Ended {
        let mut sender = Sender::new(fault);
        let mut answers = Vec::new();
        let mut plan = reconcile(&answers);
        while let Some(next) = plan.steps.get(answers.len()) {
            check(&plan, &answers).unwrap_or_else(|violation| panic!("{violation}: {plan:#?}"));
            if let Some(key) = replica_set {
                self.expectations
                    .expect(key, &plan, answers.len(), self.world.now);
            }
            let batch = next.batch;
            let sent = plan.steps[answers.len()..].iter();
            for step in sent.take_while(|step| step.batch == batch) {
                let Some(answer) = sender.send(&mut self.world, &step.action) else {
                    self.restart();
                    return Ended::Crashed;
                };
                answers.push(answer);
            }
            let again = reconcile(&answers);
            let known = answers.len();
            assert_eq!(
                again.steps[..known],
                plan.steps[..known],
                "answered steps changed"
            );
            plan = again;
        }
        check(&plan, &answers).unwrap_or_else(|violation| panic!("{violation}: {plan:#?}"));
        if let Some(key) = replica_set {
            self.expectations.settle(key, &plan, &answers);
        }
        if sender.lost_an_answer {
            // What was done is unknown, and expected no longer: only a fresh read tells.
            self.refresh();
        }
        Ended::Sent(plan)
    }

    /// The process is started again: it knows nothing and reads everything.
    pub(crate) fn restart(&mut self) {
        self.expectations = Expectations::default();
        self.seen = self.world.clone();
    }

    /// The caches catch up, and what they show is told.
    pub(crate) fn refresh(&mut self) {
        let before = std::mem::replace(&mut self.seen, self.world.clone());
        for (name, pod) in &self.seen.pods {
            let known = before.pods.get(name);
            let was_going = known.is_some_and(|pod| pod.meta.is_deleting());
            if pod.meta.is_deleting() && !was_going {
                self.expectations.deletion_observed(&owner_key(pod), name);
            } else if known.is_none() {
                self.expectations.creation_observed(&owner_key(pod));
            }
        }
        for (name, pod) in &before.pods {
            if !self.seen.pods.contains_key(name) {
                self.expectations.deletion_observed(&owner_key(pod), name);
            }
        }
    }
}

fn deletes_what_it_scales(plan: &Plan) -> bool {
    let actions = || plan.steps.iter().map(|step| &step.action);
    let scaled = actions().filter_map(|action| match action {
        Action::ScaleReplicaSet { target, to, .. } if *to > 0 => Some(&target.uid),
        _ => None,
    });
    scaled.into_iter().any(|uid| {
        let is_deleted = |action: &Action| matches!(action, Action::DeleteReplicaSet { target } if target.uid == *uid);
        actions().any(is_deleted)
    })
}

fn owner_key(pod: &Pod) -> ObjectKey {
    let owner = pod.meta.controller();
    let name = owner.map_or("", |owner| owner.name.as_str());
    ObjectKey::new(&pod.meta.namespace, name)
}

/// Sends the writes of one pass, with one fault among them.
struct Sender {
    fault: Fault,
    writes: usize,
    /// Versions of what the pass has written, by UID.
    versions: HashMap<String, String>,
    lost_an_answer: bool,
}

impl Sender {
    fn new(fault: Fault) -> Self {
        Self {
            fault,
            writes: 0,
            versions: HashMap::new(),
            lost_an_answer: false,
        }
    }

    /// The answer, or nothing where the process dies.
    fn send(&mut self, world: &mut World, action: &Action) -> Option<Outcome> {
        if action.is_event() {
            return Some(world.apply(action));
        }
        let number = self.writes;
        self.writes += 1;
        match self.fault {
            Fault::Refuse(at, reason) if at == number => Some(refused(reason)),
            Fault::Gone(at) if at == number => {
                if let Action::DeletePod { target } | Action::AdoptPod { target, .. } = action {
                    world.pods.remove(&target.key.name);
                }
                Some(self.write(world, action))
            }
            Fault::LoseAnswer(at) if at == number => {
                self.write(world, action);
                self.lost_an_answer = true;
                Some(refused(RefusalReason::Timeout))
            }
            Fault::CrashBefore(at) if at == number => None,
            Fault::CrashAfter(at) if at == number => {
                self.write(world, action);
                None
            }
            _ => Some(self.write(world, action)),
        }
    }

    /// Carries forward the versions that earlier writes of the pass have made.
    fn write(&mut self, world: &mut World, action: &Action) -> Outcome {
        let mut action = action.clone();
        if let Some(target) = target(&mut action)
            && let Some(version) = self.versions.get(&target.uid)
        {
            target.resource_version.clone_from(version);
        }
        let outcome = world.apply(&action);
        if let Outcome::Applied(applied) = &outcome {
            let version = applied.resource_version.clone();
            self.versions.insert(applied.uid.clone(), version);
        }
        outcome
    }
}

fn target(action: &mut Action) -> Option<&mut Target> {
    match action {
        Action::ScaleReplicaSet { target, .. }
        | Action::UpdateReplicaSet { target, .. }
        | Action::UpdateReplicaSetStatus { target, .. }
        | Action::UpdateDeployment { target, .. }
        | Action::UpdateDeploymentStatus { target, .. } => Some(target),
        _ => None,
    }
}
