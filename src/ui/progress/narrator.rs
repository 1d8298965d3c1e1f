//! One object's story in plain lines: one for each thing that happens, stable and greppable.
//!
//! `docs/output.md` lists the lines. What the next event may complete (pods that are still being created) or repeat
//! (counts of a large Deployment that moved by one) is held back until it is due. Pure.

use std::mem;

use super::board::Track;
use super::ending::{Ending, joined};
use super::pods::{Announced, PodBatch};
use crate::controller::action::{Action, Outcome, RefusalReason, Step};
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::count;
use crate::controller::why::WaitingOn;
use crate::engine::event::{EngineEvent, Happening};
use crate::ui::line::{Line, Tone};
use crate::ui::step::{Naming, Weight, Words, weight};

/// A Deployment's counts are told at most about this often on the way from nothing to all.
const COUNTS_TOLD: i32 = 20;

/// Tells what happens to one object. Lines come without the object's name.
#[derive(Debug, Default)]
pub(super) struct Narrator {
    bounds: String,
    counts: Counts,
    untold: Option<Counts>,
    waiting: Vec<WaitingOn>,
    batch: Option<PodBatch>,
    announced: Announced,
    refusal: Option<String>,
    retried: Option<String>,
}

/// The numbers that a status line tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    revision: Option<i64>,
    desired: i32,
    updated: i32,
    ready: i32,
    available: i32,
    old: i32,
}

impl Narrator {
    /// The lines for `event`; `track` is the object's state after it.
    pub(super) fn tell(&mut self, event: &EngineEvent, track: &Track, verbose: bool) -> Vec<Line> {
        match &event.what {
            Happening::Observed(overview) => self.observed(overview, track, verbose),
            Happening::Stepped {
                step,
                outcome,
                dry_run,
            } => self.stepped(step, outcome, *dry_run, track, verbose),
            Happening::Waiting(waiting) => self.waiting(waiting, track),
            Happening::Retrying { routine: true, .. } if !verbose => Vec::new(),
            Happening::Retrying { error, .. } => self.retrying(error, track),
            Happening::Ended(end) => {
                let mut lines = self.flush(track);
                lines.push(Ending::new(end, track).line());
                lines
            }
        }
    }

    fn retrying(&mut self, error: &str, track: &Track) -> Vec<Line> {
        let mut lines = self.flush(track);
        if self.retried.as_deref() != Some(error) {
            lines.push(labelled(Tone::Pending, "retrying", error));
            self.retried = Some(error.to_owned());
        }
        lines
    }

    /// What was held back.
    pub(super) fn flush(&mut self, track: &Track) -> Vec<Line> {
        let mut lines = self.flush_pods(track);
        if let Some(counts) = self.untold.take() {
            self.counts = counts;
            lines.push(counts.line());
        }
        lines
    }

    fn flush_pods(&mut self, track: &Track) -> Vec<Line> {
        let batch = self.batch.take();
        batch
            .map(|batch| Line::from(batch.told(&track.revisions)))
            .into_iter()
            .collect()
    }

    fn observed(&mut self, overview: &Overview, track: &Track, verbose: bool) -> Vec<Line> {
        let mut lines = self.flush_pods(track);
        let bounds = bounds(overview);
        if bounds != self.bounds {
            lines.push(Line::from(bounds.clone()));
            self.bounds = bounds;
        }
        let Some(counts) = Counts::of(overview) else {
            return lines;
        };
        self.untold = (counts != self.counts).then_some(counts);
        // Where every pod counts, a line each time the rollout pauses says enough.
        let in_strides = counts.stride() > 1 && counts.is_news_after(&self.counts);
        let is_first = self.counts == Counts::default();
        if verbose || in_strides || is_first {
            lines.extend(self.flush(track));
        }
        lines
    }

    fn stepped(
        &mut self,
        step: &Step,
        outcome: &Outcome,
        dry_run: bool,
        track: &Track,
        verbose: bool,
    ) -> Vec<Line> {
        if weight(&step.action) == Weight::Bookkeeping && !verbose {
            return Vec::new();
        }
        let words = Words::new(&step.action, &track.revisions, Naming::Revision);
        let applied = match outcome {
            Outcome::Applied(applied) => applied,
            Outcome::Refused(refusal) => {
                // Somebody else wrote first: the next pass looks again, nobody needs to act.
                let routine = refusal.reason == RefusalReason::Conflict;
                let text = format!("could not {}: {refusal}", words.to_do());
                if (routine && !verbose) || self.refusal.as_ref() == Some(&text) {
                    return Vec::new();
                }
                let mut lines = self.flush_pods(track);
                lines.push(Line::new(Tone::Bad, &text));
                self.refusal = Some(text);
                return lines;
            }
        };
        self.refusal = None;
        self.retried = None;
        if !verbose && let Some(batch) = PodBatch::begin(step, dry_run, &track.revisions) {
            if self.announced.covers(&batch) {
                return Vec::new();
            }
            if self.batch.as_mut().is_some_and(|open| open.absorb(&batch)) {
                return Vec::new();
            }
            let lines = self.flush_pods(track);
            self.batch = Some(batch);
            return lines;
        }
        self.announced.announce(&step.action);
        self.waiting.clear();
        let mut lines = self.flush_pods(track);
        let why = &step.why;
        lines.push(Line::from(match &step.action {
            _ if dry_run => format!("{}: {why} (dry run)", words.to_do()),
            Action::CreatePod { .. } if !applied.name.is_empty() => {
                format!("{} as {}: {why}", words.done(), applied.name)
            }
            action if action.is_event() => words.done(),
            _ => format!("{}: {why}", words.done()),
        }));
        lines
    }

