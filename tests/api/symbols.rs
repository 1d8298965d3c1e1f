//! The symbols of the recordings: unified with what the cluster answers, put back into what is sent.

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// How far a moment may be from those that the recording means: `<time>` is some moment of the sequence.
const TIME_TOLERANCE: SignedDuration = SignedDuration::from_secs(6);

/// What the symbols of one sequence stand for.
#[derive(Debug)]
pub(crate) struct Symbols {
    /// When the sequence began: no object is older.
    start: Timestamp,
    bound: BTreeMap<String, String>,
    /// Values of `<rv:N+>`, to be checked against `<rv:N>` and `<rv:N+1>` when the sequence is over.
    ranges: Vec<(u64, u64)>,
}

enum Part<'a> {
    Text(&'a str),
    Symbol(&'a str),
}

/// Splits at `<name>`, where name is one that the recordings define.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(start) = rest[from..].find('<').map(|index| index + from) {
        let Some(end) = rest[start..].find('>').map(|index| index + start) else {
            break;
        };
        if is_symbol(&rest[start + 1..end]) {
            parts.push(Part::Text(&rest[..start]));
            parts.push(Part::Symbol(&rest[start + 1..end]));
            rest = &rest[end + 1..];
            from = 0;
        } else {
            from = start + 1;
        }
    }
    parts.push(Part::Text(rest));
    parts
}

fn is_symbol(name: &str) -> bool {
    let head = name.split([':', '+', '-']).next().unwrap_or_default();
    matches!(
        head,
        "uid" | "rv" | "gen" | "continue" | "ip" | "port" | "time" | "microtime" | "age" | "host"
    ) || matches!(name, "hash" | "commit" | "go" | "platform" | "state")
}

/// The characters that a symbol's value is made of, and how many of them there are, if that is known.
fn shape(name: &str) -> (fn(char) -> bool, Option<usize>) {
    match name.split([':', '+', '-']).next().unwrap_or_default() {
        "uid" => (|c| c.is_ascii_hexdigit() || c == '-', Some(36)),
        "rv" | "port" => (|c| c.is_ascii_digit(), None),
        "gen" => (|c| c.is_ascii_alphanumeric(), Some(5)),
        "ip" => (|c| c.is_ascii_hexdigit() || c == '.' || c == ':', None),
        "time" | "microtime" => (
            |c| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | 'T' | 'Z'),
            None,
        ),
        "hash" | "age" | "commit" => (|c| c.is_ascii_alphanumeric() || "-_=<>/+".contains(c), None),
        "continue" => (|c| c.is_ascii_alphanumeric() || "-_=".contains(c), None),
        _ => (|c| c != '"', None),
    }
}

impl Symbols {
    pub(crate) fn new(start: Timestamp) -> Self {
        Self {
            start,
            bound: BTreeMap::new(),
            ranges: Vec::new(),
        }
    }

    /// Compares a text with one that has symbols, binding those that are new.
    pub(crate) fn unify(&mut self, expected: &str, actual: &str, now: Timestamp) -> bool {
        let mut rest = actual;
        for part in parts(expected) {
            match part {
                Part::Text(text) => match rest.strip_prefix(text) {
                    Some(after) => rest = after,
                    None => return false,
                },
                Part::Symbol(name) => {
                    let (belongs, length) = shape(name);
                    let end = rest
                        .find(|c: char| !belongs(c))
                        .unwrap_or(rest.len())
                        .min(length.unwrap_or(usize::MAX));
                    if end == 0 || !self.bind(name, &rest[..end], now) {
                        return false;
                    }
                    rest = &rest[end..];
                }
            }
        }
        rest.is_empty()
    }

    fn bind(&mut self, name: &str, value: &str, now: Timestamp) -> bool {
        if let Some(offset) = time_offset(name) {
            return value.parse::<Timestamp>().is_ok_and(|at| {
                let earliest = self.start + offset - TIME_TOLERANCE;
                (earliest..=now + offset + TIME_TOLERANCE).contains(&at)
            });
        }
        if let Some(version) = name
            .strip_prefix("rv:")
            .and_then(|name| name.strip_suffix('+'))
        {
            let (Ok(version), Ok(value)) = (version.parse(), value.parse()) else {
                return false;
            };
            self.ranges.push((version, value));
            self.bound.insert(name.to_owned(), value.to_string());
            return true;
        }
        if !name.contains(':') {
            return true;
        }
        if let Some(bound) = self.bound.get(name) {
            return bound == value;
        }
        let kind = name.split(':').next().unwrap_or_default();
        let taken = self.bound.iter().any(|(other, bound)| {
            bound == value && !other.ends_with('+') && other.split(':').next() == Some(kind)
        });
        self.bound.insert(name.to_owned(), value.to_owned());
        !taken
    }

    /// Replaces symbols by what they stand for.
    pub(crate) fn resolve(&self, text: &str, now: Timestamp) -> String {
        parts(text)
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text.to_owned(),
                Part::Symbol(name) => match (self.bound.get(name), time_offset(name)) {
                    (Some(value), _) => value.clone(),
                    (None, Some(offset)) => {
                        let format = if name.starts_with("micro") {
                            "%Y-%m-%dT%H:%M:%S.%6fZ"
                        } else {
                            "%Y-%m-%dT%H:%M:%SZ"
                        };
                        (now + offset).strftime(format).to_string()
                    }
                    (None, None) => format!("<{name}>"),
                },
            })
            .collect()
    }

    /// The text of a recorded body, with symbols replaced. A body that is a JSON string holds the text itself; ports
    /// are numbers, which symbols in JSON can't be.
    pub(crate) fn resolve_body(&self, body: &str, now: Timestamp) -> String {
        if let Ok(raw) = serde_json::from_str::<String>(body) {
            return self.resolve(&raw, now);
        }
        let mut text = String::new();
        let mut rest = body;
        while let Some((before, after)) = rest.split_once("\"<port:") {
            let (number, after) = after.split_once(">\"").unwrap();
            text.extend([before, "<port:", number, ">"]);
            rest = after;
        }
        self.resolve(&(text + rest), now)
    }

    /// What the numbers of resourceVersions contradict, once all are known.
    pub(crate) fn disorder(&self) -> Vec<String> {
        let versions: BTreeMap<u64, u64> = self
            .bound
            .iter()
            .filter_map(|(name, value)| {
                let number = name.strip_prefix("rv:")?.parse().ok()?;
                Some((number, value.parse().ok()?))
            })
            .collect();
        let mut problems = Vec::new();
        for ((lower, low), (upper, high)) in versions.iter().zip(versions.iter().skip(1)) {
            if low >= high {
                problems.push(format!("<rv:{lower}> is {low}, <rv:{upper}> is {high}"));
            }
        }
        for (number, value) in &self.ranges {
            let from = versions.get(number).copied().unwrap_or(0);
            let to = versions.get(&(number + 1)).copied().unwrap_or(u64::MAX);
            if !(from..to).contains(value) {
                problems.push(format!(
                    "<rv:{number}+> is {value}, not from {from} to before {to}"
                ));
            }
        }
        problems
    }
}

/// `<time>`, `<time+30s>`, `<microtime>`: seconds from the request.
fn time_offset(name: &str) -> Option<SignedDuration> {
    let rest = name
        .strip_prefix("microtime")
        .or_else(|| name.strip_prefix("time"))?;
    if rest.is_empty() {
        return Some(SignedDuration::ZERO);
    }
    rest.strip_suffix('s')?
        .parse()
        .ok()
        .map(SignedDuration::from_secs)
}
