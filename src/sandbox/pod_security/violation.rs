//! What a check finds, and the words for who does what.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sandbox::json::{list, text};

/// Something that a standard does not allow, and who does it.
pub(super) struct Violation {
    pub(super) reason: String,
    pub(super) detail: String,
}

/// Looks at a pod, or the template of one.
pub(super) type Check = fn(&Value) -> Option<Violation>;

pub(super) fn violation(reason: &str, detail: String) -> Violation {
    Violation {
        reason: reason.to_owned(),
        detail,
    }
}

pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|field| list(&pod["spec"][field]))
}

/// The names of the containers of which something holds.
pub(super) fn those(pod: &Value, is_bad: impl Fn(&Value) -> bool) -> Vec<&str> {
    containers(pod)
        .filter(|container| is_bad(container))
        .map(|container| text(&container["name"]))
        .collect()
}

pub(super) fn plural(count: usize, one: &'static str, more: &'static str) -> &'static str {
    if count == 1 { one } else { more }
}

pub(super) fn quoted<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<_> = items
        .into_iter()
        .map(|item| format!("\"{}\"", item.as_ref()))
        .collect();
    items.join(", ")
}

/// `container "web"`, `containers "web", "side"`
pub(super) fn named(names: &[&str]) -> String {
    let what = plural(names.len(), "container", "containers");
    format!("{what} {}", quoted(names))
}

/// Who sets something in a security context of which it holds: the pod, containers, or both.
pub(super) fn setters(pod: &Value, is_bad: impl Fn(&Value) -> bool) -> Option<String> {
    let mut setters = Vec::new();
    if is_bad(&pod["spec"]["securityContext"]) {
        setters.push("pod".to_owned());
    }
    let names = those(pod, |container| is_bad(&container["securityContext"]));
    if !names.is_empty() {
        setters.push(named(&names));
    }
    (!setters.is_empty()).then(|| setters.join(" and "))
}

/// What the pod's and the containers' security contexts hold in a place.
pub(super) fn values<'v>(
    pod: &'v Value,
    of: impl Fn(&'v Value) -> &'v Value,
) -> impl Iterator<Item = &'v str> {
    let own = std::iter::once(&pod["spec"]["securityContext"]);
    let contexts = own.chain(containers(pod).map(|container| &container["securityContext"]));
    contexts.map(of).filter_map(Value::as_str)
}

/// Whether the pod's users are none of the host's.
pub(super) fn has_own_users(pod: &Value) -> bool {
    pod["spec"]["hostUsers"] == false
}

/// Containers that add capabilities beyond the allowed ones, and which.
pub(super) fn adding(pod: &Value, allowed: &[&str]) -> Option<String> {
    let added = |container: &Value| -> BTreeSet<String> {
        list(&container["securityContext"]["capabilities"]["add"])
            .iter()
            .map(text)
            .filter(|capability| !allowed.contains(capability))
            .map(str::to_owned)
            .collect()
    };
    let names = those(pod, |container| !added(container).is_empty());
    let capabilities: BTreeSet<_> = containers(pod).flat_map(added).collect();
    (!names.is_empty()).then(|| {
        let capabilities = quoted(&capabilities);
        format!(
            "{} must not include {capabilities} in securityContext.capabilities.add",
            named(&names)
        )
    })
}
