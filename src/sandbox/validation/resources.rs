//! Requests, limits and other amounts of resources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::errors::Errors;
use super::format::{dns_label, qualified_name};
use super::path::Path;
use crate::sandbox::field_error::FieldError;
use crate::sandbox::json::{entries, list, text};
use crate::schema::quantity::Quantity;

/// Resources that only a quota can name, beside those of containers and those that are counted.
const QUOTA_ONLY: [&str; 8] = [
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.storage",
    "storage",
];
const WHOLE_NUMBERS: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Whose resources are named.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Holder {
    Container,
    Pod,
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_quota_huge_page(name: &str) -> bool {
    is_huge_page(name) || name.starts_with("requests.hugepages-")
}

fn is_of_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name)
}

fn is_standard(name: &str) -> bool {
    is_of_containers(name)
        || QUOTA_ONLY.contains(&name)
        || WHOLE_NUMBERS.contains(&name)
        || is_quota_huge_page(name)
}

/// Whether it is Kubernetes' own: without a domain, or in one of Kubernetes.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && qualified_name(&format!("requests.{name}")).is_empty()
}

/// Whether more may be used than was requested.
pub(super) fn is_overcommittable(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn validate_name(name: &str, path: &Path<'_>, errors: &mut Errors) -> bool {
    let problems = qualified_name(name);
    if !problems.is_empty() {
        errors.all_invalid(path, name, problems);
        return false;
    }
    if !name.contains('/') && !is_standard(name) {
        let detail = "must be a standard resource type or fully qualified";
        errors.invalid(path, name, detail);
        return false;
    }
    true
}

/// The name of something a container can ask for.
pub(super) fn validate_container_resource(name: &str, path: &Path<'_>, errors: &mut Errors) {
    validate_name(name, path, errors);
    if !name.contains('/') {
        if !is_of_containers(name) {
            errors.invalid(path, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        let detail = "doesn't follow extended resource name standard";
        errors.invalid(path, name, detail);
    }
}

fn validate_pod_resource(name: &str, path: &Path<'_>, errors: &mut Errors) {
    if validate_name(name, path, errors) && !matches!(name, "cpu" | "memory") && !is_huge_page(name)
    {
        errors.not_supported(path, &Value::from(name), &["cpu", "hugepages-", "memory"]);
    }
}

/// The name of something a volume claim can ask for.
pub(super) fn validate_any_resource(name: &str, path: &Path<'_>, errors: &mut Errors) {
    validate_name(name, path, errors);
}

/// The name of something a quota can limit.
pub(super) fn validate_quota_resource(name: &str, path: &Path<'_>, errors: &mut Errors) {
    let is_limitable = is_standard(name) && name != "storage";
    validate_name(name, path, errors);
    if !name.contains('/') && !is_limitable {
        errors.invalid(path, name, "must be a standard resource for quota");
    }
}

/// The amount of a resource: not negative, whole where only whole ones make sense.
pub(super) fn validate_amount(name: &str, amount: &Value, path: &Path<'_>, errors: &mut Errors) {
    let Ok(quantity) = Quantity::from_json(amount) else {
        return;
    };
    if quantity.is_negative() {
        let detail = "must be greater than or equal to 0";
        errors.invalid(path, quantity.to_string(), detail);
    }
    if (WHOLE_NUMBERS.contains(&name) || is_extended(name)) && !quantity.is_integer() {
        errors.invalid(path, quantity.to_string(), "must be an integer");
    }
}

/// `resources` of a container or a pod.
pub(super) fn validate_requirements(
    holder: Holder,
    resources: &Value,
    claim_names: &BTreeSet<&str>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let (requests, limits) = (&resources["requests"], &resources["limits"]);
    let (requests_path, limits_path) = (path.child("requests"), path.child("limits"));
    for (name, amount) in entries(limits) {
        validate_named_amount(holder, name, amount, &limits_path.key(name), errors);
    }
    for (name, amount) in entries(requests) {
        validate_named_amount(holder, name, amount, &requests_path.key(name), errors);
        validate_request(name, amount, limits, [&requests_path, &limits_path], errors);
    }
    let mut names = entries(limits)
        .chain(entries(requests))
        .map(|(name, _)| name);
    let has_huge_pages = names.clone().any(is_huge_page);
    if has_huge_pages && !names.any(|name| matches!(name, "cpu" | "memory")) {
        errors.forbidden(path, "HugePages require cpu or memory");
    }
    validate_claims(
        &resources["claims"],
        claim_names,
        &path.child("claims"),
        errors,
    );
}

fn validate_named_amount(
    holder: Holder,
    name: &str,
    amount: &Value,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    match holder {
        Holder::Container => validate_container_resource(name, path, errors),
        Holder::Pod => validate_pod_resource(name, path, errors),
    }
    validate_amount(name, amount, path, errors);
    let page_size = name.strip_prefix("hugepages-").map(str::parse::<Quantity>);
    if let (Some(Ok(size)), Ok(amount)) = (page_size, Quantity::from_json(amount)) {
        let (size, whole) = (size.value(), amount.value());
        if size <= 0 || whole % size != 0 {
            let shown = amount.to_string();
            let detail = format!("{shown} is not positive integer multiple of {name}");
            errors.invalid(path, shown, detail);
        }
    }
}

/// A request may not exceed its limit; what cannot be overcommitted must equal it.
fn validate_request(
    name: &str,
    amount: &Value,
    limits: &Value,
    [requests_path, limits_path]: [&Path<'_>; 2],
    errors: &mut Errors,
) {
    let Ok(request) = Quantity::from_json(amount) else {
        return;
    };
    let Ok(limit) = Quantity::from_json(&limits[name]) else {
        if !is_overcommittable(name) {
            let detail = "Limit must be set for non overcommitable resources";
            errors.required(limits_path, detail);
        }
        return;
    };
    if request != limit && !is_overcommittable(name) {
        let detail = format!("must be equal to {name} limit of {limit}");
        errors.invalid(requests_path, request.to_string(), detail);
    } else if request > limit {
        let detail = format!("must be less than or equal to {name} limit of {limit}");
        errors.invalid(requests_path, request.to_string(), detail);
    }
}

fn validate_claims(
    claims: &Value,
    claim_names: &BTreeSet<&str>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (index, claim) in list(claims).iter().enumerate() {
        let path = path.index(index);
        let (name, request) = (text(&claim["name"]), text(&claim["request"]));
        if name.is_empty() {
            errors.required(&path, "");
            continue;
        }
        let overlaps = |(other, part): &(&str, &str)| {
            *other == name && (part.is_empty() || request.is_empty() || *part == request)
        };
        if !request.is_empty() {
            errors.all_invalid(&path.child("request"), request, dns_label(request));
        }
        if let Some((_, part)) = seen.iter().find(|entry| overlaps(entry)) {
            let is_same_request = !request.is_empty() && *part == request;
            let shown = if is_same_request {
                format!("{name}/{request}")
            } else {
                name.to_owned()
            };
            errors.duplicate(&path, shown);
        }
        seen.insert((name, request));
        if !claim_names.contains(name) {
            let known: Vec<&str> = claim_names.iter().copied().collect();
            let detail = if known.is_empty() {
                "must be one of the names in pod.spec.resourceClaims which is empty".to_owned()
            } else {
                format!(
                    "must be one of the names in pod.spec.resourceClaims: {}",
                    known.join(", ")
                )
            };
            let value = Value::from(name);
            errors.push(FieldError::not_found(path.to_string(), &value, &detail));
        }
    }
}
