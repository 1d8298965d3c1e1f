//! The cluster that a trace is played on, through its public API.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, Request};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use kubectl_rs::clock::Clock;
use kubectl_rs::sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower::Service as _;

/// A cluster, and the namespace that a trace is played in.
pub(crate) struct Cluster {
    /// The script's way in.
    client: Client,
    /// The controller's way in.
    pub(crate) controller: Client,
    /// None where the clock is virtual.
    pace: Option<Arc<Pace>>,
    pub(crate) clock: Clock,
    pub(crate) namespace: String,
    /// Whether the API server is of before 1.33 and drops `terminatingReplicas`.
    pub(crate) is_old: bool,
}

/// Why the API refused a request.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: u16,
    pub(crate) message: String,
}

pub(crate) type Answer = Result<Value, Refused>;

impl Cluster {
    /// A fresh embedded cluster with one node that nobody runs.
    pub(crate) fn embedded() -> Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a timestamp");
        let clock = Clock::starting_at(start);
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        Self {
            client: slow(&sandbox, Duration::from_millis(2)),
            controller: slow(&sandbox, Duration::from_millis(3)),
            pace: None,
            clock,
            namespace: "default".to_owned(),
            is_old: false,
        }
    }

    /// A namespace of its own on a real API server, which takes its own time.
    pub(crate) async fn real(client: Client, namespace: &str) -> Self {
        let version = client.apiserver_version().await.expect("a version");
        let minor: u32 = version
            .minor
            .trim_end_matches('+')
            .parse()
            .expect("a number");
        let pace = Arc::new(Pace::default());
        let cluster = Self {
            controller: paced(client.clone(), pace.clone()),
            client,
            pace: Some(pace),
            clock: Clock::system(),
            namespace: namespace.to_owned(),
            is_old: minor < 33,
        };
        let body = json!({ "metadata": { "name": namespace } });
        let request = Request::post("/api/v1/namespaces")
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes());
        let made: Result<Value, _> = cluster.client.request(request.expect("a request")).await;
        made.expect("a namespace");
        cluster
    }

    /// What stands at a path below the namespace.
    pub(crate) async fn get(&self, group: Group, rest: &str) -> Answer {
        self.send("GET", group, rest, "application/json", &Value::Null)
            .await
    }

    /// The objects of a kind.
    pub(crate) async fn list(&self, group: Group, plural: &str) -> Vec<Value> {
        let list = self.get(group, plural).await.expect("a list");
        match list["items"].as_array() {
            Some(items) => items.clone(),
            None => Vec::new(),
        }
    }

    pub(crate) async fn create(&self, group: Group, rest: &str, body: Value) -> Answer {
        self.send("POST", group, rest, "application/json", &body)
            .await
    }

    pub(crate) async fn merge(&self, group: Group, rest: &str, body: Value) -> Answer {
        self.send("PATCH", group, rest, "application/merge-patch+json", &body)
            .await
    }

    pub(crate) async fn json_patch(&self, group: Group, rest: &str, body: Value) -> Answer {
        self.send("PATCH", group, rest, "application/json-patch+json", &body)
            .await
    }

    pub(crate) async fn delete(&self, group: Group, rest: &str, options: Value) -> Answer {
        self.send("DELETE", group, rest, "application/json", &options)
            .await
    }

    async fn send(
        &self,
        method: &str,
        group: Group,
        rest: &str,
        content_type: &str,
        body: &Value,
    ) -> Answer {
        let path = format!("{}/namespaces/{}/{rest}", group.path(), self.namespace);
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .body(body)
            .expect("a request");
        match self.paced(request).await {
            Ok(answer) => Ok(answer),
            Err(kube::Error::Api(status)) => Err(Refused {
                code: status.code,
                message: status.message.clone(),
            }),
            Err(error) => panic!("the cluster does not answer: {error}"),
        }
    }

    /// Sends a request of the script, at its pace.
    async fn paced(&self, request: Request<Vec<u8>>) -> Result<Value, kube::Error> {
        let Some(pace) = &self.pace else {
            return self.client.request(request).await;
        };
        if request.method() != Method::GET {
            sleep(pace.script()).await;
        }
        let sent = Instant::now();
        let answer = self.client.request(request).await;
        pace.learn(sent.elapsed());
        answer
    }

    /// How long a request of the controllers may take at present, more or less.
    pub(crate) fn slowest_answer(&self) -> Duration {
        let pace = self.pace.as_ref();
        pace.map_or(Duration::ZERO, |pace| pace.controllers())
    }

    /// What time it is, as objects say it.
    pub(crate) fn now(&self) -> Value {
        let seconds = self.clock.now().as_second();
        let whole = Timestamp::from_second(seconds).expect("a second");
        json!(whole.to_string())
    }
}

/// A client whose requests take a while to arrive, as over a network. Scripts talk to the API directly and are a little
/// faster than controllers, which have to learn of each change first.
fn slow(sandbox: &Sandbox, latency: Duration) -> Client {
    let service = sandbox.service();
    let slow = tower::service_fn(move |request: Request<Body>| {
        let mut service = service.clone();
        async move {
            sleep(latency).await;
            service.call(request).await
        }
    });
    Client::new(slow, "default")
}

/// How fast requests go on a real API server. What a step comes to can hang on how far the controllers get while the script
/// sets pods ready one after the other. So both are held back, the script a little less, by about as long as a request
/// takes at present: then their speeds keep the ratio that they have on the embedded cluster, on a busy machine too.
#[derive(Default)]
struct Pace {
    /// What a request takes on average of late, in microseconds.
    recent: AtomicU64,
}

impl Pace {
    const LEAST: Duration = Duration::from_millis(5);

    fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let before = self.recent.load(Ordering::Relaxed);
        self.recent
            .store(before - before / 8 + took / 8, Ordering::Relaxed);
    }

    /// How long a write of the script is held back.
    fn script(&self) -> Duration {
        Self::LEAST.max(Duration::from_micros(self.recent.load(Ordering::Relaxed)))
    }

    /// How long a request of the controllers is held back.
    fn controllers(&self) -> Duration {
        self.script() * 3 / 2
    }
}

/// A client whose requests are held back as those of controllers are.
fn paced(client: Client, pace: Arc<Pace>) -> Client {
    let paced = tower::service_fn(move |request: Request<Body>| {
        let (client, pace) = (client.clone(), pace.clone());
        async move {
            sleep(pace.controllers()).await;
            client.send(request).await
        }
    });
    Client::new(paced, "default")
}

/// An API group, at the version that traces use.
#[derive(Clone, Copy)]
pub(crate) enum Group {
    Core,
    Apps,
}

impl Group {
    fn path(self) -> &'static str {
        match self {
            Self::Core => "/api/v1",
            Self::Apps => "/apis/apps/v1",
        }
    }
}
