//! A cluster over HTTP, with an ear for what is written and a porter.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::place::{Answer, Place};
use crate::rbac;
use crate::recording::{Case, Rbac};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    writes: Arc<Mutex<Vec<Value>>>,
    interference: Arc<Mutex<VecDeque<Value>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(place: Place, case: &Case) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let writes = Arc::new(Mutex::new(Vec::new()));
        let interference = Arc::new(Mutex::new(VecDeque::new()));
        let porter = Porter {
            interference: interference.clone(),
            place,
            rbac: Arc::new(case.rbac.clone()),
            is_newer: case.is_newer,
            writes: writes.clone(),
        };
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let porter = porter.clone();
                let answer = service_fn(move |request| porter.clone().answer(request));
                tokio::spawn(async move {
                    let connection = Builder::new(TokioExecutor::new());
                    // A client that goes away ends its connection.
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), answer)
                        .await;
                });
            }
        });
        Self {
            address,
            writes,
            interference,
            task,
        }
    }

    /// Somebody else applies these merge patches, one right before each of the next writes.
    pub(crate) fn interfere(&self, patches: Vec<Value>) {
        self.interference.lock().unwrap().extend(patches);
    }

    /// The requests so far that are no reads, as the recordings have them.
    pub(crate) fn writes(&self) -> Vec<Value> {
        self.writes.lock().unwrap().clone()
    }
}

#[derive(Clone)]
struct Porter {
    place: Place,
    rbac: Arc<Option<Rbac>>,
    is_newer: bool,
    writes: Arc<Mutex<Vec<Value>>>,
    interference: Arc<Mutex<VecDeque<Value>>>,
}

impl Porter {
    async fn merge(&self, path: &str, body: &Value) {
        let request = Request::builder()
            .method("PATCH")
            .uri(path)
            .header("content-type", "application/merge-patch+json")
            .body(Full::new(Bytes::from(body.to_string())));
        let answer = self.place.answer(request.unwrap()).await;
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Answer, Infallible> {
        let (parts, body) = request.into_parts();
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default();
        let request = Request::from_parts(parts, Full::new(body.clone()));
        if request.method() != "GET" {
            self.writes.lock().unwrap().push(noted(&request, &body));
            let patch = self.interference.lock().unwrap().pop_front();
            if let Some(patch) = patch {
                self.merge(request.uri().path(), &patch).await;
            }
        }
        if let Some((code, status)) = rbac::refusal(&request, self.rbac.as_ref().as_ref()) {
            let body = Full::new(Bytes::from(status.to_string()));
            let body = body.map_err(Into::into).boxed_unsync();
            let response = Response::builder()
                .status(code)
                .header("content-type", "application/json")
                .body(body);
            return Ok(response.unwrap());
        }
        let reads = request.method() == "GET";
        let answer = self.place.answer(request).await;
        if !(self.is_newer && reads) {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes);
        let mut json = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
        invent(&mut json);
        let body = Full::new(Bytes::from(json.to_string()));
        let body = body.map_err(Into::into).boxed_unsync();
        Ok(Response::from_parts(parts, body))
    }
}

/// Adds fields to every pod spec and every container, each with the container's image in it.
fn invent(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(invent),
        Value::Object(members) => {
            if let Some(image) = members.get("image").cloned() {
                members.insert("inventedField".into(), json!({ "of": [image] }));
            }
            if members.contains_key("containers") {
                members.insert("inventedList".into(), json!([{ "name": "x" }, 2]));
            }
            members.values_mut().for_each(invent);
        }
        _ => {}
    }
}

fn noted<B>(request: &Request<B>, body: &[u8]) -> Value {
    let mut note = Map::new();
    note.insert("method".into(), json!(request.method().as_str()));
    note.insert("path".into(), json!(request.uri().path()));
    let query = request.uri().query().unwrap_or_default();
    let mut parts: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
    parts.sort_unstable();
    if !parts.is_empty() {
        note.insert("query".into(), json!(parts.join("&")));
    }
    if let Some(content) = request.headers().get("content-type") {
        note.insert("contentType".into(), json!(content.to_str().unwrap()));
    }
    note.insert(
        "body".into(),
        serde_json::from_slice(body).unwrap_or_default(),
    );
    Value::Object(note)
}
