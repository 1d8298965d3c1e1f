//! Refusals, worded and shaped as Kubernetes words them: each becomes a `Status` of failure.
//!
//! kube tells conflict, already-exists and the like by `reason` alone, so every constructor sets it.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::apply;
use super::field_error::FieldError;
use super::kinds::Kind;

/// A refusal of the API server.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status.
    pub code: StatusCode,
    /// The machine-readable reason; empty where Kubernetes gives none.
    pub reason: &'static str,
    /// The sentence for people.
    pub message: String,
    /// `details` of the Status.
    pub details: Option<Map<String, Value>>,
    /// Seconds after which to try again.
    pub retry_after: Option<u32>,
    /// A token with which an expired list can go on.
    pub continue_token: Option<String>,
}

impl ApiError {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            retry_after: None,
            continue_token: None,
        }
    }

    fn with_details(mut self, name: &str, group: &str, kind: &str) -> Self {
        let details = self.details.get_or_insert_default();
        for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                details.insert(key.to_owned(), value.into());
            }
        }
        self
    }

    /// Adds `details.causes`.
    #[must_use]
    pub fn with_causes(mut self, causes: Vec<Value>) -> Self {
        self.details
            .get_or_insert_default()
            .insert("causes".to_owned(), causes.into());
        self
    }

    /// 400, the request itself is wrong.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 404, no such object.
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} not found", kind.qualified_resource());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).with_details(
            name,
            kind.group(),
            kind.plural,
        )
    }

    /// 409, the name is taken, perhaps by an object that is going.
    pub fn already_exists(kind: &Kind, name: &str, is_going: bool) -> Self {
        let prefix = if is_going {
            "object is being deleted: "
        } else {
            ""
        };
        let message = format!(
            "{prefix}{} {name:?} already exists",
            kind.qualified_resource()
        );
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).with_details(
            name,
            kind.group(),
            kind.plural,
        )
    }

    /// 409, the object is not what the request takes it for.
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.qualified_resource();
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_details(
            name,
            kind.group(),
            kind.plural,
        )
    }

    /// 409, a pod can't be bound.
    pub fn unbindable(pod: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on pods/binding {pod:?}: {why}");
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_details(pod, "", "pods/binding")
    }

    /// 409, a precondition of a delete does not hold.
    pub fn failed_precondition(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            kind.qualified_kind()
        );
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_details(
            name,
            kind.group(),
            kind.kind,
        )
    }

    /// 409, the resourceVersion is not the latest.
    pub fn stale(kind: &Kind, name: &str) -> Self {
        Self::conflict(
            kind,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 409, other field managers have what an apply wants otherwise.
    pub fn apply_conflict(message: String, conflicts: &[apply::Conflict]) -> Self {
        let causes = conflicts.iter().map(|conflict| {
            json!({
                "reason": "FieldManagerConflict",
                "message": format!("conflict with {}", conflict.manager),
                "field": conflict.field,
            })
        });
        let causes = causes.collect();
        Self::new(StatusCode::CONFLICT, "Conflict", message).with_causes(causes)
    }

    /// 429, a disruption budget does not let a pod go.
    pub fn too_many_disruptions(why: &str, retry_after: Option<u32>) -> Self {
        let cause = json!({"reason": "DisruptionBudget", "message": why});
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.",
        )
        .with_causes(vec![cause])
        .retry_after(retry_after)
    }

    /// Says when to try again.
    fn retry_after(mut self, seconds: Option<u32>) -> Self {
        self.retry_after = seconds;
        if let Some(seconds) = seconds {
            self.details
                .get_or_insert_default()
                .insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        self
    }

    /// 409 for no reason in the object: somebody else was faster.
    pub(crate) fn contended() -> Self {
        const WHY: &str = "the object has been modified; please apply your changes to the latest version and try again";
        Self::new(StatusCode::CONFLICT, "Conflict", WHY)
    }

    /// 429, the server has too much to do.
    pub(crate) fn throttled() -> Self {
        const WHY: &str =
            "the server has received too many requests and has asked us to try again later";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", WHY).retry_after(Some(1))
    }

    /// 503, the server is about to start or to stop.
    pub(crate) fn unavailable() -> Self {
        const WHY: &str = "the server is currently unable to handle the request";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", WHY).retry_after(Some(1))
    }

    /// 504, no answer in time: what was asked may have been done.
    pub(crate) fn timed_out() -> Self {
        const WHY: &str = "request did not complete within the allotted timeout";
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", WHY)
    }

    /// 403, admission refuses.
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.qualified_resource();
        let message = format!("{resource} {name:?} is forbidden: {why}");
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).with_details(
            name,
            kind.group(),
            kind.plural,
        )
    }

    /// 422, the object is invalid.
    pub fn invalid(kind: &Kind, name: &str, errors: &[FieldError]) -> Self {
        Self::invalid_named(kind.group(), kind.kind, name, errors)
    }

    /// 422 about something that is no stored kind, `CreateOptions.meta.k8s.io`.
    pub fn invalid_named(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let qualified = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let mut sentences: Vec<_> = errors
            .iter()
            .map(|error| format!("{}: {}", error.field, error.message))
            .collect();
        let mut seen = BTreeSet::new();
        sentences.retain(|sentence| seen.insert(sentence.clone()));
        let listed = match sentences.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let causes = errors
            .iter()
            .map(|error| {
                json!({"reason": error.reason.cause(), "message": error.message, "field": error.field})
            })
            .collect();
        let message = format!("{qualified} {name:?} is invalid: {listed}");
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
            .with_details(name, group, kind)
            .with_causes(causes)
    }

    /// Sets `details` to an empty object, as refusals before the verb is reached have it.
    #[must_use]
    pub fn with_empty_details(mut self) -> Self {
        self.details = Some(Map::new());
        self
    }

    /// 422, a patch that cannot be applied.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
    }

    /// 413, more than the server takes at once.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            message,
        )
    }

    /// 405, the path does not have that verb.
    pub fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_empty_details()
    }

    /// 406, no form that the caller takes.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// 415, a body in a form that is not taken.
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// 500 without a reason, as errors come that the server did not foresee.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// 410, the history is not kept that long.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 504, a resourceVersion that does not exist yet.
    pub fn too_large_resource_version(requested: u64, current: u64) -> Self {
        let message =
            format!("Timeout: Too large resource version: {requested}, current: {current}");
        let cause = json!({
            "reason": "ResourceVersionTooLarge",
            "message": "Too large resource version",
        });
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
            .with_causes(vec![cause])
            .retry_after(Some(1))
    }

    /// The `Status` object.
    pub fn body(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.continue_token {
            metadata.insert("continue".to_owned(), token.clone().into());
        }
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "code": self.code.as_u16(),
        });
        if !self.reason.is_empty() {
            body["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            body["details"] = details.clone().into();
        }
        body
    }
}
