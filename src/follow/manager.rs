//! Whether the cluster's controller manager is still there, by the Lease that it renews.
//!
//! A Lease that is not renewed any more says that nobody acts. One that is renewed does not say that Deployments are acted
//! on, since that controller may be switched off; and there are clusters without one, or that hide it: then nothing is known.

use std::time::Duration;

use kube::Client;
use tokio::time::{Instant, sleep};

use crate::clock::Clock;
use crate::diagnose::Presence;
use crate::engine::actor::{Renewal, renewal};

/// How often the Lease is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// After so many times its duration without a renewal nobody has taken it over, either.
const PATIENCE: u32 = 2;

/// Looks at the Lease while something is waited for. How old it is counts from when it was first seen as it is: clocks
/// need not agree.
#[derive(Debug, Default)]
pub(super) struct Manager {
    seen: Option<(Renewal, Instant)>,
    looked: Option<Instant>,
    is_hidden: bool,
}

impl Manager {
    /// Whether it acts, as far as is known. Asks only now and then.
    pub(super) async fn presence(&mut self, client: &Client) -> Presence {
        let now = Instant::now();
        let age = self.looked.map(|looked| now - looked);
        if !self.is_hidden && age.is_none_or(|age| age >= LOOK_EVERY) {
            if age.is_some_and(|age| age > LOOK_EVERY * PATIENCE) {
                // Who was out of sight for a while may have been alive.
                self.seen = None;
            }
            self.look(client, now).await;
        }
        match &self.seen {
            Some((renewal, since)) if now - *since >= renewal.lasts * PATIENCE => {
                Presence::Missing(renewal.at)
            }
            _ => Presence::Unknown,
        }
    }

    async fn look(&mut self, client: &Client, now: Instant) {
        match renewal(client).await {
            Ok(latest) => {
                self.looked = Some(now);
                let seen = self.seen.take();
                self.seen = latest.map(|latest| match seen {
                    Some((before, since)) if before == latest => (latest, since),
                    _ => (latest, now),
                });
            }
            Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403 | 404) => {
                self.is_hidden = true;
                self.seen = None;
            }
            Err(_) => {}
        }
    }
}

/// Whether the controller manager acts, as far as one look can tell. Where its Lease seems to have expired it is looked at
/// twice, some seconds apart.
pub async fn presence(client: &Client, clock: Clock) -> Presence {
    let Ok(Some(first)) = renewal(client).await else {
        return Presence::Unknown;
    };
    let age = Duration::try_from(clock.now().duration_since(first.at)).unwrap_or_default();
    if age < first.lasts * PATIENCE {
        return Presence::Unknown;
    }
    sleep(first.renewed_within()).await;
    match renewal(client).await {
        Ok(Some(again)) if again == first => Presence::Missing(first.at),
        _ => Presence::Unknown,
    }
}
