//! `ConfigMap`s, Secrets, Namespaces and Nodes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::errors::Errors;
use super::format::{config_key, label_value, qualified_name};
use super::metadata;
use super::path::Path;
use super::resources::validate_amount;
use super::scheduling::validate_taint_effect;
use crate::sandbox::field_error::FieldError;
use crate::sandbox::json::{entries, flag, list, text};

const DATA_BYTES: usize = 1024 * 1024;
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// A `ConfigMap`.
pub(super) fn validate_config_map(map: &Value, errors: &mut Errors) {
    metadata::validate("ConfigMap", map, errors);
    let mut bytes = 0;
    for field in ["data", "binaryData"] {
        let path = Path::root(field);
        for (key, value) in entries(&map[field]) {
            errors.all_invalid(&path.key(key), key, config_key(key));
            if field == "data" {
                if !map["binaryData"][key].is_null() {
                    let detail = "duplicate of key present in binaryData";
                    errors.invalid(&path.key(key), key, detail);
                }
                bytes += text(value).len();
            } else {
                bytes += decoded(value).len();
            }
        }
    }
    if bytes > DATA_BYTES {
        errors.push(FieldError::too_long("", DATA_BYTES));
    }
}

fn decoded(value: &Value) -> Vec<u8> {
    STANDARD.decode(text(value)).unwrap_or_default()
}

/// An update of a `ConfigMap`.
pub(super) fn validate_config_map_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_immutable(new, old, &["data", "binaryData"], errors);
    validate_config_map(new, errors);
}

fn validate_immutable(new: &Value, old: &Value, fields: &[&str], errors: &mut Errors) {
    if !flag(&old["immutable"]) {
        return;
    }
    if !flag(&new["immutable"]) {
        errors.forbidden(&Path::root("immutable"), IMMUTABLE);
    }
    for field in fields {
        if new[*field] != old[*field] {
            errors.forbidden(&Path::root(field), IMMUTABLE);
        }
    }
}

/// A Secret: its keys, and what its type asks for.
pub(super) fn validate_secret(secret: &Value, errors: &mut Errors) {
    metadata::validate("Secret", secret, errors);
    let path = Path::root("data");
    let data = &secret["data"];
    let mut bytes = 0;
    for (key, value) in entries(data) {
        errors.all_invalid(&path.key(key), key, config_key(key));
        bytes += decoded(value).len();
    }
    if bytes > DATA_BYTES {
        errors.too_long(&path, DATA_BYTES);
    }
    let mut require = |keys: &[&str]| {
        for key in keys.iter().filter(|key| data[**key].is_null()) {
            errors.required(&path.key(key), "");
        }
    };
    match text(&secret["type"]) {
        "kubernetes.io/tls" => require(&["tls.crt", "tls.key"]),
        "kubernetes.io/basic-auth" if data["username"].is_null() && data["password"].is_null() => {
            require(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if text(&data["ssh-privatekey"]).is_empty() => {
            errors.required(&path.key("ssh-privatekey"), "");
        }
        "kubernetes.io/dockercfg" => validate_docker(data, ".dockercfg", errors),
        "kubernetes.io/dockerconfigjson" => validate_docker(data, ".dockerconfigjson", errors),
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            if text(&secret["metadata"]["annotations"][key]).is_empty() {
                let path = Path::root("metadata");
                errors.required(&path.child("annotations").key(key), "");
            }
        }
        _ => {}
    }
}

fn validate_docker(data: &Value, key: &str, errors: &mut Errors) {
    let path = Path::root("data");
    if data[key].is_null() {
        errors.required(&path.key(key), "");
    } else if serde_json::from_slice::<Map<String, Value>>(&decoded(&data[key])).is_err() {
        let detail = "unexpected end of JSON input";
        errors.invalid(&path.key(key), "<secret contents redacted>", detail);
    }
}

/// An update of a Secret.
pub(super) fn validate_secret_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    if new["type"] != old["type"] {
        errors.invalid(
            &Path::root("type"),
            text(&new["type"]),
            "field is immutable",
        );
    }
    validate_immutable(new, old, &["data"], errors);
    validate_secret(new, errors);
}

