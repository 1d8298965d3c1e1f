//! What has been told about each selected object, and how its rollout ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use crate::controller::action::Kind;
use crate::controller::api::ConditionStatus;
use crate::controller::deployment;
use crate::controller::deployment::overview::{self, Overview};
use crate::controller::keys;
use crate::controller::why::WaitingOn;

use super::event::{End, Happening, Left};
use super::options::{Goal, Stage};
use super::snapshot;
use super::store::{Item, Store};

/// All selected objects.
#[derive(Debug, Default)]
pub struct Tracks {
    by_item: BTreeMap<Item, Track>,
    dirty: BTreeSet<Item>,
    /// How many have ended.
    ended: usize,
}

/// One selected Deployment, or one ReplicaSet that stands alone.
#[derive(Debug, Default)]
struct Track {
    overview: Option<Arc<Overview>>,
    /// What the overview was made of.
    seen: Option<deployment::Snapshot>,
    /// By item, in their order: they are few, and there are many tracks.
    waits: Vec<(Item, Vec<WaitingOn>)>,
    /// What the latest passes left undone.
    left: BTreeMap<Item, Vec<Left>>,
    told: Vec<WaitingOn>,
    end: Option<End>,
}

impl Tracks {
    /// Marks an object for another look.
    pub fn touch(&mut self, subject: Item) {
        self.by_item.entry(subject.clone()).or_default();
        self.dirty.insert(subject);
    }

    /// Enters what an item's latest pass waits for.
    pub fn set_waits(&mut self, subject: &Item, item: Item, waits: Vec<WaitingOn>) {
        if let Some(track) = self.by_item.get_mut(subject) {
            match track.waits.binary_search_by(|(known, _)| known.cmp(&item)) {
                Ok(at) => track.waits[at].1 = waits,
                Err(at) => track.waits.insert(at, (item, waits)),
            }
            self.dirty.insert(subject.clone());
        }
    }

    /// Enters what an item's latest pass left undone.
    pub fn set_left(&mut self, subject: &Item, item: &Item, left: Vec<Left>) {
        let Some(track) = self.by_item.get_mut(subject) else {
            return;
        };
        // One that was told to end before anything was refused knows less than the one before.
        let is_news = left.iter().any(|left| left.refusal.is_some());
        if left.is_empty() {
            track.left.remove(item);
        } else if is_news || !track.left.contains_key(item) {
            track.left.insert(item.clone(), left);
        }
    }

    /// What was left undone, by the object that it belongs to.
    pub fn take_left(&mut self) -> BTreeMap<Item, Vec<Left>> {
        let tracks = self.by_item.iter_mut();
        let left = tracks.map(|(subject, track)| {
            let left = std::mem::take(&mut track.left);
            (subject.clone(), left.into_values().flatten().collect())
        });
        left.filter(|(_, left): &(_, Vec<Left>)| !left.is_empty())
            .collect()
    }

    /// Forgets an item that is gone.
    pub fn forget(&mut self, subject: &Item, item: &Item) {
        if let Some(track) = self.by_item.get_mut(subject) {
            track.waits.retain(|(known, _)| known != item);
            self.dirty.insert(subject.clone());
        }
    }

    /// The objects that were marked since the last call.
    pub fn take_dirty(&mut self) -> BTreeSet<Item> {
        std::mem::take(&mut self.dirty)
    }

    /// Ends an object, unless that was told already. Returns what to tell.
    pub fn end(&mut self, subject: &Item, end: End) -> Option<Happening> {
        let track = self.by_item.get_mut(subject)?;
        if track.end.as_ref() == Some(&end) {
            return None;
        }
        if track.end.replace(end.clone()).is_none() {
            self.ended += 1;
        }
        Some(Happening::Ended(end))
    }

    /// Takes an end back: the object moves again.
    pub fn reopen(&mut self, subject: &Item) {
        let track = self.by_item.get_mut(subject);
        if track.is_some_and(|track| track.end.take().is_some()) {
            self.ended -= 1;
        }
    }

    /// How an object ended, if it did.
    pub fn ended(&self, subject: &Item) -> Option<&End> {
        self.by_item.get(subject)?.end.as_ref()
    }

    /// Whether an object is stopped at a stage.
    pub fn any_held(&self) -> bool {
        let mut tracks = self.by_item.values();
        tracks.any(|track| matches!(track.end, Some(End::StageReached { .. })))
    }

    /// Whether a Deployment is paused.
    pub fn is_paused(&self, subject: &Item) -> bool {
        let track = self.by_item.get(subject);
        let overview = track.and_then(|track| track.overview.as_ref());
        overview.is_some_and(|overview| overview.paused)
    }

    /// Whether all objects have ended.
    pub fn all_ended(&self) -> bool {
        self.ended == self.by_item.len()
    }

    /// How each object ended; `None` for those that did not.
    pub fn into_ends(self) -> BTreeMap<Item, Option<End>> {
        self.by_item
            .into_iter()
            .map(|(subject, track)| (subject, track.end))
            .collect()
    }

