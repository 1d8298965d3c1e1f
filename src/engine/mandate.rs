//! The right to act: found out, backed by Leases, watched over while it lasts.
//!
//! [`super::actor::find`] says once who acts. Where it is us, the [`Mandate`] goes on telling the engine whether that still holds:
//! it ends when a controller manager comes back, and pauses while our Lease is somebody else's.

use std::fmt;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt as _};
use kube::Client;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::clock::Clock;

use super::actor::{self, Finding, Renewal};
use super::apply::one_line;
use super::domain::Domain;
use super::lease::{Attempt, DURATION, RENEW_EVERY, Rival, Tenancy, Tenure};
use super::options::Scope;

/// How often a Lease that somebody else holds is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What is known to act under.
#[derive(Clone, Debug)]
pub struct Claim {
    /// On which objects.
    pub scope: Scope,
    /// Its label selector, as it was written.
    pub labels: String,
    /// Who we are, in our Leases.
    pub identity: String,
    /// Whether to act though a controller manager does.
    pub force: bool,
    /// Whether to wait for as long as another client acts, instead of giving up once it shows to be alive.
    pub patient: bool,
}

/// What the engine may do from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Act.
    Act,
    /// Only follow, since a controller manager acts.
    Follow(Finding),
    /// Only follow for now: another client acts, or may.
    Standby(String),
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Act => f.write_str("acting"),
            Self::Follow(finding) => write!(f, "{finding}: following, nothing is written"),
            Self::Standby(why) => write!(f, "on standby, nothing is written: {why}"),
        }
    }
}

/// Why there is no right to act.
#[derive(Debug, thiserror::Error)]
pub enum MandateError {
    /// Another client acts.
    #[error("another client acts here: {} renewed its Lease {}s ago", .0.holder, .0.age)]
    Taken(Rival),
    /// Leases can't be read or written.
    #[error("cannot hold the Lease without which two clients could act at once: {}", one_line(.0))]
    Lease(kube::Error),
}

/// The right to act, for as long as it lasts.
pub struct Mandate {
    standings: mpsc::Receiver<Standing>,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Mandate {
    /// Gets our Leases; it waits for one whose holder may be dead.
    ///
    /// # Errors
    /// Another client is alive and the claim is not patient, or Leases can't be had.
    pub async fn acquire(
        client: Client,
        clock: Clock,
        claim: Claim,
        mut waiting: impl FnMut(&Rival),
    ) -> Result<Self, MandateError> {
        let domains = Domain::of(&claim.scope, &claim.labels);
        let identity = claim.identity.clone();
        let mut tenancy = Tenancy::new(client.clone(), clock, identity, domains);
        let give_up = Instant::now() + DURATION + LOOK_EVERY;
        let mut told = None;
        loop {
            match tenancy.attempt().await.map_err(MandateError::Lease)? {
                Attempt::Held => break,
                Attempt::Taken(rival) if !claim.patient && Instant::now() >= give_up => {
                    return Err(MandateError::Taken(rival));
                }
                Attempt::Taken(rival) => {
                    if told.as_ref() != Some(&rival.holder) {
                        waiting(&rival);
                        told = Some(rival.holder);
                    }
                    sleep(LOOK_EVERY).await;
                }
            }
        }
        Ok(Self::watched_over(client, claim, tenancy))
    }

    fn watched_over(client: Client, claim: Claim, tenancy: Tenancy) -> Self {
        let (tell, standings) = mpsc::channel(4);
        let (end, ended) = oneshot::channel();
        let keeper = Keeper {
            client,
            claim,
            tenancy,
            tell,
            manager: None,
        };
        Self {
            standings,
            end,
            task: tokio::spawn(keeper.keep(ended)),
        }
    }

    /// Splits into what the engine listens to and what gives the Leases up in the end.
    pub fn split(self) -> (BoxStream<'static, Standing>, Release) {
        let mut standings = self.standings;
        let stream = futures::stream::poll_fn(move |context| standings.poll_recv(context));
        let release = Release {
            end: self.end,
            task: self.task,
        };
        (stream.boxed(), release)
    }
}

/// Gives the Leases of a mandate up.
#[must_use = "Leases that are not given up keep others waiting until they expire"]
pub struct Release {
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Release {
    /// Gives them up.
    pub async fn now(self) {
        let _ = self.end.send(());
        let _ = self.task.await;
    }
}

/// Renews the Leases, and looks out for a controller manager.
struct Keeper {
    client: Client,
    claim: Claim,
    tenancy: Tenancy,
    tell: mpsc::Sender<Standing>,
    /// The controller manager's hold of its Lease when it was last looked at.
    manager: Option<Renewal>,
}

impl Keeper {
    async fn keep(mut self, mut ended: oneshot::Receiver<()>) {
        let mut next_renewal = Instant::now() + RENEW_EVERY;
        let mut holds = true;
        self.controller_manager().await;
        loop {
            tokio::select! {
                _ = &mut ended => break,
                () = sleep(LOOK_EVERY), if !self.claim.force || !holds => {}
                () = sleep_until(next_renewal), if holds => {}
            }
            if let Some(finding) = self.controller_manager().await {
                let _ = self.tell.send(Standing::Follow(finding)).await;
                break;
            }
            if holds && Instant::now() >= next_renewal {
                next_renewal = Instant::now() + RENEW_EVERY;
                if let Tenure::Lost(why) = self.tenancy.renew().await {
                    holds = false;
                    let why = format!("the Lease was lost: {why}");
                    let _ = self.tell.send(Standing::Standby(why)).await;
                    self.tenancy.release().await;
                }
            } else if !holds && matches!(self.tenancy.attempt().await, Ok(Attempt::Held)) {
                holds = true;
                next_renewal = Instant::now() + RENEW_EVERY;
                let _ = self.tell.send(Standing::Act).await;
            }
        }
        self.tenancy.release().await;
    }

    /// A controller manager that has come back: its Lease has changed since it was last looked at.
    async fn controller_manager(&mut self) -> Option<Finding> {
        if self.claim.force {
            return None;
        }
        let look = timeout(LOOK_EVERY, actor::renewal(&self.client)).await;
        let now = look.ok()?.ok()?;
        let before = std::mem::replace(&mut self.manager, now.clone());
        let Renewal { holder, .. } = now.filter(|_| before != self.manager)?;
        Some(Finding::Lease { holder, age: 0 })
    }
}
