//! Pod templates: JSON, verbatim. Equality, hash and the hash label (deployment-controller sections 6 and 7.6).

use std::collections::BTreeMap;
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

/// Objects come again and again with the template that they had before. So it stays text until somebody looks into it.
#[derive(Debug)]
struct Form {
    /// As it was sent; `None` for a template that was made here.
    text: Option<Box<RawValue>>,
    json: OnceLock<Arc<Value>>,
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
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(Arc::new(Form {
            text: Some(text),
            json: OnceLock::new(),
        })))
    }
}

impl Template {
    /// Wraps a template's JSON.
    pub fn new(json: Value) -> Self {
        Self(Arc::new(Form {
            text: None,
            json: OnceLock::from(Arc::new(json)),
        }))
    }

    /// The template's JSON.
    pub fn json(&self) -> &Value {
        self.shared_json()
    }

    fn shared_json(&self) -> &Arc<Value> {
        self.0.json.get_or_init(|| {
            let text = self.0.text.as_deref().map_or("null", RawValue::get);
            // What only the reader's limits keep from being a value, such as its depth, no server takes either.
            Arc::new(serde_json::from_str(text).unwrap_or_default())
        })
    }

    /// Takes over what is known of a template that was sent in the same words, instead of finding it out again.
    pub fn learn_from(&self, known: &Self) {
        if self.is_written_like(known) {
            self.0.json.get_or_init(|| Arc::clone(known.shared_json()));
        }
    }

