//! `metadata`: names, labels, annotations, owners, finalizers, and what may not change.

use serde_json::Value;

use super::errors::Errors;
use super::format::{dns_label, dns_subdomain, path_segment, qualified_name};
use super::path::Path;
use super::selector::validate_labels;
use crate::sandbox::field_error::{FieldError, quoted};
use crate::sandbox::json::{entries, flag, list, text};

const ANNOTATIONS_BYTES: usize = 256 * 1024;
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
const CLUSTER_KINDS: [&str; 9] = [
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "ClusterRole",
    "ClusterRoleBinding",
    "StorageClass",
    "RuntimeClass",
    "CustomResourceDefinition",
];

/// Which form the names of a kind have.
fn name_problems(kind: &str, name: &str) -> Vec<&'static str> {
    match kind {
        "Namespace" | "Service" => dns_label(name),
        "Event" | "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding" => {
            path_segment(name)
        }
        _ => dns_subdomain(name),
    }
}

fn is_namespaced(kind: &str) -> bool {
    !CLUSTER_KINDS.contains(&kind)
}

/// Everything that `metadata` must be for a new object of a kind.
pub(super) fn validate(kind: &str, object: &Value, errors: &mut Errors) {
    validate_with(kind, object, |name| name_problems(kind, name), errors);
    validate_standard_finalizers(object, errors);
}

/// The part of it that the server asks of every kind, whatever its own rules.
pub(super) fn validate_generic(kind: &str, object: &Value, errors: &mut Errors) {
    validate_with(kind, object, path_segment, errors);
}

fn validate_with(
    kind: &str,
    object: &Value,
    problems: impl Fn(&str) -> Vec<&'static str>,
    errors: &mut Errors,
) {
    let metadata = &object["metadata"];
    let path = Path::root("metadata");
    let (name, generate_name) = (text(&metadata["name"]), text(&metadata["generateName"]));
    if !generate_name.is_empty() {
        // The suffix to come stands in for a trailing dash.
        let found = problems(&mask_trailing_dash(generate_name));
        errors.all_invalid(&path.child("generateName"), generate_name, found);
    }
    if name.is_empty() {
        errors.required(&path.child("name"), "name or generateName is required");
    } else {
        errors.all_invalid(&path.child("name"), name, problems(name));
    }
    let namespace = text(&metadata["namespace"]);
    if !is_namespaced(kind) {
        if !namespace.is_empty() {
            errors.forbidden(&path.child("namespace"), "not allowed on this type");
        }
    } else if namespace.is_empty() {
        errors.required(&path.child("namespace"), "");
    } else {
        errors.all_invalid(&path.child("namespace"), namespace, dns_label(namespace));
    }
    errors.not_negative(&path.child("generation"), &metadata["generation"]);
    validate_contents(metadata, errors);
    validate_finalizers(metadata, &path.child("finalizers"), errors);
    validate_managed_fields(metadata, errors);
}

fn mask_trailing_dash(name: &str) -> String {
    match name.strip_suffix('-') {
        Some(stem) if !stem.is_empty() => format!("{}a", &stem[..stem.len() - last_len(stem)]),
        _ => name.to_owned(),
    }
}

fn last_len(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// Labels, annotations, owners.
fn validate_contents(metadata: &Value, errors: &mut Errors) {
    let path = Path::root("metadata");
    validate_labels(&metadata["labels"], &path.child("labels"), errors);
    validate_annotations(&metadata["annotations"], &path.child("annotations"), errors);
    validate_owners(metadata, &path.child("ownerReferences"), errors);
}

/// The annotations of an object or a pod template.
pub(super) fn validate_annotations(annotations: &Value, path: &Path<'_>, errors: &mut Errors) {
    let mut bytes = 0;
    for (key, value) in entries(annotations) {
        errors.all_invalid(path, key, qualified_name(&key.to_lowercase()));
        bytes += key.len() + text(value).len();
    }
    if bytes > ANNOTATIONS_BYTES {
        errors.too_long(path, ANNOTATIONS_BYTES);
    }
}

fn validate_owners(metadata: &Value, path: &Path<'_>, errors: &mut Errors) {
    let owners = list(&metadata["ownerReferences"]);
    let mut controller: Option<String> = None;
    for owner in owners {
        validate_owner(owner, path, errors);
        if !flag(&owner["controller"]) {
            continue;
        }
        let name = format!("{}/{}", text(&owner["kind"]), text(&owner["name"]));
        match &controller {
            None => controller = Some(name),
            Some(first) => {
                let shown: Vec<String> = owners.iter().map(shown_owner).collect();
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                let shown = format!("[{}]", shown.join(","));
                errors.push(FieldError::invalid_as(path.to_string(), &shown, &detail));
            }
        }
    }
}

fn validate_owner(owner: &Value, path: &Path<'_>, errors: &mut Errors) {
    let api_version = text(&owner["apiVersion"]);
    if api_version.is_empty() || api_version.ends_with('/') {
        errors.invalid(
            &path.child("apiVersion"),
            api_version,
            "version must not be empty",
        );
    }
    for field in ["kind", "name", "uid"] {
        if text(&owner[field]).is_empty() {
            errors.invalid(&path.child(field), "", "must not be empty");
        }
    }
    if api_version == "v1" && text(&owner["kind"]) == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        let shown = shown_owner(owner);
        errors.push(FieldError::invalid_as(path.to_string(), &shown, detail));
    }
}

