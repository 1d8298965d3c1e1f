//! The loop: takes items from the queue, runs their passes, and judges what is at rest.

mod judging;
mod news;
mod standing;
mod summary;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foldhash::HashMap;
use futures::stream::{self, BoxStream, FuturesUnordered, StreamExt};
use kube::Client;
use tokio::time::{Instant, sleep_until};

use crate::clock::Clock;
use crate::controller::action::Kind;
use crate::controller::plan::Requeue;
use crate::controller::why::WaitingOn;

use super::apply::{Effect, Sender};
use super::error::EngineError;
use super::event::Happening;
use super::feed::{self, Feed, Synced, Update};
use super::mandate::Standing;
use super::options::{DryRun, Goal, Options, Which};
use super::pass::{Context, Sink};
use super::passed::{PassEnd, Passed};
use super::queue::{Again, Queue};
use super::store::{Item, Store};
use super::track::Tracks;

pub use summary::{StoppedBy, Summary};

/// How often an item may fail in a row before a one-shot run lets it be.
const ONE_SHOT_FAILURES: u32 = 6;
/// The least time between two passes that the core asks for "soon" without anything having changed.
const RATE_LIMIT_FLOOR: Duration = Duration::from_secs(1);

/// Reconciles what is in scope until its goal is reached.
pub struct Engine {
    client: Client,
    context: Arc<Context>,
    options: Options,
    queue: Queue,
    tracks: Tracks,
    /// Which selected object each item belongs to.
    subjects: HashMap<Item, Item>,
    stopped: Option<StoppedBy>,
    standings: BoxStream<'static, Standing>,
}

impl Engine {
    /// An engine on one cluster. `sink` is told everything that happens, in order.
    pub fn new(client: Client, clock: Clock, options: Options, sink: Sink) -> Self {
        let context = Context {
            sender: Sender::new(client.clone(), clock, options.dry_run),
            store: Mutex::new(Store {
                leaves_garbage: !options.collects_garbage,
                ..Store::default()
            }),
            guards: Mutex::default(),
            stopping: AtomicBool::new(false),
            acting: AtomicBool::new(true),
            clock,
            dry_run: options.dry_run,
            until: options.until,
            gate: options.gate.clone(),
            sink,
        };
        Self {
            client,
            context: Arc::new(context),
            options,
            queue: Queue::default(),
            tracks: Tracks::default(),
            subjects: HashMap::default(),
            stopped: None,
            standings: stream::pending().boxed(),
        }
    }

    /// Runs to the goal, or until `signal` is ready; a write that is under way is finished first.
    ///
    /// # Errors
    /// When what is in scope can't be listed or watched.
    pub async fn run(mut self, signal: impl Future<Output = ()>) -> Result<Summary, EngineError> {
        let deadline = self.options.timeout.map(|timeout| Instant::now() + timeout);
        let mut signal = std::pin::pin!(signal);
        let opened = tokio::select! {
            feed = self.open() => Ok(feed?),
            () = sleep_until_or_never(deadline) => Err(StoppedBy::Timeout),
            () = &mut signal => Err(StoppedBy::Signal),
        };
        let mut feed = match opened {
            Ok(feed) => feed::in_batches(feed),
            Err(stopped) => return Ok(self.summary(Vec::new(), Some(stopped))),
        };
        let missing = self.missing();
        let mut passes = FuturesUnordered::new();
        loop {
            // Before passes start: one that has reached its stage starts none.
            self.judge();
            while self.stopped.is_none() && passes.len() < self.options.workers.max(1) {
                let context = Arc::clone(&self.context);
                let waits = |queue: &Queue, item: &Item| context.has_running_set(queue, item);
                let Some(item) = self.queue.take(Instant::now(), waits) else {
                    break;
                };
                let subject = self.subject(&item);
                passes.push(async move {
                    let result = context.run(&item, subject).await;
                    (item, result)
                });
            }
            if passes.is_empty() && (self.stopped.is_some() || self.is_finished()) {
                break;
            }
            // News before passes, so that they decide on what is known and not on what was: fewer see more.
            tokio::select! {
                biased;
                () = &mut signal, if self.stopped.is_none() => {
                    self.stop(StoppedBy::Signal);
                }
                () = sleep_until_or_never(deadline), if self.stopped.is_none() => {
                    self.stop(StoppedBy::Timeout);
                }
                Some(standing) = self.standings.next(), if self.stopped.is_none() => {
                    if let Some(anew) = self.stand(&standing).await? {
                        feed = feed::in_batches(anew);
                    }
                }
                Some(updates) = feed.next() => for update in updates {
                    self.fed(update).await?;
                },
                Some((item, result)) = passes.next(), if !passes.is_empty() => {
                    self.passed(&item, result);
                }
                () = sleep_until_or_never(self.queue.next_due()), if self.stopped.is_none() => {}
            }
        }
        let stopped = self.stopped;
        Ok(self.summary(missing, stopped))
    }

    fn summary(mut self, missing: Vec<Item>, stopped: Option<StoppedBy>) -> Summary {
        Summary {
            left: self.tracks.take_left(),
            ends: self.tracks.into_ends(),
            missing,
            stopped,
        }
    }