    /// Nothing can be done for now: the counts are told, where they have moved by enough, and what is waited for, where
    /// more is new about it than a number that the counts tell as well.
    fn waiting(&mut self, waiting: &[WaitingOn], track: &Track) -> Vec<Line> {
        let mut lines = self.flush_pods(track);
        if self
            .untold
            .is_some_and(|counts| counts.is_news_after(&self.counts))
        {
            lines.extend(self.flush(track));
        }
        let telling = telling(waiting);
        let is_told = telling.len() == self.waiting.len()
            && telling
                .iter()
                .zip(&self.waiting)
                .all(|(now, told)| same_wait(now, told));
        if !is_told && !telling.is_empty() {
            lines.push(labelled(Tone::Pending, "waiting", &joined(&telling)));
            self.waiting = telling;
        }
        lines
    }
}

/// Pods that only have to go are worth a line where nothing else is waited for.
fn telling(waiting: &[WaitingOn]) -> Vec<WaitingOn> {
    let is_leaving = |wait: &&WaitingOn| {
        matches!(
            wait,
            WaitingOn::OldPods { .. } | WaitingOn::Terminating { .. }
        )
    };
    let others: Vec<WaitingOn> = waiting
        .iter()
        .filter(|wait| !is_leaving(wait))
        .cloned()
        .collect();
    if others.is_empty() {
        waiting.to_vec()
    } else {
        others
    }
}

impl Counts {
    fn of(overview: &Overview) -> Option<Self> {
        let new = overview.new_revision()?;
        Some(Self {
            revision: new.revision,
            desired: overview.desired,
            updated: new.current,
            ready: new.ready,
            available: new.available,
            old: overview.current.saturating_sub(new.current).max(0),
        })
    }

    /// Whether so much has changed that a line is due.
    fn is_news_after(&self, told: &Self) -> bool {
        if (self.revision, self.desired) != (told.revision, told.desired) {
            return true;
        }
        let at_the_goal = |counts: &Self| {
            [
                counts.updated == counts.desired,
                counts.ready == counts.desired,
                counts.available == counts.desired,
                counts.old == 0,
            ]
        };
        at_the_goal(self) != at_the_goal(told)
            || [
                (self.updated, told.updated),
                (self.ready, told.ready),
                (self.available, told.available),
                (self.old, told.old),
            ]
            .iter()
            .any(|(now, before)| now.abs_diff(*before) >= self.stride())
    }

    /// By how many pods a count has to move.
    fn stride(&self) -> u32 {
        (self.desired / COUNTS_TOLD).max(1).unsigned_abs()
    }

    fn line(&self) -> Line {
        let Self {
            revision,
            desired,
            updated,
            ready,
            available,
            old,
        } = self;
        let revision = revision.map_or_else(|| "?".to_owned(), |number| number.to_string());
        let old = match old {
            0 => String::new(),
            old => format!(", {old} old left"),
        };
        Line::from(format!(
            "revision {revision}: {updated} of {desired} updated, {ready} ready, {available} available{old}"
        ))
    }
}

/// The strategy and what it allows.
fn bounds(overview: &Overview) -> String {
    let Overview {
        strategy,
        desired,
        max_surge,
        max_unavailable,
        ..
    } = overview;
    match strategy.as_str() {
        keys::ROLLING_UPDATE => format!(
            "{strategy} of {desired}: total ≤ {}, available ≥ {} \
             (maxSurge {max_surge}, maxUnavailable {max_unavailable})",
            overview.max_total(),
            overview.min_available()
        ),
        keys::RECREATE => format!("{strategy} of {desired}: old pods go before new ones start"),
        "" => format!("{} wanted", count(*desired, "pod")),
        other => format!("{other} of {desired}"),
    }
}

fn labelled(tone: Tone, label: &str, text: &str) -> Line {
    Line::new(tone, label).with(Tone::Plain, format!(": {text}"))
}

/// Whether two waits differ by nothing but how far they have come.
fn same_wait(left: &WaitingOn, right: &WaitingOn) -> bool {
    match left {
        WaitingOn::NewPods { .. }
        | WaitingOn::Pods { .. }
        | WaitingOn::OldPods { .. }
        | WaitingOn::Terminating { .. }
        | WaitingOn::MinReadySeconds { .. } => mem::discriminant(left) == mem::discriminant(right),
        _ => left == right,
    }
}
