//! What the cluster knows: objects by kind and key, and the latest changes of each kind.
//!
//! Every write takes the next number of one counter, the resourceVersion. A collection keeps its latest changes in a
//! ring, from which watches read what they have not seen and lists rebuild a moment of the past; who asks for more
//! than the ring holds is told so (410 Expired). The store knows nothing of verbs, admission or HTTP.

mod objects;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;

use self::objects::Objects;
use super::object::{self, Object, Parts, View};
use crate::controller::api::ObjectKey;

/// One write: the object before (`None`: created) and after (`None`: deleted).
#[derive(Clone, Debug)]
pub struct Change {
    /// The resourceVersion of the write.
    pub revision: u64,
    /// The object as it was; `None` if this write created it.
    pub before: Option<Arc<Object>>,
    /// The object as it is; `None` if this write deleted it.
    pub after: Option<Arc<Object>>,
}

/// The history asked for is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    /// The oldest resourceVersion from which changes are still complete.
    pub(crate) oldest: u64,
}

/// Objects of one kind.
#[derive(Debug)]
struct Collection {
    objects: Objects,
    log: VecDeque<Change>,
    /// Changes up to this revision may be missing from the log.
    forgotten: u64,
    latest: watch::Sender<u64>,
}

impl Collection {
    fn new(forgotten: u64) -> Self {
        Self {
            objects: Objects::default(),
            log: VecDeque::new(),
            forgotten,
            latest: watch::Sender::new(forgotten),
        }
    }
}

/// All collections and the counter they share.
#[derive(Debug)]
pub(crate) struct Store {
    revision: u64,
    compacted: u64,
    history: usize,
    collections: BTreeMap<&'static str, Collection>,
}

impl Store {
    /// An empty store that keeps `history` changes of each kind.
    pub(crate) fn new(history: usize) -> Self {
        Self {
            revision: 0,
            compacted: 0,
            history,
            collections: BTreeMap::new(),
        }
    }

    /// The resourceVersion of the latest write.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, collection: &str, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.collections.get(collection)?.objects.get(key)
    }

    /// Objects of one namespace, or of all, in key order, from `start` on.
    pub(crate) fn list<'a>(
        &'a self,
        collection: &str,
        namespace: Option<&str>,
        start: &Bound<ObjectKey>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        let collection = self.collections.get(collection);
        collection
            .map(|collection| collection.objects.in_order(namespace, start))
            .into_iter()
            .flatten()
    }

    /// The collection as it was right after `revision`.
    pub(crate) fn list_at(
        &self,
        collection: &str,
        revision: u64,
    ) -> Result<BTreeMap<ObjectKey, Arc<Object>>, Expired> {
        let Some(collection) = self.collections.get(collection) else {
            return Ok(BTreeMap::new());
        };
        let newer = collection.changes_since(revision)?;
        let objects = collection.objects.iter();
        let mut objects: BTreeMap<_, _> = objects
            .map(|object| (object.key().clone(), Arc::clone(object)))
            .collect();
        for change in newer.rev() {
            match (&change.before, &change.after) {
                (Some(before), _) => {
                    objects.insert(before.key().clone(), before.clone());
                }
                (None, Some(after)) => {
                    objects.remove(after.key());
                }
                (None, None) => {}
            }
        }
        Ok(objects)
    }

    /// The changes after `revision`, oldest first.
    pub(crate) fn changes_since(
        &self,
        collection: &str,
        revision: u64,
    ) -> Result<Vec<Change>, Expired> {
        match self.collections.get(collection) {
            Some(collection) => Ok(collection.changes_since(revision)?.cloned().collect()),
            None => Ok(Vec::new()),
        }
    }

    /// Wakes when the collection changes.
    pub(crate) fn subscribe(&mut self, collection: &'static str) -> watch::Receiver<u64> {
        self.collection(collection).latest.subscribe()
    }

    /// Stores a new object or a new state of one; the result carries its resourceVersion.
    pub(crate) fn put(&mut self, collection: &'static str, value: Value) -> Arc<Object> {
        self.put_viewed(collection, View::Whole, value)
    }

    /// The same, where `value` is what a view has of the object: the rest of a stored object stays.
    pub(crate) fn put_viewed(
        &mut self,
        collection: &'static str,
        view: View,
        value: Value,
    ) -> Arc<Object> {
        let revision = self.revision + 1;
        let previous = self.get(collection, &object::key_of(&value));
        let previous = previous.map(AsRef::as_ref);
        let object = Object::replacing(previous, view, value, revision);
        self.insert(collection, object)
    }

    /// Stores a new object that has metadata and `rest` alone ([`Object::of_rest`]).
    pub(crate) fn put_rest(
        &mut self,
        collection: &'static str,
        metadata: Value,
        rest: String,
    ) -> Arc<Object> {
        let object = Object::of_rest(metadata, rest, self.revision + 1);
        self.insert(collection, object)
    }

    /// Stores other parts of an object, unless they are the same; the result is what is stored then.
    pub(crate) fn put_parts(
        &mut self,
        collection: &'static str,
        stored: &Arc<Object>,
        parts: Parts,
    ) -> Arc<Object> {
        match stored.with(parts, self.revision + 1) {
            Some(object) => self.insert(collection, object),
            None => Arc::clone(stored),
        }
    }

    /// Puts an object in its place; it carries the next revision already.
    fn insert(&mut self, collection: &'static str, object: Object) -> Arc<Object> {
        let object = Arc::new(object);
        let objects = &mut self.collection(collection).objects;
        let before = objects.insert(object.clone());
        self.record(collection, before, Some(object.clone()));
        object
    }

    /// Removes an object; the result is its last state under the resourceVersion of the removal.
    pub(crate) fn remove(
        &mut self,
        collection: &'static str,
        key: &ObjectKey,
    ) -> Option<Arc<Object>> {
        let before = self.collection(collection).objects.remove(key)?;
        self.record(collection, Some(before.clone()), None);
        Some(Arc::new(before.at(self.revision)))
    }

    /// Forgets all history, as an etcd compaction does.
    pub(crate) fn compact(&mut self) {
        self.compacted = self.revision;
        for collection in self.collections.values_mut() {
            collection.log.clear();
            collection.forgotten = self.revision;
        }
    }

    fn collection(&mut self, name: &'static str) -> &mut Collection {
        let forgotten = self.compacted;
        self.collections
            .entry(name)
            .or_insert_with(|| Collection::new(forgotten))
    }

    fn record(
        &mut self,
        collection: &'static str,
        before: Option<Arc<Object>>,
        after: Option<Arc<Object>>,
    ) {
        self.revision += 1;
        let revision = self.revision;
        let history = self.history;
        let collection = self.collection(collection);
        collection.log.push_back(Change {
            revision,
            before,
            after,
        });
        if collection.log.len() > history
            && let Some(oldest) = collection.log.pop_front()
        {
            collection.forgotten = oldest.revision;
        }
        collection.latest.send_replace(revision);
    }
}

