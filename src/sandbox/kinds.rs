//! The kinds that the cluster knows, as one table: names, scope, subresources, and the rules that differ by kind.
//!
//! Routing, discovery, storage and admission all read this table; a new kind is one entry.

mod table;

pub use table::{KINDS, SCALE};

use crate::schema::{self, Type};

/// What raises `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// The kind has no generation.
    Never,
    /// A change of anything but metadata and status.
    Spec,
    /// A change of spec or annotations (Deployments; deployment-controller spec, section 2).
    SpecAndAnnotations,
}

/// Which verbs a resource has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// All of them.
    Everything,
    /// All but deleting the collection.
    SingleDeletes,
    /// Only `create`: nothing is kept.
    CreateOnly,
}

/// A path below an object, `pods/NAME/status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last path element.
    pub name: &'static str,
    /// What may be done with it, in discovery's words.
    pub verbs: &'static [&'static str],
    /// Group and version of what it speaks, where that differs from its object's.
    pub group_version: Option<(&'static str, &'static str)>,
    /// The kind of what it speaks; empty: its object's.
    pub kind: &'static str,
}

/// A kind of object and how it is served.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// `apps/v1`, or `v1` for the core group.
    pub api_version: &'static str,
    /// The kind, `Pod`.
    pub kind: &'static str,
    /// The resource, `pods`.
    pub plural: &'static str,
    /// `po`.
    pub short_names: &'static [&'static str],
    /// `all`, where kubectl's `get all` names it.
    pub categories: &'static [&'static str],
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// In order of name.
    pub subresources: &'static [Subresource],
    /// What raises `metadata.generation`.
    pub generation: Generation,
    /// Whether PUT creates a missing object.
    pub put_creates: bool,
    /// Whether a completed delete answers with the object instead of a Status.
    pub returns_deleted: bool,
    /// Which verbs the resource has.
    pub serves: Serves,
    /// Fields beside name and namespace that field selectors may name.
    pub fields: &'static [&'static str],
    /// Where objects are kept: two versions of one kind share a collection.
    pub collection: &'static str,
}

impl Kind {
    /// What the kind's objects look like.
    pub(crate) fn ty(&self) -> &'static Type {
        schema::of_kind(self.api_version, self.kind)
            .expect("every kind in the table has a type: a test looks each up")
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// The version within the group.
    pub fn version(&self) -> &'static str {
        self.api_version
            .split_once('/')
            .map_or(self.api_version, |(_, version)| version)
    }

    /// `pod`: the resource's name for one object.
    pub fn singular(&self) -> String {
        self.kind.to_lowercase()
    }

    /// `deployments.apps`: how messages name the resource.
    pub fn qualified_resource(&self) -> String {
        qualify(self.plural, self.group())
    }

    /// `Deployment.apps`: how messages about invalid objects name the kind.
    pub fn qualified_kind(&self) -> String {
        qualify(self.kind, self.group())
    }

    /// Whether it is another kind's objects under other field names.
    pub(crate) fn is_view(&self) -> bool {
        self.api_version == "events.k8s.io/v1"
    }

    /// The kind as which its objects are stored.
    pub(crate) fn storage(&'static self) -> &'static Self {
        if self.is_view() {
            by_plural(self.plural).expect("events of v1 are in the table")
        } else {
            self
        }
    }

    /// The Go package of the kind's types, which some messages name.
    pub fn go_package(&self) -> &'static str {
        match self.group() {
            "" => "core",
            group => group.split('.').next().unwrap_or(group),
        }
    }

    /// What may be done with the resource, in discovery's words.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.serves {
            Serves::CreateOnly => &["create"],
            Serves::Everything => &[
                "create",
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "update",
                "watch",
            ],
            Serves::SingleDeletes => &[
                "create", "delete", "get", "list", "patch", "update", "watch",
            ],
        }
    }

    /// Whether a real server keeps the kind's latest changes in memory; it words "too old" by that.
    pub fn is_cached(&self) -> bool {
        self.collection != "events"
    }

    /// The subresource of that name.
    pub fn subresource(&self, name: &str) -> Option<&'static Subresource> {
        self.subresources.iter().find(|sub| sub.name == name)
    }
}

fn qualify(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

/// The kind served at an `apiVersion` and resource.
pub fn find(api_version: &str, plural: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.api_version == api_version && kind.plural == plural)
}

/// The kind of an object by its `apiVersion` and `kind`.
pub fn of_object(api_version: &str, name: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.kind == name && kind.api_version == api_version)
}

/// A kind by its resource name in its preferred version: `pods`, `deployments`.
pub fn by_plural(plural: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.plural == plural)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stored_kind_has_a_type() {
        let untyped: Vec<_> = KINDS
            .iter()
            .filter(|kind| schema::of_kind(kind.api_version, kind.kind).is_none())
            .map(Kind::qualified_resource)
            .collect();
        assert!(untyped.is_empty(), "{untyped:?}");
    }
}
