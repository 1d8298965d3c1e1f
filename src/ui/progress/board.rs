//! What is known of each Deployment on the screen, kept from the engine's events.
//!
//! Pure bookkeeping; the views read it, and so does the summary at the end.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::account::{self, Account};
use super::ending;
use super::eta::Eta;
use super::pods::{Announced, PodBatch};
use crate::controller::action::{Kind, Outcome, Step};
use crate::controller::api::ObjectKey;
use crate::controller::deployment::overview::Overview;
use crate::controller::why::WaitingOn;
use crate::engine::event::{End, EngineEvent, Happening, Left};
use crate::ui::line::{Line, Tone};
use crate::ui::step::{Naming, Revisions, Weight, Words, weight};

/// Entries of the step log that a view may show.
const LOG_MAX: usize = 8;

/// All objects that events told of, in the order of their first one.
#[derive(Clone, Debug, Default)]
pub struct Board {
    tracks: Vec<Track>,
    index: HashMap<(Kind, ObjectKey), usize>,
    namespaces_differ: bool,
    keeps_log: bool,
}

impl Board {
    /// Takes note of an event. Returns the object's place among [`tracks`](Self::tracks).
    pub(super) fn apply(&mut self, event: &EngineEvent) -> usize {
        let id = (event.kind, event.key.clone());
        let index = *self.index.entry(id).or_insert_with(|| {
            self.tracks.push(Track::new(event, self.keeps_log));
            self.tracks.len() - 1
        });
        self.namespaces_differ |= event.key.namespace != self.tracks[0].key.namespace;
        self.tracks[index].apply(event);
        index
    }

    /// The objects.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    pub(super) fn tracks_mut(&mut self) -> impl Iterator<Item = &mut Track> {
        self.tracks.iter_mut()
    }

    /// What was done to an object and what is `left`; empty if nothing is known of it.
    pub fn account(&self, kind: Kind, key: &ObjectKey, left: &[Left]) -> String {
        let index = self.index.get(&(kind, key.clone()));
        index.map_or_else(String::new, |index| {
            self.tracks[*index].account(left, self.namespaces_differ)
        })
    }

    /// How long it has been since the first event.
    pub(super) fn elapsed(&self, now: Timestamp) -> SignedDuration {
        let first = self.tracks.first();
        first.map_or(SignedDuration::ZERO, |track| {
            now.duration_since(track.started)
        })
    }

    /// From now on names say their namespace, even if all are in one.
    pub(super) fn show_namespaces(&mut self) {
        self.namespaces_differ = true;
    }

    /// From now on the last steps of each object are kept, for a view that shows them.
    pub(super) fn keep_log(&mut self) {
        self.keeps_log = true;
    }

    /// Whether names must say their namespace.
    pub fn shows_namespaces(&self) -> bool {
        self.namespaces_differ
    }
}

/// One Deployment, or one ReplicaSet without an owner.
#[derive(Clone, Debug)]
pub struct Track {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace and name.
    pub key: ObjectKey,
    /// How it stands.
    pub overview: Option<Arc<Overview>>,
    /// What it waits for, most telling first.
    pub waiting: Vec<WaitingOn>,
    /// How it ended, unless it goes on.
    pub end: Option<End>,
    /// Steps that were done, bookkeeping apart; each pod is one.
    pub steps: u32,
    /// The error of a pass that is tried again.
    pub(super) retrying: Option<String>,
    /// The last steps, where somebody wants to see them.
    log: Option<Log>,
    pub(super) revisions: Revisions,
    /// The steps that were done.
    account: Account,
    /// Whether its final line has been printed.
    pub(super) settled: bool,
    started: Timestamp,
    latest: Timestamp,
    eta: Eta,
}

/// The last steps of one object.
#[derive(Clone, Debug, Default)]
struct Log {
    /// Oldest first.
    entries: VecDeque<Entry>,
    /// What it says of sizes and pods have not made true yet.
    announced: Announced,
}

impl Log {
    fn note(&mut self, step: &Step, outcome: &Outcome, dry_run: bool, revisions: &Revisions) {
        let to_do = || Words::new(&step.action, revisions, Naming::Short).to_do();
        match outcome {
            Outcome::Applied(_) => match PodBatch::begin(step, dry_run, revisions) {
                Some(batch) if self.announced.covers(&batch) => {}
                Some(batch) => self.push(Entry::Pods(batch)),
                None => {
                    self.announced.announce(&step.action);
                    self.push(Entry::Step(
                        Line::new(Tone::Plain, to_do())
                            .with(Tone::Faint, format!(": {}", step.why)),
                    ));
                }
            },
            Outcome::Refused(refusal) => self.push(Entry::Step(
                Line::new(Tone::Bad, format!("could not {}", to_do()))
                    .with(Tone::Plain, format!(": {refusal}")),
            )),
        }
    }

    fn push(&mut self, entry: Entry) {
        if let (Some(Entry::Pods(last)), Entry::Pods(batch)) = (self.entries.back_mut(), &entry)
            && last.absorb(batch)
        {
            return;
        }
        if self.entries.len() == LOG_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }
}