/// A Namespace.
pub(super) fn validate_namespace(namespace: &Value, errors: &mut Errors) {
    metadata::validate("Namespace", namespace, errors);
    let path = Path::root("spec");
    for finalizer in list(&namespace["spec"]["finalizers"]) {
        metadata::validate_finalizer(text(finalizer), &path.child("finalizers"), errors);
    }
}

/// An update of a Namespace's status.
pub(super) fn validate_namespace_status(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    let phase = text(&new["status"]["phase"]);
    let is_living = new["metadata"]["deletionTimestamp"].is_null();
    let (expected, when) = if is_living {
        ("Active", "empty")
    } else {
        ("Terminating", "not empty")
    };
    if phase != expected {
        let path = Path::root("status");
        let detail = format!("may only be '{expected}' if `deletionTimestamp` is {when}");
        errors.invalid(&path.child("Phase"), phase, detail);
    }
}

/// A Node.
pub(super) fn validate_node(node: &Value, errors: &mut Errors) {
    metadata::validate("Node", node, errors);
    validate_taints(node, errors);
    validate_amounts(node, errors);
}

fn validate_amounts(node: &Value, errors: &mut Errors) {
    let path = Path::root("status");
    for field in ["capacity", "allocatable"] {
        let path = path.child(field);
        for (name, amount) in entries(&node["status"][field]) {
            validate_amount(name, amount, &path.child(name), errors);
        }
    }
}

/// Kubernetes names the taints' place `metadata`.
fn validate_taints(node: &Value, errors: &mut Errors) {
    let path = Path::root("metadata");
    let path = path.child("taints");
    let taints = list(&node["spec"]["taints"]);
    for (index, taint) in taints.iter().enumerate() {
        let path = path.index(index);
        let field = |field: &str| text(&taint[field]);
        errors.all_invalid(
            &path.child("key"),
            field("key"),
            qualified_name(field("key")),
        );
        let problems = label_value(field("value"));
        if !problems.is_empty() {
            errors.invalid(&path.child("value"), field("value"), problems.join(";"));
        }
        validate_taint_effect(&taint["effect"], &path.child("effect"), errors);
        let is_same = |other: &Value| {
            text(&other["key"]) == field("key") && text(&other["effect"]) == field("effect")
        };
        if taints[..index].iter().any(is_same) {
            let shown = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{}}}",
                Value::from(field("key")),
                Value::from(field("value")),
                Value::from(field("effect")),
                taint["timeAdded"]
            );
            let detail = "taints must be unique by key and effect pair";
            errors.push(FieldError::duplicate_as(path.to_string(), &shown, detail));
        }
    }
}

/// An update of a Node.
pub(super) fn validate_node_update(new: &Value, old: &Value, errors: &mut Errors) {
    validate_node(new, errors);
    metadata::validate_update(new, old, errors);
    validate_amounts(new, errors);
    validate_addresses(new, errors);
    let path = Path::root("spec");
    let (new_spec, old_spec) = (&new["spec"], &old["spec"]);
    let ranges = list(&old_spec["podCIDRs"]);
    if !ranges.is_empty() && list(&new_spec["podCIDRs"]) != ranges {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        errors.forbidden(&path.child("podCIDRs"), detail);
    }
    let provider = text(&old_spec["providerID"]);
    if !provider.is_empty() && text(&new_spec["providerID"]) != provider {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.forbidden(&path.child("providerID"), detail);
    }
    validate_taints(new, errors);
}

fn validate_addresses(node: &Value, errors: &mut Errors) {
    let path = Path::root("status");
    let path = path.child("addresses");
    let addresses = list(&node["status"]["addresses"]);
    for (index, address) in addresses.iter().enumerate() {
        if addresses[..index].contains(address) {
            let shown = format!(
                "{{\"Type\":{},\"Address\":{}}}",
                Value::from(text(&address["type"])),
                Value::from(text(&address["address"]))
            );
            let path = path.index(index).to_string();
            errors.push(FieldError::duplicate_as(path, &shown, ""));
        }
    }
}