/// An owner reference as Go's encoder writes it: in the order of its type, without what is not set.
fn shown_owner(owner: &Value) -> String {
    let mut fields: Vec<String> = ["apiVersion", "kind", "name", "uid"]
        .into_iter()
        .map(|field| format!("\"{field}\":{}", Value::from(text(&owner[field]))))
        .collect();
    for field in ["controller", "blockOwnerDeletion"] {
        if let Some(value) = owner[field].as_bool() {
            fields.push(format!("\"{field}\":{value}"));
        }
    }
    format!("{{{}}}", fields.join(","))
}

fn validate_finalizers(metadata: &Value, path: &Path<'_>, errors: &mut Errors) {
    let finalizers = list(&metadata["finalizers"]);
    for finalizer in finalizers {
        let finalizer = text(finalizer);
        errors.all_invalid(path, finalizer, qualified_name(finalizer));
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| text(finalizer) == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid(path, metadata["finalizers"].clone(), detail);
    }
}

fn validate_standard_finalizers(object: &Value, errors: &mut Errors) {
    let path = Path::root("metadata");
    let path = path.child("finalizers");
    for (index, finalizer) in list(&object["metadata"]["finalizers"]).iter().enumerate() {
        validate_standard_finalizer(text(finalizer), &path.index(index), errors);
    }
}

/// A finalizer without a domain must be one of Kubernetes' own.
pub(super) fn validate_standard_finalizer(name: &str, path: &Path<'_>, errors: &mut Errors) {
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.invalid(path, name, detail);
    }
}

/// A finalizer of a namespace's spec.
pub(super) fn validate_finalizer(name: &str, path: &Path<'_>, errors: &mut Errors) {
    errors.all_invalid(path, name, qualified_name(name));
    validate_standard_finalizer(name, path, errors);
}

fn validate_managed_fields(metadata: &Value, errors: &mut Errors) {
    let path = Path::root("metadata");
    let path = path.child("managedFields");
    for (index, entry) in list(&metadata["managedFields"]).iter().enumerate() {
        let path = path.index(index);
        let operation = text(&entry["operation"]);
        if !matches!(operation, "Apply" | "Update") {
            errors.invalid(
                &path.child("operation"),
                operation,
                "must be `Apply` or `Update`",
            );
        }
        let fields_type = text(&entry["fieldsType"]);
        if !matches!(fields_type, "" | "FieldsV1") {
            errors.invalid(&path.child("fieldsType"), fields_type, "must be `FieldsV1`");
        }
    }
}

/// What an update may not do to `metadata`, with the finalizers that Kubernetes' own kinds allow.
pub(super) fn validate_update(new: &Value, old: &Value, errors: &mut Errors) {
    validate_generic_update(new, old, errors);
    validate_standard_finalizers(new, errors);
}

/// What an update of any kind may not do to `metadata`.
pub(super) fn validate_generic_update(new: &Value, old: &Value, errors: &mut Errors) {
    let path = Path::root("metadata");
    let (new, old) = (&new["metadata"], &old["metadata"]);
    if !old["deletionTimestamp"].is_null() {
        validate_no_new_finalizers(new, old, &path.child("finalizers"), errors);
    }
    if text(&new["resourceVersion"]).is_empty() {
        errors.invalid(
            &path.child("resourceVersion"),
            "",
            "must be specified for an update",
        );
    }
    let generation = |metadata: &Value| metadata["generation"].as_i64().unwrap_or_default();
    if generation(new) < generation(old) {
        errors.invalid(
            &path.child("generation"),
            generation(new),
            "must not be decremented",
        );
    }
    for field in ["name", "namespace", "uid"] {
        if text(&new[field]) != text(&old[field]) {
            errors.invalid(&path.child(field), text(&new[field]), "field is immutable");
        }
    }
    for field in [
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if new[field] != old[field] {
            errors.invalid(&path.child(field), new[field].clone(), "field is immutable");
        }
    }
    validate_contents(new, errors);
    validate_managed_fields(new, errors);
}

fn validate_no_new_finalizers(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let old = list(&old["finalizers"]);
    let mut extra: Vec<&str> = list(&new["finalizers"])
        .iter()
        .filter(|finalizer| !old.contains(finalizer))
        .map(text)
        .collect();
    extra.sort_unstable();
    extra.dedup();
    if !extra.is_empty() {
        let extra: Vec<String> = extra.into_iter().map(quoted).collect();
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            extra.join(", ")
        );
        errors.forbidden(path, detail);
    }
}
