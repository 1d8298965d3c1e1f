//! The cluster that a case begins with, and ways to change it from outside.

use std::collections::BTreeMap;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kubectl_rs::clock::Clock;
use kubectl_rs::sandbox::managed_fields::Tracking;
use kubectl_rs::sandbox::{Sandbox, SandboxOptions, kinds};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::place::Place;
use crate::real::Real;

/// A cluster.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) place: Place,
    /// What lies in it that a case may change: `deployment/web` to its path.
    pub(crate) objects: BTreeMap<String, String>,
}

impl World {
    /// The cluster with these objects, made in this order.
    pub(crate) async fn new(before: &[Value]) -> Self {
        let mut options = SandboxOptions::new(Clock::system());
        options.managed_fields = Tracking::FromCreation;
        let sandbox = Sandbox::new(options);
        let public = json!({"metadata": {"name": "kube-public"}});
        sandbox.create("namespaces", "", public).unwrap();
        let mut world = Self {
            place: Place::Embedded(sandbox.clone()),
            objects: BTreeMap::new(),
        };
        let now = Clock::system().now();
        let count = i64::try_from(before.len()).unwrap();
        for (object, place) in before.iter().zip(0..) {
            let age = object["metadata"]["creationTimestamp"].as_i64();
            // Without one, made in the order given, a second after another.
            let created = now + SignedDuration::from_secs(age.unwrap_or(place - count));
            sandbox.set_clock(Clock::starting_at(created));
            world.make(object, now).await;
        }
        sandbox.set_clock(Clock::system());
        world
    }

    /// The same on a real API server, whose clock nobody sets: where the objects' order counts, they are made in
    /// different seconds.
    pub(crate) async fn real(real: &Real, before: &[Value]) -> Self {
        let mut world = Self {
            place: Place::Real(real.client.clone()),
            objects: BTreeMap::new(),
        };
        let now = Clock::system().now();
        for object in before {
            world.make(object, now).await;
            if real.is_slow {
                sleep(Duration::from_secs(1)).await;
            }
        }
        world
    }

    /// Deletes the objects, whatever holds them.
    pub(crate) async fn clear(&self) {
        for (key, path) in &self.objects {
            let at_once = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
            let _ = self.ask("DELETE", path, "application/json", &at_once).await;
            while self.get(key).await.is_some() {
                let nothing = json!({"metadata": {"finalizers": null}});
                let _ = self
                    .ask("PATCH", path, "application/merge-patch+json", &nothing)
                    .await;
            }
        }
    }

    async fn make(&mut self, object: &Value, now: Timestamp) {
        let mut object = object.clone();
        in_place(&mut object, now);
        let kind = kinds::KINDS
            .iter()
            .find(|kind| object["kind"] == kind.kind && object["apiVersion"] == kind.api_version)
            .unwrap_or_else(|| panic!("unknown kind in {object}"));
        let status = object.as_object_mut().unwrap().remove("status");
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("creationTimestamp");
        let generation = metadata.remove("generation");
        let name = metadata["name"].as_str().unwrap().to_owned();
        let namespace = metadata["namespace"]
            .as_str()
            .unwrap_or("default")
            .to_owned();
        for owner in object["metadata"]["ownerReferences"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            self.complete_owner(owner).await;
        }
        let root = if kind.api_version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        let collection = format!(
            "{root}/{}/namespaces/{namespace}/{}",
            kind.api_version, kind.plural
        );
        let path = format!("{collection}/{name}");
        let changes = generation
            .and_then(|generation| generation.as_i64())
            .unwrap_or(1)
            - 1;
        if changes > 0 {
            object["spec"]["minReadySeconds"] = json!(changes);
        }
        self.send("POST", &collection, "application/json", &object)
            .await;
        for left in (0..changes).rev() {
            let left = (left > 0).then_some(left);
            self.merge(&path, &json!({"spec": {"minReadySeconds": left}}))
                .await;
        }
        self.objects
            .insert(format!("{}/{name}", kind.kind.to_lowercase()), path.clone());
        if let Some(status) = status {
            self.set_status(&path, status).await;
        }
    }

    /// `{kind, name}` to a full controller reference.
    async fn complete_owner(&self, owner: &mut Value) {
        let key = format!(
            "{}/{}",
            owner["kind"].as_str().unwrap().to_lowercase(),
            owner["name"].as_str().unwrap()
        );
        let uid = match self.objects.get(&key) {
            Some(_) => self.get(&key).await.unwrap()["metadata"]["uid"].clone(),
            // The owner is none that the case knows.
            None => json!("00000000-0000-4000-8000-000000000000"),
        };
        owner["apiVersion"] = json!("apps/v1");
        owner["uid"] = uid;
        owner["controller"] = json!(true);
        owner["blockOwnerDeletion"] = json!(true);
    }

    /// An object as it is now; `None` when it is gone.
    pub(crate) async fn get(&self, key: &str) -> Option<Value> {
        self.ask("GET", &self.objects[key], "", &Value::Null)
            .await
            .ok()
    }

    /// Sets the whole status; times in it are seconds from now.
    pub(crate) async fn set_status(&self, path: &str, mut status: Value) {
        in_place(&mut status, Clock::system().now());
        let mut object = self
            .send("GET", path, "application/json", &Value::Null)
            .await;
        object["status"] = status;
        self.send(
            "PUT",
            &format!("{path}/status"),
            "application/json",
            &object,
        )
        .await;
    }

    pub(crate) async fn merge(&self, path: &str, body: &Value) {
        self.send("PATCH", path, "application/merge-patch+json", body)
            .await;
    }

    /// Sends a request that must succeed.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Value {
        match self.ask(method, path, content, body).await {
            Ok(answer) => answer,
            Err(answer) => panic!("{method} {path}: {answer}"),
        }
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, Value> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content)
            .header("user-agent", "recorder/1")
            .body(Full::new(Bytes::from(body.to_string())))
            .unwrap();
        let response = self.place.answer(request).await;
        let is_success = response.status().is_success();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let answer = serde_json::from_slice(&body).unwrap();
        if is_success { Ok(answer) } else { Err(answer) }
    }
}

/// Times of conditions, which are seconds from now, and `<now>`.
fn in_place(value: &mut Value, now: Timestamp) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| in_place(item, now)),
        Value::Object(members) => {
            for (name, value) in members {
                if name.starts_with("last")
                    && let Some(seconds) = value.as_i64()
                {
                    let at = now + SignedDuration::from_secs(seconds);
                    *value = json!(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
                }
                in_place(value, now);
            }
        }
        Value::String(text) if text == "<now>" => {
            *text = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        }
        _ => {}
    }
}
