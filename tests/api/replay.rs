//! Sends the requests of a sequence to an empty cluster and compares what it answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::jiff::Timestamp;
use kubectl_rs::clock::Clock;
use kubectl_rs::sandbox::managed_fields::Tracking;
use kubectl_rs::sandbox::{ApiBody, ApiService, Sandbox, SandboxOptions};
use serde_json::Value;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use crate::recording::{Exchange, Request};
use crate::symbols::Symbols;

/// How long a stream is given to deliver what is there.
const SETTLE: Duration = Duration::from_millis(100);
/// What does not end within an hour of virtual time does not end.
const HOUR: Duration = Duration::from_secs(3600);
const START: &str = "2026-03-01T12:00:00Z";

/// The exchanges of a sequence that differ, with what differs.
pub(crate) async fn sequence(theme: &str, exchanges: &[Exchange]) -> BTreeMap<String, Vec<String>> {
    let clock = Clock::starting_at(START.parse::<Timestamp>().unwrap());
    let mut options = SandboxOptions::new(clock);
    options.managed_fields = Tracking::FromCreation;
    let sandbox = Sandbox::new(options);
    let mut replay = Replay {
        clock,
        service: sandbox.service(),
        symbols: Symbols::new(clock.now()),
        keeps_managed_fields: theme == "apply",
        trims: theme == "discovery",
        problems: BTreeMap::new(),
    };
    let mut open: Vec<(&Exchange, Stream)> = Vec::new();
    for exchange in exchanges {
        if exchange.before.is_some() {
            sandbox.compact();
        }
        if let Some(stream) = replay.exchange(exchange).await {
            open.push((exchange, stream));
        }
        for (watch, stream) in std::mem::take(&mut open) {
            match &watch.open_during {
                Some((_, last)) if *last != exchange.id => open.push((watch, stream)),
                _ => replay.finish(watch, stream).await,
            }
        }
    }
    if let Some(last) = exchanges.last() {
        let disorder = replay.symbols.disorder();
        replay.report(&last.id, disorder);
    }
    replay.problems
}

struct Replay {
    clock: Clock,
    service: ApiService,
    symbols: Symbols,
    keeps_managed_fields: bool,
    trims: bool,
    problems: BTreeMap<String, Vec<String>>,
}

/// A watch that is being read.
struct Stream {
    events: Arc<Mutex<Vec<Value>>>,
    reader: JoinHandle<()>,
}

impl Stream {
    fn read(body: ApiBody) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let into = events.clone();
        let reader = tokio::spawn(async move {
            let mut body = body;
            while let Some(Ok(frame)) = body.frame().await {
                let line = frame.into_data().unwrap();
                let event: Value = serde_json::from_slice(&line).unwrap();
                let mut events = into.lock().unwrap();
                if event["type"] != "BOOKMARK" || events.last() != Some(&event) {
                    events.push(event);
                }
            }
        });
        Self { events, reader }
    }
}

impl Replay {
    async fn exchange(&mut self, exchange: &Exchange) -> Option<Stream> {
        let request = self.request(&exchange.request);
        let response = self.service.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let expected = &exchange.response;
        let mut problems = Vec::new();
        if parts.status.as_u16() != expected.code {
            problems.push(format!(
                "code {}, not {}",
                parts.status.as_u16(),
                expected.code
            ));
        }
        for (name, value) in &expected.headers {
            let actual: Vec<_> = parts
                .headers
                .get_all(name)
                .iter()
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .collect();
            let wanted: Vec<_> = match value {
                Value::Array(values) => values.iter().map(text).collect(),
                one => vec![text(one)],
            };
            if actual != wanted {
                problems.push(format!("header {name}: {actual:?}, not {wanted:?}"));
            }
        }
        if parts.headers.contains_key("warning") && !expected.headers.contains_key("warning") {
            problems.push(format!("warns: {:?}", parts.headers["warning"]));
        }
        if expected.events.is_some() && parts.status.is_success() {
            self.report(&exchange.id, problems);
            let stream = Stream::read(body);
            tokio::time::sleep(SETTLE).await;
            return Some(stream);
        }
        let Ok(body) = tokio::time::timeout(HOUR, body.collect()).await else {
            problems.push("the answer does not end".to_owned());
            self.report(&exchange.id, problems);
            return None;
        };
        let body = body.unwrap().to_bytes();
        let actual = self.body(&body, expected.body.as_ref());
        let wanted = expected.body.clone().unwrap_or_default();
        self.compare("", &wanted, &actual, &mut problems);
        self.report(&exchange.id, problems);
        None
    }

    async fn finish(&mut self, watch: &Exchange, stream: Stream) {
        if watch.ended_by.as_deref() == Some("server") {
            if tokio::time::timeout(HOUR, stream.reader).await.is_err() {
                self.report(&watch.id, vec!["the stream does not end".to_owned()]);
            }
        } else {
            tokio::time::sleep(SETTLE).await;
            stream.reader.abort();
        }
        let mut actual: Vec<Value> = stream.events.lock().unwrap().clone();
        for event in &mut actual {
            self.strip(event);
        }
        let wanted = watch.response.events.clone().unwrap_or_default();
        let mut problems = Vec::new();
        self.compare("events", &wanted.into(), &actual.into(), &mut problems);
        self.report(&watch.id, problems);
    }

