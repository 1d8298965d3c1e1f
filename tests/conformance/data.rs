//! Loads vector files, expands their abbreviations, and reports what differs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use similar::TextDiff;

/// One line of a vector file.
pub(crate) struct Case {
    /// Unique inside its file.
    pub(crate) id: String,
    /// What the case is about, where somebody said so.
    pub(crate) note: String,
    /// The first names the group, the others what is in the case.
    pub(crate) tags: Vec<String>,
    /// The whole line, with annotation keys spelt out.
    pub(crate) json: Value,
}

impl Case {
    fn parse(line: &str) -> Self {
        let mut json: Value = serde_json::from_str(line).expect("a line holds one JSON object");
        expand_annotation_keys(&mut json);
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        Self {
            id: text("id"),
            note: text("note"),
            tags: list(&json["tags"]).iter().map(string).collect(),
            json,
        }
    }

    /// Whether the case carries this tag.
    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|t| t == tag)
    }
}

/// Runs `check` on every case of a file. Prints how many ran; fails with every case that differs, and when there is
/// no case at all.
pub(crate) fn check_all(file: &str, check: impl Fn(&Case) -> Result<(), String>) {
    let cases = load(file);
    let mut failures = String::new();
    let mut failed = 0;
    for case in &cases {
        let verdict = panic::catch_unwind(AssertUnwindSafe(|| check(case)))
            .unwrap_or_else(|_| Err("panicked; the message is above".to_owned()));
        if let Err(difference) = verdict {
            failed += 1;
            let Case { id, note, tags, .. } = case;
            let _ = writeln!(failures, "--- {id} {note} {tags:?}\n{difference}");
        }
    }
    // Written past the test harness, which shows the output of failing tests only.
    let _ = writeln!(
        io::stderr(),
        "{file}: {} cases, {failed} differ",
        cases.len()
    );
    assert!(
        failed == 0,
        "{failed} of {} {file} cases differ:\n{failures}",
        cases.len()
    );
}

/// Compares JSON; the error is a line diff of the two, pretty-printed.
pub(crate) fn same(expected: &Value, actual: &Value) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let pretty = |value| serde_json::to_string_pretty(value).expect("JSON values can be written");
    let (expected, actual) = (pretty(expected), pretty(actual));
    Err(TextDiff::from_lines(&expected, &actual)
        .unified_diff()
        .context_radius(6)
        .header("expected", "actual")
        .to_string())
}

/// The "now" of every case.
pub(crate) fn now() -> Timestamp {
    "2000-01-01T00:00:00Z".parse().expect("a valid instant")
}

/// The instant that a vector's number of seconds stands for, as the API writes it; absent stays absent.
pub(crate) fn time(seconds: &Value) -> Value {
    match seconds.as_i64() {
        Some(seconds) => json!((now() + SignedDuration::from_secs(seconds)).to_string()),
        None => Value::Null,
    }
}

/// Replaces the relative times of an object's metadata, or of a condition, by instants.
pub(crate) fn spell_out_times(object: &mut Value) {
    const FIELDS: [&str; 4] = [
        "creationTimestamp",
        "deletionTimestamp",
        "lastTransitionTime",
        "lastUpdateTime",
    ];
    walk(object, &mut |map| {
        for field in FIELDS {
            if let Some(seconds) = map.get_mut(field) {
                *seconds = time(seconds);
            }
        }
    });
}

/// The pod template that a letter stands for.
pub(crate) fn template(letter: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": letter}]},
    })
}

/// The entries of a list; none where it is absent.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Text; empty where it is absent.
pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Calls `visit` on every JSON object inside `value`, outermost first.
fn walk(value: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(map);
            map.values_mut().for_each(|inner| walk(inner, visit));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

/// `~/` stands for `deployment.kubernetes.io/` in annotation keys.
fn expand_annotation_keys(json: &mut Value) {
    walk(json, &mut |map| {
        let Some(Value::Object(annotations)) = map.get_mut("annotations") else {
            return;
        };
        *annotations = std::mem::take(annotations)
            .into_iter()
            .map(|(key, value)| match key.strip_prefix("~/") {
                Some(rest) => (format!("deployment.kubernetes.io/{rest}"), value),
                None => (key, value),
            })
            .collect();
    });
}

fn load(file: &str) -> Vec<Case> {
    let path = path_of(file);
    let opened = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let reader: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(GzDecoder::new(opened))
    } else {
        Box::new(opened)
    };
    let cases: Vec<Case> = BufReader::new(reader)
        .lines()
        .map(|line| line.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .filter(|line| !line.trim().is_empty())
        .map(|line| Case::parse(&line))
        .collect();
    assert!(!cases.is_empty(), "{} holds no case", path.display());
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "{} repeats an id", path.display());
    cases
}

/// The plain file where there is one, else the compressed one.
fn path_of(file: &str) -> PathBuf {
    let folder = std::env::var_os("CONFORMANCE_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/vectors"),
        PathBuf::from,
    );
    let plain = folder.join(format!("{file}.jsonl"));
    if plain.exists() {
        plain
    } else {
        folder.join(format!("{file}.jsonl.gz"))
    }
}