    /// Fills the store for the first time, and opens the watches unless the run is one-shot.
    async fn open(&mut self) -> Result<Feed, EngineError> {
        if self.options.goal == Goal::AtRest {
            for effect in feed::list_once(&self.client, &self.options.scope).await? {
                self.absorb(effect);
            }
            for preset in std::mem::take(&mut self.options.presets) {
                self.context.store().preset(&preset);
                self.trigger(&preset);
            }
            let mut feed = stream::select_all(Vec::new());
            feed.push(stream::pending().boxed());
            return Ok(feed);
        }
        let (mut feed, mut unsynced) =
            feed::watch(&self.client, &self.options.scope, &self.context);
        while unsynced > 0 {
            match feed.next().await {
                Some(Update::Changed(effect)) => self.absorb(effect),
                Some(Update::Synced(_)) => unsynced -= 1,
                Some(Update::Trouble { error, .. }) if error.is_passing() => {
                    tracing::warn!(%error, "not ready yet, trying again");
                }
                Some(Update::Trouble { error, .. }) => return Err(error),
                None => break,
            }
        }
        Ok(feed)
    }

    fn missing(&self) -> Vec<Item> {
        let Which::Named(items) = &self.options.scope.which else {
            return Vec::new();
        };
        let store = self.context.store();
        let exists = |item: &&Item| match item.kind {
            Kind::Deployment => store.deployments.get(&item.key).is_some(),
            Kind::ReplicaSet | Kind::Pod => store.replica_sets.get(&item.key).is_some(),
        };
        items.iter().filter(|item| !exists(item)).cloned().collect()
    }

    async fn fed(&mut self, update: Update) -> Result<(), EngineError> {
        match update {
            Update::Changed(effect) => self.absorb(effect),
            Update::Synced(synced) => self.resync(synced).await,
            Update::Trouble {
                error,
                denied: true,
                ..
            } => return Err(error),
            Update::Trouble { kind, error, .. } => {
                tracing::warn!(kind = kind.name(), %error, "watch interrupted, trying again");
            }
        }
        Ok(())
    }

    /// After a watch began anew.
    async fn resync(&mut self, synced: Synced) {
        for effect in self.context.not_shown(&synced).await {
            self.absorb(effect);
        }
    }

    fn absorb(&mut self, effect: Effect) {
        if let Some(news) = self.context.absorb(effect) {
            self.trigger(&news);
        }
    }

    /// The selected object that an item belongs to.
    fn subject(&self, item: &Item) -> Item {
        self.subjects.get(item).unwrap_or(item).clone()
    }

    fn passed(&mut self, item: &Item, passed: Passed) {
        let subject = self.subject(item);
        self.queue.done(item);
        self.tracks.set_left(&subject, item, passed.left);
        match passed.end {
            PassEnd::Gone => self.gone(item, &subject),
            PassEnd::Stopped => self.stop(StoppedBy::Person),
            PassEnd::Interrupted => {}
            PassEnd::Done {
                requeue,
                waiting,
                wrote,
            } => {
                self.queue.forget_failures(item);
                if wrote {
                    // What is gone is told of too, once something it left behind was found.
                    self.tracks.touch(subject.clone());
                }
                self.tracks.set_waits(&subject, item.clone(), waiting);
                if wrote && self.options.dry_run == DryRun::None {
                    self.queue.add(item.clone());
                }
                self.requeue(item, requeue);
            }
            PassEnd::Retry {
                error,
                waiting,
                again,
            } => {
                let what = Happening::Retrying {
                    error: error.clone(),
                    routine: again == Again::Fresh,
                };
                self.context.tell(&subject, what);
                let refused = WaitingOn::Refused { message: error };
                let waiting = if waiting.is_empty() {
                    vec![refused]
                } else {
                    waiting
                };
                self.tracks.set_waits(&subject, item.clone(), waiting);
                self.retry(item, again);
            }
        }
        for news in &passed.touched {
            self.trigger(news);
        }
    }

    fn gone(&mut self, item: &Item, subject: &Item) {
        self.queue.remove(item);
        self.subjects.remove(item);
        self.tracks.forget(subject, item);
    }

    fn requeue(&mut self, item: &Item, requeue: Requeue) {
        let after = match requeue {
            Requeue::No => return,
            Requeue::After(after) => after,
            Requeue::RateLimited => RATE_LIMIT_FLOOR,
        };
        self.queue.add_at(item.clone(), Instant::now() + after);
    }

    fn retry(&mut self, item: &Item, again: Again) {
        if again == Again::Never || self.options.dry_run != DryRun::None {
            self.queue.remove(item);
            return;
        }
        let failures = self.queue.add_after_failure(item, again, Instant::now());
        if self.options.goal == Goal::AtRest && failures >= ONE_SHOT_FAILURES {
            self.queue.remove(item);
        }
    }

    /// Ends the run after the writes that are under way.
    fn stop(&mut self, by: StoppedBy) {
        self.stopped = Some(by);
        self.context.stopping.store(true, Ordering::Relaxed);
    }
}

async fn sleep_until_or_never(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
