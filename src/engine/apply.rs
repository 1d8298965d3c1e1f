//! Sends one action and classifies the answer. What the server returns goes into the store at once.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::core::Status;
use serde::Deserialize;

use crate::clock::Clock;
use crate::controller::action::{Action, Applied, Kind, Outcome, Refusal, RefusalReason, Target};
use crate::controller::api::{
    Deployment, ObjectKey, ObjectMeta, Pod, ReplicaSet, ReplicaSetStatus,
};
use crate::controller::plan::LiveOwner;

use super::error::EngineError;
use super::exchange::{Failed, exchange};
use super::kind::SlimKind;
use super::options::DryRun;
use super::record::EventRecorder;
use super::request::Requests;

/// What came back for one action.
#[derive(Debug)]
pub struct Answer {
    /// For the core.
    pub outcome: Outcome,
    /// For the store.
    pub effect: Effect,
    /// How long the server wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// What a write changed in the cluster, as its answer shows it.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Nothing that the store keeps.
    None,
    /// A Deployment's new version.
    Deployment(Arc<Deployment>),
    /// A ReplicaSet's new version.
    ReplicaSet(Arc<ReplicaSet>),
    /// A pod's new version.
    Pod(Arc<Pod>),
    /// The object is gone.
    Gone {
        /// Which kind.
        kind: Kind,
        /// Which object.
        key: ObjectKey,
        /// Its UID.
        uid: String,
    },
}

/// Sends actions to one cluster.
pub struct Sender {
    client: Client,
    requests: Requests,
    events: EventRecorder,
}

impl Sender {
    /// A sender for `client`; `clock` is what events take their times from.
    pub fn new(client: Client, clock: Clock, dry_run: DryRun) -> Self {
        Self {
            events: EventRecorder::new(client.clone(), clock),
            requests: Requests { dry_run },
            client,
        }
    }

    /// Sends one action and waits for its answer. In a client-side dry run nothing is sent and all succeeds.
    pub async fn send(&self, action: &Action) -> Answer {
        if self.requests.dry_run == DryRun::Client {
            return Answer::applied(Applied::default(), Effect::None);
        }
        if let Action::RecordEvent {
            regarding,
            type_,
            reason,
            message,
        } = action
        {
            if self.requests.dry_run == DryRun::None {
                self.events.record(regarding, *type_, reason, message).await;
            }
            return Answer::applied(Applied::default(), Effect::None);
        }
        if let Action::UpdateReplicaSetStatus {
            target,
            status,
            reread: true,
        } = action
        {
            return self.send_over_live(target, status).await;
        }
        self.send_as_is(action).await
    }

    /// Writes a status over whatever version the ReplicaSet has now.
    async fn send_over_live(&self, target: &Target, status: &ReplicaSetStatus) -> Answer {
        let live = match self.get::<ReplicaSet>(&target.key).await {
            Ok(Some(live)) if live.meta.uid == target.uid => live,
            Ok(_) => {
                let message = format!("replicasets.apps {:?} not found", target.key.name);
                return Answer::refused(RefusalReason::NotFound, message);
            }
            Err(error) => return Answer::refused(RefusalReason::Other, error.to_string()),
        };
        self.send_as_is(&Action::UpdateReplicaSetStatus {
            target: Target::new(Kind::ReplicaSet, &live.meta),
            status: Box::new(status.clone()),
            reread: false,
        })
        .await
    }

    async fn send_as_is(&self, action: &Action) -> Answer {
        let request = match self.requests.of(action) {
            Ok(Some(request)) => request,
            Ok(None) => return Answer::applied(Applied::default(), Effect::None),
            Err(error) => return Answer::refused(RefusalReason::Other, error.to_string()),
        };
        match exchange(&self.client, request).await {
            Ok(body) => self.accept(action, &body),
            Err(failed) => Answer::from_failure(&failed, action),
        }
    }

