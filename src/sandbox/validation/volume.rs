//! The volumes of a pod.

use std::collections::BTreeSet;

use serde_json::Value;

use super::env::{validate_field_ref, validate_resource_ref};
use super::errors::Errors;
use super::format::{dns_label, dns_subdomain};
use super::mount::{Volumes, validate_descending, validate_no_backsteps, validate_projected};
use super::path::Path;
use super::selector::validate_selector;
use crate::sandbox::json::{list, text};
use crate::schema::quantity::Quantity;

/// The fields of a pod that a downward API volume may name.
const VOLUME_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// The kinds of volume, in the order in which Kubernetes looks at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

const HOST_PATH_TYPES: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// `volumes` of a pod; returns the valid ones, which containers may mount. The name of the pod matters to ephemeral
/// volumes, and is known only for a pod itself.
pub(super) fn validate_volumes<'a>(
    volumes: &'a Value,
    pod_name: Option<&str>,
    path: &Path<'_>,
    errors: &mut Errors,
) -> Volumes<'a> {
    let mut valid = Volumes::new();
    let pod_name = pod_name.filter(|name| !name.is_empty());
    let volumes = list(volumes);
    for (index, volume) in volumes.iter().enumerate() {
        let path = path.index(index);
        let name = text(&volume["name"]);
        let before = errors.count();
        validate_source(volume, pod_name, &path, errors);
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        } else {
            errors.all_invalid(&path.child("name"), name, dns_label(name));
        }
        if valid.contains_key(name) {
            errors.duplicate(&path.child("name"), name);
        }
        if errors.count() == before {
            valid.insert(name, volume);
        }
        let claim = text(&volume["persistentVolumeClaim"]["claimName"]);
        let is_created = |other: &Value| {
            let created = pod_name.map(|pod| format!("{pod}-{}", text(&other["name"])));
            !other["ephemeral"].is_null() && created.as_deref() == Some(claim)
        };
        if !claim.is_empty() && volumes.iter().any(is_created) {
            let path = path.child("persistentVolumeClaim");
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid(&path.child("claimName"), claim, detail);
        }
    }
    valid
}

fn validate_source(volume: &Value, pod_name: Option<&str>, path: &Path<'_>, errors: &mut Errors) {
    let mut set = SOURCES.iter().filter(|kind| !volume[**kind].is_null());
    let Some(first) = set.next() else {
        errors.required(path, "must specify a volume type");
        return;
    };
    validate_kind(first, &volume[*first], &path.child(first), errors);
    if *first == "ephemeral"
        && let Some(pod) = pod_name
    {
        let name = text(&volume["name"]);
        let claim = format!("{pod}-{name}");
        for problem in dns_subdomain(&claim) {
            let detail = format!("PVC name {claim:?}: {problem}");
            errors.invalid(&path.child("name"), name, detail);
        }
    }
    for other in set {
        let detail = "may not specify more than 1 volume type";
        errors.forbidden(&path.child(other), detail);
    }
}

fn validate_kind(kind: &str, source: &Value, path: &Path<'_>, errors: &mut Errors) {
    match kind {
        "emptyDir" => {
            let limit = Quantity::from_json(&source["sizeLimit"]).unwrap_or_default();
            if limit.is_negative() {
                let detail = "SizeLimit field must be a valid resource quantity";
                errors.forbidden(&path.child("sizeLimit"), detail);
            }
        }
        "hostPath" => {
            let file = text(&source["path"]);
            if file.is_empty() {
                errors.required(&path.child("path"), "");
                return;
            }
            validate_no_backsteps(file, &path.child("path"), errors);
            errors.one_of_if_set(&path.child("type"), &source["type"], &HOST_PATH_TYPES);
        }
        "gitRepo" => {
            validate_named(source, &["repository"], path, errors);
            validate_descending(text(&source["directory"]), &path.child("directory"), errors);
        }
        "secret" => validate_files(source, "secretName", path, errors),
        "configMap" => validate_files(source, "name", path, errors),
        "nfs" => {
            validate_named(source, &["server", "path"], path, errors);
            let file = text(&source["path"]);
            if !file.starts_with('/') {
                errors.invalid(&path.child("path"), file, "must be an absolute path");
            }
        }
        "persistentVolumeClaim" => validate_named(source, &["claimName"], path, errors),
        "downwardAPI" => {
            validate_mode(&source["defaultMode"], &path.child("defaultMode"), errors);
            for item in list(&source["items"]) {
                validate_downward_item(item, path, errors);
            }
        }
        "projected" => {
            validate_mode(&source["defaultMode"], &path.child("defaultMode"), errors);
            validate_projections(source, path, errors);
        }
        "csi" => validate_named(source, &["driver"], path, errors),
        "ephemeral" if source["volumeClaimTemplate"].is_null() => {
            errors.required(&path.child("volumeClaimTemplate"), "");
        }
        "image" => {
            validate_named(source, &["reference"], path, errors);
            let policies = ["Always", "IfNotPresent", "Never"];
            errors.one_of(&path.child("pullPolicy"), &source["pullPolicy"], &policies);
        }
        // Drivers of storage systems: what they need is theirs to say.
        _ => {}
    }
}

