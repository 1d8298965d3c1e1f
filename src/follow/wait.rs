//! Waits for rollouts: judges whatever is new until each has ended, time is up, or the caller has enough.

use std::collections::BTreeMap;
use std::time::Duration;

use kube::Client;
use tokio::time::{Instant, sleep_until, timeout};

use super::follower::{Aim, Ending, Follower, Pin};
use super::gathered::{Gathered, Seen};
use super::list::ReadError;
use super::look::look;
use super::watch::Watch;
use crate::clock::Clock;
use crate::controller::api::ObjectKey;
use crate::diagnose::{Budgets, Diagnosis, Presence, Unreadable, diagnose};
use crate::engine::options::Scope;

/// The most time between two looks, and the least where lists take the place of watches.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// Looking takes no more than one part in so many of the time.
pub(super) const SHARE: u32 = 5;
/// The last look takes no longer.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// What is waited for, and how long.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Which Deployments.
    pub scope: Scope,
    /// What is let pass.
    pub budgets: Budgets,
    /// When each has ended.
    pub aim: Aim,
    /// Which rollout of each; without a pin, the one that is seen first.
    pub pins: BTreeMap<ObjectKey, Pin>,
    /// How long in all.
    pub timeout: Option<Duration>,
    /// Whether a controller acts.
    pub controller: Presence,
}

/// A Deployment that was waited for.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Which one.
    pub key: ObjectKey,
    /// How it ended; `None`: it did not.
    pub ending: Option<Ending>,
    /// The last diagnosis.
    pub diagnosis: Diagnosis,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// The last that was seen of it.
    pub seen: Seen,
}

/// What came of waiting.
#[derive(Clone, Debug, Default)]
pub struct Waited {
    /// Every Deployment, in the order of names.
    pub followed: Vec<Followed>,
    /// Whether time ran out.
    pub timed_out: bool,
}

/// What is told while waiting.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// A Deployment was looked at.
    Looked(&'a Followed),
    /// A look failed; another one follows.
    Trouble(&'a ReadError),
}

/// Waits until all have ended, `signal` is ready, or time is up. One more look is taken then.
///
/// # Errors
/// When the first look fails, or Deployments may not be read any more.
pub async fn wait(
    client: &Client,
    clock: Clock,
    waiting: &Waiting,
    mut tell: impl FnMut(Told<'_>),
    signal: impl Future<Output = ()>,
) -> Result<Waited, ReadError> {
    let deadline = waiting.timeout.map(|timeout| Instant::now() + timeout);
    let mut stop = std::pin::pin!(async {
        tokio::select! {
            () = until(deadline) => true,
            () = signal => false,
        }
    });
    let mut all = All::new(waiting);
    let mut watch = Watch::new(
        client.clone(),
        clock,
        waiting.scope.clone(),
        waiting.controller,
    );
    let timed_out = loop {
        tokio::select! {
            looked = watch.next() => match looked {
                Ok(gathered) => all.take(&gathered, clock, &mut tell),
                Err(error) if all.is_empty() || error.is_denied => return Err(error),
                Err(error) => tell(Told::Trouble(&error)),
            },
            timed_out = &mut stop => break timed_out,
        }
        if all.have_ended() {
            break false;
        }
    };
    // Whoever stops the waiting may know of an end that no look has seen yet, even before the first. Where time ran out
    // before that, the server does not answer.
    let is_pointless = timed_out && all.is_empty();
    let is_open = all.is_empty() || !all.have_ended();
    if is_open
        && !is_pointless
        && let Ok(Ok(gathered)) =
            timeout(LAST_LOOK, look(client, &waiting.scope, clock.now())).await
    {
        all.take(&gathered, clock, &mut tell);
    }
    let followed = all.into_followed();
    let is_open = followed.iter().any(|one| one.ending.is_none());
    Ok(Waited {
        timed_out: timed_out && is_open,
        followed,
    })
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// All Deployments that are waited for.
struct All<'a> {
    waiting: &'a Waiting,
    tracks: BTreeMap<ObjectKey, Track>,
}

struct Track {
    follower: Follower,
    latest: Option<Followed>,
}

impl Track {
    fn has_ended(&self) -> bool {
        self.latest
            .as_ref()
            .is_some_and(|latest| latest.ending.is_some())
    }
}

impl<'a> All<'a> {
    fn new(waiting: &'a Waiting) -> Self {
        Self {
            waiting,
            tracks: BTreeMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    fn have_ended(&self) -> bool {
        self.tracks.values().all(Track::has_ended)
    }

    fn into_followed(self) -> Vec<Followed> {
        let tracks = self.tracks.into_values();
        tracks.filter_map(|track| track.latest).collect()
    }

    /// Takes in a look. What was there and is no more was deleted.
    fn take(&mut self, gathered: &Gathered, clock: Clock, tell: &mut impl FnMut(Told<'_>)) {
        let seen = &gathered.seen(&self.waiting.scope, self.waiting.controller, clock.now());
        for (key, track) in &mut self.tracks {
            if !track.has_ended()
                && !seen.iter().any(|one| one.key == *key)
                && let Some(latest) = &mut track.latest
            {
                latest.ending = Some(Ending::Deleted);
                tell(Told::Looked(latest));
            }
        }
        for one in seen {
            let track = self.tracks.entry(one.key.clone()).or_insert_with(|| Track {
                follower: Follower::new(self.waiting.aim, self.waiting.pins.get(&one.key).cloned()),
                latest: None,
            });
            if track.has_ended() {
                continue;
            }
            let mut diagnosis = diagnose(&one.snapshot, &self.waiting.budgets);
            let ending = track.follower.look(one, &mut diagnosis);
            tell(Told::Looked(track.latest.insert(Followed {
                key: one.key.clone(),
                ending,
                diagnosis,
                unreadable: one.snapshot.unreadable.clone(),
                seen: one.clone(),
            })));
        }
    }
}
