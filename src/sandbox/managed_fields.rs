//! Who manages which fields of an object: `metadata.managedFields`, kept on every write as Kubernetes keeps it.
//!
//! The verbs call [`update`] with what they are about to store, after decoding and defaulting and before admission;
//! server-side apply ([`super::apply`]) works with the same sets. Pure: values in, values out.

pub mod compare;
pub mod layout;
pub mod managers;
pub mod path;
pub mod scale;
pub mod set;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value};

use compare::Comparison;
use layout::Layout;
use managers::{Entry, ManagerId, Managers, Operation};
use set::FieldSet;

use crate::schema::{self, Type};

/// Who writes, and when.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The field manager: what the request names, or what [`manager_of_user_agent`] makes of its User-Agent.
    pub manager: &'a str,
    /// The subresource that is written; empty for the object itself.
    pub subresource: &'a str,
    /// When.
    pub now: Timestamp,
}

/// From when on an object's managers are tracked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracking {
    /// From its creation, as a Kubernetes API server does.
    #[default]
    FromCreation,
    /// From the first server-side apply: until then writing costs nothing. Kubernetes knows this mode too.
    FromFirstApply,
}

/// Fields that nobody manages: identity, and what the server alone sets.
const UNMANAGED: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// Sets the `managedFields` of `new`, which `writer` is about to store in place of `live` by create, update or a patch
/// other than apply. Both are in the form that [`schema::round_trip`] gives.
pub fn update(
    ty: &'static Type,
    live: Option<&Value>,
    new: &mut Value,
    writer: &Writer<'_>,
    tracking: Tracking,
) {
    let mut managers = managers_before(live, new, writer);
    remove_managed_fields(new);
    let is_tracked = !managers.is_empty() || (live.is_none() && tracking == Tracking::FromCreation);
    if is_tracked {
        let empty = live.is_none().then(|| empty_object(ty));
        let live = live.or(empty.as_ref()).unwrap_or(&Value::Null);
        record_update(ty, live, new, &mut managers, writer);
    }
    managers.write_to(new);
}

/// The managers that the write starts from: those of the object as it was, unless the request brings or resets them.
fn managers_before(live: Option<&Value>, new: &Value, writer: &Writer<'_>) -> Managers {
    let of_live = || {
        live.and_then(|live| Managers::of(live).ok())
            .unwrap_or_default()
    };
    if !writer.subresource.is_empty() {
        return of_live();
    }
    if is_reset(new) {
        return Managers::default();
    }
    match Managers::of(new) {
        Ok(managers) if !managers.is_empty() => managers,
        _ => of_live(),
    }
}

/// A list of one empty entry asks for tracking to end.
fn is_reset(object: &Value) -> bool {
    match object["metadata"]["managedFields"]
        .as_array()
        .map(Vec::as_slice)
    {
        Some([entry]) => entry.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Takes `managedFields` out of an object's metadata.
pub(super) fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// What decoding nothing into the type gives.
pub(super) fn empty_object(ty: &'static Type) -> Value {
    let mut empty = Value::Object(Map::new());
    schema::round_trip(ty, &mut empty);
    empty
}

/// Gives the fields that changed to the writer, and takes them from everybody else.
pub(super) fn record_update(
    ty: &'static Type,
    live: &Value,
    new: &Value,
    managers: &mut Managers,
    writer: &Writer<'_>,
) {
    let version = ty.group_version().unwrap_or_default();
    let reset = reset_fields(ty, writer.subresource);
    let changed = Comparison::of(Layout::of_type(ty), live, new).without(&reset);
    let mut taken = changed.modified.union(changed.added);
    if !taken.is_empty() || !changed.removed.is_empty() {
        for (_, entry) in managers.iter_mut() {
            if entry.api_version == version {
                entry.fields.subtract(&taken);
                entry.fields.subtract(&changed.removed);
            }
        }
        managers.drop_empty();
    }
    taken.subtract(unmanaged());
    if !taken.is_empty() {
        let id = writer.id(Operation::Update, version);
        let before = managers.take(&id).unwrap_or_default();
        let entry = Entry {
            api_version: version.to_owned(),
            fields: taken.union(before.fields),
            time: Some(writer.now),
        };
        managers.set(id, entry);
    }
    managers.cap_updaters();
}

impl Writer<'_> {
    /// What tells the writer's entry apart.
    pub(super) fn id(&self, operation: Operation, api_version: &str) -> ManagerId {
        let manager = match self.manager {
            "" => "unknown",
            manager => manager,
        };
        ManagerId::new(manager, operation, api_version, self.subresource)
    }
}

/// The fields that nobody manages.
pub(super) fn unmanaged() -> &'static FieldSet {
    static FIELDS: LazyLock<FieldSet> = LazyLock::new(|| {
        let paths = UNMANAGED.iter().map(|path| FieldSet::of_path(path));
        paths.reduce(FieldSet::union).unwrap_or_default()
    });
    &FIELDS
}

/// What the server puts back as it was on a write through this subresource, so that writing it means nothing.
pub(super) fn reset_fields(ty: &'static Type, subresource: &str) -> FieldSet {
    let more: &[&[&str]] = match (subresource, ty.name()) {
        ("status", "Deployment") => &[&["metadata", "labels"]],
        ("status", "Pod") => &[
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        _ => &[],
    };
    let whole: &[&[&str]] = match subresource {
        "" | "finalize" if ty.field("status").is_some() => &[&["status"]],
        "status" => &[&["spec"]],
        _ => &[],
    };
    let paths = whole.iter().chain(more).map(|path| FieldSet::of_path(path));
    paths.reduce(FieldSet::union).unwrap_or_default()
}

/// Puts the times of `managedFields` back when they are all that a write changed, so that it changes nothing.
pub fn keep_times(live: &Value, new: &mut Value) {
    const LIST: &str = "/metadata/managedFields";
    let before = live["metadata"]["managedFields"].as_array();
    let after = new["metadata"]["managedFields"].as_array();
    let (Some(before), Some(after)) = (before, after) else {
        return;
    };
    let without_time = |entry: &Value| {
        let mut entry = entry.clone();
        entry.as_object_mut().and_then(|entry| entry.remove("time"));
        entry
    };
    let differ_in_time_alone = before != after
        && before.len() == after.len()
        && (before.iter().zip(after)).all(|(a, b)| without_time(a) == without_time(b));
    if !differ_in_time_alone {
        return;
    }
    let before = before.clone();
    if let Some(Value::Array(list)) = new.pointer_mut(LIST) {
        let after = std::mem::replace(list, before);
        if new != live
            && let Some(Value::Array(list)) = new.pointer_mut(LIST)
        {
            *list = after;
        }
    }
}

/// The manager's name when a request names none: its User-Agent up to the first slash, what of it can be printed.
pub fn manager_of_user_agent(user_agent: &str) -> String {
    const LENGTH_MAX: usize = 128;
    let product = user_agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for character in product.chars().filter(|character| !character.is_control()) {
        if name.len() + character.len_utf8() > LENGTH_MAX {
            break;
        }
        name.push(character);
    }
    name
}
