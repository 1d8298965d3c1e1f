//! One pass over one item: snapshot, plan, send, and plan again where an answer changed what comes next.

mod owners;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;

use crate::clock::Clock;
use crate::controller::action::{
    Action, AnnotationChanges, Applied, Kind, Outcome, Refusal, RefusalReason, Step,
};
use crate::controller::api::ReplicaSet;
use crate::controller::plan::{End, Plan};

use super::apply::{Answer, Effect, Sender};
use super::event::{EngineEvent, Happening};
use super::guard::Guards;
use super::left;
use super::options::{Decision, DryRun, Gate, Stage};
use super::passed::{PassEnd, Passed, Touched};
use super::queue::Again;
use super::snapshot::Snapshot;
use super::store::{Item, Store};

/// Where events go.
pub type Sink = Arc<dyn Fn(EngineEvent) + Send + Sync>;

/// What passes share.
pub struct Context {
    /// Sends actions.
    pub sender: Sender,
    /// What is known of the cluster.
    pub store: Mutex<Store>,
    /// What earlier passes left open.
    pub guards: Mutex<Guards>,
    /// Set when passes are to end after the writes that are under way.
    pub stopping: AtomicBool,
    /// Whether anything may be written; otherwise somebody else's controllers act.
    pub acting: AtomicBool,
    /// What time it is.
    pub clock: Clock,
    /// Whether writes are real.
    pub dry_run: DryRun,
    /// Where to stop early.
    pub until: Option<Stage>,
    /// Whom to ask before writing.
    pub gate: Option<Gate>,
    /// Where events go.
    pub sink: Sink,
}

impl Context {
    /// The store, for a moment. Never held while waiting.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells an event.
    pub fn tell(&self, subject: &Item, what: Happening) {
        (self.sink)(EngineEvent {
            at: self.clock.now(),
            kind: subject.kind,
            key: subject.key.clone(),
            what,
        });
    }

    /// Runs one pass; `subject` is the selected object that the item belongs to. The effects of its writes are in the
    /// store when it returns.
    pub async fn run(&self, item: &Item, subject: Item) -> Passed {
        if !self.acting.load(Ordering::Relaxed) {
            return Passed::from(self.look(item));
        }
        let touched = match self.make_sure(item).await {
            Ok(news) => news,
            Err(error) => {
                let again = Again::Unanswered(Duration::ZERO);
                return Passed::from(PassEnd::interrupted(&error, again));
            }
        };
        let Some(mut snapshot) = Snapshot::of(&self.store(), item, self.clock.now()) else {
            return Passed {
                touched,
                ..Passed::from(PassEnd::Gone)
            };
        };
        self.guard(item, &mut snapshot);
        let mut pass = Pass {
            context: self,
            subject,
            plan: snapshot.plan(&[]),
            snapshot,
            answers: Vec::new(),
            versions: HashMap::new(),
            touched,
            changed: false,
            asked_live: false,
        };
        let end = pass.run(item).await;
        self.settle(item, &pass.plan, &pass.answers);
        Passed {
            end,
            touched: pass.touched,
            left: left::of(&pass.plan, &pass.answers),
        }
    }
}

struct Pass<'a> {
    context: &'a Context,
    subject: Item,
    snapshot: Snapshot,
    plan: Plan,
    answers: Vec<Outcome>,
    /// Versions that our own writes of this pass produced, by UID.
    versions: HashMap<String, String>,
    touched: Touched,
    /// Whether some write has made a difference. One that has not would not do so the next time either.
    changed: bool,
    asked_live: bool,
}

