//! What the API's types look like: field by field, as far as reading JSON alone cannot tell.
//!
//! JSON does not say whether an absent number means zero or "not set", which strings are quantities, or by which key
//! two lists of containers are merged. The table in `types/` says so for Kubernetes 1.36's types; this module looks
//! things up in it, compares values the way Kubernetes does ([`semantically_equal`]) and brings them into the form
//! that the API server writes ([`round_trip`]). The controllers compare pod templates with it, the embedded cluster
//! patches and applies with it. It knows no verb, no defaulting and no validation.

mod equality;
mod parse;
pub mod quantity;
mod round_trip;
mod time;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::OnceLock;

use serde_json::Value;

pub use equality::{canonical, semantically_equal};
pub use round_trip::{round_trip, round_trip_part};

/// One struct of the API.
#[derive(Debug)]
pub struct Type {
    name: &'static str,
    group_version: Option<&'static str>,
    is_atomic: bool,
    /// As the API declares them.
    fields: Vec<Field>,
    /// Places in `fields`, sorted by length and text of the fields' names: most names differ in length already.
    by_name: Vec<usize>,
    /// Places in `fields` of those that the API server always writes.
    always_written: Vec<usize>,
}

impl Type {
    /// The struct's name in the API's Go packages, such as `PodSpec`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The `apiVersion` of a kind; `None` for a struct that is only part of others.
    pub fn group_version(&self) -> Option<&'static str> {
        self.group_version
    }

    /// All fields, in the order in which the API declares them.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// A field by its JSON name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let place = self
            .by_name
            .binary_search_by(|place| by_length(self.fields[*place].name).cmp(&by_length(name)));
        self.fields.get(self.by_name[place.ok()?])
    }
}

/// What names are sorted by where only looking them up counts.
fn by_length(name: &str) -> (usize, &str) {
    (name.len(), name)
}

/// One field of a [`Type`].
#[derive(Debug)]
pub struct Field {
    /// Its JSON name.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it is optional in the API: then absent differs from present and zero. Otherwise absent *is* zero.
    pub is_pointer: bool,
    /// Whether the API server writes it even when it is zero or not set.
    pub is_always_written: bool,
    /// How a strategic merge patch treats it.
    pub strategy: Strategy,
    /// How server-side apply divides it among managers.
    pub ownership: Ownership,
    /// What an absent member of a list's keys stands for.
    pub default: Option<&'static str>,
}

impl Field {
    /// What an absent key of a list's element stands for, as JSON.
    pub fn default_value(&self) -> Option<Value> {
        self.default.map(Value::from)
    }
}

/// What a field, an element of a list or a value of a map holds.
#[derive(Debug)]
pub enum Shape {
    /// Text.
    String,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// A floating point number.
    Float,
    /// `true` or `false`.
    Bool,
    /// Bytes, base64 in JSON.
    Bytes,
    /// A resource quantity, see [`quantity`].
    Quantity,
    /// An instant in whole seconds, RFC 3339.
    Time,
    /// An instant in microseconds, RFC 3339.
    MicroTime,
    /// An integer or a string; the two never equal.
    IntOrString,
    /// Any JSON, kept as it is.
    Raw,
    /// Another struct.
    Struct(TypeRef),
    /// A list.
    List(Box<Shape>),
    /// A map from strings.
    Map(Box<Shape>),
}

impl Shape {
    /// How server-side apply divides a value of this shape where a field does not say otherwise.
    pub fn ownership(&self) -> &'static Ownership {
        match self {
            Self::Struct(ty) if !ty.is_atomic => &Ownership::Granular,
            Self::Map(_) => &Ownership::Granular,
            _ => &Ownership::Atomic,
        }
    }
}

/// How a strategic merge patch changes a field.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// How a list is merged; `None` when the patch replaces it.
    pub merge: Option<ListMerge>,
    /// Whether a patch may name the keys to retain (`$retainKeys`).
    pub retains_keys: bool,
    /// Whether the patch replaces a struct that it would otherwise merge into.
    pub replaces: bool,
}

/// How a strategic merge patch merges a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListMerge {
    /// A list of scalars: values are added.
    Values,
    /// A list of structs: elements with the same value in this field are merged.
    ByKey(&'static str),
}

/// How server-side apply divides a value among managers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// One manager owns the whole value. Scalars, and lists unless the table says otherwise.
    Atomic,
    /// Each member has its own managers. Structs and maps unless the table says otherwise.
    Granular,
    /// A list of scalars, each owned on its own.
    Set,
    /// A list of structs, each identified by these fields and owned on its own.
    ByKeys(Vec<&'static str>),
}

/// A reference to a [`Type`]; dereferences to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRef(usize);

impl TypeRef {
    /// The type.
    pub fn get(self) -> &'static Type {
        &table().types[self.0]
    }
}

impl Deref for TypeRef {
    type Target = Type;

    fn deref(&self) -> &Type {
        self.get()
    }
}

/// The type of a kind, by its `apiVersion` and `kind`.
pub fn of_kind(api_version: &str, kind: &str) -> Option<&'static Type> {
    let table = table();
    let index = table.kinds.get(kind)?.iter().copied();
    index
        .map(|index| &table.types[index])
        .find(|ty| ty.group_version == Some(api_version))
}

/// The type of a struct by its name, such as `ObjectMeta`.
pub fn named(name: &str) -> Option<&'static Type> {
    let table = table();
    table.names.get(name).map(|&index| &table.types[index])
}

/// The type of `spec.template` of workloads.
pub fn pod_template() -> &'static Type {
    present("PodTemplateSpec")
}

fn present(name: &str) -> &'static Type {
    named(name).expect("the embedded table has it: a test reads every type")
}

/// The parsed table.
#[derive(Debug, Default)]
struct Table {
    types: Vec<Type>,
    /// Every type by the name that fields refer to it by.
    names: HashMap<&'static str, usize>,
    /// The kinds of one name, of whichever group.
    kinds: HashMap<&'static str, Vec<usize>>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        parse::table(&[
            include_str!("types/meta.types"),
            include_str!("types/pod.types"),
            include_str!("types/volume.types"),
            include_str!("types/core.types"),
            include_str!("types/workload.types"),
            include_str!("types/cluster.types"),
            include_str!("types/other.types"),
        ])
        .expect("the embedded table is well-formed: a test looks up what it names")
    })
}
