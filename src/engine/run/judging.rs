//! What a run makes of the objects that something happened to: what is new about them, and whether they have ended.

use crate::engine::event::End;
use crate::engine::options::{Goal, Hold};
use crate::engine::store::Item;

use super::Engine;

impl Engine {
    /// Whether a stage has stopped an object: nothing more is written for it.
    pub(super) fn is_held(&self, subject: &Item) -> bool {
        matches!(self.tracks.ended(subject), Some(End::StageReached { .. }))
    }

    /// Looks at the objects that something happened to: tells what is new, and whether they have ended.
    pub(super) fn judge(&mut self) {
        for subject in self.tracks.take_dirty() {
            let now = self.context.clock.now();
            let news = self.tracks.news(&self.context.store(), &subject, now);
            if let Some(what) = news {
                self.context.tell(&subject, what);
            }
            self.judge_one(&subject);
        }
    }

    fn judge_one(&mut self, subject: &Item) {
        if self.is_held(subject) && self.tracks.is_paused(subject) {
            self.release(subject);
            return;
        }
        if let Some(stage) = self.options.until
            && let Some(end) = self.tracks.stage_reached(subject, stage)
        {
            for item in self.context.items_of(subject) {
                self.queue.remove(&item);
            }
            self.end(subject, end);
            return;
        }
        let is_gone = self
            .context
            .store()
            .meta(subject.kind, &subject.key)
            .is_none();
        let items = if is_gone {
            self.left_behind(subject)
        } else {
            self.context.items_of(subject)
        };
        if items.iter().any(|item| self.queue.is_busy(item)) {
            return;
        }
        if is_gone {
            self.end(subject, End::Deleted);
            return;
        }
        if let Some(what) = self.tracks.waiting_news(subject) {
            self.context.tell(subject, what);
        }
        match self.tracks.verdict(subject, self.options.goal) {
            Some(end) => self.end(subject, end),
            None => self.tracks.reopen(subject),
        }
    }

    /// Goes on with an object whose stage is over: what the caller made of it is brought to rest.
    fn release(&mut self, subject: &Item) {
        self.tracks.reopen(subject);
        for item in self.context.items_of(subject) {
            self.queue.add(item);
        }
    }

    fn end(&mut self, subject: &Item, end: End) {
        if let Some(what) = self.tracks.end(subject, end) {
            self.context.tell(subject, what);
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self.options.goal {
            Goal::AtRest => self.queue.is_idle(),
            Goal::Complete => {
                let is_held = self.options.hold == Hold::UntilPaused && self.tracks.any_held();
                self.tracks.all_ended() && !is_held
            }
            Goal::Forever => false,
        }
    }
}
