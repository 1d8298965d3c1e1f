//! Reading the recordings.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A request and what a real server answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    pub(crate) id: String,
    pub(crate) seq: String,
    #[serde(default)]
    pub(crate) before: Option<Value>,
    /// Who ended a watch.
    #[serde(default)]
    pub(crate) ended_by: Option<String>,
    /// The first and last exchange while a watch was open.
    #[serde(default)]
    pub(crate) open_during: Option<(String, String)>,
    #[expect(dead_code, reason = "for readers of the recordings")]
    #[serde(default)]
    note: String,
    pub(crate) request: Request,
    pub(crate) response: Response,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) query: Map<String, Value>,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    #[serde(default)]
    /// As it was sent: order and repetition count.
    pub(crate) body: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Response {
    pub(crate) code: u16,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    #[serde(default)]
    pub(crate) body: Option<Value>,
    /// What a watch delivered.
    #[serde(default)]
    pub(crate) events: Option<Vec<Value>>,
}

/// The sequences of a theme, each in order.
pub(crate) fn load(theme: &str) -> Vec<Vec<Exchange>> {
    let mut sequences: Vec<Vec<Exchange>> = Vec::new();
    for line in text(theme).lines() {
        let exchange: Exchange = serde_json::from_str(line).unwrap();
        match sequences.last_mut() {
            Some(last) if last[0].seq == exchange.seq => last.push(exchange),
            _ => sequences.push(vec![exchange]),
        }
    }
    sequences
}

fn text(theme: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/recordings");
    let folder = std::env::var_os("API_DIR").map_or(here, PathBuf::from);
    let plain = folder.join(format!("{theme}.jsonl"));
    if plain.exists() {
        return std::fs::read_to_string(plain).unwrap();
    }
    let packed = folder.join(format!("{theme}.jsonl.gz"));
    let Ok(file) = std::fs::File::open(&packed) else {
        // A folder given by hand need not have every theme.
        assert!(
            std::env::var_os("API_DIR").is_some(),
            "no {}",
            packed.display()
        );
        return String::new();
    };
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}