    /// Reads an object as it is now; `None` when there is none.
    ///
    /// # Errors
    /// When the server can't be asked or does not allow it.
    pub async fn get<T: SlimKind>(&self, key: &ObjectKey) -> Result<Option<Arc<T>>, EngineError> {
        let path = T::KIND.path(Some(&key.namespace));
        let request = kube::core::Request::new(path)
            .get(&key.name, &kube::api::GetParams::default())
            .map_err(|error| {
                EngineError::reading(T::KIND, key, kube::Error::BuildRequest(error))
            })?;
        match self.client.request::<T>(request).await {
            Ok(object) => Ok(Some(Arc::new(object))),
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
            Err(error) => Err(EngineError::reading(T::KIND, key, error)),
        }
    }

    /// Reads one object anew. Nothing comes back when it can't be read; `uid` tells whom a missing object was.
    pub async fn read(&self, kind: Kind, key: &ObjectKey, uid: Option<&str>) -> Vec<Effect> {
        let effect = match kind {
            Kind::Deployment => self
                .get(key)
                .await
                .map(|found| found.map(Effect::Deployment)),
            Kind::ReplicaSet => self
                .get(key)
                .await
                .map(|found| found.map(Effect::ReplicaSet)),
            Kind::Pod => self.get(key).await.map(|found| found.map(Effect::Pod)),
        };
        match (effect, uid) {
            (Ok(Some(effect)), _) => vec![effect],
            (Ok(None), Some(uid)) => {
                vec![Effect::Gone {
                    kind,
                    key: key.clone(),
                    uid: uid.to_owned(),
                }]
            }
            (Ok(None), None) | (Err(_), _) => Vec::new(),
        }
    }

    /// The client that it sends with.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What a fresh read of an owner says, for the check before an adoption.
    pub async fn live_owner<T: SlimKind>(&self, key: &ObjectKey, uid: &str) -> LiveOwner {
        match self.get::<T>(key).await {
            Ok(Some(object)) if object.meta().uid != uid => LiveOwner::Recreated {
                uid: object.meta().uid.clone(),
            },
            Ok(Some(object)) => match &object.meta().deletion_timestamp {
                Some(since) => LiveOwner::Deleting { since: since.0 },
                None => LiveOwner::Unchanged,
            },
            Ok(None) => LiveOwner::Unreadable(Refusal {
                reason: RefusalReason::NotFound,
                message: format!("{}.apps {:?} not found", T::KIND.plural(), key.name),
            }),
            Err(error) => LiveOwner::Unreadable(Refusal {
                reason: RefusalReason::Other,
                message: error.to_string(),
            }),
        }
    }

    fn accept(&self, action: &Action, body: &str) -> Answer {
        let answer = if self.requests.dry_run == DryRun::Server {
            serde_json::from_str(body)
                .map(|Stored { metadata }| Answer::applied(applied(&metadata), Effect::None))
        } else {
            effect_of(action, body).map(|effect| Answer::applied(effect.applied(), effect))
        };
        answer.unwrap_or_else(|error| {
            let message = format!("the server's answer can't be read: {error}");
            Answer::refused(RefusalReason::Timeout, message)
        })
    }
}

impl Answer {
    /// It was done.
    pub fn applied(applied: Applied, effect: Effect) -> Self {
        Self {
            outcome: Outcome::Applied(applied),
            effect,
            retry_after: None,
        }
    }

    /// Whether it says that `action` has made a difference: an update that changes nothing leaves the version as it was.
    pub fn changes(&self, action: &Action) -> bool {
        let Outcome::Applied(applied) = &self.outcome else {
            return false;
        };
        let before = action.target().map(|target| &target.resource_version);
        !action.is_event()
            && (before != Some(&applied.resource_version) || matches!(self.effect, Effect::None))
    }

    /// Whether it shows a status without the `terminatingReplicas` that `action` has written.
    pub fn omits_terminating_replicas(&self, action: &Action) -> bool {
        let (written, stored) = match (action, &self.effect) {
            (Action::UpdateDeploymentStatus { status, .. }, Effect::Deployment(stored)) => (
                status.terminating_replicas,
                stored.status.terminating_replicas,
            ),
            (Action::UpdateReplicaSetStatus { status, .. }, Effect::ReplicaSet(stored)) => (
                status.terminating_replicas,
                stored.status.terminating_replicas,
            ),
            _ => return false,
        };
        written.is_some() && stored.is_none()
    }

