//! One YAML document to JSON, by the rules of kubectl's reader (go-yaml 2).
//!
//! serde-saphyr parses and resolves scalars; what differs from kubectl is settled here: keys that are not text become
//! text (`on: x` is `"true": "x"`), of keys given twice the last counts, and merge keys count where they stand.
//! One difference is left: words such as `yEs`, in a case that no one writes, are text to kubectl and booleans here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use super::error::Mistake;
use super::number;

/// Nodes in one document, once its aliases are expanded: ten times the largest manifests in use.
const MAX_NODES: usize = 1_000_000;
/// Nodes that may come from aliases.
const MAX_ALIASED_NODES: usize = 100_000;
/// Nesting. Large custom resource definitions have some 45 levels; twice this would overrun a small stack.
const MAX_DEPTH: usize = 64;

/// Why a document can't be read.
pub(super) struct Problem {
    /// The line in the document, from 1; none when the document as a whole is meant.
    pub(super) line: Option<usize>,
    /// What is wrong.
    pub(super) mistake: Mistake,
}

/// Reads one document.
pub(super) fn read(text: &str) -> Result<Value, Problem> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 3 * MAX_NODES,
            max_depth: MAX_DEPTH,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_ALIASED_NODES },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        legacy_octal_numbers: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options)
        .map(|Node(value)| value)
        .map_err(|error| problem(&error))
}

fn problem(error: &serde_saphyr::Error) -> Problem {
    use serde_saphyr::Error as E;
    let error = match error {
        E::AliasError { error, .. } => error,
        error => error,
    };
    let line = error.location().map(|location| location.line());
    let mistake = match error {
        E::Budget { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. } => {
            return Problem {
                line: None,
                mistake: Mistake::Expansion,
            };
        }
        E::MultipleDocuments { .. } => "a document has to begin with ---".to_owned(),
        E::NonFiniteFloat { .. } => "a number has to be finite".to_owned(),
        // The parser appends its place, which is relative to the document.
        error => {
            let text = error.to_string();
            let message = text
                .rsplit_once(" at line ")
                .map(|(message, _)| message.to_owned());
            message.unwrap_or(text)
        }
    };
    Problem {
        line: line.and_then(|line| usize::try_from(line).ok()),
        mistake: Mistake::Syntax(mistake),
    }
}

/// A YAML node as JSON.
struct Node(Value);

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML node")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number is not finite"))?;
        Ok(Node(number.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(Node(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Node(items.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut fields = Map::new();
        while let Some(Node(key)) = access.next_key()? {
            let Node(value) = access.next_value()?;
            match key_text(key).map_err(A::Error::custom)? {
                key if key == "<<" => merge(&mut fields, value).map_err(A::Error::custom)?,
                key => {
                    fields.insert(key, value);
                }
            }
        }
        Ok(Node(fields.into()))
    }
}

fn key_text(key: Value) -> Result<String, &'static str> {
    match key {
        Value::String(text) => Ok(text),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Number(number) => Ok(number::key_text(&number)),
        Value::Null => Err("a mapping key is empty"),
        Value::Array(_) | Value::Object(_) => {
            Err("a mapping key is a list or a mapping; is this an unrendered template?")
        }
    }
}

/// A merge key: its entries replace those before it, and of several mappings the first counts most.
fn merge(fields: &mut Map<String, Value>, source: Value) -> Result<(), &'static str> {
    const WRONG: &str = "map merge requires map or sequence of maps as the value";
    let sources = match source {
        Value::Object(source) => vec![source],
        Value::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Value::Object(source) => Ok(source),
                _ => Err(WRONG),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(WRONG),
    };
    for source in sources.into_iter().rev() {
        fields.extend(source);
    }
    Ok(())
}
