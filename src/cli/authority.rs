//! Who acts in this run: found out, said in one line, and backed by a Lease where it is us.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use tokio::sync::watch;

use super::cluster::{Cluster, ClusterFlags, Controller};
use crate::diagnose::Presence;
use crate::engine::actor::{self, Finding};
use crate::engine::lease::Rival;
use crate::engine::mandate::{Claim, Mandate, MandateError, Release, Standing};
use crate::engine::options::Scope;
use crate::engine::run::Engine;
use crate::error::Failure;
use crate::ui::printer::Printer;

/// What a command wants to act on.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
pub struct Purpose<'a> {
    /// Which objects.
    pub scope: &'a Scope,
    /// The label selector, as it was written.
    pub labels: &'a str,
    /// Whether nothing will be written anyway.
    pub is_dry: bool,
    /// Whether to act even beside a live controller manager.
    pub force: bool,
    /// Whether to wait for as long as another client acts.
    pub is_patient: bool,
    /// Whether another client that acts is followed, as a controller manager is.
    pub follows_clients: bool,
    /// Whether it was said already who acts.
    pub is_told: bool,
}

const FOLLOWING: &str = "following, nothing is written to ReplicaSets and pods";
/// What to give for acting where nobody can say whether somebody else does.
const ACT: &str = "--controller=client";
/// What to give for acting beside a live controller manager.
const ACT_BESIDE: &str = "--controller=client --force";

/// Who acts.
pub enum Authority {
    /// We do, on a cluster of our own or without writing: nobody has to be asked.
    Unasked,
    /// We do, as long as the mandate lasts.
    Act(BoxStream<'static, Standing>, Release),
    /// The cluster's controllers do; we follow. What to give for acting instead.
    Follow(&'static str),
}

impl Authority {
    /// Whether the cluster's controllers act.
    pub fn is_following(&self) -> bool {
        matches!(self, Self::Follow(_))
    }

    /// Who acts, for diagnoses.
    pub fn presence(&self) -> Presence {
        match self {
            Self::Unasked | Self::Act(..) => Presence::Acting,
            Self::Follow(_) => Presence::Unknown,
        }
    }

    /// What to give for acting where others are in charge but do nothing. A controller manager that comes back while we
    /// act is a live one.
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Follow(flags) => flags,
            Self::Unasked | Self::Act(..) => ACT_BESIDE,
        }
    }

    /// The same, telling `acting` whenever the right to act comes or goes.
    #[must_use]
    pub fn telling(self, acting: watch::Sender<bool>) -> Self {
        match self {
            Self::Act(standings, release) => {
                let told = standings.inspect(move |standing| {
                    acting.send_replace(*standing == Standing::Act);
                });
                Self::Act(told.boxed(), release)
            }
            other => other,
        }
    }

    /// Has an engine run that acts or follows, as it may. In the end our Lease is given up.
    pub async fn run<T>(self, engine: Engine, run: impl AsyncFnOnce(Engine) -> T) -> T {
        match self {
            Self::Unasked => run(engine).await,
            Self::Act(standings, release) => {
                let result = run(engine.under(standings)).await;
                release.now().await;
                result
            }
            Self::Follow(_) => run(engine.following()).await,
        }
    }
}

impl ClusterFlags {
    /// Refuses `--controller=client` beside a controller manager, before anything is changed. Comes back with what was
    /// found, where it matters.
    ///
    /// # Errors
    /// Somebody else acts, and `--force` was not given.
    pub async fn look_around(
        &self,
        cluster: &Cluster,
        namespaces: Option<&BTreeSet<String>>,
        force: bool,
    ) -> anyhow::Result<Finding> {
        if cluster.embedded.is_some() || self.controller == Controller::Server {
            return Ok(Finding::Nobody);
        }
        let finding = actor::find(&cluster.client, cluster.clock, namespaces).await?;
        if self.controller == Controller::Client && finding.is_live() && !force {
            return Err(Failure::error(format!(
                "{finding}: two controllers on one Deployment create surplus pods"
            ))
            .hint("leave --controller=client out to follow it, or add --force to act beside it")
            .into());
        }
        Ok(finding)
    }

    /// Whether we act, where this was found.
    pub fn acts(&self, finding: &Finding) -> bool {
        match self.controller {
            Controller::Server => false,
            Controller::Client => true,
            Controller::Auto => *finding == Finding::Nobody,
        }
    }

    /// Settles who acts, and says so.
    ///
    /// # Errors
    /// Another client acts already, or our Lease can't be had.
    pub async fn authority(
        &self,
        cluster: &Cluster,
        finding: Finding,
        purpose: Purpose<'_>,
        printer: &Printer,
    ) -> Result<Authority, Failure> {
        let acts = self.acts(&finding);
        if cluster.embedded.is_some() && acts || purpose.is_dry {
            return Ok(Authority::Unasked);
        }
        if !acts {
            let why = match self.controller {
                Controller::Server => "--controller=server".to_owned(),
                _ => finding.to_string(),
            };
            let flags = way_to_act(&finding);
            if !purpose.is_told {
                printer.talk(format!("{why}: {FOLLOWING} ({flags} to act)"));
            }
            return Ok(Authority::Follow(flags));
        }
        if !purpose.is_told {
            printer.talk(format!("{finding}: acting from here"));
        }
        let claim = Claim {
            scope: purpose.scope.clone(),
            labels: purpose.labels.to_owned(),
            identity: identity(),
            force: purpose.force,
            patient: purpose.is_patient,
        };
        let wait = |rival: &Rival| {
            printer.talk(format!(
                "waiting: {} acts here, and renewed its Lease {}s ago",
                rival.holder, rival.age
            ));
        };
        let mandate = Mandate::acquire(cluster.client.clone(), cluster.clock, claim, wait).await;
        let follows = purpose.follows_clients && self.controller == Controller::Auto;
        let mandate = match mandate {
            Err(taken @ MandateError::Taken(_)) if follows => {
                if !purpose.is_told {
                    printer.talk(format!("{taken}: {FOLLOWING}"));
                }
                return Ok(Authority::Follow(ACT));
            }
            mandate => mandate.map_err(|error| refused(&error))?,
        };
        let (standings, release) = mandate.split();
        let printer = printer.clone();
        let said = standings.inspect(move |standing| printer.warning(&standing.to_string()));
        Ok(Authority::Act(said.boxed(), release))
    }
}

/// What to give for acting where this was found.
pub(super) fn way_to_act(finding: &Finding) -> &'static str {
    if finding.is_live() { ACT_BESIDE } else { ACT }
}

fn refused(error: &MandateError) -> Failure {
    let hint = match error {
        MandateError::Taken(_) => "wait until it is done, or act on something else",
        MandateError::Lease(_) => {
            "grant get, list, create, update, patch and delete on leases in coordination.k8s.io"
        }
    };
    Failure::error(error.to_string()).hint(hint)
}

/// Who we are, in our Leases: machine and process.
fn identity() -> String {
    let host = hostname::get()
        .ok()
        .and_then(|name| name.into_string().ok())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned());
    format!("{host}_{}", std::process::id())
}
