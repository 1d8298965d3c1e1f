//! The objects of one kind: each is found by its key at once, however many there are, and put in order for who lists them.

use std::hash::BuildHasher as _;
use std::ops::Bound;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::controller::api::ObjectKey;
use crate::sandbox::object::Object;

/// Objects by key.
#[derive(Debug, Default)]
pub(super) struct Objects {
    table: HashTable<Arc<Object>>,
    hasher: RandomState,
}

impl Objects {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |object| object.key() == key)
    }

    /// Puts an object in its place; returns the one that was there.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let hash = self.hasher.hash_one(object.key());
        let known = |known: &Arc<Object>| known.key() == object.key();
        if let Some(known) = self.table.find_mut(hash, known) {
            return Some(std::mem::replace(known, object));
        }
        let hasher = &self.hasher;
        let hash_of = |object: &Arc<Object>| hasher.hash_one(object.key());
        self.table.insert_unique(hash, object, hash_of);
        None
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let hash = self.hasher.hash_one(key);
        let found = self.table.find_entry(hash, |object| object.key() == key);
        found.ok().map(|found| found.remove().0)
    }

    /// All of them, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.table.iter()
    }

    /// Those of one namespace, or of all, in key order, from `start` on.
    pub(super) fn in_order(
        &self,
        namespace: Option<&str>,
        start: &Bound<ObjectKey>,
    ) -> Vec<&Arc<Object>> {
        let is_after_start = |key: &ObjectKey| match start {
            Bound::Unbounded => true,
            Bound::Included(start) => key >= start,
            Bound::Excluded(start) => key > start,
        };
        let is_asked_for = |object: &&Arc<Object>| {
            namespace.is_none_or(|name| name == object.namespace()) && is_after_start(object.key())
        };
        let mut objects: Vec<_> = self.iter().filter(is_asked_for).collect();
        objects.sort_unstable_by_key(|object| object.key());
        objects
    }
}
