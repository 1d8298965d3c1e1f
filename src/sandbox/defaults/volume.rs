//! Defaults of volumes.

use serde_json::{Value, json};

use super::container::{field_ref, pull_policy};
use super::{default_nil, default_zero, resource_list};
use crate::sandbox::json::{Object, object_mut, objects_mut, text};

const FILE_MODE: i64 = 0o644;
const TOKEN_SECONDS: i64 = 3600;

/// Fills in a volume of a pod.
pub(super) fn volume(volume: &mut Object) {
    let is_empty = volume
        .iter()
        .all(|(field, source)| field == "name" || source.is_null());
    if is_empty {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for (kind, source) in volume.iter_mut() {
        if let Some(source) = source.as_object_mut() {
            volume_source(kind, source);
        }
    }
}

fn volume_source(kind: &str, source: &mut Object) {
    match kind {
        "secret" | "configMap" => default_nil(source, "defaultMode", FILE_MODE),
        "downwardAPI" => {
            default_nil(source, "defaultMode", FILE_MODE);
            downward_items(source);
        }
        "projected" => {
            default_nil(source, "defaultMode", FILE_MODE);
            for projection in objects_mut(source, "sources") {
                if let Some(downward) = object_mut(projection, "downwardAPI") {
                    downward_items(downward);
                }
                if let Some(token) = object_mut(projection, "serviceAccountToken") {
                    default_nil(token, "expirationSeconds", TOKEN_SECONDS);
                }
            }
        }
        "hostPath" => default_nil(source, "type", ""),
        "image" => {
            let policy = pull_policy(source.get("reference").map_or("", text));
            default_zero(source, "pullPolicy", policy);
        }
        "iscsi" => default_zero(source, "iscsiInterface", "default"),
        "rbd" => {
            default_zero(source, "pool", "rbd");
            default_zero(source, "user", "admin");
            default_zero(source, "keyring", "/etc/ceph/keyring");
        }
        "azureDisk" => {
            default_nil(source, "cachingMode", "ReadWrite");
            default_nil(source, "fsType", "ext4");
            default_nil(source, "readOnly", false);
            default_nil(source, "kind", "Shared");
        }
        "scaleIO" => {
            default_zero(source, "storageMode", "ThinProvisioned");
            default_zero(source, "fsType", "xfs");
        }
        "ephemeral" => {
            if let Some(template) = object_mut(source, "volumeClaimTemplate") {
                claim_spec(template);
            }
        }
        _ => {}
    }
}

fn downward_items(source: &mut Object) {
    objects_mut(source, "items").for_each(field_ref);
}

/// Fills in the `spec` of a volume claim or of a template for one.
pub(super) fn claim_spec(claim: &mut Object) {
    if let Some(spec) = object_mut(claim, "spec") {
        default_nil(spec, "volumeMode", "Filesystem");
        if let Some(Value::Object(resources)) = spec.get_mut("resources") {
            resource_list(resources, "limits");
            resource_list(resources, "requests");
        }
    }
}