    fn is_written_like(&self, other: &Self) -> bool {
        let texts = self.0.text.as_deref().zip(other.0.text.as_deref());
        Arc::ptr_eq(&self.0, &other.0) || texts.is_some_and(|(a, b)| a.get() == b.get())
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.text_map("/metadata/labels")
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        self.text_map("/metadata/annotations")
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> Vec<String> {
        let list = self.json().pointer("/metadata/finalizers");
        list.and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    /// `spec`; `null` where there is none.
    pub fn spec(&self) -> &Value {
        &self.json()["spec"]
    }

    fn text_map(&self, pointer: &str) -> BTreeMap<String, String> {
        let map = self.json().pointer(pointer).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    /// The images of its containers, in their order.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        let containers = self.json().pointer("/spec/containers");
        containers
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|container| container["image"].as_str().unwrap_or_default())
    }

    /// Whether both make the same revision: equal in meaning, the hash label aside (section 6).
    pub fn is_equal_to(&self, other: &Self) -> bool {
        const HASH_LABEL: [&str; 3] = ["metadata", "labels", keys::POD_TEMPLATE_HASH];
        if self.is_written_like(other) || is_same_but_for(&HASH_LABEL, self.json(), other.json()) {
            return true;
        }
        // Specs are large and differ in most comparisons; the rest is small and needs a copy.
        schema::semantically_equal(schema::pod_spec(), self.spec(), other.spec())
            && schema::semantically_equal(
                schema::pod_template(),
                &self.without_spec(),
                &other.without_spec(),
            )
    }

    /// The hash that names the ReplicaSet of this template (section 7.6): the same for all templates that are equal,
    /// whatever program made it.
    pub fn hash(&self, collision_count: Option<i32>) -> String {
        const OFFSET: u32 = 0x811c_9dc5;
        const PRIME: u32 = 0x0100_0193;
        let canonical = schema::canonical(schema::pod_template(), self.without_hash_label().json());
        let collisions = collision_count.map(|count| i64::from(count).to_le_bytes());
        let sum = canonical
            .to_string()
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
        let mut json = self.json().clone();
        let metadata = entry(&mut json, "metadata");
        let labels = entry(metadata, "labels");
        *entry(labels, keys::POD_TEMPLATE_HASH) = Value::from(hash);
        Self::new(json)
    }

    /// The template without the hash label.
    #[must_use]
    pub fn without_hash_label(&self) -> Self {
        let mut json = self.json().clone();
        remove_hash_label(&mut json);
        Self::new(json)
    }

    fn without_spec(&self) -> Value {
        let members = self.json().as_object().into_iter().flatten();
        let mut json = members
            .filter(|(key, _)| *key != "spec")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        remove_hash_label(&mut json);
        json
    }
}

/// Whether two values are the same JSON, apart from the member that the path leads to.
fn is_same_but_for(path: &[&str], a: &Value, b: &Value) -> bool {
    let (Some((first, path)), Value::Object(a), Value::Object(b)) = (path.split_first(), a, b)
    else {
        return a == b;
    };
    let is_other = |(name, _): &(&String, &Value)| name != first;
    let others_same = a.iter().filter(is_other).eq(b.iter().filter(is_other));
    others_same
        && (path.is_empty()
            || match (a.get(*first), b.get(*first)) {
                (Some(a), Some(b)) => is_same_but_for(path, a, b),
                (a, b) => a == b,
            })
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
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Template {
        Template::new(text.parse().unwrap())
    }

    /// A template whose container has these members besides its name.
    fn container(members: &str) -> Template {
        parse(&format!(
            r#"{{"metadata": {{"labels": {{"app": "web"}}}}, "spec": {{"containers": [{{"name": "web" {members}}}]}}}}"#
        ))
    }

    #[test]
    fn equality_is_by_meaning_and_equal_templates_share_a_hash() {
        let plain = container("");
        for (a, b, equal) in [
            (plain.clone(), plain.clone(), true),
            (
                plain.clone(),
                container(r#", "args": [], "env": null"#),
                true,
            ),
            (
                plain.clone(),
                container(r#", "resources": {}, "tty": false"#),
                true,
            ),
            (
                plain.clone(),
                container(r#", "securityContext": {}"#),
                false,
            ),
            (plain.clone(), container(r#", "image": "a""#), false),
            (
                plain.clone(),
                container(r#", "fieldOfTheFuture": 0"#),
                false,
            ),
            (
                container(r#", "resources": {"limits": {"cpu": "1"}}"#),
                container(r#", "resources": {"limits": {"cpu": "1000m"}}"#),
                true,
            ),
            (
                container(r#", "args": ["a", "b"]"#),
                container(r#", "args": ["b", "a"]"#),
                false,
            ),
            (
                parse(r#"{"spec": {"terminationGracePeriodSeconds": 0}}"#),
                parse(r#"{"spec": {}}"#),
                false,
            ),
            (
                parse(
                    r#"{"metadata": {"creationTimestamp": null}, "spec": {"nodeName": "", "hostPID": false}}"#,
                ),
                parse(r#"{"spec": {"hostPID": false}}"#),
                true,
            ),
            (
                parse(r#"{"metadata": {"labels": {"a": "1"}}, "spec": {}}"#),
                parse(r#"{"metadata": {"labels": {"a": "2"}}, "spec": {}}"#),
                false,
            ),
        ] {
            assert_eq!(a.is_equal_to(&b), equal, "{a:?} {b:?}");
            assert_eq!(b.is_equal_to(&a), equal, "{b:?} {a:?}");
            assert_eq!(a.hash(None) == b.hash(None), equal, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_template_that_was_sent_is_read_when_it_is_looked_into() {
        const TEXT: &str = r#"{ "spec": {"containers": [{"image": "a"}]} }"#;
        let read = |text: &str| serde_json::from_str::<Template>(text).unwrap();
        let (known, again) = (read(TEXT), read(TEXT));
        again.learn_from(&known);
        assert!(std::ptr::eq(known.json(), again.json()));
        known.learn_from(&read("{}"));
        assert_eq!(known.images().collect::<Vec<_>>(), ["a"]);
        assert_eq!(known, parse(TEXT));
        assert_ne!(known, read("{}"));
        assert_eq!(serde_json::to_value(&known).unwrap(), *known.json());
        assert_eq!(read("null").json(), &Value::Null);
        let bottomless = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(read(&bottomless).json(), &Value::Null);
    }

    #[test]
    fn the_hash_label_counts_for_nothing() {
        let plain = container("");
        let labelled = plain.with_hash_label("4");
        assert!(labelled.is_equal_to(&plain));
        assert!(labelled.is_equal_to(&plain.with_hash_label("5")));
        assert_eq!(labelled.hash(None), plain.hash(None));
        assert_eq!(labelled.without_hash_label(), plain);
        assert_eq!(labelled.labels()[keys::POD_TEMPLATE_HASH], "4");
    }

    #[test]
    fn a_label_goes_into_anything() {
        for json in [json!({}), json!(null), json!({"metadata": {"labels": 5}})] {
            let labelled = Template::new(json).with_hash_label("4");
            assert_eq!(labelled.labels()[keys::POD_TEMPLATE_HASH], "4");
        }
    }

    #[test]
    fn each_collision_gives_another_hash() {
        let template = container("");
        let hashes = [None, Some(0), Some(1), Some(2)].map(|count| template.hash(count));
        for (i, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..i].contains(hash), "{hashes:?}");
        }
    }

    #[test]
    fn the_order_of_members_counts_for_nothing() {
        let one = parse(r#"{"spec": {"nodeName": "n", "hostname": "h"}, "metadata": {}}"#);
        let other = parse(r#"{"metadata": {}, "spec": {"hostname": "h", "nodeName": "n"}}"#);
        assert_eq!(one.hash(None), other.hash(None));
    }

    #[test]
    fn hashes_are_written_in_safe_letters() {
        for (sum, expected) in [
            (1_234_567_890, "56789bcdf4"),
            (0, "4"),
            (4_294_967_295, "86f8fbc6f9"),
        ] {
            assert_eq!(safe_encode(sum), expected);
        }
    }
}
