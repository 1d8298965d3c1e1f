//! Reading the recordings.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A command line, what it met, what it said and what it did.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) before: Vec<Value>,
    pub(crate) argv: Vec<String>,
    #[serde(default)]
    pub(crate) stdin: String,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) during: Vec<Event>,
    #[serde(default)]
    pub(crate) rbac: Option<Rbac>,
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    #[serde(default, rename = "stderrOrder")]
    pub(crate) stderr_order: Option<String>,
    pub(crate) writes: Vec<Value>,
    #[serde(default)]
    pub(crate) after: Option<Map<String, Value>>,
    #[serde(default)]
    newer: Newer,
    /// Merge patches that somebody else sends, one right before each of our writes; no recording has any.
    #[serde(skip)]
    pub(crate) interference: Vec<Value>,
    /// Whether the server is of a later version: what it sends has fields that are not known here.
    #[serde(skip)]
    pub(crate) is_newer: bool,
    #[expect(dead_code, reason = "for readers of the recordings")]
    #[serde(default)]
    note: String,
}

/// What a later kubectl gave instead.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Newer {
    exit: Option<i32>,
    stdout: Option<String>,
    stderr: Option<String>,
}

/// What happens once there are that many lines on stdout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    #[serde(rename = "afterLines")]
    pub(crate) after_lines: usize,
    #[serde(default)]
    pub(crate) status: Option<(String, Value)>,
    #[serde(default)]
    pub(crate) merge: Option<(String, Value)>,
    #[serde(default)]
    pub(crate) jsonpatch: Option<(String, Value)>,
    #[serde(default)]
    pub(crate) delete: Option<String>,
}

/// A user who has only these rules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rbac {
    pub(crate) user: String,
    pub(crate) rules: Vec<Rule>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Rule {
    pub(crate) api_groups: Vec<String>,
    pub(crate) resources: Vec<String>,
    pub(crate) verbs: Vec<String>,
}

impl Case {
    /// A command line that is yet to be recorded.
    pub(crate) fn new(before: &[Value], line: &str) -> Self {
        Self {
            id: line.to_owned(),
            before: before.to_vec(),
            argv: line.split(' ').map(str::to_owned).collect(),
            stdin: String::new(),
            files: BTreeMap::new(),
            during: Vec::new(),
            rbac: None,
            exit: 0,
            stdout: String::new(),
            stderr: String::new(),
            stderr_order: None,
            writes: Vec::new(),
            after: None,
            newer: Newer::default(),
            interference: Vec::new(),
            is_newer: false,
            note: String::new(),
        }
    }
}

/// All cases, and whether they are those of the repository.
pub(crate) fn load() -> (Vec<Case>, bool) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/recordings");
    let (directory, is_ours) = match std::env::var_os("TRANSCRIPTS_DIR") {
        Some(directory) => (PathBuf::from(directory), false),
        None => (own, true),
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
        })
        .collect();
    files.sort();
    let cases: Vec<Case> = files.iter().flat_map(|path| read(path)).collect();
    assert!(!cases.is_empty(), "no cases in {}", directory.display());
    (cases, is_ours)
}

fn read(path: &Path) -> Vec<Case> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let mut case: Case = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let newer = std::mem::take(&mut case.newer);
            case.exit = newer.exit.unwrap_or(case.exit);
            case.stdout = newer.stdout.unwrap_or(case.stdout);
            case.stderr = newer.stderr.unwrap_or(case.stderr);
            case
        })
        .collect()
}
