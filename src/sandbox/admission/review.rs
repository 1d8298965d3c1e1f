//! The validating plugins, in their order: what they have against an object that is valid.

use serde_json::Value;

use super::quotas::charge;
use super::{all, known, stored, subject};
use crate::sandbox::json::text;
use crate::sandbox::kinds::Kind;
use crate::sandbox::persist::Write;
use crate::sandbox::server::State;
use crate::sandbox::status::ApiError;
use crate::sandbox::store::Store;
use crate::sandbox::{limit_range, pod_security};

/// Looks at a valid object that is about to be stored in the place of `old`, if there is one.
pub(crate) fn review(
    state: &mut State,
    write: &Write<'_>,
    kind: &Kind,
    old: Option<&Value>,
    new: &Value,
) -> Result<(), ApiError> {
    if !write.subresource().is_empty() {
        return Ok(());
    }
    let forbidden = |why: String| ApiError::forbidden(kind, subject(new), &why);
    if old.is_none() {
        check_limits(&state.store, kind, new).map_err(forbidden)?;
    }
    check_pod_security(&state.store, write, kind, old, new)?;
    check_priority_class(&state.store, kind, new).map_err(forbidden)?;
    charge(state, write, kind, old, new)
}

fn namespace_of(object: &Value) -> &str {
    text(&object["metadata"]["namespace"])
}

/// The first LimitRange that has something against it has the say.
fn check_limits(store: &Store, kind: &Kind, new: &Value) -> Result<(), String> {
    if !matches!(kind.kind, "Pod" | "PersistentVolumeClaim") {
        return Ok(());
    }
    for range in all(store, "limitranges", namespace_of(new)) {
        let violations = limit_range::violations(&range, kind.kind, new);
        match violations.as_slice() {
            [] => {}
            [violation] => return Err(violation.clone()),
            _ => return Err(format!("[{}]", violations.join(", "))),
        }
    }
    Ok(())
}

fn check_pod_security(
    store: &Store,
    write: &Write<'_>,
    kind: &Kind,
    old: Option<&Value>,
    new: &Value,
) -> Result<(), ApiError> {
    if kind.kind == "Namespace" {
        let errors = pod_security::label_errors(new);
        let is_new = old.is_none_or(|old| pod_security::label_errors(old) != errors);
        if errors.is_empty() || !is_new {
            return Ok(());
        }
        return Err(ApiError::invalid(kind, subject(new), &errors));
    }
    let template = match kind.kind {
        "Pod" => new,
        "CronJob" => &new["spec"]["jobTemplate"]["spec"]["template"],
        "PodTemplate" => &new["template"],
        _ => &new["spec"]["template"],
    };
    let is_pod = kind.kind == "Pod";
    let is_settled = is_pod && old.is_some_and(|old| !pod_security::is_significant(new, old));
    if !template["spec"].is_object() || is_settled {
        return Ok(());
    }
    let Some(namespace) = stored(store, "namespaces", namespace_of(new)) else {
        return Ok(());
    };
    if !pod_security::is_set_up(namespace.labels().map(|(name, _)| name)) {
        return Ok(());
    }
    let namespace = namespace.value(known("namespaces"));
    if is_pod && let Some(why) = pod_security::refusal(&namespace, new) {
        return Err(ApiError::forbidden(kind, subject(new), &why));
    }
    write.warn(pod_security::warning(&namespace, template));
    Ok(())
}

/// There is one default class at most.
fn check_priority_class(store: &Store, kind: &Kind, new: &Value) -> Result<(), String> {
    if kind.kind != "PriorityClass" || new["globalDefault"] != true {
        return Ok(());
    }
    let classes = all(store, "priorityclasses", "");
    let other = classes.iter().find(|class| {
        class["globalDefault"] == true && class["metadata"]["name"] != new["metadata"]["name"]
    });
    other.map_or(Ok(()), |other| {
        let name = text(&other["metadata"]["name"]);
        Err(format!(
            "PriorityClass {name} is already marked as default. Only one default can exist"
        ))
    })
}
