//! Where a container mounts volumes, and the form of paths.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::errors::Errors;
use super::path::Path;
use crate::sandbox::json::{flag, is_zero, list, text};

/// The valid volumes of a pod by name.
pub(super) type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// `volumeMounts` and `volumeDevices` of a container.
pub(super) fn validate_mounts(
    container: &Value,
    volumes: &Volumes<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mounts_path = path.child("volumeMounts");
    let devices = list(&container["volumeDevices"]);
    let mut mount_paths = BTreeSet::new();
    for (index, mount) in list(&container["volumeMounts"]).iter().enumerate() {
        let path = mounts_path.index(index);
        let (name, mount_path) = (text(&mount["name"]), text(&mount["mountPath"]));
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        }
        if !volumes.contains_key(name) {
            errors.not_found(&path.child("name"), name);
        }
        if mount_path.is_empty() {
            errors.required(&path.child("mountPath"), "");
        }
        if !mount_paths.insert(mount_path) {
            errors.invalid(&path.child("mountPath"), mount_path, "must be unique");
        }
        if devices.iter().any(|device| text(&device["name"]) == name) {
            let detail = "must not already exist in volumeDevices";
            errors.invalid(&path.child("name"), name, detail);
        }
        if devices
            .iter()
            .any(|device| text(&device["devicePath"]) == mount_path)
        {
            let detail = "must not already exist as a path in volumeDevices";
            errors.invalid(&path.child("mountPath"), mount_path, detail);
        }
        validate_sub_paths(mount, &mounts_path, &path, errors);
        validate_propagation(mount, container, &mounts_path, errors);
    }
    validate_devices(container, volumes, &path.child("volumeDevices"), errors);
}

/// Kubernetes names these fields without the index of the mount.
fn validate_sub_paths(mount: &Value, mounts: &Path<'_>, path: &Path<'_>, errors: &mut Errors) {
    let (sub_path, expression) = (text(&mount["subPath"]), text(&mount["subPathExpr"]));
    if !sub_path.is_empty() {
        validate_descending(sub_path, &mounts.child("subPath"), errors);
    }
    if !expression.is_empty() {
        if !sub_path.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.invalid(&path.child("subPathExpr"), expression, detail);
        }
        validate_descending(expression, &mounts.child("subPathExpr"), errors);
    }
}

fn validate_propagation(mount: &Value, container: &Value, mounts: &Path<'_>, errors: &mut Errors) {
    let propagation = &mount["mountPropagation"];
    let path = mounts.child("mountPropagation");
    errors.one_of_if_set(
        &path,
        propagation,
        &["Bidirectional", "HostToContainer", "None"],
    );
    if propagation == "Bidirectional" && !flag(&container["securityContext"]["privileged"]) {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(&path, detail);
    }
    let path = mounts.child("recursiveReadOnly");
    let recursive = &mount["recursiveReadOnly"];
    if recursive == "Enabled" || recursive == "IfPossible" {
        if !flag(&mount["readOnly"]) {
            errors.forbidden(&path, "may only be specified when readOnly is true");
        }
        if !propagation.is_null() && propagation != "None" {
            let detail = "may only be specified when mountPropagation is None or not specified";
            errors.forbidden(&path, detail);
        }
    }
    errors.one_of_if_set(&path, recursive, &["Disabled", "Enabled", "IfPossible"]);
}

fn validate_devices(
    container: &Value,
    volumes: &Volumes<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let mounts = list(&container["volumeMounts"]);
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in list(&container["volumeDevices"]).iter().enumerate() {
        let path = path.index(index);
        let (name_path, device_path) = (path.child("name"), path.child("devicePath"));
        let (name, device) = (text(&device["name"]), text(&device["devicePath"]));
        if name.is_empty() {
            errors.required(&name_path, "");
        } else if !names.insert(name) {
            errors.invalid(&name_path, name, "must be unique");
        }
        match volumes.get(name) {
            None => errors.not_found(&name_path, name),
            Some(volume)
                if is_zero(&volume["persistentVolumeClaim"]) && volume["ephemeral"].is_null() =>
            {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.invalid(&name_path, name, detail);
            }
            Some(_) => {}
        }
        if device.is_empty() {
            errors.required(&device_path, "");
        }
        if paths.contains(device) {
            errors.invalid(&device_path, device, "must be unique");
        }
        if has_backsteps(device) {
            errors.invalid(&device_path, device, "can not contain backsteps ('..')");
        } else {
            paths.insert(device);
        }
        if mounts.iter().any(|mount| text(&mount["name"]) == name) {
            errors.invalid(&name_path, name, "must not already exist in volumeMounts");
        }
        if mounts
            .iter()
            .any(|mount| text(&mount["mountPath"]) == device)
        {
            let detail = "must not already exist as a path in volumeMounts";
            errors.invalid(&device_path, device, detail);
        }
    }
}

fn has_backsteps(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// A path that never goes up.
pub(super) fn validate_no_backsteps(file: &str, path: &Path<'_>, errors: &mut Errors) {
    if has_backsteps(file) {
        errors.invalid(path, file, "must not contain '..'");
    }
}

/// A path below some directory.
pub(super) fn validate_descending(file: &str, path: &Path<'_>, errors: &mut Errors) {
    if file.starts_with('/') {
        errors.invalid(path, file, "must be a relative path");
    }
    validate_no_backsteps(file, path, errors);
}

/// A path below some directory that does not collide with the kubelet's own `..data`.
pub(super) fn validate_projected(file: &str, path: &Path<'_>, errors: &mut Errors) {
    validate_descending(file, path, errors);
    if file.starts_with("..") && !file.starts_with("../") {
        errors.invalid(path, file, "must not start with '..'");
    }
}
