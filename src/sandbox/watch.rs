//! Watches: the changes of a collection as a stream of JSON lines.
//!
//! A watch holds no queue. It remembers the last resourceVersion it has delivered and reads on from the store's ring
//! when woken, so a slow reader costs nothing; one that falls behind the ring gets an ERROR event with a 410 Status.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::encode::{Encoder, EventKind};
use super::kinds::Kind;
use super::object::Object;
use super::query::ListOptions;
use super::selector::Filter;
use super::server::Server;
use super::status::ApiError;
use super::store::{Change, Expired, Store};

/// How often a quiet watch that asked for bookmarks gets one.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// How long before its end a watch gets its last bookmark.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// What is to be delivered. Events become text when their turn comes: a burst of them would be several times the store.
#[derive(Debug)]
enum Pending {
    Event(EventKind, Arc<Object>),
    Line(Bytes),
}

/// A running watch.
#[derive(Debug)]
pub(crate) struct Watch {
    server: Arc<Server>,
    kind: &'static Kind,
    namespace: Option<String>,
    filter: Filter,
    encoder: Encoder,
    pending: VecDeque<Pending>,
    /// The last resourceVersion that was delivered or passed over.
    cursor: u64,
    woken: watch::Receiver<u64>,
    deadline: Option<Instant>,
    bookmark_at: Option<Instant>,
    /// The resourceVersion of the last bookmark: none is sent twice.
    bookmarked: u64,
    ended: bool,
}

impl Watch {
    /// Opens a watch; what it begins with is read from `store` at once.
    pub(crate) fn open(
        server: Arc<Server>,
        store: &mut Store,
        kind: &'static Kind,
        namespace: Option<String>,
        options: &ListOptions,
        encoder: Encoder,
    ) -> Result<Self, ApiError> {
        let filter = Filter::parse(kind, &options.label_selector, &options.field_selector)?;
        let version = parse_version(&options.resource_version)?;
        let woken = store.subscribe(kind.collection);
        let now = Instant::now();
        let deadline = options
            .timeout_seconds
            .map(|seconds| now + Duration::from_secs(seconds));
        let mut watch = Self {
            server,
            kind,
            namespace,
            filter,
            encoder,
            pending: VecDeque::new(),
            cursor: version,
            woken,
            deadline,
            bookmark_at: options
                .bookmarks
                .then(|| next_bookmark(now, deadline))
                .flatten(),
            bookmarked: 0,
            ended: false,
        };
        let from_now = match options.send_initial_events {
            Some(initial) => initial,
            None => version == 0,
        };
        if from_now {
            watch.deliver_initial(store, options.bookmarks);
        } else if options.send_initial_events == Some(false) && version == 0 {
            watch.cursor = store.revision();
        } else {
            watch.read(store);
        }
        Ok(watch)
    }

    /// The next events; `None` when the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(pending) = self.pending.pop_front() {
                return Some(match pending {
                    Pending::Event(event, object) => self.encoder.event(self.kind, event, &object),
                    Pending::Line(line) => line,
                });
            }
            if self.ended {
                return None;
            }
            self.woken.mark_unchanged();
            let server = self.server.clone();
            self.read(&server.lock().store);
            if !self.pending.is_empty() {
                continue;
            }
            tokio::select! {
                biased;
                changed = self.woken.changed() => self.ended = changed.is_err(),
                () = until(self.bookmark_at) => self.bookmark(false),
                () = until(self.deadline) => return None,
            }
        }
    }

    fn deliver_initial(&mut self, store: &Store, mark_the_end: bool) {
        self.cursor = store.revision();
        let objects = store.list(
            self.kind.collection,
            self.namespace.as_deref(),
            &std::ops::Bound::Unbounded,
        );
        let found: Vec<_> = objects
            .filter(|object| self.filter.matches(object))
            .cloned()
            .collect();
        for object in found {
            self.push(EventKind::Added, object);
        }
        if mark_the_end {
            self.bookmark(true);
        }
    }

    /// Turns what the store has to say since the cursor into events.
    fn read(&mut self, store: &Store) {
        match store.changes_since(self.kind.collection, self.cursor) {
            Ok(changes) => {
                for change in changes {
                    self.deliver(&change);
                }
                self.cursor = self.cursor.max(store.revision());
            }
            Err(Expired { oldest }) => {
                let message = if self.kind.is_cached() {
                    format!("too old resource version: {} ({oldest})", self.cursor)
                } else {
                    "The resourceVersion for the provided watch is too old.".to_owned()
                };
                let status = ApiError::expired(message).body();
                let line = format!("{}\n", json!({"type": "ERROR", "object": status}));
                self.pending.push_back(Pending::Line(line.into()));
                self.ended = true;
            }
        }
    }

    fn deliver(&mut self, change: &Change) {
        let seen = |object: &Option<Arc<Object>>| {
            object
                .clone()
                .filter(|object| self.in_scope(object) && self.filter.matches(object))
        };
        match (seen(&change.before), seen(&change.after)) {
            (None, Some(after)) => self.push(EventKind::Added, after),
            (Some(_), Some(after)) => self.push(EventKind::Modified, after),
            (Some(before), None) => {
                self.push(EventKind::Deleted, Arc::new(before.at(change.revision)));
            }
            (None, None) => {}
        }
    }

    fn in_scope(&self, object: &Object) -> bool {
        self.namespace
            .as_deref()
            .is_none_or(|namespace| namespace == object.namespace())
    }

    fn push(&mut self, event: EventKind, object: Arc<Object>) {
        self.pending.push_back(Pending::Event(event, object));
    }

    fn bookmark(&mut self, ends_initial_events: bool) {
        self.bookmark_at = next_bookmark(Instant::now(), self.deadline);
        if self.cursor == self.bookmarked {
            return;
        }
        self.bookmarked = self.cursor;
        let line = self
            .encoder
            .bookmark(self.kind, self.cursor, ends_initial_events);
        self.pending.push_back(Pending::Line(line));
    }
}

/// A bookmark is due each minute and shortly before the end.
fn next_bookmark(now: Instant, deadline: Option<Instant>) -> Option<Instant> {
    let last = deadline.map(|deadline| deadline - BOOKMARK_BEFORE_END);
    match last {
        None => Some(now + BOOKMARK_EVERY),
        Some(last) if last > now => Some(last.min(now + BOOKMARK_EVERY)),
        Some(_) => None,
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// The resourceVersion of a get or watch; unset is 0.
pub(crate) fn parse_version(text: &str) -> Result<u64, ApiError> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        ApiError::internal(format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        ))
    })
}
