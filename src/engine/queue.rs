//! The work queue: each item at most once, never two passes of one item at a time, delays and back-off per item.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use foldhash::{HashMap, HashSet};
use tokio::time::Instant;

use super::store::Item;
use crate::controller::action::Kind;

/// First delay after a failed pass; each further failure doubles it (deployment-controller section 3).
const FIRST_BACKOFF: Duration = Duration::from_millis(5);
/// The longest delay after a failed pass.
const MAX_BACKOFF: Duration = Duration::from_secs(1000);

/// The longest delay where the server does not answer: it may be back at any moment.
const MAX_UNANSWERED: Duration = Duration::from_secs(30);
/// How often a Deployment is tried again without anything having changed.
const MAX_RETRIES: u32 = 15;
/// All items together are tried again this often, once a burst is used up.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// So many retries are taken at once.
const RETRY_BURST: u32 = 100;

/// When to try a pass again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// At once: it decided on something that is out of date.
    Fresh,
    /// With back-off, and not before the server wants to hear from us again.
    Later(Duration),
    /// The same, for as long as it takes: the server does not answer.
    Unanswered(Duration),
    /// Never: the namespace is going away.
    Never,
}

/// Spreads the retries of all items.
#[derive(Debug, Default)]
struct Limiter {
    /// When the tokens that were given out are all earned back.
    paid: Option<Instant>,
}

impl Limiter {
    /// How long the next retry has to wait.
    fn wait(&mut self, now: Instant) -> Duration {
        let paid = self.paid.map_or(now, |paid| paid.max(now)) + RETRY_INTERVAL;
        self.paid = Some(paid);
        (paid - now).saturating_sub(RETRY_INTERVAL * RETRY_BURST)
    }
}

/// Items that ask for a pass.
#[derive(Debug, Default)]
pub struct Queue {
    /// ReplicaSets, then all else: what ReplicaSets' passes bring about, a Deployment's pass then sees at once.
    ready: [VecDeque<Item>; 2],
    queued: HashSet<Item>,
    running: HashSet<Item>,
    asked_while_running: HashSet<Item>,
    delayed: BTreeSet<(Instant, Item)>,
    due: HashMap<Item, Instant>,
    failures: HashMap<Item, u32>,
    limiter: Limiter,
}

