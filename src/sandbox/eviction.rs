//! Eviction: a delete that a `PodDisruptionBudget` may refuse.

use std::collections::BTreeMap;
use std::ops::Bound;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::{Selector, SelectorExt as _};
use serde_json::{Value, json};

use super::kinds::{self, Kind};
use super::object::Object;
use super::persist::Write;
use super::query::DeleteOptions;
use super::reply::Reply;
use super::request::ApiRequest;
use super::server::State;
use super::status::ApiError;
use super::{body, delete, metadata, read, subresource};

/// POST of an Eviction.
pub(crate) fn create(
    state: &mut State,
    request: &ApiRequest,
    write: &Write<'_>,
) -> Result<Reply, ApiError> {
    let target = write.target;
    let eviction = body::parse(request, "Eviction")?;
    if eviction["metadata"]["name"].as_str() != target.name.as_deref() {
        let message = "name in URL does not match name in Eviction object";
        return Err(ApiError::bad_request(message));
    }
    let mut options: DeleteOptions = match &eviction["deleteOptions"] {
        Value::Null => DeleteOptions::default(),
        options => serde_json::from_value(options.clone())
            .map_err(|error| ApiError::bad_request(error.to_string()))?,
    };
    if write.options.dry_run {
        options.dry_run = vec!["All".to_owned()];
    }
    options.check()?;
    let pod = read::find(&state.store, target)?.clone();
    delete::check_preconditions(target.kind, &pod, &options)?;
    if is_guarded(&pod.value(target.kind)) {
        ask_budget(state, &pod, options.is_dry_run())?;
    }
    if !options.is_dry_run() {
        mark_target(state, target.kind, &pod);
    }
    delete::delete_object(state, target, &options)?;
    Ok(subresource::success())
}

/// The pod says why it goes.
fn mark_target(state: &mut State, kind: &Kind, pod: &Object) {
    let mut value = pod.value(kind);
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": metadata::time(state.now()),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    });
    if set_condition(&mut value["status"], condition) {
        state.store.put(kind.collection, value);
    }
}

/// Sets a condition of a type; says whether that changed its status.
fn set_condition(status: &mut Value, condition: Value) -> bool {
    let Some(conditions) = status["conditions"].as_array_mut() else {
        status["conditions"] = json!([condition]);
        return true;
    };
    let same = |one: &&mut Value| one["type"] == condition["type"];
    match conditions.iter_mut().find(same) {
        Some(present) if present["status"] == condition["status"] => false,
        Some(present) => {
            *present = condition;
            true
        }
        None => {
            conditions.push(condition);
            true
        }
    }
}

/// Pods that serve nobody, or are ending anyway, can always go.
fn is_guarded(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str();
    !matches!(phase, Some("Pending" | "Succeeded" | "Failed"))
        && pod["metadata"]["deletionTimestamp"].is_null()
}

/// Takes a disruption from the pod's budget, if it has one.
fn ask_budget(state: &mut State, pod: &Object, is_dry_run: bool) -> Result<(), ApiError> {
    let budgets = kinds::by_plural("poddisruptionbudgets").expect("the table has budgets");
    let mut guarding = state
        .store
        .list(budgets.collection, Some(pod.namespace()), &Bound::Unbounded)
        .map(|budget| budget.value(budgets))
        .filter(|budget| selects(&budget["spec"]["selector"], pod));
    let Some(mut budget) = guarding.next() else {
        return Ok(());
    };
    if guarding.next().is_some() {
        return Err(ApiError::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    }
    drop(guarding);
    if is_unready_and_spare(pod, &budget) {
        return Ok(());
    }
    check_budget(&budget)?;
    if !is_dry_run {
        take_disruption(state, budgets, &mut budget, pod.name());
    }
    Ok(())
}

fn selects(selector: &Value, pod: &Object) -> bool {
    let selector = serde_json::from_value::<LabelSelector>(selector.clone()).ok();
    let selector = selector.and_then(|selector| Selector::try_from(selector).ok());
    let labels: BTreeMap<String, String> = pod
        .labels()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    selector.is_some_and(|selector| selector.matches(&labels))
}

/// An unready pod may go where the budget is met without it, or says that unready pods may always go.
fn is_unready_and_spare(pod: &Object, budget: &Value) -> bool {
    let status = pod.status();
    let is_ready = status["conditions"].as_array().is_some_and(|conditions| {
        conditions
            .iter()
            .any(|one| one["type"] == "Ready" && one["status"] == "True")
    });
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let is_met = count("desiredHealthy") > 0 && count("currentHealthy") >= count("desiredHealthy");
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    !is_ready && (is_met || always)
}

fn check_budget(budget: &Value) -> Result<(), ApiError> {
    /// Seconds until the budget's controller may have caught up.
    const PATIENCE: u32 = 10;
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let status = &budget["status"];
    if number(&status["observedGeneration"]) < number(&budget["metadata"]["generation"]) {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(ApiError::too_many_disruptions(&why, Some(PATIENCE)));
    }
    if number(&status["disruptionsAllowed"]) <= 0 {
        let why = format!("The disruption budget {name} does not allow evicting pods currently");
        return Err(ApiError::too_many_disruptions(&why, None));
    }
    Ok(())
}

fn take_disruption(state: &mut State, kind: &Kind, budget: &mut Value, pod: &str) {
    let now = metadata::time(state.now());
    let status = &mut budget["status"];
    let left = status["disruptionsAllowed"].as_i64().unwrap_or_default() - 1;
    status["disruptionsAllowed"] = left.into();
    status["disruptedPods"][pod] = now.clone();
    let (allowed, reason) = if left > 0 {
        ("True", "SufficientPods")
    } else {
        ("False", "InsufficientPods")
    };
    let condition = json!({
        "type": "DisruptionAllowed",
        "status": allowed,
        "observedGeneration": status["observedGeneration"],
        "lastTransitionTime": now,
        "reason": reason,
        "message": "",
    });
    set_condition(status, condition);
    state.store.put(kind.collection, budget.take());
}
