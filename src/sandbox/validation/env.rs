//! The environment of a container, and the references to fields and resources that volumes share with it.

use serde_json::Value;

use super::errors::Errors;
use super::format::{config_key, dns_label, dns_subdomain, environment_name, qualified_name};
use super::mount::validate_no_backsteps;
use super::path::Path;
use crate::sandbox::json::{is_zero, list, text};
use crate::schema::quantity::Quantity;

/// The fields of a pod that an environment variable may name.
const ENVIRONMENT_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The fields of a pod that any reference may name in principle.
const POD_FIELDS: [&str; 14] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const RESOURCE_FIELDS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const BYTE_DIVISORS: [&str; 13] = [
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

/// `env` of a container.
pub(super) fn validate_env(variables: &Value, path: &Path<'_>, errors: &mut Errors) {
    for (index, variable) in list(variables).iter().enumerate() {
        let path = path.index(index);
        let name = text(&variable["name"]);
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        } else {
            errors.all_invalid(&path.child("name"), name, environment_name(name));
        }
        if !variable["valueFrom"].is_null() {
            validate_value_from(variable, &path.child("valueFrom"), errors);
        }
    }
}

fn validate_value_from(variable: &Value, path: &Path<'_>, errors: &mut Errors) {
    let source = &variable["valueFrom"];
    let mut sources = 0;
    let mut set = |field: &str| {
        let is_set = !source[field].is_null();
        sources += usize::from(is_set);
        is_set
    };
    if set("fieldRef") {
        let path = path.child("fieldRef");
        validate_field_ref(&source["fieldRef"], &ENVIRONMENT_FIELDS, &path, errors);
    }
    if set("resourceFieldRef") {
        let path = path.child("resourceFieldRef");
        validate_resource_ref(&source["resourceFieldRef"], false, &path, errors);
    }
    for field in ["configMapKeyRef", "secretKeyRef"] {
        if set(field) {
            validate_key_ref(&source[field], &path.child(field), errors);
        }
    }
    if set("fileKeyRef") {
        validate_file_ref(&source["fileKeyRef"], &path.child("fileKeyRef"), errors);
    }
    if sources == 0 {
        let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        errors.invalid(path, "", detail);
    } else if !is_zero(&variable["value"]) {
        errors.invalid(path, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        errors.invalid(
            path,
            "",
            "may not have more than one field specified at a time",
        );
    }
}

/// A `fieldRef` to one of the pod's own fields.
pub(super) fn validate_field_ref(
    reference: &Value,
    allowed: &[&str],
    path: &Path<'_>,
    errors: &mut Errors,
) {
    for field in ["apiVersion", "fieldPath"] {
        if text(&reference[field]).is_empty() {
            errors.required(&path.child(field), "");
            return;
        }
    }
    let (version, field) = (
        text(&reference["apiVersion"]),
        text(&reference["fieldPath"]),
    );
    let subscripted = field
        .strip_suffix("']")
        .and_then(|field| field.split_once("['"))
        .filter(|(map, _)| !map.is_empty());
    let problem = match subscripted {
        _ if version != "v1" => format!("unsupported pod version: {version}"),
        Some(("metadata.annotations", key)) => {
            return errors.all_invalid(path, key, qualified_name(&key.to_lowercase()));
        }
        Some(("metadata.labels", key)) => {
            return errors.all_invalid(path, key, qualified_name(key));
        }
        Some(_) => format!("field label does not support subscript: {field}"),
        None if POD_FIELDS.contains(&field) => {
            if !allowed.contains(&field) {
                errors.not_supported(&path.child("fieldPath"), &reference["fieldPath"], allowed);
            }
            return;
        }
        None => format!("field label not supported: {field}"),
    };
    let detail = format!("error converting fieldPath: {problem}");
    errors.invalid(&path.child("fieldPath"), field, detail);
}

/// A `resourceFieldRef` to a container's requests or limits; a volume has to name the container.
pub(super) fn validate_resource_ref(
    reference: &Value,
    is_volume: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let resource = text(&reference["resource"]);
    let is_huge_page =
        resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if is_volume && text(&reference["containerName"]).is_empty() {
        errors.required(&path.child("containerName"), "");
    } else if resource.is_empty() {
        errors.required(&path.child("resource"), "");
    } else if !RESOURCE_FIELDS.contains(&resource) && !is_huge_page {
        errors.not_supported(
            &path.child("resource"),
            &reference["resource"],
            &RESOURCE_FIELDS,
        );
    }
    let divisor = Quantity::from_json(&reference["divisor"]).unwrap_or_default();
    if !divisor.is_zero() {
        validate_divisor(resource, divisor, path, errors);
    }
}

fn validate_divisor(resource: &str, divisor: Quantity, path: &Path<'_>, errors: &mut Errors) {
    let (allowed, of) = match resource.split_once('.').map_or("", |(_, name)| name) {
        "cpu" => {
            if !["1m", "1"].contains(&divisor.to_string().as_str()) {
                let detail = "only divisor's values 1m and 1 are supported with the cpu resource";
                errors.invalid(&path.child("divisor"), resource, detail);
            }
            return;
        }
        "memory" => (&BYTE_DIVISORS, "memory"),
        "ephemeral-storage" => (&BYTE_DIVISORS, "local ephemeral storage"),
        name if name.starts_with("hugepages-") => (&BYTE_DIVISORS, "hugepages"),
        _ => return,
    };
    if !allowed.contains(&divisor.to_string().as_str()) {
        let allowed = allowed.join(", ");
        let detail =
            format!("only divisor's values {allowed} are supported with the {of} resource");
        errors.invalid(&path.child("divisor"), resource, detail);
    }
}

fn validate_key_ref(reference: &Value, path: &Path<'_>, errors: &mut Errors) {
    let (name, key) = (text(&reference["name"]), text(&reference["key"]));
    errors.all_invalid(&path.child("name"), name, dns_subdomain(name));
    if key.is_empty() {
        errors.required(&path.child("key"), "");
    } else {
        errors.all_invalid(&path.child("key"), key, config_key(key));
    }
}

fn validate_file_ref(reference: &Value, path: &Path<'_>, errors: &mut Errors) {
    type Check = fn(&str) -> Vec<&'static str>;
    let checks: [(&str, Check); 2] = [("key", environment_name), ("volumeName", dns_label)];
    for (field, check) in checks {
        let value = text(&reference[field]);
        if value.is_empty() {
            errors.required(&path.child(field), "");
        } else {
            errors.all_invalid(&path.child(field), value, check(value));
        }
    }
    let file = text(&reference["path"]);
    if file.is_empty() {
        errors.required(&path.child("path"), "");
    } else {
        validate_no_backsteps(file, &path.child("path"), errors);
    }
}

/// `envFrom` of a container.
pub(super) fn validate_env_from(sources: &Value, path: &Path<'_>, errors: &mut Errors) {
    for (index, source) in list(sources).iter().enumerate() {
        let source_path = path.index(index);
        let prefix = text(&source["prefix"]);
        if !prefix.is_empty() {
            errors.all_invalid(
                &source_path.child("prefix"),
                prefix,
                environment_name(prefix),
            );
        }
        let mut count = 0;
        for field in ["configMapRef", "secretRef"] {
            if !source[field].is_null() {
                count += 1;
                let path = source_path.child(field);
                let name = text(&source[field]["name"]);
                if name.is_empty() {
                    errors.required(&path.child("name"), "");
                } else {
                    errors.all_invalid(&path.child("name"), name, dns_subdomain(name));
                }
            }
        }
        match count {
            0 => errors.invalid(
                path,
                "",
                "must specify one of: `configMapRef` or `secretRef`",
            ),
            1 => {}
            _ => errors.invalid(
                path,
                "",
                "may not have more than one field specified at a time",
            ),
        }
    }
}
