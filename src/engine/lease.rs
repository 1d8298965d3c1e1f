//! Our own Leases: while we act on a scope we hold one for each part of it, so that two clients never act on one
//! Deployment. Whether another holder is alive is told by whether its Lease changes, not by comparing clocks.

use std::collections::HashMap;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;
use tokio::time::Instant;

use crate::clock::Clock;

use super::actor::{duration_of, held};
use super::domain::Domain;

/// How long a Lease lasts that is not renewed.
pub(super) const DURATION: Duration = Duration::from_secs(15);
/// How often it is renewed.
pub(super) const RENEW_EVERY: Duration = Duration::from_secs(5);
/// After this long without a renewal we stop acting, before anyone else may start.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// By which our Leases are found.
const LABEL: &str = "app.kubernetes.io/managed-by";
/// What a Lease covers.
const DOMAIN: &str = "kubectl-rs.dev/domain";

/// Somebody else's Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// Who holds it.
    pub holder: String,
    /// Seconds since it was renewed, as its own clock and ours say.
    pub age: i64,
}

/// How an attempt to get all Leases of a scope ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// We hold them.
    Held,
    /// Somebody else acts on some of it.
    Taken(Rival),
}

/// What became of our Leases.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tenure {
    /// We hold them all.
    Held,
    /// We do not, or can't be sure.
    Lost(String),
}

/// The Leases of one scope.
pub(super) struct Tenancy {
    client: Client,
    clock: Clock,
    identity: String,
    domains: Vec<Domain>,
    /// Ours, with the version last seen.
    held: Vec<(Domain, String)>,
    renewed: Instant,
    /// When each other Lease was first seen at its present renewal, by UID.
    seen: HashMap<String, (Timestamp, Instant)>,
}

impl Tenancy {
    pub(super) fn new(
        client: Client,
        clock: Clock,
        identity: String,
        domains: Vec<Domain>,
    ) -> Self {
        Self {
            client,
            clock,
            identity,
            domains,
            held: Vec::new(),
            renewed: Instant::now(),
            seen: HashMap::new(),
        }
    }

    fn api(&self, domain: &Domain) -> Api<Lease> {
        Api::namespaced(self.client.clone(), domain.lease_namespace())
    }

    /// Tries to get all Leases of the scope. What is looked at after our own Lease is written settles races: of two who
    /// see each other, both step back.
    pub(super) async fn attempt(&mut self) -> Result<Attempt, kube::Error> {
        if let Some(rival) = self.rival().await? {
            return Ok(Attempt::Taken(rival));
        }
        for domain in self.domains.clone() {
            match self.take(&domain).await {
                Ok(version) => self.held.push((domain, version)),
                Err(kube::Error::Api(status)) if status.code == 409 => {
                    self.release().await;
                    let rival = self.rival().await?;
                    return Ok(Attempt::Taken(rival.unwrap_or_else(Rival::unknown)));
                }
                Err(error) => {
                    self.release().await;
                    return Err(error);
                }
            }
        }
        self.renewed = Instant::now();
        let rival = self.rival().await;
        if let Ok(None) = rival {
            return Ok(Attempt::Held);
        }
        self.release().await;
        Ok(rival?.map_or(Attempt::Held, Attempt::Taken))
    }