fn validate_named(source: &Value, fields: &[&str], path: &Path<'_>, errors: &mut Errors) {
    for field in fields {
        if text(&source[*field]).is_empty() {
            errors.required(&path.child(field), "");
        }
    }
}

/// The content of a `ConfigMap` or Secret as files.
fn validate_files(source: &Value, name: &str, path: &Path<'_>, errors: &mut Errors) {
    validate_named(source, &[name], path, errors);
    validate_mode(&source["defaultMode"], &path.child("defaultMode"), errors);
    validate_items(source, path, errors);
}

fn validate_items(source: &Value, path: &Path<'_>, errors: &mut Errors) {
    let items = path.child("items");
    for (index, item) in list(&source["items"]).iter().enumerate() {
        let path = items.index(index);
        validate_named(item, &["key", "path"], &path, errors);
        validate_projected(text(&item["path"]), &path.child("path"), errors);
        validate_mode(&item["mode"], &path.child("mode"), errors);
    }
}

fn validate_mode(mode: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(mode) = mode.as_i64().filter(|mode| !(0..=0o777).contains(mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.invalid(path, mode, detail);
    }
}

fn validate_downward_item(item: &Value, path: &Path<'_>, errors: &mut Errors) {
    let file = text(&item["path"]);
    validate_named(item, &["path"], path, errors);
    validate_projected(file, &path.child("path"), errors);
    let (field, resource) = (&item["fieldRef"], &item["resourceFieldRef"]);
    if !field.is_null() {
        validate_field_ref(field, &VOLUME_FIELDS, &path.child("fieldRef"), errors);
        if !resource.is_null() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid(path, "resource", detail);
        }
    } else if resource.is_null() {
        errors.required(path, "one of fieldRef and resourceFieldRef is required");
    } else {
        validate_resource_ref(resource, true, &path.child("resourceFieldRef"), errors);
    }
    validate_mode(&item["mode"], &path.child("mode"), errors);
}

fn validate_projections(volume: &Value, path: &Path<'_>, errors: &mut Errors) {
    let sources_path = path.child("sources");
    let mut files = BTreeSet::new();
    for (index, source) in list(&volume["sources"]).iter().enumerate() {
        let source_path = sources_path.index(index);
        let kinds = [
            "secret",
            "configMap",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ];
        let mut count = 0;
        for kind in kinds.iter().filter(|kind| !source[**kind].is_null()) {
            count += 1;
            let projection = &source[*kind];
            let kind_path = source_path.child(kind);
            validate_projection(kind, projection, [path, &kind_path], errors);
            for item in list(&projection["items"]) {
                let file = text(&item["path"]);
                if !file.is_empty() && !files.insert(file) {
                    let name = text(&projection["name"]);
                    let shown = if *kind == "downwardAPI" { file } else { name };
                    errors.invalid(path, shown, "conflicting duplicate paths");
                }
            }
        }
        if count > 1 {
            let detail = "may not specify more than 1 volume type per source";
            errors.forbidden(&source_path, detail);
        }
    }
}

fn validate_projection(
    kind: &str,
    projection: &Value,
    [volume_path, path]: [&Path<'_>; 2],
    errors: &mut Errors,
) {
    match kind {
        "secret" | "configMap" => {
            validate_named(projection, &["name"], path, errors);
            validate_items(projection, path, errors);
        }
        "downwardAPI" => {
            for item in list(&projection["items"]) {
                validate_downward_item(item, path, errors);
            }
        }
        "serviceAccountToken" => {
            let seconds = projection["expirationSeconds"].as_i64().unwrap_or_default();
            let seconds_path = path.child("expirationSeconds");
            if seconds < 600 {
                let detail = "may not specify a duration less than 10 minutes";
                errors.invalid(&seconds_path, seconds, detail);
            }
            if seconds > 1 << 32 {
                let detail = "may not specify a duration larger than 2^32 seconds";
                errors.invalid(&seconds_path, seconds, detail);
            }
            validate_named(projection, &["path"], volume_path, errors);
            validate_projected(
                text(&projection["path"]),
                &volume_path.child("path"),
                errors,
            );
        }
        "clusterTrustBundle" => {
            if projection["name"].is_null() && projection["signerName"].is_null() {
                errors.required(path, "either name or signerName must be specified");
            }
            let field = "labelSelector";
            validate_selector(&projection[field], &path.child(field), errors);
            validate_named(projection, &["path"], path, errors);
            validate_projected(text(&projection["path"]), &path.child("path"), errors);
        }
        _ => validate_named(projection, &["signerName", "keyType"], path, errors),
    }
}
