//! One kind in one namespace, as it changes: a list, then a watch from there, mended whenever it breaks.
//!
//! A watch that ends is opened again where it was; one that is too old (410), or that could not be opened at once,
//! begins anew with a list, so that nothing that was seen before an outage is taken for the present. Where watching is
//! not allowed, or not served, lists take its place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt, unfold};
use kube::Client;
use kube::api::{ListParams, WatchParams};
use kube::core::WatchEvent;
use tokio::time::{Instant, sleep, timeout};

use super::kind::Watchable;
use super::list::{Listed, ReadError, list_with_version};
use super::wait::{INTERVAL, SHARE};
use crate::controller::api::ObjectKey;

/// How long the server lets a watch live.
const LIFETIME_SECONDS: u32 = 290;
/// A watch that has been silent for longer is dead.
const SILENCE: Duration = Duration::from_secs(300);
/// The pauses before asking again after a failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// After so many failures in a row of going on, it is begun anew.
const FAILURES_MAX: u32 = 3;
/// How often is looked whether what was refused is allowed now.
const DENIED_PAUSE: Duration = Duration::from_secs(30);

/// What is new about a kind.
#[derive(Debug)]
enum News<T> {
    /// All that there are.
    Listed(Vec<Arc<T>>),
    /// One was made or changed.
    Applied(Arc<T>),
    /// One is gone.
    Gone(ObjectKey),
    /// The server can't be asked; that is tried again.
    Lost(ReadError),
    /// They may not be read.
    Denied(ReadError),
}

/// The objects of a kind in one namespace, or in all.
pub(super) struct Feed<T> {
    news: BoxStream<'static, News<T>>,
    pub(super) objects: BTreeMap<ObjectKey, Arc<T>>,
    /// Whether what is known is the present.
    pub(super) is_whole: bool,
    /// Why they may not be read.
    pub(super) denied: Option<ReadError>,
}

impl<T: Watchable> Feed<T> {
    /// Begins to read; nothing is known yet.
    pub(super) fn open(client: &Client, namespace: Option<&str>, params: ListParams) -> Self {
        let source = Source {
            client: client.clone(),
            namespace: namespace.map(ToOwned::to_owned),
            params,
            state: State::Unknown,
            pause: Duration::ZERO,
            failures: 0,
            may_watch: true,
        };
        Self {
            news: unfold(source, |mut source| async {
                let news = source.next().await;
                Some((news, source))
            })
            .boxed(),
            objects: BTreeMap::new(),
            is_whole: false,
            denied: None,
        }
    }

    /// Waits for the next news and takes them in. May be dropped at any time.
    ///
    /// # Errors
    /// The server can't be asked for now.
    pub(super) async fn step(&mut self) -> Result<(), ReadError> {
        match self.news.next().await {
            Some(News::Listed(objects)) => {
                let keyed = objects.into_iter().map(|it| (it.meta().key(), it));
                self.objects = keyed.collect();
                self.is_whole = true;
                self.denied = None;
            }
            Some(News::Applied(object)) => {
                self.objects.insert(object.meta().key(), object);
            }
            Some(News::Gone(key)) => {
                self.objects.remove(&key);
            }
            Some(News::Denied(error)) => {
                self.objects.clear();
                self.is_whole = true;
                self.denied = Some(error);
            }
            Some(News::Lost(error)) => {
                self.is_whole = false;
                return Err(error);
            }
            None => std::future::pending().await,
        }
        Ok(())
    }
}

