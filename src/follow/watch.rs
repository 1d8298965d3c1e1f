//! The selected Deployments as they change: watches of what rollouts are made of, and now and then a look at the rest.
//!
//! Nothing is told while any of the watches is broken: what was true before an outage, judged by the time since, would
//! make healthy rollouts look stuck.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::FutureExt;
use futures::future::select_all;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;
use tokio::time::{Instant, sleep_until};

use super::feed::Feed;
use super::gathered::Gathered;
use super::kind::Deployed;
use super::list::ReadError;
use super::look::{Subject, events, namespaces, narrowed, surroundings, troubled};
use super::manager::Manager;
use super::wait::{INTERVAL, SHARE};
use crate::clock::Clock;
use crate::controller::api::ReplicaSet;
use crate::diagnose::Presence;
use crate::diagnose::api::Pod;
use crate::engine::options::Scope;

/// What comes this soon after a change belongs to it.
const TOGETHER: Duration = Duration::from_millis(20);
/// How old events and surroundings may be while something is wrong, and while nothing is.
const TROUBLED_AGE: Duration = Duration::from_secs(5);
const QUIET_AGE: Duration = Duration::from_secs(30);

/// Follows the selected Deployments.
pub struct Watch {
    client: Client,
    clock: Clock,
    scope: Scope,
    spaces: Vec<Space>,
    asides: Option<Asides>,
    /// `None`: it is known who acts.
    manager: Option<Manager>,
    /// When to tell something next, though nothing changes: time alone makes verdicts.
    due: Instant,
    /// Changes are not told sooner: telling takes no more than one part in so many of the time.
    earliest: Instant,
}

/// What is not watched.
struct Asides {
    at: Instant,
    /// The objects whose events were asked for.
    subjects: BTreeSet<Subject>,
    found: Gathered,
}

impl Watch {
    /// Begins to follow; nothing is known yet. Where it is not known whether a `controller` acts, that is looked for.
    pub fn new(client: Client, clock: Clock, scope: Scope, controller: Presence) -> Self {
        let spaces = namespaces(&scope)
            .into_iter()
            .map(|namespace| Space::open(&client, namespace))
            .collect();
        Self {
            client,
            clock,
            scope,
            spaces,
            asides: None,
            manager: (controller == Presence::Unknown).then(Manager::default),
            due: Instant::now(),
            earliest: Instant::now(),
        }
    }

    /// Waits until something has changed, or a second has passed since the last time, and tells everything that is
    /// known. May be dropped at any time.
    ///
    /// # Errors
    /// When Deployments may not be read, or the server can't be asked for now. Asking again goes on where it was.
    pub async fn next(&mut self) -> Result<Gathered, ReadError> {
        let mut due = self.due;
        loop {
            let is_whole = self.spaces.iter().all(Space::is_whole);
            tokio::select! {
                stepped = step(&mut self.spaces) => {
                    stepped?;
                    for space in &mut self.spaces {
                        space.narrow(&self.client, &self.scope)?;
                    }
                    due = due.min(self.earliest.max(Instant::now() + TOGETHER));
                }
                () = sleep_until(due), if is_whole => break,
            }
        }
        let began = Instant::now();
        self.due = began + INTERVAL;
        let mut gathered = Gathered::default();
        for space in &self.spaces {
            space.add_to(&mut gathered);
        }
        let now = self.clock.now();
        self.look_around(&mut gathered, now).await?;
        let now = Instant::now();
        self.earliest = now + began.elapsed() * SHARE;
        self.due = self.earliest.max(now + INTERVAL);
        Ok(gathered)
    }

    /// Adds events and surroundings, asked for anew where those at hand are too old.
    async fn look_around(
        &mut self,
        gathered: &mut Gathered,
        now: Timestamp,
    ) -> Result<(), ReadError> {
        let subjects = troubled(&self.scope, gathered, now);
        let is_fresh = self.asides.as_ref().is_some_and(|asides| {
            let age = match (asides.subjects == subjects, subjects.is_empty()) {
                (false, _) => INTERVAL,
                (true, false) => TROUBLED_AGE,
                (true, true) => QUIET_AGE,
            };
            asides.at.elapsed() < age
        });
        if !is_fresh {
            let mut found = Gathered::default();
            let is_pending = gathered.pods.iter().any(|pod| pod.node_name.is_empty());
            events(&self.client, &self.scope, subjects.clone(), &mut found).await?;
            surroundings(&self.client, &self.scope, is_pending, &mut found).await?;
            self.asides = Some(Asides {
                at: Instant::now(),
                subjects,
                found,
            });
        }
        if let Some(asides) = &self.asides {
            gathered.add(&asides.found);
        }
        if let Some(manager) = self
            .manager
            .as_mut()
            .filter(|_| gathered.has_work(&self.scope))
        {
            gathered.learn(manager.presence(&self.client).await);
        }
        Ok(())
    }
}

/// Waits for news of any namespace.
async fn step(spaces: &mut [Space]) -> Result<(), ReadError> {
    if spaces.is_empty() {
        return std::future::pending().await;
    }
    let steps = spaces.iter_mut().map(|space| space.step().boxed());
    select_all(steps).await.0
}

/// One namespace, or all of them together.
struct Space {
    namespace: Option<String>,
    deployments: Feed<Deployed>,
    parts: Option<Parts>,
}

/// What the selected Deployments are made of.
struct Parts {
    params: ListParams,
    replica_sets: Feed<ReplicaSet>,
    pods: Feed<Pod>,
}

impl Space {
    fn open(client: &Client, namespace: Option<String>) -> Self {
        let deployments = Feed::open(client, namespace.as_deref(), ListParams::default());
        Self {
            namespace,
            deployments,
            parts: None,
        }
    }

    async fn step(&mut self) -> Result<(), ReadError> {
        let Some(parts) = &mut self.parts else {
            return self.deployments.step().await;
        };
        tokio::select! {
            stepped = self.deployments.step() => stepped,
            stepped = parts.replica_sets.step() => stepped,
            stepped = parts.pods.step() => stepped,
        }
    }

    fn is_whole(&self) -> bool {
        let parts_are = |parts: &Parts| parts.replica_sets.is_whole && parts.pods.is_whole;
        self.deployments.is_whole && self.parts.as_ref().is_none_or(parts_are)
    }

    /// Reads no more ReplicaSets and pods than the selected Deployments may have.
    ///
    /// # Errors
    /// When Deployments may not be read.
    fn narrow(&mut self, client: &Client, scope: &Scope) -> Result<(), ReadError> {
        if let Some(denied) = &self.deployments.denied {
            return Err(denied.clone());
        }
        if !self.deployments.is_whole {
            return Ok(());
        }
        let params = narrowed(self.deployments.objects.values(), scope);
        if self.parts.as_ref().map(|parts| &parts.params) != params.as_ref() {
            let namespace = self.namespace.as_deref();
            self.parts = params.map(|params| Parts {
                replica_sets: Feed::open(client, namespace, params.clone()),
                pods: Feed::open(client, namespace, params.clone()),
                params,
            });
        }
        Ok(())
    }

    fn add_to(&self, gathered: &mut Gathered) {
        let deployments = self.deployments.objects.values();
        gathered.deployments.extend(deployments.cloned());
        if let Some(parts) = &self.parts {
            let sets = parts.replica_sets.objects.values();
            gathered.replica_sets.extend(sets.cloned());
            gathered.pods.extend(parts.pods.objects.values().cloned());
            let denied = [&parts.replica_sets.denied, &parts.pods.denied];
            gathered
                .denied
                .extend(denied.into_iter().flatten().cloned());
        }
    }
}