impl Collection {
    fn changes_since(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Change>, Expired> {
        if revision < self.forgotten {
            return Err(Expired {
                oldest: self.forgotten,
            });
        }
        let first = self
            .log
            .partition_point(|change| change.revision <= revision);
        Ok(self.log.range(first..))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(store: &mut Store, name: &str, data: u32) -> u64 {
        let value = json!({"metadata": {"namespace": "ns", "name": name}, "data": data});
        store.put("things", value).resource_version()
    }

    fn names(objects: &BTreeMap<ObjectKey, Arc<Object>>) -> Vec<String> {
        objects
            .values()
            .map(|object| format!("{}@{}", object.name(), object.resource_version()))
            .collect()
    }

    #[test]
    fn the_past_can_be_listed_while_the_log_reaches_back() {
        let mut store = Store::new(3);
        put(&mut store, "a", 1);
        put(&mut store, "b", 1);
        put(&mut store, "a", 2);
        store.remove("things", &ObjectKey::new("ns", "b"));
        put(&mut store, "c", 1);

        let at = |revision| store.list_at("things", revision).map(|all| names(&all));
        assert_eq!(at(5), Ok(vec!["a@3".to_owned(), "c@5".to_owned()]));
        assert_eq!(at(4), Ok(vec!["a@3".to_owned()]));
        assert_eq!(at(3), Ok(vec!["a@3".to_owned(), "b@2".to_owned()]));
        assert_eq!(at(2), Ok(vec!["a@1".to_owned(), "b@2".to_owned()]));
        assert_eq!(at(1), Err(Expired { oldest: 2 }));
        assert_eq!(store.changes_since("things", 4).map(|all| all.len()), Ok(1));
    }

    #[test]
    fn compaction_forgets_in_collections_that_come_later_too() {
        let mut store = Store::new(10);
        put(&mut store, "a", 1);
        store.compact();
        assert!(store.list_at("things", 0).is_err());
        store.put("others", json!({"metadata": {"name": "x"}}));
        assert!(store.changes_since("others", 0).is_err());
        assert_eq!(store.changes_since("others", 1).map(|all| all.len()), Ok(1));
    }

    #[test]
    fn a_namespace_is_a_range() {
        let mut store = Store::new(10);
        for (namespace, name) in [("b", "1"), ("a", "2"), ("b", "0"), ("c", "1")] {
            store.put(
                "things",
                json!({"metadata": {"namespace": namespace, "name": name}}),
            );
        }
        let found: Vec<_> = store
            .list("things", Some("b"), &Bound::Unbounded)
            .map(|object| object.name())
            .collect();
        assert_eq!(found, ["0", "1"]);
        assert_eq!(store.list("things", None, &Bound::Unbounded).count(), 4);
    }
}
