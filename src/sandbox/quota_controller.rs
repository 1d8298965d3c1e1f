//! Recounts what the objects of a namespace take of its quotas, as the quota controller of a real cluster does.
//!
//! Admission only ever adds to a quota's `status.used`, and only once there is a `status.hard`. One task here fills
//! the status of new and changed quotas and gives back what deleted objects and finished pods took.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream, SelectAll};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::{Duration, sleep};

use super::kinds::{self, Kind};
use super::status::ApiError;
use super::store::Change;
use super::{Changes, Object, Sandbox, admission, quota};

/// How long a recount waits for more to recount.
const PAUSE: Duration = Duration::from_millis(100);

/// A running quota controller. It stops when this is dropped: quotas stay as they are.
#[derive(Debug)]
#[must_use = "the controller stops when this is dropped"]
pub struct QuotaController {
    task: JoinHandle<Result<(), ApiError>>,
}

impl Drop for QuotaController {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sandbox {
    /// Starts what keeps the status of quotas. It needs a tokio runtime around it.
    ///
    /// # Errors
    /// None, as long as the cluster knows quotas.
    pub fn start_quota_controller(&self) -> Result<QuotaController, ApiError> {
        let driver = Driver::new(self)?;
        Ok(QuotaController {
            task: tokio::spawn(driver.run()),
        })
    }
}

/// Changes of one kind; none if too many were missed.
type Batch = (&'static Kind, Option<Vec<Change>>);

struct Driver {
    sandbox: Sandbox,
    batches: SelectAll<BoxStream<'static, Batch>>,
    /// Namespaces with quotas. As long as there are none, nothing but quotas is watched.
    limited: BTreeSet<String>,
    /// Those of them whose quotas may be wrong.
    stale: BTreeSet<String>,
}

impl Driver {
    fn new(sandbox: &Sandbox) -> Result<Self, ApiError> {
        let mut driver = Self {
            sandbox: sandbox.clone(),
            batches: SelectAll::new(),
            limited: BTreeSet::new(),
            stale: BTreeSet::new(),
        };
        driver.watch(quotas())?;
        driver.doubt_all()?;
        Ok(driver)
    }

    async fn run(mut self) -> Result<(), ApiError> {
        loop {
            for namespace in std::mem::take(&mut self.stale) {
                admission::recount_quotas(&mut self.sandbox.server.lock(), &namespace)?;
            }
            while self.stale.is_empty() {
                if let Some((kind, changes)) = self.batches.next().await {
                    self.take_in(kind, changes)?;
                }
            }
            sleep(PAUSE).await;
        }
    }

    fn watch(&mut self, kind: &'static Kind) -> Result<(), ApiError> {
        let (_, changes) = self.sandbox.subscribe(kind.plural)?;
        let batches = stream::unfold(Some(changes), move |changes: Option<Changes>| async move {
            let mut changes = changes?;
            let batch = changes.next().await;
            let rest = batch.is_some().then_some(changes);
            Some(((kind, batch), rest))
        });
        self.batches.push(batches.boxed());
        Ok(())
    }

    fn take_in(
        &mut self,
        kind: &'static Kind,
        changes: Option<Vec<Change>>,
    ) -> Result<(), ApiError> {
        let Some(changes) = changes else {
            self.watch(kind)?;
            return self.doubt_all();
        };
        for change in changes.iter().filter(|change| gives_back(kind, change)) {
            if let Some(object) = change.after.as_ref().or(change.before.as_ref()) {
                let namespace = object.namespace();
                if kind == quotas() {
                    self.limit(namespace)?;
                } else if self.limited.contains(namespace) {
                    self.stale.insert(namespace.to_owned());
                }
            }
        }
        Ok(())
    }

    fn doubt_all(&mut self) -> Result<(), ApiError> {
        for quota in self.sandbox.list(quotas().plural, None) {
            self.limit(quota.namespace())?;
        }
        Ok(())
    }

    /// Notes that a namespace has quotas, which are to be counted.
    fn limit(&mut self, namespace: &str) -> Result<(), ApiError> {
        if self.limited.is_empty() {
            for kind in quota::counted_kinds().filter(|kind| *kind != quotas()) {
                self.watch(kind)?;
            }
        }
        self.limited.insert(namespace.to_owned());
        self.stale.insert(namespace.to_owned());
        Ok(())
    }
}

fn quotas() -> &'static Kind {
    kinds::by_plural("resourcequotas").expect("the table has quotas")
}

/// Whether quotas may count less after a change, or another limit. What takes more is charged by admission.
fn gives_back(kind: &Kind, change: &Change) -> bool {
    let Some(after) = &change.after else {
        return true;
    };
    let before = change.before.as_deref();
    match kind.plural {
        "resourcequotas" => before.is_none_or(|before| limits(before) != limits(after)),
        "pods" => has_ended(after) && !before.is_some_and(has_ended),
        "services" | "persistentvolumeclaims" => before.is_some(),
        _ => false,
    }
}

/// What a quota limits, wherever it says so.
fn limits(quota: &Object) -> [Value; 2] {
    let quota = quota.value(quotas());
    [quota["spec"].clone(), quota["status"]["hard"].clone()]
}

fn has_ended(pod: &Object) -> bool {
    let pod: Value = pod.decode().unwrap_or_default();
    matches!(
        pod["status"]["phase"].as_str(),
        Some("Failed" | "Succeeded")
    )
}