impl Queue {
    /// Asks for a pass as soon as possible.
    pub fn add(&mut self, item: Item) {
        if self.running.contains(&item) {
            self.asked_while_running.insert(item);
        } else if self.queued.insert(item.clone()) {
            self.ready[usize::from(item.kind != Kind::ReplicaSet)].push_back(item);
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

    /// Asks for another pass after a failure, later each time. Returns how often it failed in a row. A Deployment that
    /// failed too often is let be until something changes.
    pub fn add_after_failure(&mut self, item: &Item, again: Again, now: Instant) -> u32 {
        let failures = self.failures.entry(item.clone()).or_default();
        *failures += 1;
        let failures = *failures;
        let backoff = FIRST_BACKOFF
            .saturating_mul(2u32.saturating_pow(failures - 1))
            .min(MAX_BACKOFF);
        let delay = match again {
            Again::Never => Duration::ZERO,
            Again::Fresh if failures == 1 => Duration::ZERO,
            Again::Fresh => backoff,
            Again::Later(pause) => backoff.max(pause).max(self.limiter.wait(now)),
            Again::Unanswered(pause) => backoff.min(MAX_UNANSWERED).max(pause),
        };
        let is_dropped = item.kind == Kind::Deployment
            && failures > MAX_RETRIES
            && matches!(again, Again::Later(_));
        if again == Again::Never || is_dropped {
            self.remove(item);
        } else {
            self.add_at(item.clone(), now + delay);
        }
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

    /// Takes the next item whose time has come and that is not to wait; its pass runs until [`Queue::done`].
    pub fn take(&mut self, now: Instant, waits: impl Fn(&Self, &Item) -> bool) -> Option<Item> {
        while let Some((at, item)) = self.delayed.first().cloned() {
            if at > now {
                break;
            }
            self.delayed.pop_first();
            self.due.remove(&item);
            self.add(item);
        }
        let item = (0..self.ready.len()).find_map(|rank| {
            let place = self.ready[rank]
                .iter()
                .position(|item| !waits(self, item))?;
            self.ready[rank].remove(place)
        })?;
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

    /// Whether an item's pass runs.
    pub fn is_running(&self, item: &Item) -> bool {
        self.running.contains(item)
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

    fn at_once(_: &Queue, _: &Item) -> bool {
        false
    }

    #[tokio::test(start_paused = true)]
    async fn replica_sets_come_first_and_what_waits_is_passed_over() {
        let mut queue = Queue::default();
        let now = Instant::now();
        let set = Item::replica_set(ObjectKey::new("default", "a-1"));
        queue.add(item("a"));
        queue.add(item("b"));
        queue.add(set.clone());
        assert_eq!(queue.take(now, at_once), Some(set.clone()));
        let waits = |queue: &Queue, waiting: &Item| *waiting == item("a") && queue.is_running(&set);
        assert_eq!(queue.take(now, waits), Some(item("b")));
        assert_eq!(queue.take(now, waits), None);
        queue.done(&set);
        assert_eq!(queue.take(now, waits), Some(item("a")));
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_is_queued_once_and_never_runs_twice_at_a_time() {
        let mut queue = Queue::default();
        let now = Instant::now();
        queue.add(item("a"));
        queue.add(item("a"));
        assert_eq!(queue.take(now, at_once), Some(item("a")));
        queue.add(item("a"));
        assert_eq!(queue.take(now, at_once), None, "it still runs");
        queue.done(&item("a"));
        assert_eq!(
            queue.take(now, at_once),
            Some(item("a")),
            "what was asked meanwhile is not lost"
        );
        queue.done(&item("a"));
        assert_eq!(queue.take(now, at_once), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_delay_counts() {
        let mut queue = Queue::default();
        let now = Instant::now();
        queue.add_at(item("a"), now + Duration::from_secs(10));
        queue.add_at(item("a"), now + Duration::from_secs(5));
        queue.add_at(item("a"), now + Duration::from_secs(20));
        assert_eq!(queue.next_due(), Some(now + Duration::from_secs(5)));
        assert_eq!(queue.take(now + Duration::from_secs(4), at_once), None);
        assert_eq!(
            queue.take(now + Duration::from_secs(5), at_once),
            Some(item("a"))
        );
        assert_eq!(queue.next_due(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_back_off_by_doubling_up_to_the_cap() {
        let mut queue = Queue::default();
        let now = Instant::now();
        let mut delays = Vec::new();
        let item = |name: &str| Item::replica_set(ObjectKey::new("default", name));
        for _ in 0..20 {
            queue.add_after_failure(&item("a"), Again::Later(Duration::ZERO), now);
            delays.push(
                queue
                    .next_due()
                    .map(|at| (at - now).as_millis())
                    .unwrap_or_default(),
            );
            queue.take(now + MAX_BACKOFF, at_once);
            queue.done(&item("a"));
        }
        assert_eq!(delays[..4], [5, 10, 20, 40]);
        assert_eq!(delays[19], 1_000_000);
        assert!(!queue.is_idle(), "a failing item keeps the queue busy");
        queue.forget_failures(&item("a"));
        assert!(queue.is_idle());
    }

    fn delay(queue: &mut Queue, item: &Item, again: Again) -> Option<u128> {
        let now = Instant::now();
        queue.add_after_failure(item, again, now);
        let delay = queue.due.get(item).map(|at| (*at - now).as_millis());
        queue.take(now + MAX_BACKOFF * 2, at_once);
        queue.done(item);
        delay
    }

    #[tokio::test(start_paused = true)]
    async fn a_deployment_is_let_be_after_fifteen_retries_unless_nobody_answers() {
        let mut queue = Queue::default();
        let later = Again::Later(Duration::ZERO);
        let unanswered = Again::Unanswered(Duration::ZERO);
        for _ in 0..15 {
            assert!(delay(&mut queue, &item("a"), later).is_some());
            assert!(delay(&mut queue, &item("b"), unanswered).is_some());
        }
        assert_eq!(delay(&mut queue, &item("a"), later), None);
        assert!(!queue.is_failing(&item("a")), "its failures are forgotten");
        assert_eq!(delay(&mut queue, &item("b"), unanswered), Some(30_000));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_out_of_date_is_tried_at_once_and_a_servers_wish_is_kept() {
        let mut queue = Queue::default();
        assert_eq!(delay(&mut queue, &item("a"), Again::Fresh), Some(0));
        assert_eq!(delay(&mut queue, &item("a"), Again::Fresh), Some(10));
        let wish = Duration::from_secs(7);
        assert_eq!(
            delay(&mut queue, &item("b"), Again::Later(wish)),
            Some(7_000)
        );
        assert_eq!(
            delay(&mut queue, &item("c"), Again::Unanswered(wish)),
            Some(7_000)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn all_retries_together_are_limited() {
        let mut limiter = Limiter::default();
        let now = Instant::now();
        let waits: Vec<_> = (0..102).map(|_| limiter.wait(now).as_millis()).collect();
        assert_eq!(waits[..100], [0; 100]);
        assert_eq!(waits[100..], [100, 200]);
        assert_eq!(limiter.wait(now + Duration::from_secs(60)), Duration::ZERO);
    }
}
