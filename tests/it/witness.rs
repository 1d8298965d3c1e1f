//! Watches every change of a cluster's pods, and objects as soon as a bound is broken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kubectl_rs::sandbox::Sandbox;
use serde_json::Value;
use tokio::task::JoinHandle;

/// What a Deployment's pods must keep to at every moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most active pods.
    pub(crate) most: usize,
    /// The fewest available pods, once there were as many.
    pub(crate) fewest_available: usize,
}

/// A running witness.
pub(crate) struct Witness {
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

struct Seen {
    bounds: Bounds,
    pods: BTreeMap<String, Pod>,
    was_available: bool,
    objections: Vec<String>,
}

#[derive(Clone, Copy)]
struct Pod {
    ready: bool,
}

impl Witness {
    /// Watches all pods from here on.
    pub(crate) fn of(sandbox: &Sandbox, bounds: Bounds) -> Self {
        let (objects, mut changes) = sandbox.subscribe("pods").expect("pods are served");
        let seen = Arc::new(Mutex::new(Seen {
            bounds,
            pods: BTreeMap::new(),
            was_available: false,
            objections: Vec::new(),
        }));
        let noted = Arc::clone(&seen);
        for object in objects {
            let object = object.decode().expect("JSON");
            noted.lock().expect("no panic").note(&object, false);
        }
        let task = tokio::spawn(async move {
            while let Some(batch) = changes.next().await {
                let mut seen = noted.lock().expect("no panic");
                for change in batch {
                    let gone = change.after.is_none();
                    let object = change.after.or(change.before).expect("one of them");
                    seen.note(&object.decode().expect("JSON"), gone);
                }
            }
        });
        Self { seen, task }
    }

    /// All that was wrong so far.
    pub(crate) fn objections(&self) -> Vec<String> {
        self.seen.lock().expect("no panic").objections.clone()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Seen {
    fn note(&mut self, object: &Value, gone: bool) {
        let name = object["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let finished = matches!(
            object["status"]["phase"].as_str(),
            Some("Failed" | "Succeeded")
        );
        if gone || finished || object["metadata"]["deletionTimestamp"].is_string() {
            self.pods.remove(&name);
        } else {
            let conditions = object["status"]["conditions"].as_array();
            let ready = conditions
                .into_iter()
                .flatten()
                .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
            self.pods.insert(name.clone(), Pod { ready });
        }
        let bounds = self.bounds;
        let active = self.pods.len();
        let available = self.pods.values().filter(|pod| pod.ready).count();
        if active > bounds.most {
            self.objections
                .push(format!("{name}: {active} active pods, {bounds:?}"));
        }
        if self.was_available && available < bounds.fewest_available {
            self.objections
                .push(format!("{name}: {available} available pods, {bounds:?}"));
        }
        self.was_available |= available >= bounds.fewest_available;
    }
}
