//! Objects to YAML that kubectl reads back as the same objects.
//!
//! kubectl's reader follows an older YAML, where `y`, `0755`, `1_000` and many more are not strings, and where some
//! Unicode characters break lines. So only text that every reader agrees on is written plain; everything else is
//! quoted, or written as a literal block where that is safe and reads better.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use serde_saphyr::{DoubleQuoted, LitStr, SingleQuoted};

/// One object as a YAML document, without `---`.
pub fn to_yaml(object: &Value) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    // JSON is YAML as well: a writer that gives up costs the looks, not the object.
    serde_saphyr::to_string_with_options(&Node(object), options)
        .unwrap_or_else(|_| format!("{object}\n"))
}

/// Several objects as YAML documents, parted by `---`.
pub fn to_yaml_documents<'a>(objects: impl IntoIterator<Item = &'a Value>) -> String {
    let documents: Vec<String> = objects.into_iter().map(to_yaml).collect();
    documents.join("---\n")
}

struct Node<'a>(&'a Value);

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) => serialize_text(text, serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Node)),
            Value::Object(fields) => serialize_fields(fields, serializer),
            scalar => scalar.serialize(serializer),
        }
    }
}

fn serialize_fields<S: Serializer>(
    fields: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (key, value) in fields {
        if is_plain(key) {
            map.serialize_entry(key, &Node(value))?;
        } else {
            map.serialize_entry(&DoubleQuoted(key), &Node(value))?;
        }
    }
    map.end()
}

fn serialize_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if is_plain(text) || is_quantity(text) || is_no_number(text) {
        serializer.serialize_str(text)
    } else if is_literal(text) {
        LitStr(text).serialize(serializer)
    } else if is_words(text) {
        SingleQuoted(text).serialize(serializer)
    } else {
        DoubleQuoted(text).serialize(serializer)
    }
}

/// Words that some reader takes for something other than a string, whatever their case.
const RESERVED: [&str; 12] = [
    "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity",
];

/// Text that no reader takes for anything but itself: it starts like a word, a path or an option, and holds nothing
/// that is special.
fn is_plain(text: &str) -> bool {
    let word = ["--", "-", "/"]
        .iter()
        .find_map(|start| text.strip_prefix(start))
        .unwrap_or(text);
    let is_harmless =
        |c: char| c.is_ascii_alphanumeric() || " -_./:,=+@%()~<>|;?$^*&!'\"[]{}".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_harmless)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !RESERVED
            .iter()
            .any(|reserved| reserved.eq_ignore_ascii_case(word))
}

/// A line that only its punctuation keeps from being plain: kubectl writes it in single quotes.
fn is_words(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || "[{'\"*&!|>%@`#".contains(c))
        && text.chars().all(|c| matches!(c, ' '..='~'))
        && !RESERVED
            .iter()
            .any(|reserved| reserved.eq_ignore_ascii_case(text))
}

/// `100m`, `1.5Gi`: a number with a unit that is no exponent and no base.
fn is_quantity(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < text.len()
        && text.starts_with(|c: char| c.is_ascii_digit())
        && matches!(
            unit,
            "m" | "k"
                | "M"
                | "G"
                | "T"
                | "P"
                | "Ki"
                | "Mi"
                | "Gi"
                | "Ti"
                | "Pi"
                | "Ei"
                | "s"
                | "h"
                | "%"
        )
}

/// Text that begins with a digit and that no reader takes for a number or a time: hashes, UIDs, addresses.
fn is_no_number(text: &str) -> bool {
    let is_number_like = |text: &str| {
        let mut before = ' ';
        text.chars().all(|c| {
            let belongs = c.is_ascii_digit()
                || matches!(c, '_' | '.' | ':' | 'e' | 'E')
                || matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            before = c;
            belongs
        })
    };
    let has_base = ["0x", "0o", "0b", "0X", "0O", "0B"]
        .iter()
        .any(|base| text.starts_with(base));
    let is_dotted = !text.contains(':') && text.matches('.').count() > 1;
    let is_date_like = text
        .get(..5)
        .is_some_and(|year| year.ends_with('-') && year[..4].chars().all(|c| c.is_ascii_digit()));
    text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:+".contains(c))
        && !text.ends_with(':')
        && !has_base
        && !is_date_like
        && (is_dotted || !is_number_like(text))
}

/// Text of several lines that a literal block shows as it is. Blocks that would have to state their indentation, and
/// lines of nothing but blanks, are left to quotes.
fn is_literal(text: &str) -> bool {
    let is_visible =
        |c: char| matches!(c, ' '..='~' | '\t' | '\n') || (!c.is_ascii() && c.is_alphanumeric());
    let is_blank = |line: &str| !line.is_empty() && line.trim_matches([' ', '\t']).is_empty();
    text.contains('\n')
        && text.chars().all(is_visible)
        && !text.starts_with([' ', '\t', '\n'])
        && !text.split('\n').any(is_blank)
}
