//! The work queue: each item at most once, never two passes of one item at a time, delays and back-off per item.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::store::Item;

/// First delay after a failed pass; each further failure doubles it (deployment-controller section 3).
const FIRST_BACKOFF: Duration = Duration::from_millis(5);
/// The longest delay after a failed pass.
const MAX_BACKOFF: Duration = Duration::from_secs(1000);

/// Items that ask for a pass.
#[derive(Debug, Default)]
pub struct Queue {
    ready: VecDeque<Item>,
    queued: HashSet<Item>,
    running: HashSet<Item>,
    asked_while_running: HashSet<Item>,
    delayed: BTreeSet<(Instant, Item)>,
    due: HashMap<Item, Instant>,
    failures: HashMap<Item, u32>,
}

impl Queue {
    /// Asks for a pass as soon as possible.
    pub fn add(&mut self, item: Item) {
        if self.running.contains(&item) {
            self.asked_while_running.insert(item);
        } else if self.queued.insert(item.clone()) {
            self.ready.push_back(item);
        }
    }

    /// Asks for a pass at an instant. The earliest request of an item counts.
    pub fn add_at(&mut self, item: Item, at: Instant) {
        if let Some(known) = self.due.get(&item).copied() {
            if known <= at {
                return;
            }
            self.delayed.remove(&(known, item.clone()));
        }
        self.due.insert(item.clone(), at);
        self.delayed.insert((at, item));
    }

    /// Asks for another pass after a failure, later each time. Returns how often it failed in a row.
    pub fn add_after_failure(&mut self, item: Item, now: Instant) -> u32 {
        let failures = self.failures.entry(item.clone()).or_default();
        *failures += 1;
        let failures = *failures;
        let delay = FIRST_BACKOFF
            .saturating_mul(2u32.saturating_pow(failures - 1))
            .min(MAX_BACKOFF);
        self.add_at(item, now + delay);
        failures
    }

    /// Forgets an item's failures.
    pub fn forget_failures(&mut self, item: &Item) {
        self.failures.remove(item);
    }

    /// Whether an item is to be tried again after a failure.
    pub fn is_failing(&self, item: &Item) -> bool {
        self.failures.contains_key(item)
    }

    /// Takes the next item whose time has come; its pass runs until [`Queue::done`].
    pub fn take(&mut self, now: Instant) -> Option<Item> {
        while let Some((at, item)) = self.delayed.first().cloned() {
            if at > now {
                break;
            }
            self.delayed.pop_first();
            self.due.remove(&item);
            self.add(item);
        }
        let item = self.ready.pop_front()?;
        self.queued.remove(&item);
        self.running.insert(item.clone());
        Some(item)
    }

    /// Ends an item's pass.
    pub fn done(&mut self, item: &Item) {
        self.running.remove(item);
        if self.asked_while_running.remove(item) {
            self.add(item.clone());
        }
    }

    /// When the next delayed item is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.delayed.first().map(|(at, _)| *at)
    }

    /// Whether an item runs, is ready to run, or is about to be tried again after a failure.
    pub fn is_busy(&self, item: &Item) -> bool {
        self.running.contains(item) || self.queued.contains(item) || self.is_failing(item)
    }

    /// Whether nothing runs, is ready, or is to be tried again after a failure.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.queued.is_empty() && self.failures.is_empty()
    }

    /// Drops an item altogether.
    pub fn remove(&mut self, item: &Item) {
        if let Some(at) = self.due.remove(item) {
            self.delayed.remove(&(at, item.clone()));
        }
        self.failures.remove(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::api::ObjectKey;

    fn item(name: &str) -> Item {
        Item::deployment(ObjectKey::new("default", name))
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_is_queued_once_and_never_runs_twice_at_a_time() {
        let mut queue = Queue::default();
        let now = Instant::now();
        queue.add(item("a"));
        queue.add(item("a"));
        assert_eq!(queue.take(now), Some(item("a")));
        queue.add(item("a"));
        assert_eq!(queue.take(now), None, "it still runs");
        queue.done(&item("a"));
        assert_eq!(
            queue.take(now),
            Some(item("a")),
            "what was asked meanwhile is not lost"
        );
        queue.done(&item("a"));
        assert_eq!(queue.take(now), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_delay_counts() {
        let mut queue = Queue::default();
        let now = Instant::now();
        queue.add_at(item("a"), now + Duration::from_secs(10));
        queue.add_at(item("a"), now + Duration::from_secs(5));
        queue.add_at(item("a"), now + Duration::from_secs(20));
        assert_eq!(queue.next_due(), Some(now + Duration::from_secs(5)));
        assert_eq!(queue.take(now + Duration::from_secs(4)), None);
        assert_eq!(queue.take(now + Duration::from_secs(5)), Some(item("a")));
        assert_eq!(queue.next_due(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_back_off_by_doubling_up_to_the_cap() {
        let mut queue = Queue::default();
        let now = Instant::now();
        let mut delays = Vec::new();
        for _ in 0..20 {
            queue.add_after_failure(item("a"), now);
            delays.push(
                queue
                    .next_due()
                    .map(|at| (at - now).as_millis())
                    .unwrap_or_default(),
            );
            queue.take(now + MAX_BACKOFF);
            queue.done(&item("a"));
        }
        assert_eq!(delays[..4], [5, 10, 20, 40]);
        assert_eq!(delays[19], 1_000_000);
        assert!(!queue.is_idle(), "a failing item keeps the queue busy");
        queue.forget_failures(&item("a"));
        assert!(queue.is_idle());
    }
}
