//! The objects of one kind, found by name and by owner. Each is kept once, whatever finds it, and what objects of one
//! owner have in common is kept once, too.

use std::cmp::Ordering;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{Identity, Tombstones};
use crate::controller::api::{ObjectKey, ObjectMeta, OwnerReference};
use crate::engine::kind::SlimKind;

/// The objects of one kind.
#[derive(Debug)]
pub struct Table<T> {
    by_key: HashTable<Arc<T>>,
    hasher: RandomState,
    by_owner: Groups<T>,
    /// By owners that are not the controller.
    by_other_owner: Groups<T>,
    orphans: Groups<T>,
    gone: Tombstones,
}

/// Objects by what they have in common, in the order of their keys.
type Groups<T> = HashMap<String, Vec<Arc<T>>>;

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            by_key: HashTable::new(),
            hasher: RandomState::default(),
            by_owner: HashMap::default(),
            by_other_owner: HashMap::default(),
            orphans: HashMap::default(),
            gone: Tombstones::default(),
        }
    }
}

/// What a change to the table replaced.
#[derive(Debug)]
pub struct Change<T> {
    /// The object before, if it was known.
    pub before: Option<Arc<T>>,
    /// The object after, unless it is gone.
    pub after: Option<Arc<T>>,
}

impl<T: SlimKind> Table<T> {
    /// Takes in an object, unless a newer version of it is known or it is known to be gone.
    pub fn apply(&mut self, mut object: Arc<T>) -> Option<Change<T>> {
        let meta = object.meta();
        let key = meta.key();
        if self.knows(&key, &meta.uid, &meta.resource_version) {
            return None;
        }
        let before = self.get(&key).cloned();
        if let Some(object) = Arc::get_mut(&mut object)
            && let Some(like) = before.as_ref().or_else(|| self.sibling(object.meta()))
        {
            object.share_with(like);
        }
        if let Some(known) = &before
            && known.meta().uid != object.meta().uid
        {
            self.gone.insert(&known.meta().uid);
        }
        self.replace(Arc::clone(&object));
        Some(Change {
            before,
            after: Some(object),
        })
    }

    /// Whether a version of an object says nothing new.
    pub fn knows(&self, key: &ObjectKey, uid: &str, version: &str) -> bool {
        let is_known = |known: &Arc<T>| {
            let meta = known.meta();
            meta.uid == uid && !is_newer(version, &meta.resource_version)
        };
        self.gone.contains(uid) || self.get(key).is_some_and(is_known)
    }

    /// Puts an object in place of whatever version is known.
    pub(super) fn replace(&mut self, object: Arc<T>) {
        self.take(&object.meta().key());
        self.regroup(&object, put_in);
        let hasher = &self.hasher;
        let hash = |object: &Arc<T>| hash(hasher, &object.meta().namespace, &object.meta().name);
        self.by_key.insert_unique(hash(&object), object, hash);
    }

    /// Forgets an object for good: a late answer does not bring it back.
    pub fn remove(&mut self, key: &ObjectKey, uid: &str) -> Option<Change<T>> {
        self.gone.insert(uid);
        self.get(key).filter(|known| known.meta().uid == uid)?;
        Some(Change {
            before: self.take(key),
            after: None,
        })
    }

    /// Takes an object out.
    fn take(&mut self, key: &ObjectKey) -> Option<Arc<T>> {
        let hash = hash(&self.hasher, &key.namespace, &key.name);
        let found = self.by_key.find_entry(hash, |object| is_at(object, key));
        let (known, _) = found.ok()?.remove();
        self.regroup(&known, take_out);
        Some(known)
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        let hash = hash(&self.hasher, &key.namespace, &key.name);
        self.by_key.find(hash, |object| is_at(object, key))
    }

