//! The conditions under which a quota counts an object.

use serde_json::Value;

use crate::sandbox::defaults::qos_class;
use crate::sandbox::json::{list, text};
use crate::sandbox::kinds::Kind;

struct Scope<'v> {
    name: &'v str,
    operator: &'v str,
    values: Vec<&'v str>,
}

fn scopes_of(quota: &Value) -> Vec<Scope<'_>> {
    let plain = list(&quota["spec"]["scopes"]).iter().map(|name| Scope {
        name: text(name),
        operator: "Exists",
        values: Vec::new(),
    });
    let selected = list(&quota["spec"]["scopeSelector"]["matchExpressions"])
        .iter()
        .map(|expression| Scope {
            name: text(&expression["scopeName"]),
            operator: text(&expression["operator"]),
            values: list(&expression["values"]).iter().map(text).collect(),
        });
    plain.chain(selected).collect()
}

/// Whether all of a quota's scopes cover an object.
pub(super) fn is_covered(kind: &Kind, object: &Value, quota: &Value) -> bool {
    scopes_of(quota)
        .iter()
        .all(|scope| is_in_scope(kind, object, scope))
}

/// Whether a quota's scope covers the object; nothing but pods has scopes here.
fn is_in_scope(kind: &Kind, object: &Value, scope: &Scope<'_>) -> bool {
    if kind.qualified_resource() != "pods" {
        return false;
    }
    let spec = &object["spec"];
    let ends = spec["activeDeadlineSeconds"].as_i64() >= Some(0);
    match scope.name {
        "Terminating" => ends,
        "NotTerminating" => !ends,
        "BestEffort" => is_best_effort(object),
        "NotBestEffort" => !is_best_effort(object),
        "PriorityClass" => {
            let class = text(&spec["priorityClassName"]);
            match scope.operator {
                "In" => !class.is_empty() && scope.values.contains(&class),
                "NotIn" => !scope.values.contains(&class),
                "DoesNotExist" => class.is_empty(),
                _ => !class.is_empty(),
            }
        }
        "CrossNamespacePodAffinity" => ["podAffinity", "podAntiAffinity"]
            .iter()
            .any(|affinity| looks_across_namespaces(&spec["affinity"][*affinity])),
        _ => false,
    }
}

fn is_best_effort(pod: &Value) -> bool {
    qos_class(pod) == "BestEffort"
}

fn looks_across_namespaces(affinity: &Value) -> bool {
    let required = list(&affinity["requiredDuringSchedulingIgnoredDuringExecution"]).iter();
    let preferred = list(&affinity["preferredDuringSchedulingIgnoredDuringExecution"]).iter();
    required
        .chain(preferred.map(|weighted| &weighted["podAffinityTerm"]))
        .any(|term| !list(&term["namespaces"]).is_empty() || !term["namespaceSelector"].is_null())
}
