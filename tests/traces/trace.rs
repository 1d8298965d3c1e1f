//! Traces as they were recorded.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;

/// One rollout, step by step.
#[derive(Deserialize)]
pub(crate) struct Trace {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// What was done, and how the cluster stood when it had come to rest.
#[derive(Deserialize)]
pub(crate) struct Step {
    #[serde(rename = "do")]
    pub(crate) operation: Operation,
    pub(crate) state: Value,
    /// What the Deployment's events said meanwhile.
    #[serde(default)]
    pub(crate) events: Vec<String>,
    /// Why the API refused the operation.
    #[serde(default)]
    pub(crate) refused: Option<String>,
}

/// What people, nodes and quotas do to the cluster.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Operation {
    Create(Create),
    Image {
        image: String,
    },
    Scale {
        replicas: i32,
    },
    Pause,
    Resume,
    Surge {
        surge: Value,
        unavailable: Value,
    },
    Strategy {
        strategy: String,
    },
    Undo {
        to: i64,
    },
    Ready {
        count: Option<usize>,
        revision: Option<i64>,
    },
    Unready {
        count: Option<usize>,
        revision: Option<i64>,
    },
    Phase {
        phase: String,
        count: Option<usize>,
    },
    DeletePod {
        count: Option<usize>,
    },
    Reap {
        count: Option<usize>,
    },
    DeleteRs {
        revision: i64,
    },
    ScaleRs {
        revision: i64,
        replicas: i32,
    },
    Quota {
        pods: i32,
    },
    Wait {
        seconds: u64,
    },
}

/// What is asked of the Deployment at first; what is absent is left to the API's defaults.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Create {
    pub(crate) replicas: i32,
    pub(crate) surge: Option<Value>,
    pub(crate) unavailable: Option<Value>,
    pub(crate) strategy: Option<String>,
    pub(crate) history: Option<i32>,
    pub(crate) deadline: Option<i32>,
    pub(crate) min_ready: Option<i32>,
}

/// The traces of `TRACES_DIR`, one file each, or those kept here.
pub(crate) fn load() -> Vec<Trace> {
    let traces: Vec<Trace> = match std::env::var_os("TRACES_DIR") {
        Some(folder) => from_folder(Path::new(&folder)),
        None => kept(),
    };
    assert!(!traces.is_empty(), "there are no traces");
    traces
}

fn from_folder(folder: &Path) -> Vec<Trace> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a folder's entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).expect("a readable file");
            serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        })
        .collect()
}

fn kept() -> Vec<Trace> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/recorded.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("the traces are there"))
        .read_to_string(&mut text)
        .expect("they are compressed text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line holds one trace"))
        .collect()
}
