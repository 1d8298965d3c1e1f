//! Where the store's contents come from: lists once, or watches that go on.

use std::collections::HashSet;
use std::future::ready;
use std::sync::Arc;

use futures::stream::{self, BoxStream, ReadyChunks, SelectAll, StreamExt};
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
use super::pass::Context;

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

/// The feed with what has arrived together in one piece: passes then see all of it.
pub fn in_batches(feed: Feed) -> ReadyChunks<Feed> {
    /// How much is taken in before passes get their turn.
    const MOST: usize = 1000;
    feed.ready_chunks(MOST)
}

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

/// Opens the watches for everything in scope; also returns how many of them must report `Synced` at first. What
/// `context` has in its store already, by the answers to our own writes, is passed over.
pub fn watch(client: &Client, scope: &Scope, context: &Arc<Context>) -> (Feed, usize) {
    let mut feed = stream::select_all(Vec::new());
    let mut count = 0;
    for namespace in namespaces(scope) {
        feed.push(watch_kind::<Deployment>(client, namespace.clone(), context));
        feed.push(watch_kind::<ReplicaSet>(client, namespace.clone(), context));
        feed.push(watch_kind::<Pod>(client, namespace, context));
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

fn watch_kind<T: SlimKind>(
    client: &Client,
    namespace: Option<String>,
    context: &Arc<Context>,
) -> BoxStream<'static, Update> {
    let api: Api<Watched<T>> = match &namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let seen = Seen {
        context: Arc::clone(context),
        namespace,
        uids: HashSet::new(),
        newest: 0,
    };
    watcher(api, watcher::Config::default())
        .default_backoff()
        .scan(seen, |seen, event| ready(Some(seen.update::<T>(event))))
        .filter_map(ready)
        .boxed()
}

/// What has been seen since a watch began anew.
struct Seen {
    context: Arc<Context>,
    namespace: Option<String>,
    uids: HashSet<String>,
    newest: u64,
}

impl Seen {
    fn update<T: SlimKind>(
        &mut self,
        event: Result<Event<Watched<T>>, watcher::Error>,
    ) -> Option<Update> {
        match event {
            Ok(Event::Init) => {
                self.begin();
                None
            }
            Ok(Event::InitApply(watched)) => {
                self.uids.insert(watched.uid().to_owned());
                self.newest = self.newest.max(watched.version().parse().unwrap_or(0));
                self.changed(&watched)
            }
            Ok(Event::InitDone) => Some(Update::Synced(Synced {
                kind: T::KIND,
                namespace: self.namespace.clone(),
                newest: self.newest,
                uids: self.begin(),
            })),
            Ok(Event::Apply(watched)) => self.changed(&watched),
            Ok(Event::Delete(watched)) => Some(Update::Changed(Effect::Gone {
                kind: T::KIND,
                key: watched.key(),
                uid: watched.uid().to_owned(),
            })),
            Err(error) => Some(trouble(T::KIND, self.namespace.as_deref(), error)),
        }
    }

    /// Forgets what was seen, and returns whom.
    fn begin(&mut self) -> HashSet<String> {
        self.newest = 0;
        std::mem::take(&mut self.uids)
    }

    /// What an object says, if that is news.
    fn changed<T: SlimKind>(&self, watched: &Watched<T>) -> Option<Update> {
        let key = watched.key();
        if T::table(&self.context.store()).knows(&key, watched.uid(), watched.version()) {
            return None;
        }
        Some(match watched.decode() {
            Ok(object) => Update::Changed(T::effect(object)),
            Err(error) => Update::Trouble {
                kind: T::KIND,
                error: EngineError::reading(T::KIND, &key, kube::Error::SerdeError(error)),
                denied: false,
            },
        })
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