    fn request(&self, request: &Request) -> http::Request<Full<Bytes>> {
        let now = self.clock.now();
        let mut query = Vec::new();
        for (name, value) in &request.query {
            let values = match value {
                Value::Array(values) => values.clone(),
                one => vec![one.clone()],
            };
            for value in values {
                let value = self.symbols.resolve(&text(&value), now);
                query.push(format!("{}={}", escape(name), escape(&value)));
            }
        }
        let path = self.symbols.resolve(&request.path, now);
        let mut builder = http::Request::builder()
            .method(request.method.as_str())
            .uri(format!("{path}?{}", query.join("&")))
            .header("user-agent", "client/1");
        for (name, value) in &request.headers {
            if !text(value).is_empty() {
                builder = builder.header(name, text(value));
            }
        }
        let body = request
            .body
            .as_deref()
            .map(|body| self.symbols.resolve_body(body.get(), now))
            .unwrap_or_default();
        builder.body(Full::new(body.into())).unwrap()
    }

    /// The answer as the recordings would hold it.
    fn body(&self, bytes: &[u8], expected: Option<&Value>) -> Value {
        if bytes.is_empty() {
            return Value::Null;
        }
        if expected.is_some_and(Value::is_string) {
            return String::from_utf8_lossy(bytes).into_owned().into();
        }
        let Ok(mut value) = serde_json::from_slice(bytes) else {
            return String::from_utf8_lossy(bytes).into_owned().into();
        };
        self.strip(&mut value);
        if let (true, Some(expected)) = (self.trims, expected) {
            trim(&mut value, expected);
        }
        value
    }

    /// Takes out `managedFields`, as the recordings do outside of `apply`.
    fn strip(&self, value: &mut Value) {
        if self.keeps_managed_fields {
            return;
        }
        match value {
            Value::Object(map) => {
                if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
                    metadata.remove("managedFields");
                }
                map.values_mut().for_each(|value| self.strip(value));
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.strip(value)),
            _ => {}
        }
    }

    fn compare(&mut self, path: &str, expected: &Value, actual: &Value, out: &mut Vec<String>) {
        match (expected, actual) {
            (Value::Object(expected), Value::Object(actual)) => {
                for (key, value) in expected {
                    let path = format!("{path}.{key}");
                    match actual.get(key) {
                        Some(found) => self.compare(&path, value, found, out),
                        None => out.push(format!("{path}: missing, not {}", short(value))),
                    }
                }
                for (key, value) in actual
                    .iter()
                    .filter(|(key, _)| !expected.contains_key(*key))
                {
                    out.push(format!("{path}.{key}: {}, not absent", short(value)));
                }
            }
            (Value::Array(expected), Value::Array(actual)) => {
                for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                    self.compare(&format!("{path}[{index}]"), expected, actual, out);
                }
                if expected.len() != actual.len() {
                    let (wanted, found) = (expected.len(), actual.len());
                    out.push(format!("{path}: {found} elements, not {wanted}"));
                    out.extend(actual.get(wanted..).into_iter().flatten().map(short));
                }
            }
            (Value::String(wanted), found) if !found.is_object() && !found.is_array() => {
                let is_number = found.is_number() && wanted.starts_with("<port:");
                let same = (found.is_string() || is_number)
                    && self.symbols.unify(wanted, &text(found), self.clock.now());
                if !same {
                    let wanted = self.symbols.resolve(wanted, self.clock.now());
                    out.push(format!("{path}: {}\n    not {wanted:?}", short(found)));
                }
            }
            (expected, actual) if expected == actual => {}
            (expected, actual) => {
                out.push(format!(
                    "{path}: {}, not {}",
                    short(actual),
                    short(expected)
                ));
            }
        }
    }

    fn report(&mut self, id: &str, problems: Vec<String>) {
        if !problems.is_empty() {
            self.problems
                .entry(id.to_owned())
                .or_default()
                .extend(problems);
        }
    }
}

/// Keeps of discovery's lists what the recording kept.
fn trim(actual: &mut Value, expected: &Value) {
    for list in ["groups", "resources", "items", "versions", "subresources"] {
        let Some(wanted) = expected[list].as_array() else {
            continue;
        };
        let name = |entry: &Value| {
            let keys = ["name", "resource", "subresource", "version"];
            let named = keys.iter().find_map(|key| entry[*key].as_str());
            let named = named.or_else(|| entry["metadata"]["name"].as_str());
            named.map(str::to_owned)
        };
        let Some(found) = actual[list].as_array_mut() else {
            continue;
        };
        found.retain(|entry| wanted.iter().any(|one| name(one) == name(entry)));
        for entry in found {
            if let Some(one) = wanted.iter().find(|one| name(one) == name(entry)) {
                trim(entry, one);
            }
        }
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn escape(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