impl Pass<'_> {
    async fn run(&mut self, item: &Item) -> PassEnd {
        while self.answers.len() < self.plan.steps.len() {
            let batch = self.next_batch();
            if self.needs_fresh_reads(&batch) {
                match self.read_owners(item).await {
                    Some(retry) => return retry,
                    None => continue,
                }
            }
            if !self.context.may_write(&self.subject) {
                return PassEnd::Interrupted;
            }
            if self.asks_to_stop(&batch).await {
                return PassEnd::Stopped;
            }
            self.context.expect(item, &self.plan, self.answers.len());
            if let Some(retry) = self.send_batch(item, &batch).await {
                return retry;
            }
        }
        self.end()
    }

    /// The next steps that may be sent at once.
    fn next_batch(&self) -> Vec<Step> {
        let rest = &self.plan.steps[self.answers.len()..];
        rest.iter()
            .take_while(|step| step.batch == rest[0].batch)
            .cloned()
            .collect()
    }

    async fn asks_to_stop(&self, batch: &[Step]) -> bool {
        let Some(gate) = &self.context.gate else {
            return false;
        };
        let material: Vec<Step> = batch
            .iter()
            .filter(|step| !step.action.is_bookkeeping())
            .cloned()
            .collect();
        !material.is_empty() && gate(&self.subject, &material).await == Decision::Stop
    }

    async fn send_batch(&mut self, item: &Item, batch: &[Step]) -> Option<PassEnd> {
        let actions: Vec<Option<Action>> =
            (0..batch.len()).map(|at| self.current(batch, at)).collect();
        let context = self.context;
        let answers = join_all(actions.iter().map(|action| async move {
            match action {
                Some(action) => context.sender.send(action).await,
                None => Answer::applied(Applied::default(), Effect::None),
            }
        }))
        .await;
        let mut replan = false;
        let mut retry = None;
        for ((step, action), answer) in batch.iter().zip(&actions).zip(answers) {
            self.changed |= action.as_ref().is_some_and(|action| answer.changes(action));
            if answer.omits_terminating_replicas(&step.action) {
                self.context.store().omits_terminating_replicas = true;
            }
            let Answer {
                outcome,
                effect,
                retry_after,
            } = answer;
            self.take_effect(&outcome, effect);
            replan |= matches!(
                step.action,
                Action::CreatePod { .. } | Action::CreateReplicaSet(_)
            ) || matches!(outcome, Outcome::Refused(_));
            if let Outcome::Refused(refusal) = &outcome {
                let pause = retry_after.unwrap_or_default();
                self.context.note_unsure(item, step, &outcome);
                retry = retry.or(self.refused(step, refusal, pause).await);
            }
            self.tell(step, &outcome);
            self.answers.push(outcome);
        }
        if retry.is_none() && replan {
            self.plan = self.snapshot.plan(&self.answers);
        }
        retry
    }

    /// The action with its precondition brought up to date; `None` when the next write to the same object covers it.
    fn current(&self, batch: &[Step], at: usize) -> Option<Action> {
        let mut action = batch[at].action.clone();
        if let Action::UpdateDeploymentStatus {
            target,
            annotations,
            ..
        } = &mut action
        {
            if self.is_covered(&target.uid, self.answers.len() + at) {
                return None;
            }
            for earlier in self.covered_by(self.answers.len() + at) {
                for (key, value) in earlier {
                    annotations
                        .entry(key.clone())
                        .or_insert_with(|| value.clone());
                }
            }
        }
        if let Some(target) = action.target_mut()
            && let Some(version) = self.versions.get(&target.uid)
        {
            target.resource_version.clone_from(version);
        }
        Some(action)
    }

    /// Whether another status write of the same object follows step `at` with nothing but events between them.
    fn is_covered(&self, uid: &str, at: usize) -> bool {
        let mut later = self.plan.steps.iter().skip(at + 1);
        let next = later.find(|step| !step.action.is_event());
        next.is_some_and(|step| {
            matches!(&step.action, Action::UpdateDeploymentStatus { target, .. } if target.uid == uid)
        })
    }

    /// Annotations of the status writes right before step `at` that were left to it.
    fn covered_by(&self, at: usize) -> impl Iterator<Item = &AnnotationChanges> {
        self.plan.steps[..at]
            .iter()
            .rev()
            .filter(|step| !step.action.is_event())
            .map_while(|step| match &step.action {
                Action::UpdateDeploymentStatus { annotations, .. } => Some(annotations),
                _ => None,
            })
    }

    fn take_effect(&mut self, outcome: &Outcome, effect: Effect) {
        if let Outcome::Applied(applied) = outcome
            && !applied.uid.is_empty()
        {
            self.versions
                .insert(applied.uid.clone(), applied.resource_version.clone());
        }
        self.absorb(effect);
    }

    /// Puts an effect into the store, and remembers it when it was news.
    fn absorb(&mut self, effect: Effect) {
        self.touched.extend(self.context.absorb(effect));
    }

    /// What a refusal means for the pass: `None` when the core decides about it.
    async fn refused(
        &mut self,
        step: &Step,
        refusal: &Refusal,
        pause: Duration,
    ) -> Option<PassEnd> {
        match refusal.reason {
            RefusalReason::Conflict => {
                self.read_again(step).await;
                Some(PassEnd::interrupted(refusal, Again::Fresh))
            }
            RefusalReason::Timeout | RefusalReason::Busy => {
                self.read_again(step).await;
                Some(PassEnd::interrupted(refusal, Again::Unanswered(pause)))
            }
            RefusalReason::AlreadyExists => {
                if let Action::CreateReplicaSet(new) = &step.action
                    && let Ok(Some(found)) = self.context.sender.get::<ReplicaSet>(&new.key).await
                {
                    self.snapshot.add_replica_set(found);
                }
                None
            }
            _ => None,
        }
    }

    /// Reads anew what a refused or unanswered write was about, so that the next pass decides on facts.
    async fn read_again(&mut self, step: &Step) {
        let effects = match (&step.action, step.action.target()) {
            (Action::CreateReplicaSet(new), _) => {
                self.context
                    .sender
                    .read(Kind::ReplicaSet, &new.key, None)
                    .await
            }
            (_, Some(target)) => {
                self.context
                    .sender
                    .read(target.kind, &target.key, Some(&target.uid))
                    .await
            }
            (_, None) => Vec::new(),
        };
        for effect in effects {
            self.absorb(effect);
        }
    }

    fn tell(&self, step: &Step, outcome: &Outcome) {
        let what = Happening::Stepped {
            step: Box::new(step.clone()),
            outcome: outcome.clone(),
            dry_run: self.context.dry_run != DryRun::None,
        };
        self.context.tell(&self.subject, what);
    }

    fn end(&mut self) -> PassEnd {
        match &self.plan.end {
            End::Done(requeue) => PassEnd::Done {
                requeue: *requeue,
                waiting: std::mem::take(&mut self.plan.waiting),
                wrote: self.changed,
            },
            End::Failed(error) => PassEnd::Retry {
                error: error.to_string(),
                waiting: std::mem::take(&mut self.plan.waiting),
                again: if error.is_final() {
                    Again::Never
                } else {
                    Again::Later(Duration::ZERO)
                },
            },
        }
    }
}
