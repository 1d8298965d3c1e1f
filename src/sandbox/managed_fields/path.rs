//! Steps of a field path: how they are ordered, written in `fieldsV1`, and printed in messages.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum PathElement {
    /// A field of a struct or a key of a map.
    Field(Cow<'static, str>),
    /// An element of a list, by the values of its keys; sorted by the keys' names.
    Key(Vec<(Cow<'static, str>, Value)>),
    /// A scalar of a set.
    Value(Value),
    /// An element of a list that has no identity, by its place.
    Index(i64),
}

impl PathElement {
    /// A field by a name that the type table knows.
    pub fn known(name: &'static str) -> Self {
        Self::Field(Cow::Borrowed(name))
    }

    /// A field by any name.
    pub fn named(name: &str) -> Self {
        Self::Field(Cow::Owned(name.to_owned()))
    }

    /// Reads a key of `fieldsV1`; `None` for what only later versions know.
    pub fn from_fields_v1(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        match kind {
            "f" => Some(Self::named(rest)),
            "v" => serde_json::from_str(rest).ok().map(Self::Value),
            "i" => rest.parse().ok().map(Self::Index),
            "k" => {
                let Value::Object(keys) = serde_json::from_str(rest).ok()? else {
                    return None;
                };
                let keys = keys.into_iter();
                Some(Self::Key(
                    keys.map(|(name, value)| (name.into(), value)).collect(),
                ))
            }
            _ => None,
        }
    }

    /// The key of `fieldsV1`.
    pub fn to_fields_v1(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Value(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
            Self::Key(keys) => {
                let members: Vec<String> = keys
                    .iter()
                    .map(|(name, value)| format!("{}:{value}", Value::from(name.as_ref())))
                    .collect();
                format!("k:{{{}}}", members.join(","))
            }
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Eq for PathElement {}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Fields first, then keys, values and indices; each by name, value or number.
impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                let pairs = a.iter().zip(b);
                let differences = pairs.map(|((a_name, a), (b_name, b))| {
                    a_name.cmp(b_name).then_with(|| compare_values(a, b))
                });
                differences
                    .reduce(Ordering::then)
                    .unwrap_or(Ordering::Equal)
                    .then(a.len().cmp(&b.len()))
            }
            (Self::Value(a), Self::Value(b)) => compare_values(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Numbers, then strings, then booleans; other values, which no list is keyed by, by their text.
fn compare_values(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        _ => 3,
    };
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a
                .as_f64()
                .partial_cmp(&b.as_f64())
                .unwrap_or(Ordering::Equal),
        },
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ if rank(a) != rank(b) => rank(a).cmp(&rank(b)),
        _ => a.to_string().cmp(&b.to_string()),
    }
}

/// As messages print it: `.spec`, `[name="main"]`, `[="a"]`, `[0]`.
impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(keys) => {
                f.write_str("[")?;
                for (place, (name, value)) in keys.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str("]")
            }
        }
    }
}