    /// All objects, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.by_key.iter()
    }

    pub(super) fn identities(&self, namespace: Option<&str>) -> Vec<Identity> {
        self.iter()
            .map(|object| object.meta())
            .filter(|meta| namespace.is_none_or(|namespace| *meta.namespace == namespace))
            .map(|meta| (meta.key(), meta.uid.clone(), meta.resource_version.clone()))
            .collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Objects whose controller has this UID, in the order of names.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &Arc<T>> {
        self.by_owner.get(uid).into_iter().flatten()
    }

    /// Objects that have this UID among their owners.
    pub fn dependents(&self, uid: &str) -> impl Iterator<Item = &Arc<T>> {
        let others = self.by_other_owner.get(uid);
        self.owned_by(uid).chain(others.into_iter().flatten())
    }

    /// Objects of a namespace without a controller, in the order of names.
    pub fn orphans(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {
        self.orphans.get(namespace).into_iter().flatten()
    }

    /// Another object of the same controller.
    fn sibling(&self, meta: &ObjectMeta) -> Option<&Arc<T>> {
        self.owned_by(&meta.controller()?.uid).next()
    }

    /// Changes each group that an object belongs to, by [`put_in`] or [`take_out`].
    fn regroup(&mut self, object: &Arc<T>, change: fn(&mut Groups<T>, &str, &Arc<T>)) {
        let meta = object.meta();
        match meta.controller() {
            Some(owner) => change(&mut self.by_owner, &owner.uid, object),
            None => change(&mut self.orphans, &meta.namespace, object),
        }
        for owner in other_owners(meta) {
            change(&mut self.by_other_owner, &owner.uid, object);
        }
    }
}

fn hash(hasher: &RandomState, namespace: &str, name: &str) -> u64 {
    hasher.hash_one((namespace, name))
}

fn is_at<T: SlimKind>(object: &Arc<T>, key: &ObjectKey) -> bool {
    let meta = object.meta();
    meta.name == key.name && meta.namespace == key.namespace
}

/// The owners that are not the controller.
fn other_owners(meta: &ObjectMeta) -> impl Iterator<Item = &OwnerReference> {
    let controller = meta.controller().map(|owner| &owner.uid);
    let owners = meta.owner_references.iter();
    owners.filter(move |owner| Some(&owner.uid) != controller)
}

/// Puts an object into its group, in the place of one with the same key.
fn put_in<T: SlimKind>(groups: &mut Groups<T>, name: &str, object: &Arc<T>) {
    let group = groups.entry(name.to_owned()).or_default();
    match place(group, object) {
        Ok(at) => group[at] = Arc::clone(object),
        Err(at) => group.insert(at, Arc::clone(object)),
    }
}

/// Takes an object out of its group, and the group away when it was the last.
fn take_out<T: SlimKind>(groups: &mut Groups<T>, name: &str, object: &Arc<T>) {
    let Some(group) = groups.get_mut(name) else {
        return;
    };
    if let Ok(at) = place(group, object) {
        group.remove(at);
    }
    if group.is_empty() {
        groups.remove(name);
    }
}

/// Where an object is in its group, or belongs.
fn place<T: SlimKind>(group: &[Arc<T>], object: &Arc<T>) -> Result<usize, usize> {
    group.binary_search_by(|known| by_key(known.meta(), object.meta()))
}

fn by_key(a: &ObjectMeta, b: &ObjectMeta) -> Ordering {
    let by_namespace = a.namespace.cmp(&b.namespace);
    by_namespace.then_with(|| a.name.cmp(&b.name))
}

/// Whether `candidate` is a later version than `known`. Versions of one kind compare as numbers; where they are no
/// numbers, what arrives last counts as newest.
pub fn is_newer(candidate: &str, known: &str) -> bool {
    match (candidate.parse::<u64>(), known.parse::<u64>()) {
        (Ok(candidate), Ok(known)) => candidate > known,
        _ => candidate != known,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::controller::api::{Pod, ReplicaSet};

    fn pod(name: &str, version: u32, owner: Option<&str>) -> Arc<Pod> {
        let owners = owner.map(|uid| json!([{ "name": uid, "uid": uid, "controller": true }]));
        let metadata = json!({
            "namespace": "default", "name": name, "uid": format!("uid-{name}"),
            "resourceVersion": version.to_string(),
            "labels": { "app": "web" },
            "ownerReferences": owners,
        });
        Arc::new(Pod::from_json(&json!({ "metadata": metadata })).expect("a pod"))
    }

    fn names<'a>(pods: impl Iterator<Item = &'a Arc<Pod>>) -> Vec<&'a str> {
        pods.map(|pod| pod.meta.name.as_str()).collect()
    }

    #[test]
    fn objects_are_found_by_name_and_by_owner() {
        let mut table = Table::default();
        for name in ["b", "c", "a"] {
            assert!(table.apply(pod(name, 1, Some("one"))).is_some());
        }
        assert_eq!(names(table.owned_by("one")), ["a", "b", "c"]);
        let key = ObjectKey::new("default", "b");
        assert!(table.apply(pod("b", 1, None)).is_none(), "it is no news");
        assert!(table.apply(pod("b", 2, None)).is_some());
        assert_eq!(names(table.owned_by("one")), ["a", "c"]);
        assert_eq!(names(table.orphans("default")), ["b"]);
        assert_eq!(
            table.get(&key).map(|pod| pod.meta.uid.as_str()),
            Some("uid-b")
        );
        assert!(table.remove(&key, "another").is_none());
        assert!(table.remove(&key, "uid-b").is_some());
        assert!(table.get(&key).is_none());
        assert!(
            table.apply(pod("b", 3, None)).is_none(),
            "it is gone for good"
        );
        assert_eq!((table.len(), names(table.orphans("default")).len()), (2, 0));
    }

    #[test]
    fn what_the_objects_of_one_owner_have_in_common_is_kept_once() {
        let mut table = Table::default();
        table.apply(pod("a", 1, Some("one")));
        table.apply(pod("b", 1, Some("one")));
        let pods: Vec<_> = table.owned_by("one").map(|pod| &pod.meta).collect();
        assert!(std::ptr::eq(
            &raw const *pods[0].labels,
            &raw const *pods[1].labels
        ));
        let owners = pods.iter().map(|meta| meta.owner_references.as_ptr());
        let owners: Vec<_> = owners.collect();
        assert_eq!(owners[0], owners[1]);
    }

    #[test]
    fn a_new_version_keeps_the_template_that_was_known() {
        let set = |version: u32| {
            let text = format!(
                r#"{{"metadata": {{"namespace": "default", "name": "web-1", "uid": "u", "resourceVersion": "{version}"}},
                    "spec": {{"template": {{"spec": {{"containers": [{{"image": "web:1"}}]}}}}}}}}"#
            );
            Arc::new(serde_json::from_str::<ReplicaSet>(&text).expect("a ReplicaSet"))
        };
        let image = |set: &ReplicaSet| set.spec.template.images().next().map(str::as_ptr);
        let mut table = Table::default();
        table.apply(set(1));
        let change = table.apply(set(2)).expect("news");
        let (before, after) = change.before.zip(change.after).expect("two versions");
        assert_eq!(after.meta.resource_version, "2");
        assert_eq!(image(&before), image(&after));
    }
}