/// Where a source stands.
enum State<T> {
    /// Nothing is known, or it is too old.
    Unknown,
    /// Everything up to this version is known.
    Known(String),
    /// The same, and what comes after it is being told.
    Watching(String, BoxStream<'static, kube::Result<WatchEvent<T>>>),
}

struct Source<T> {
    client: Client,
    namespace: Option<String>,
    params: ListParams,
    state: State<T>,
    /// How long to wait before the next request.
    pause: Duration,
    /// Requests in a row that came to nothing.
    failures: u32,
    may_watch: bool,
}

impl<T: Watchable> Source<T> {
    async fn next(&mut self) -> News<T> {
        loop {
            let news = match std::mem::replace(&mut self.state, State::Unknown) {
                State::Unknown => Some(self.list().await),
                State::Known(version) => self.watch(version).await,
                State::Watching(version, events) => self.hear(version, events).await,
            };
            if let Some(news) = news {
                return news;
            }
        }
    }

    async fn list(&mut self) -> News<T> {
        sleep(std::mem::take(&mut self.pause)).await;
        let began = Instant::now();
        let namespace = self.namespace.as_deref();
        match list_with_version::<T>(&self.client, namespace, &self.params).await {
            Ok(Listed { objects, version }) => {
                self.failures = 0;
                if self.may_watch {
                    self.state = State::Known(version);
                } else {
                    self.pause = INTERVAL.max(began.elapsed() * SHARE);
                }
                News::Listed(objects)
            }
            Err(error) if error.is_denied => {
                self.pause = DENIED_PAUSE;
                News::Denied(error)
            }
            Err(error) => {
                self.back_off();
                News::Lost(error)
            }
        }
    }

    async fn watch(&mut self, version: String) -> Option<News<T>> {
        sleep(std::mem::take(&mut self.pause)).await;
        let params = WatchParams {
            label_selector: self.params.label_selector.clone(),
            field_selector: self.params.field_selector.clone(),
            timeout: Some(LIFETIME_SECONDS),
            bookmarks: true,
            send_initial_events: false,
        };
        let path = T::RESOURCE.path(self.namespace.as_deref());
        let opened = match kube::core::Request::new(path).watch(&params, &version) {
            Ok(request) => self.client.request_events::<T>(request).await,
            Err(error) => Err(kube::Error::BuildRequest(error)),
        };
        match opened {
            Ok(events) => {
                self.state = State::Watching(version, events.boxed());
                None
            }
            // Too old: the list comes next.
            Err(kube::Error::Api(status)) if status.code == 410 => None,
            Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403 | 404 | 405) => {
                self.may_watch = false;
                self.pause = INTERVAL;
                None
            }
            Err(error) => {
                self.back_off();
                let namespace = self.namespace.as_deref();
                Some(News::Lost(ReadError::new(T::RESOURCE, namespace, &error)))
            }
        }
    }

    async fn hear(
        &mut self,
        version: String,
        mut events: BoxStream<'static, kube::Result<WatchEvent<T>>>,
    ) -> Option<News<T>> {
        let event = timeout(SILENCE, events.next()).await;
        let (version, news) = match event {
            Ok(Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)))) => {
                let version = object.meta().resource_version.clone();
                (version, Some(News::Applied(Arc::new(object))))
            }
            Ok(Some(Ok(WatchEvent::Deleted(object)))) => {
                let version = object.meta().resource_version.clone();
                (version, Some(News::Gone(object.meta().key())))
            }
            Ok(Some(Ok(WatchEvent::Bookmark(bookmark)))) => {
                (bookmark.metadata.resource_version, None)
            }
            // The list comes next, at once where the version was only too old.
            Ok(Some(Ok(WatchEvent::Error(status)))) => {
                if status.code != 410 {
                    self.back_off();
                }
                return None;
            }
            Ok(None | Some(Err(_))) | Err(_) => {
                // At once the first time: servers end watches now and then.
                if self.failures < FAILURES_MAX {
                    self.state = State::Known(version);
                }
                if self.failures > 0 {
                    self.back_off();
                } else {
                    self.failures += 1;
                }
                return None;
            }
        };
        self.failures = 0;
        self.state = State::Watching(version, events);
        news
    }

    fn back_off(&mut self) {
        self.pause = (SHORTEST_PAUSE * 2_u32.pow(self.failures.min(8))).min(LONGEST_PAUSE);
        self.failures += 1;
    }
}
