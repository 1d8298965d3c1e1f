//! Paths below an object that are no view of it, and resources that keep nothing: what can be done here, and what a
//! cluster without nodes has no answer to.

use http::StatusCode;
use serde_json::{Value, json};

use super::persist::Write;
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use super::{binding, body, eviction, read};

/// POST to a subresource, or to a resource that keeps nothing.
pub(crate) fn create(
    state: &mut State,
    request: &ApiRequest,
    write: &Write<'_>,
) -> Result<Reply, ApiError> {
    let target = write.target;
    match (target.kind.kind, write.subresource()) {
        ("Binding", "") => binding::create(state, request, write, None),
        ("Pod", "binding") => binding::create(state, request, write, target.name.as_deref()),
        ("Pod", "eviction") => eviction::create(state, request, write),
        ("SelfSubjectAccessReview", "") => access_review(request, write),
        _ => connect(state, target),
    }
}

/// GET of a subresource that is no view of its object.
pub(crate) fn get(state: &State, request: &ApiRequest, target: &Target) -> Result<Reply, ApiError> {
    match target.subresource.as_deref() {
        Some("log") => log(state, request, target),
        _ => connect(state, target),
    }
}

/// Success, with nothing more to say.
pub(crate) fn success() -> Reply {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": StatusCode::CREATED.as_u16(),
    });
    Reply::value(StatusCode::CREATED, &status)
}

/// Everyone may do everything here.
fn access_review(request: &ApiRequest, write: &Write<'_>) -> Result<Reply, ApiError> {
    let validation = write.options.field_validation;
    let mut review = body::object(request, write.target.kind, validation)?.object;
    review["status"] = json!({"allowed": true});
    Ok(Reply::value(StatusCode::CREATED, &review))
}

/// What would lead to a kubelet ends here.
fn connect(state: &State, target: &Target) -> Result<Reply, ApiError> {
    let object = read::find(&state.store, target)?.value(target.kind);
    let name = target.name.as_deref().unwrap_or_default();
    let what = target.subresource.as_deref().unwrap_or_default();
    let is_bound = object["spec"]["nodeName"].is_string();
    if target.kind.kind == "Pod" && !is_bound {
        let message = format!("pod {name} does not have a host assigned");
        return Err(ApiError::bad_request(message));
    }
    let kind = target.kind.singular();
    let message = format!("{kind} {name}: {what} is not simulated");
    Err(ApiError::bad_request(message))
}

/// The log of a container. Simulated containers write none.
fn log(state: &State, request: &ApiRequest, target: &Target) -> Result<Reply, ApiError> {
    let pod = read::find(&state.store, target)?.value(target.kind);
    let name = target.name.as_deref().unwrap_or_default();
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let containers = lists
        .iter()
        .filter_map(|list| pod["spec"][*list].as_array())
        .flatten();
    let is_there = |container: &Value| match request.query.get("container") {
        Some(wanted) => container["name"] == wanted,
        None => true,
    };
    if !containers.into_iter().any(is_there) {
        let wanted = request.query.get("container").unwrap_or_default();
        let message = format!("container {wanted} is not valid for pod {name}");
        return Err(ApiError::bad_request(message));
    }
    Ok(Reply::text(StatusCode::NO_CONTENT, ""))
}
