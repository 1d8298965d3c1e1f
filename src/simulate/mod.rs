//! Plays scheduler and kubelets on a cluster that has none, through its API: what the embedded cluster's nodes do for
//! it, done for any API server. `cli` starts it (`sync --simulate-pods`).
//!
//! What is decided is decided in `kubelet`. The nodes are made up: no Node objects are written, so that nothing is left
//! behind, and a scheduler that comes to the cluster finds no nodes that nobody runs. Pods that are bound to other nodes
//! are never touched.

mod nodes;
mod writer;

use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use futures::stream::{self, BoxStream, ReadyChunks, SelectAll, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::clock::Clock;
use crate::controller::api::ObjectKey;
use crate::kubelet::{AllPresent, Cluster, PodView, Rules, Write};

use nodes::Nodes;
pub use nodes::ready_nodes;
use writer::Writer;

/// How much news is taken in before something is done about it.
const MOST: usize = 1000;
/// The longest sleep; a timer that is further away is looked at again then.
const LONGEST_SLEEP: Duration = Duration::from_secs(60 * 60);

/// Where pods are simulated.
#[derive(Clone)]
pub struct Simulation {
    /// The cluster.
    pub client: Client,
    /// What time it is there.
    pub clock: Clock,
    /// The namespaces whose pods are simulated; `None`: all.
    pub namespaces: Option<BTreeSet<String>>,
}

impl Simulation {
    /// Simulates pods while `acting` says so, and until it is dropped.
    ///
    /// # Errors
    /// When pods may not be watched.
    pub async fn run(
        self,
        mut acting: watch::Receiver<bool>,
    ) -> Result<Infallible, watcher::Error> {
        let mut feed = self.feed();
        let mut player = Player::new(&self);
        let mut may_change = true;
        loop {
            let is_acting = *acting.borrow_and_update();
            if is_acting {
                player.act().await;
            }
            let wait = player.next_wait().filter(|_| is_acting);
            tokio::select! {
                Some(news) = feed.next() => for (namespace, event) in news {
                    player.take_in(namespace.as_deref(), event)?;
                },
                changed = acting.changed(), if may_change => may_change = changed.is_ok(),
                () = sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
        }
    }

    fn feed(&self) -> ReadyChunks<SelectAll<BoxStream<'static, News>>> {
        let pods = ApiResource::erase::<Pod>(&());
        let namespaces: Vec<Option<String>> = match &self.namespaces {
            None => vec![None],
            Some(names) => names.iter().cloned().map(Some).collect(),
        };
        let watches = namespaces.into_iter().map(|namespace| {
            let api: Api<DynamicObject> = match &namespace {
                Some(name) => Api::namespaced_with(self.client.clone(), name, &pods),
                None => Api::all_with(self.client.clone(), &pods),
            };
            watcher(api, watcher::Config::default())
                .default_backoff()
                .map(move |event| (namespace.clone(), event))
                .boxed()
        });
        stream::select_all(watches).ready_chunks(MOST)
    }
}

/// Something about the pods of a namespace, or of all.
type News = (Option<String>, watcher::Result<Event<DynamicObject>>);

/// The simulation, and what it is told.
struct Player {
    clock: Clock,
    cluster: Cluster,
    nodes: Nodes,
    writer: Writer,
    known: HashSet<ObjectKey>,
    /// Those of `known` that a watch which begins anew has not shown yet.
    unseen: HashSet<ObjectKey>,
}

impl Player {
    fn new(simulation: &Simulation) -> Self {
        let mut player = Self {
            clock: simulation.clock,
            cluster: Cluster::new(Rules::default()),
            nodes: Nodes::new(simulation.clock.now()),
            writer: Writer::new(simulation.client.clone(), simulation.clock),
            known: HashSet::new(),
            unseen: HashSet::new(),
        };
        let now = player.clock.now();
        for node in player.nodes.views() {
            player.cluster.node_applied(node, now);
        }
        player
    }

    /// How long nothing is to be done.
    fn next_wait(&self) -> Option<Duration> {
        let wait = self.cluster.next_due()?.duration_since(self.clock.now());
        Some(
            Duration::try_from(wait)
                .unwrap_or_default()
                .min(LONGEST_SLEEP),
        )
    }

    /// Does what is due.
    async fn act(&mut self) {
        let now = self.clock.now();
        let writes = self.cluster.advance(&AllPresent, now);
        let (of_nodes, of_pods): (Vec<_>, Vec<_>) = writes
            .into_iter()
            .partition(|write| matches!(write, Write::Node { .. }));
        for write in of_nodes {
            if let Write::Node { name, reachable } = write
                && let Some(node) = self.nodes.set_reachable(&name, reachable, now)
            {
                self.cluster.node_applied(node, now);
            }
        }
        self.writer.perform(of_pods).await;
    }

    /// Takes in what a watch of `namespace` says.
    fn take_in(
        &mut self,
        namespace: Option<&str>,
        event: watcher::Result<Event<DynamicObject>>,
    ) -> Result<(), watcher::Error> {
        let is_watched = |key: &ObjectKey| namespace.is_none_or(|name| name == key.namespace);
        match event {
            Ok(Event::Init) => {
                let known = self.known.iter().filter(|key| is_watched(key));
                self.unseen.extend(known.cloned());
            }
            Ok(Event::InitApply(pod) | Event::Apply(pod)) => self.applied(&pod),
            Ok(Event::InitDone) => {
                let gone: Vec<_> = self.unseen.extract_if(is_watched).collect();
                for key in gone {
                    self.deleted(&key);
                }
            }
            Ok(Event::Delete(pod)) => self.deleted(&key_of(&pod)),
            Err(error) if is_denied(&error) => return Err(error),
            Err(error) => tracing::warn!(%error, "the watch of pods was interrupted, trying again"),
        }
        Ok(())
    }

    fn applied(&mut self, pod: &DynamicObject) {
        let key = key_of(pod);
        self.unseen.remove(&key);
        let view = serde_json::to_value(pod).and_then(|json| PodView::from_json(&json));
        match view {
            Ok(view) if !self.nodes.may_run(&view.spec.node_name) => self.deleted(&key),
            Ok(view) => {
                self.known.insert(key);
                self.cluster.pod_applied(view, self.clock.now());
            }
            Err(error) => tracing::warn!(pod = %key, %error, "unreadable pod"),
        }
    }

    fn deleted(&mut self, key: &ObjectKey) {
        self.known.remove(key);
        self.cluster.pod_deleted(key, self.clock.now());
    }
}

fn key_of(pod: &DynamicObject) -> ObjectKey {
    ObjectKey::new(pod.namespace().unwrap_or_default(), pod.name_any())
}

/// Whether trying again can't help.
fn is_denied(error: &watcher::Error) -> bool {
    use watcher::Error as E;
    let (E::InitialListFailed(source) | E::WatchStartFailed(source) | E::WatchFailed(source)) =
        error
    else {
        return false;
    };
    matches!(source, kube::Error::Api(status) if matches!(status.code, 401 | 403))
}
