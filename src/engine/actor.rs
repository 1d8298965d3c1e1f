//! Who acts on a cluster's Deployments: whether a controller manager looks after them.
//!
//! Two controllers on one Deployment create surplus pods. So evidence of another one, or doubt, means that we follow. A
//! controller manager shows itself by its Lease, or by the statuses that it keeps up to date. Clocks need not agree: a
//! Lease that looks expired is looked at twice, and one that was renewed in between is live.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::ListParams;
use kube::core::Request;
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::sleep;

use crate::clock::Clock;
use crate::controller::api::{Deployment, ObjectKey};

use super::apply::one_line;
use super::kind::SlimKind as _;
use super::request::FIELD_MANAGER;

/// Where the controller manager's Lease is.
const NAMESPACE: &str = "kube-system";
/// The Lease that the active controller manager renews.
const LEASE: &str = "kube-controller-manager";
/// How long a Lease lasts that does not say.
const DEFAULT_DURATION: Duration = Duration::from_secs(15);
/// The share of a Lease's duration after which its holder has renewed it.
const RENEWALS: u32 = 3;
/// So many Deployments of a namespace are looked at.
const SAMPLE: u32 = 100;

/// What there is to know about who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A controller manager renews its Lease.
    Lease {
        /// Who holds it.
        holder: String,
        /// Seconds since it was renewed.
        age: i64,
    },
    /// Somebody keeps the status of Deployments up to date.
    Status {
        /// The field manager.
        manager: String,
        /// One of the Deployments.
        deployment: ObjectKey,
    },
    /// Nobody can say.
    Doubt {
        /// What could not be read.
        why: String,
    },
    /// Nobody acts.
    Nobody,
}

impl Finding {
    /// Whether somebody was seen to act.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Lease { .. } | Self::Status { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lease { holder, age } => {
                write!(
                    f,
                    "kube-controller-manager is in charge ({holder} renewed its Lease {age}s ago)"
                )
            }
            Self::Status {
                manager,
                deployment,
            } => write!(
                f,
                "{manager} is in charge (it keeps the status of deployment {deployment})"
            ),
            Self::Doubt { why } => {
                write!(
                    f,
                    "whether a controller manager is in charge can't be told ({why})"
                )
            }
            Self::Nobody => f.write_str("no controller manager is in charge"),
        }
    }
}

/// Finds out who acts on the Deployments of these namespaces; `None`: of all.
///
/// # Errors
/// When the server does not answer. What it refuses to show is doubt.
pub async fn find(
    client: &Client,
    clock: Clock,
    namespaces: Option<&BTreeSet<String>>,
) -> Result<Finding, kube::Error> {
    match by_lease(client, clock).await {
        Ok(Some(finding)) => Ok(finding),
        Ok(None) => by_status(client, namespaces)
            .await
            .or_else(|error| doubt("Deployments", error)),
        Err(error) => doubt("the Lease kube-system/kube-controller-manager", error),
    }
}

fn doubt(what: &str, error: kube::Error) -> Result<Finding, kube::Error> {
    match error {
        kube::Error::Api(_) => Ok(Finding::Doubt {
            why: format!("{what}: {}", one_line(&error)),
        }),
        unanswered => Err(unanswered),
    }
}

/// What the Lease says; `None`: nobody holds one that is live.
async fn by_lease(client: &Client, clock: Clock) -> Result<Option<Finding>, kube::Error> {
    let Some(first) = renewal(client).await? else {
        return Ok(None);
    };
    let age = clock.now().duration_since(first.at);
    if age <= SignedDuration::try_from(first.lasts).unwrap_or(SignedDuration::MAX) {
        let (holder, age) = (first.holder, age.as_secs().max(0));
        return Ok(Some(Finding::Lease { holder, age }));
    }
    sleep(first.renewed_within()).await;
    let again = renewal(client).await?.filter(|again| *again != first);
    Ok(again.map(|Renewal { holder, .. }| Finding::Lease { holder, age: 0 }))
}

/// A controller manager's hold of its Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// Who holds it.
    pub holder: String,
    /// When it was renewed last, as the holder's clock says.
    pub at: Timestamp,
    /// How long it lasts without another renewal.
    pub lasts: Duration,
}

impl Renewal {
    /// A holder that is alive has renewed it again after this time.
    pub fn renewed_within(&self) -> Duration {
        self.lasts / RENEWALS
    }
}

/// The newest renewal of the controller manager's Lease; `None`: there is no Lease, or it was given up.
///
/// # Errors
/// The server does not answer, or does not show it.
pub async fn renewal(client: &Client) -> Result<Option<Renewal>, kube::Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), NAMESPACE);
    let lease = leases.get_opt(LEASE).await?;
    Ok(lease.and_then(|lease| {
        let (holder, at) = held(&lease)?;
        let lasts = duration_of(&lease);
        Some(Renewal { holder, at, lasts })
    }))
}

/// Who holds a Lease, and when it was renewed; `None`: it was given up.
pub(super) fn held(lease: &Lease) -> Option<(String, Timestamp)> {
    let spec = lease.spec.as_ref()?;
    let holder = spec
        .holder_identity
        .clone()
        .filter(|name| !name.is_empty())?;
    let renewed = spec.renew_time.as_ref().or(spec.acquire_time.as_ref())?;
    Some((holder, renewed.0))
}

/// How long a Lease lasts.
pub(super) fn duration_of(lease: &Lease) -> Duration {
    let seconds = lease
        .spec
        .as_ref()
        .and_then(|spec| spec.lease_duration_seconds);
    seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0)
        .map_or(DEFAULT_DURATION, Duration::from_secs)
}

/// What the statuses of Deployments say.
async fn by_status(
    client: &Client,
    namespaces: Option<&BTreeSet<String>>,
) -> Result<Finding, kube::Error> {
    let namespaces: Vec<Option<&str>> = match namespaces {
        None => vec![None],
        Some(names) => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let params = ListParams::default().limit(SAMPLE);
    for namespace in namespaces {
        let path = Deployment::KIND.path(namespace);
        let request = Request::new(path)
            .list(&params)
            .map_err(kube::Error::BuildRequest)?;
        let list: Value = client.request(request).await?;
        let mut deployments = list["items"].as_array().into_iter().flatten();
        if let Some(found) = deployments.find_map(kept) {
            return Ok(found);
        }
    }
    Ok(Finding::Nobody)
}

/// Whether somebody else keeps this Deployment's status up to date.
fn kept(deployment: &Value) -> Option<Finding> {
    let metadata = &deployment["metadata"];
    if deployment["status"]["observedGeneration"] != metadata["generation"] {
        return None;
    }
    let writers = metadata["managedFields"].as_array()?.iter();
    let latest = writers
        .filter(|entry| {
            entry["subresource"] == "status" || !entry["fieldsV1"]["f:status"].is_null()
        })
        .max_by_key(|entry| entry["time"].as_str().unwrap_or_default())?;
    let manager = latest["manager"].as_str()?;
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    (manager != FIELD_MANAGER).then(|| Finding::Status {
        manager: manager.to_owned(),
        deployment: ObjectKey::new(text("namespace"), text("name")),
    })
}
