//! Which passes the engine asks for when something has changed.

use crate::engine::apply::Effect;
use crate::engine::store::Item;

use super::Engine;

impl Engine {
    /// Asks for the passes that a change calls for (deployment- and replicaset-controller section 3), and for those that
    /// take garbage away.
    pub(super) fn trigger(&mut self, news: &Effect) {
        let scope = &self.options.scope;
        let concerned = self.context.concerned(news, scope);
        let litter = self.context.litter(news, scope, &self.subjects);
        for (subject, _) in &concerned {
            self.tracks.touch(subject.clone());
        }
        for (subject, item) in concerned.into_iter().chain(litter) {
            if self.subjects.get(&item) != Some(&subject) {
                self.subjects.insert(item.clone(), subject.clone());
            }
            if !self.is_held(&subject) {
                self.queue.add(item);
            }
        }
    }

    /// What is looked after on behalf of an object that is gone.
    pub(super) fn left_behind(&self, subject: &Item) -> Vec<Item> {
        let of_subject = self.subjects.iter().filter(|(_, of)| *of == subject);
        of_subject.map(|(item, _)| item.clone()).collect()
    }
}
