//! Binding a pod to a node: what `pods/binding` does, and the simulated scheduler.

use std::sync::Arc;

use serde_json::json;

use super::kinds;
use super::metadata;
use super::object::Object;
use super::server::State;
use super::status::ApiError;
use crate::controller::api::ObjectKey;

/// Puts a pod on a node. Only a pod with this UID will do, if one is given.
pub(crate) fn bind(
    state: &mut State,
    key: &ObjectKey,
    uid: Option<&str>,
    node: &str,
) -> Result<Arc<Object>, ApiError> {
    let kind = kinds::by_plural("pods").expect("the table has pods");
    let stored = state
        .store
        .get(kind.collection, key)
        .filter(|stored| uid.is_none_or(|uid| uid == stored.uid()))
        .ok_or_else(|| ApiError::not_found(kind, &key.name))?;
    let mut pod = stored.value(kind);
    let refused = |why: String| Err(ApiError::unbindable(&key.name, &why));
    if pod["metadata"]["deletionTimestamp"].is_string() {
        return refused(format!(
            "pod {} is being deleted, cannot be assigned to a host",
            key.name
        ));
    }
    if let Some(bound) = pod["spec"]["nodeName"]
        .as_str()
        .filter(|name| !name.is_empty())
    {
        return refused(format!(
            "pod {} is already assigned to node {bound:?}",
            key.name
        ));
    }
    pod["spec"]["nodeName"] = node.into();
    let scheduled = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": metadata::time(state.now()),
    });
    let conditions = &mut pod["status"]["conditions"];
    match conditions.as_array_mut() {
        Some(conditions) => {
            conditions.retain(|condition| condition["type"] != "PodScheduled");
            conditions.push(scheduled);
        }
        None => *conditions = json!([scheduled]),
    }
    Ok(state.store.put(kind.collection, pod))
}