    /// What is new about an object since it was last told.
    pub fn news(&mut self, store: &Store, subject: &Item, now: Timestamp) -> Option<Happening> {
        let track = self.by_item.get_mut(subject)?;
        if subject.kind != Kind::Deployment {
            return None;
        }
        let snapshot = snapshot::without_pods(store, subject, now);
        if is_same(snapshot.as_ref(), track.seen.as_ref()) {
            return None;
        }
        let overview = snapshot.as_ref().map(overview::of);
        track.seen = snapshot;
        if overview.as_ref() == track.overview.as_deref() {
            return None;
        }
        track.overview = overview.map(Arc::new);
        track.overview.clone().map(Happening::Observed)
    }

    /// What an object that is at rest waits for, when that is new.
    pub fn waiting_news(&mut self, subject: &Item) -> Option<Happening> {
        let track = self.by_item.get_mut(subject)?;
        let waits = track.all_waits();
        if waits == track.told {
            return None;
        }
        track.told.clone_from(&waits);
        Some(Happening::Waiting(waits))
    }

    /// How an object that is at rest stands, for this goal. `None`: it goes on.
    pub fn verdict(&self, subject: &Item, goal: Goal) -> Option<End> {
        let track = self.by_item.get(subject)?;
        if track.is_complete() {
            return Some(End::Complete);
        }
        match goal {
            Goal::AtRest => Some(track.refusal().unwrap_or(End::AtRest)),
            Goal::Complete | Goal::Forever => track.stuck(),
        }
    }

    /// Whether an object has reached the stage at which to stop.
    pub fn stage_reached(&self, subject: &Item, stage: Stage) -> Option<End> {
        stage_reached(self.by_item.get(subject)?.overview.as_ref()?, stage)
    }
}

/// Whether a rollout that stands like this has reached the stage at which to stop.
pub(super) fn stage_reached(overview: &Overview, stage: Stage) -> Option<End> {
    let stage = stage.pods_of(overview.desired);
    let available = overview.new_revision().map_or(0, |new| new.available);
    let is_reached = available >= stage && !overview.complete && !overview.paused;
    is_reached.then_some(End::StageReached { available, stage })
}

/// Whether two snapshots are of the same versions of the same objects.
fn is_same(a: Option<&deployment::Snapshot>, b: Option<&deployment::Snapshot>) -> bool {
    a.zip(b).is_some_and(|(a, b)| {
        Arc::ptr_eq(&a.deployment, &b.deployment)
            && a.replica_sets.len() == b.replica_sets.len()
            && (a.replica_sets.iter().zip(&b.replica_sets)).all(|(a, b)| Arc::ptr_eq(a, b))
    })
}

impl Track {
    /// Everything that is waited for, none twice: the Deployment's own waits first, then what its ReplicaSets add.
    fn all_waits(&self) -> Vec<WaitingOn> {
        let is_own = |item: &Item| item.kind == Kind::Deployment;
        let of = |own: bool| {
            self.waits
                .iter()
                .filter(move |(item, _)| is_own(item) == own)
        };
        let alone = self.overview.is_none();
        let own = of(true).flat_map(|(_, waits)| waits);
        // That pods are to become ready is the Deployment's to say.
        let added = of(false)
            .flat_map(|(_, waits)| waits)
            .filter(|wait| alone || !matches!(wait, WaitingOn::Pods { .. }));
        own.chain(added).fold(Vec::new(), |mut waits, wait| {
            if !waits.contains(wait) {
                waits.push(wait.clone());
            }
            waits
        })
    }

    /// A ReplicaSet alone is complete when it waits for nothing.
    fn is_complete(&self) -> bool {
        match &self.overview {
            Some(overview) => overview.complete,
            None => !self.waits.is_empty() && self.waits.iter().all(|(_, waits)| waits.is_empty()),
        }
    }

    /// A write that was refused for good.
    fn refusal(&self) -> Option<End> {
        let waits = self.waits.iter().flat_map(|(_, waits)| waits);
        let refused = waits.filter_map(|wait| match wait {
            WaitingOn::Refused { message } => Some(message),
            _ => None,
        });
        let left = self.left.values().flatten();
        let left = left.filter_map(|left| Some(&left.refusal.as_ref()?.message));
        refused.chain(left).next().map(|message| End::Refused {
            message: message.clone(),
        })
    }

    /// What ends a rollout that is waited for.
    fn stuck(&self) -> Option<End> {
        let overview = self.overview.as_ref()?;
        if overview.paused {
            let seen = self.seen.as_ref()?;
            return seen.deployment.is_observed().then_some(End::Paused);
        }
        let progressing = overview
            .conditions
            .iter()
            .find(|condition| condition.type_ == keys::PROGRESSING)?;
        (progressing.status == ConditionStatus::False
            && progressing.reason == keys::PROGRESS_DEADLINE_EXCEEDED)
            .then(|| End::Failed {
                reason: progressing.reason.clone(),
                message: progressing.message.clone(),
            })
    }
}