/// One entry of the step log.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Step(Line),
    Pods(PodBatch),
}

impl Track {
    fn new(event: &EngineEvent, keeps_log: bool) -> Self {
        Self {
            kind: event.kind,
            key: event.key.clone(),
            overview: None,
            waiting: Vec::new(),
            end: None,
            steps: 0,
            retrying: None,
            log: keeps_log.then(Log::default),
            revisions: Revisions::default(),
            account: Account::default(),
            settled: false,
            started: event.at,
            latest: event.at,
            eta: Eta::default(),
        }
    }

    /// `deployment/web`, or `deployment/shop/web` where namespaces differ.
    pub fn name(&self, with_namespace: bool) -> String {
        format!("{}/{}", self.kind.word(), self.short_name(with_namespace))
    }

    /// How it stands or ended, in a word or two.
    pub fn standing_word(&self) -> &'static str {
        ending::standing_word(self)
    }

    /// How it stands or ended, in one sentence.
    pub fn standing(&self) -> String {
        ending::standing(self)
    }

    /// What was done to it and what is `left`, as a command ends that gives up; empty if there is nothing to say.
    /// `deployment "web": scaled web-abc (revision 2) 0→1; not done: …`.
    pub fn account(&self, left: &[Left], with_namespace: bool) -> String {
        let done = self.account.done(&self.revisions);
        let not_done = account::not_done(left, &self.revisions);
        let waiting = ending::joined(&self.waiting);
        let rest = match (not_done.is_empty(), waiting.is_empty()) {
            (false, _) => format!("not done: {not_done}"),
            (true, false) => format!("waiting: {waiting}"),
            (true, true) => String::new(),
        };
        let done = match (done.is_empty(), not_done.is_empty()) {
            (true, false) => "nothing was written".to_owned(),
            _ => done,
        };
        let parts: Vec<String> = [done, rest]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        if parts.is_empty() {
            return String::new();
        }
        let name = self.short_name(with_namespace);
        format!("{} \"{name}\": {}", self.kind.word(), parts.join("; "))
    }

    /// `web`, or `shop/web` where namespaces differ.
    pub(super) fn short_name(&self, with_namespace: bool) -> String {
        if with_namespace {
            self.key.to_string()
        } else {
            self.key.name.clone()
        }
    }

    /// How long it has been going on: until its end, or until `now`.
    pub(super) fn elapsed(&self, now: Timestamp) -> SignedDuration {
        let end = if self.end.is_some() { self.latest } else { now };
        end.duration_since(self.started)
    }

    /// How long it will still take, once there is something to go by.
    pub(super) fn remaining(&self, now: Timestamp) -> Option<SignedDuration> {
        self.eta.remaining(now)
    }

    fn apply(&mut self, event: &EngineEvent) {
        if self.begins_anew(&event.what) {
            self.end = None;
            self.settled = false;
            self.steps = 0;
            self.log = self.log.as_ref().map(|_| Log::default());
            self.account = Account::default();
            self.eta = Eta::default();
            self.started = event.at;
        }
        if self.end.is_none() {
            self.latest = event.at;
        }
        match &event.what {
            Happening::Observed(overview) => self.observe(event.at, overview),
            Happening::Stepped {
                step,
                outcome,
                dry_run,
            } => self.step(step, outcome, *dry_run),
            Happening::Waiting(waiting) => self.waiting.clone_from(waiting),
            Happening::Retrying { error, routine } => {
                if !routine {
                    self.retrying = Some(error.clone());
                }
            }
            Happening::Ended(end) => self.end = Some(end.clone()),
        }
    }

    /// Whether an object that had ended moves again.
    fn begins_anew(&self, what: &Happening) -> bool {
        match (&self.end, what) {
            (Some(_), Happening::Stepped { step, .. }) => {
                weight(&step.action) != Weight::Bookkeeping
            }
            (Some(End::Complete), Happening::Observed(overview)) => !overview.complete,
            _ => false,
        }
    }

    fn observe(&mut self, at: Timestamp, overview: &Arc<Overview>) {
        self.revisions.learn(overview);
        let available = overview.new_revision().map_or(0, |new| new.available);
        self.eta.observe(at, available, overview.desired);
        self.overview = Some(Arc::clone(overview));
        self.retrying = None;
    }

    fn step(&mut self, step: &Step, outcome: &Outcome, dry_run: bool) {
        if matches!(outcome, Outcome::Applied(_)) {
            self.revisions.learn_step(&step.action);
        }
        if weight(&step.action) == Weight::Bookkeeping {
            return;
        }
        if matches!(outcome, Outcome::Applied(_)) {
            self.retrying = None;
            self.steps += 1;
            if !dry_run {
                self.account.add(&step.action, &self.revisions);
            }
        }
        if let Some(log) = &mut self.log {
            log.note(step, outcome, dry_run, &self.revisions);
        }
    }

    /// The last steps, oldest first.
    pub(super) fn log(&self) -> impl ExactSizeIterator<Item = &Entry> {
        static NONE: VecDeque<Entry> = VecDeque::new();
        self.log.as_ref().map_or(&NONE, |log| &log.entries).iter()
    }
}
