//! Pod templates: JSON, verbatim. Equality, hash and the hash label (deployment-controller sections 6 and 7.6).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::keys;
use crate::schema;

/// A pod template exactly as the server sent it, cheap to clone.
///
/// `==` compares the JSON; whether two templates are the *same revision* is [`Template::is_equal_to`].
#[derive(Clone, Debug)]
pub struct Template(Arc<Form>);

/// Objects come again and again with the template that they had before, and a template in memory is many times as large
/// as its text. So it stays text, and what every pass asks for is found out once.
#[derive(Debug)]
struct Form {
    written: Written,
    outline: OnceLock<Outline>,
}

#[derive(Debug)]
enum Written {
    /// As it was sent.
    Text(Box<RawValue>),
    /// A template that was made here.
    Json(Value),
}

/// What every pass asks of a template.
#[derive(Debug)]
struct Outline {
    /// Of its meaning: equal in templates that make the same revision, and in no others.
    fingerprint: u128,
    labels: Box<[(String, String)]>,
    images: Box<[String]>,
}

/// What the pods of a template are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mould {
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// `spec`; `null` where there is none.
    pub spec: Value,
}

impl Default for Template {
    fn default() -> Self {
        Self::new(Value::Object(Map::new()))
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.is_written_like(other) || self.json() == other.json()
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|text| Self::from(Written::Text(text)))
    }
}

impl From<Written> for Template {
    fn from(written: Written) -> Self {
        Self(Arc::new(Form {
            written,
            outline: OnceLock::new(),
        }))
    }
}

impl Template {
    /// Wraps a template's JSON.
    pub fn new(json: Value) -> Self {
        Self::from(Written::Json(json))
    }

    /// The template's JSON; where it was sent as text, it is read each time.
    pub fn json(&self) -> Cow<'_, Value> {
        match &self.0.written {
            // What only the reader's limits keep from being a value, such as its depth, no server takes either.
            Written::Text(text) => Cow::Owned(serde_json::from_str(text.get()).unwrap_or_default()),
            Written::Json(json) => Cow::Borrowed(json),
        }
    }

    fn outline(&self) -> &Outline {
        self.0
            .outline
            .get_or_init(|| Outline::of(self.json().into_owned()))
    }

    /// Keeps one that was sent in the same words together with it, and with what was found out of it.
    pub fn share_with(&mut self, known: &Self) {
        if self.is_written_like(known) {
            self.clone_from(known);
        }
    }

    fn is_written_like(&self, other: &Self) -> bool {
        let is_same_text = match (&self.0.written, &other.0.written) {
            (Written::Text(a), Written::Text(b)) => a.get() == b.get(),
            _ => false,
        };
        Arc::ptr_eq(&self.0, &other.0) || is_same_text
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.outline().labels.iter().cloned().collect()
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        text_map(&self.json(), "/metadata/annotations")
    }

    /// The images of its containers, in their order.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        self.outline().images.iter().map(String::as_str)
    }

    /// What pods are made of.
    pub fn mould(&self) -> Mould {
        let mut json = self.json().into_owned();
        let finalizers = json.pointer("/metadata/finalizers");
        Mould {
            labels: self.labels(),
            annotations: text_map(&json, "/metadata/annotations"),
            finalizers: finalizers
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            spec: json.get_mut("spec").map(Value::take).unwrap_or_default(),
        }
    }

    /// Whether both make the same revision: equal in meaning, the hash label aside (section 6).
    pub fn is_equal_to(&self, other: &Self) -> bool {
        self.is_written_like(other) || self.outline().fingerprint == other.outline().fingerprint
    }

    /// The hash that names the ReplicaSet of this template (section 7.6): the same for all templates that are equal,
    /// whatever program made it.
    pub fn hash(&self, collision_count: Option<i32>) -> String {
        const OFFSET: u32 = 0x811c_9dc5;
        const PRIME: u32 = 0x0100_0193;
        let collisions = collision_count.map(|count| i64::from(count).to_le_bytes());
        let sum = meaning(self.json().into_owned())
            .bytes()
            .chain(collisions.into_iter().flatten())
            .fold(OFFSET, |sum, byte| {
                (sum ^ u32::from(byte)).wrapping_mul(PRIME)
            });
        safe_encode(sum)
    }

    /// The template with the hash label set, whatever value it had.
    #[must_use]
    pub fn with_hash_label(&self, hash: &str) -> Self {
        let mut json = self.json().into_owned();
        let metadata = entry(&mut json, "metadata");
        let labels = entry(metadata, "labels");
        *entry(labels, keys::POD_TEMPLATE_HASH) = Value::from(hash);
        Self::new(json)
    }

    /// The template without the hash label.
    #[must_use]
    pub fn without_hash_label(&self) -> Self {
        let mut json = self.json().into_owned();
        remove_hash_label(&mut json);
        Self::new(json)
    }
}

impl Outline {
    fn of(json: Value) -> Self {
        let containers = json.pointer("/spec/containers").and_then(Value::as_array);
        let images = containers
            .into_iter()
            .flatten()
            .map(|container| container["image"].as_str().unwrap_or_default().to_owned());
        Self {
            images: images.collect(),
            labels: text_map(&json, "/metadata/labels").into_iter().collect(),
            fingerprint: fingerprint(&meaning(json)),
        }
    }
}

fn text_map(json: &Value, pointer: &str) -> BTreeMap<String, String> {
    let map = json.pointer(pointer).and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// What a template means, the hash label aside: the same words for all that are equal (section 6).
fn meaning(mut json: Value) -> String {
    remove_hash_label(&mut json);
    schema::canonical(schema::pod_template(), &json).to_string()
}

/// Twice 64 bits: too many for two texts of one cluster to share them by chance.
fn fingerprint(text: &str) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(text.as_bytes());
        u128::from(hasher.finish())
    };
    (half(0) << 64) | half(1)
}

/// Takes the hash label out of a template's JSON.
fn remove_hash_label(json: &mut Value) {
    let labels = json.pointer_mut("/metadata/labels");
    if let Some(labels) = labels.and_then(Value::as_object_mut) {
        labels.remove(keys::POD_TEMPLATE_HASH);
    }
}

/// The value under a key of what is made an object if it is none.
fn entry<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    &mut value[key]
}

/// Decimal digits in letters that spell no words and look like no other.
fn safe_encode(sum: u32) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    sum.to_string()
        .bytes()
        .map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]))
        .collect()
}

#[cfg(test)]
mod tests;