    /// Somebody else who holds a live Lease on some of the scope.
    async fn rival(&mut self) -> Result<Option<Rival>, kube::Error> {
        let params = ListParams::default().labels(&format!("{LABEL}=kubectl-rs"));
        let mut leases = Vec::new();
        for namespace in Domain::places(&self.domains) {
            let (api, is_optional): (Api<Lease>, bool) = match &namespace {
                None => (Api::all(self.client.clone()), false),
                Some(name) => {
                    let elsewhere = self
                        .domains
                        .iter()
                        .all(|domain| domain.lease_namespace() != name);
                    (Api::namespaced(self.client.clone(), name), elsewhere)
                }
            };
            match api.list(&params).await {
                Ok(list) => leases.extend(list.items),
                // Whoever acts on all namespaces may do so where we may not look.
                Err(kube::Error::Api(status)) if is_optional && status.code == 403 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(leases.iter().find_map(|lease| self.as_rival(lease)))
    }

    fn as_rival(&mut self, lease: &Lease) -> Option<Rival> {
        let (holder, renewed) = held(lease)?;
        let theirs = Domain::parse(lease.annotations().get(DOMAIN)?)?;
        let overlaps = self.domains.iter().any(|ours| ours.overlaps(&theirs));
        if holder == self.identity || !overlaps {
            return None;
        }
        let now = Instant::now();
        let uid = lease.uid().unwrap_or_default();
        let (last, since) = self.seen.entry(uid).or_insert((renewed, now));
        if *last != renewed {
            (*last, *since) = (renewed, now);
        }
        let is_live = now - *since < duration_of(lease);
        let age = self.clock.now().duration_since(renewed).as_secs().max(0);
        is_live.then_some(Rival { holder, age })
    }

    /// Creates our Lease, or takes it over. Returns its version.
    async fn take(&self, domain: &Domain) -> Result<String, kube::Error> {
        let api = self.api(domain);
        let now = MicroTime(self.clock.now());
        let spec = json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": DURATION.as_secs(),
            "acquireTime": now,
            "renewTime": now,
        });
        let name = domain.lease_name();
        let written = if let Some(old) = api.get_opt(&name).await? {
            let transitions = old.spec.as_ref().and_then(|spec| spec.lease_transitions);
            let mut body = json!({
                "metadata": { "resourceVersion": old.resource_version() },
                "spec": spec,
            });
            body["spec"]["leaseTransitions"] = json!(transitions.unwrap_or(0) + 1);
            let params = PatchParams::default();
            api.patch(&name, &params, &Patch::Merge(body)).await?
        } else {
            let lease = json!({
                "metadata": {
                    "name": name,
                    "labels": { LABEL: "kubectl-rs" },
                    "annotations": { DOMAIN: domain.to_string() },
                },
                "spec": spec,
            });
            let lease: Lease = serde_json::from_value(lease).map_err(kube::Error::SerdeError)?;
            api.create(&PostParams::default(), &lease).await?
        };
        Ok(written.resource_version().unwrap_or_default())
    }

    /// Renews our Leases.
    pub(super) async fn renew(&mut self) -> Tenure {
        for at in 0..self.held.len() {
            let (domain, version) = self.held[at].clone();
            let body = json!({
                "metadata": { "resourceVersion": version },
                "spec": { "renewTime": MicroTime(self.clock.now()) },
            });
            let name = domain.lease_name();
            let params = PatchParams::default();
            let renewal = self.api(&domain);
            let patch = Patch::Merge(body);
            let renewed = tokio::time::timeout(RENEW_EVERY, renewal.patch(&name, &params, &patch));
            match renewed.await {
                Ok(Ok(lease)) => self.held[at].1 = lease.resource_version().unwrap_or_default(),
                Ok(Err(kube::Error::Api(status))) if matches!(status.code, 404 | 409) => {
                    if let Some(lost) = self.look_again(at).await {
                        return lost;
                    }
                }
                Ok(Err(_)) | Err(_) => return self.unless_late(),
            }
        }
        self.renewed = Instant::now();
        Tenure::Held
    }

    /// After a renewal that met another version: ours all the same, or lost.
    async fn look_again(&mut self, at: usize) -> Option<Tenure> {
        let (domain, _) = self.held[at].clone();
        match self.api(&domain).get_opt(&domain.lease_name()).await {
            Ok(Some(lease)) => match held(&lease) {
                Some((holder, _)) if holder == self.identity => {
                    self.held[at].1 = lease.resource_version().unwrap_or_default();
                    None
                }
                holder => {
                    let holder = holder.map_or("nobody".to_owned(), |(holder, _)| holder);
                    Some(Tenure::Lost(format!("{holder} holds it now")))
                }
            },
            Ok(None) => Some(Tenure::Lost("it was deleted".to_owned())),
            Err(_) => Some(self.unless_late()),
        }
    }

    fn unless_late(&self) -> Tenure {
        if self.renewed.elapsed() < RENEW_DEADLINE {
            return Tenure::Held;
        }
        Tenure::Lost(format!(
            "it could not be renewed for {}s",
            self.renewed.elapsed().as_secs()
        ))
    }

    /// Gives our Leases up. What can't be reached expires.
    pub(super) async fn release(&mut self) {
        for (domain, version) in std::mem::take(&mut self.held) {
            let params = DeleteParams {
                preconditions: Some(Preconditions {
                    resource_version: Some(version),
                    uid: None,
                }),
                ..DeleteParams::default()
            };
            let api = self.api(&domain);
            if let Err(error) = api.delete(&domain.lease_name(), &params).await {
                tracing::debug!(%error, "lease not given up");
            }
        }
    }
}

impl Rival {
    /// Somebody was faster and could not be seen.
    fn unknown() -> Self {
        Self {
            holder: "another client".to_owned(),
            age: 0,
        }
    }
}