    fn refused(reason: RefusalReason, message: String) -> Self {
        Self {
            outcome: Outcome::Refused(Refusal { reason, message }),
            effect: Effect::None,
            retry_after: None,
        }
    }

    fn from_failure(failed: &Failed, action: &Action) -> Self {
        let refusal = classify(&failed.error);
        let effect = match refusal.reason {
            RefusalReason::NotFound => gone(action),
            _ => Effect::None,
        };
        Self {
            outcome: Outcome::Refused(refusal),
            effect,
            retry_after: failed.retry_after,
        }
    }
}

/// The refusal behind an error of the client.
pub fn classify(error: &kube::Error) -> Refusal {
    let reason = match error {
        kube::Error::Api(status) => reason_of(status),
        _ => RefusalReason::Timeout,
    };
    Refusal {
        reason,
        message: one_line(error),
    }
}

/// An error of the client as one line, in the server's words where it gave any.
pub fn one_line(error: &kube::Error) -> String {
    let text = match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        kube::Error::Service(source) => source.to_string(),
        other => other.to_string(),
    };
    text.lines().collect::<Vec<_>>().join(" ")
}

fn reason_of(status: &Status) -> RefusalReason {
    let terminating = status.details.as_ref().is_some_and(|details| {
        details
            .causes
            .iter()
            .any(|cause| cause.reason == "NamespaceTerminating")
    });
    match (status.reason.as_str(), status.code) {
        _ if terminating => RefusalReason::NamespaceTerminating,
        ("NotFound", _) => RefusalReason::NotFound,
        ("AlreadyExists", _) => RefusalReason::AlreadyExists,
        ("Conflict", _) => RefusalReason::Conflict,
        ("Invalid", _) => RefusalReason::Invalid,
        ("Forbidden", _) => RefusalReason::Forbidden,
        ("Timeout" | "ServerTimeout", _) | (_, 504) => RefusalReason::Timeout,
        ("TooManyRequests" | "ServiceUnavailable", _) | (_, 429 | 503) => RefusalReason::Busy,
        _ => RefusalReason::Other,
    }
}

impl Effect {
    /// What the core is told of a write that had this effect.
    fn applied(&self) -> Applied {
        let meta = match self {
            Self::Deployment(object) => &object.meta,
            Self::ReplicaSet(object) => &object.meta,
            Self::Pod(object) => &object.meta,
            Self::None | Self::Gone { .. } => return Applied::default(),
        };
        applied(meta)
    }
}

fn applied(meta: &ObjectMeta) -> Applied {
    Applied {
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        resource_version: meta.resource_version.clone(),
    }
}

/// A finished delete is answered with a `Status`, one that takes its time with the object. A deleted object whose last
/// finalizer was taken away is answered as it last was.
fn effect_of(action: &Action, body: &str) -> Result<Effect, serde_json::Error> {
    let deletes = matches!(
        action,
        Action::DeletePod { .. } | Action::DeleteReplicaSet { .. } | Action::Collect { .. }
    );
    if deletes && serde_json::from_str::<Kinded>(body)?.kind == "Status" {
        return Ok(gone(action));
    }
    if matches!(action, Action::RemoveFinalizer { .. }) {
        let Stored { metadata } = serde_json::from_str(body)?;
        let grace = metadata.deletion_grace_period_seconds.unwrap_or_default();
        if metadata.is_deleting() && metadata.finalizers.is_empty() && grace == 0 {
            return Ok(gone(action));
        }
    }
    Ok(match action.kind() {
        Kind::Deployment => Effect::Deployment(serde_json::from_str(body)?),
        Kind::ReplicaSet => Effect::ReplicaSet(serde_json::from_str(body)?),
        Kind::Pod => Effect::Pod(serde_json::from_str(body)?),
    })
}

/// The object that an action is about is no more.
fn gone(action: &Action) -> Effect {
    action.target().map_or(Effect::None, |target| Effect::Gone {
        kind: target.kind,
        key: target.key.clone(),
        uid: target.uid.clone(),
    })
}

#[derive(Deserialize)]
struct Kinded {
    #[serde(default)]
    kind: String,
}

/// Any object, as far as a dry run's answer is read.
#[derive(Deserialize)]
struct Stored {
    metadata: ObjectMeta,
}
