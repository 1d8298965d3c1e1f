//! Where the store's contents come from: lists once, or watches that go on.

use std::collections::HashSet;
use std::future::ready;

use futures::stream::{self, BoxStream, SelectAll, StreamExt};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};

use crate::controller::action::Kind;
use crate::controller::api::{Deployment, Pod, ReplicaSet};

use super::apply::Effect;
use super::error::EngineError;
use super::kind::{SlimKind, Watched};
use super::list::list;
use super::options::Scope;

/// News from the cluster.
#[derive(Debug)]
pub enum Update {
    /// Something changed.
    Changed(Effect),
    /// All objects of one kind in one namespace have been seen.
    Synced(Synced),
    /// A watch failed; it is tried again.
    Trouble {
        /// Which kind.
        kind: Kind,
        /// What happened.
        error: EngineError,
        /// Whether trying again can't help.
        denied: bool,
    },
}

/// A complete view of one kind in one namespace.
#[derive(Debug)]
pub struct Synced {
    /// Which kind.
    pub kind: Kind,
    /// Which namespace; `None`: all.
    pub namespace: Option<String>,
    /// UIDs of all objects that exist.
    pub uids: HashSet<String>,
    /// The newest version among them.
    pub newest: u64,
}

/// A stream of updates that never ends.
pub type Feed = SelectAll<BoxStream<'static, Update>>;

/// Lists everything in scope once.
///
/// # Errors
/// When a list fails; it names the kind and namespace.
pub async fn list_once(client: &Client, scope: &Scope) -> Result<Vec<Effect>, EngineError> {
    let mut effects = Vec::new();
    for namespace in namespaces(scope) {
        let namespace = namespace.as_deref();
        effects.extend(
            list::<Deployment>(client, namespace)
                .await?
                .into_iter()
                .map(Effect::Deployment),
        );
        effects.extend(
            list::<ReplicaSet>(client, namespace)
                .await?
                .into_iter()
                .map(Effect::ReplicaSet),
        );
        effects.extend(
            list::<Pod>(client, namespace)
                .await?
                .into_iter()
                .map(Effect::Pod),
        );
    }
    Ok(effects)
}

/// Opens the watches for everything in scope; also returns how many of them must report `Synced` at first.
pub fn watch(client: &Client, scope: &Scope) -> (Feed, usize) {
    let mut feed = stream::select_all(Vec::new());
    let mut count = 0;
    for namespace in namespaces(scope) {
        feed.push(watch_kind::<Deployment>(client, namespace.clone()));
        feed.push(watch_kind::<ReplicaSet>(client, namespace.clone()));
        feed.push(watch_kind::<Pod>(client, namespace));
        count += 3;
    }
    (feed, count)
}

fn namespaces(scope: &Scope) -> Vec<Option<String>> {
    match &scope.namespaces {
        None => vec![None],
        Some(names) => names.iter().cloned().map(Some).collect(),
    }
}

/// What has been seen since a watch began anew.
#[derive(Default)]
struct Seen {
    uids: HashSet<String>,
    newest: u64,
}

fn watch_kind<T: SlimKind>(
    client: &Client,
    namespace: Option<String>,
) -> BoxStream<'static, Update> {
    let api: Api<Watched<T>> = match &namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    watcher(api, watcher::Config::default())
        .default_backoff()
        .scan(Seen::default(), move |seen, event| {
            ready(Some(match event {
                Ok(event) => seen.update::<T>(event, namespace.as_deref()),
                Err(error) => Some(trouble(T::KIND, namespace.as_deref(), error)),
            }))
        })
        .filter_map(ready)
        .boxed()
}

impl Seen {
    fn update<T: SlimKind>(
        &mut self,
        event: Event<Watched<T>>,
        namespace: Option<&str>,
    ) -> Option<Update> {
        match event {
            Event::Init => {
                *self = Self::default();
                None
            }
            Event::InitApply(watched) => {
                let meta = watched.object.meta();
                self.uids.insert(meta.uid.clone());
                self.newest = self.newest.max(meta.resource_version.parse().unwrap_or(0));
                Some(Update::Changed(T::effect(watched.object)))
            }
            Event::InitDone => {
                let Self { uids, newest } = std::mem::take(self);
                let namespace = namespace.map(str::to_owned);
                Some(Update::Synced(Synced {
                    kind: T::KIND,
                    namespace,
                    uids,
                    newest,
                }))
            }
            Event::Apply(watched) => Some(Update::Changed(T::effect(watched.object))),
            Event::Delete(watched) => {
                let meta = watched.object.meta();
                Some(Update::Changed(Effect::Gone {
                    kind: T::KIND,
                    key: meta.key(),
                    uid: meta.uid.clone(),
                }))
            }
        }
    }
}

fn trouble(kind: Kind, namespace: Option<&str>, error: watcher::Error) -> Update {
    use watcher::Error as E;
    let source = match error {
        E::InitialListFailed(source) | E::WatchStartFailed(source) | E::WatchFailed(source) => {
            source
        }
        E::WatchError(status) => kube::Error::Api(status),
        E::NoResourceVersion => kube::Error::Service(Box::new(error)),
    };
    let denied =
        matches!(&source, kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404));
    Update::Trouble {
        kind,
        error: EngineError::listing(kind, namespace, source),
        denied,
    }
}
