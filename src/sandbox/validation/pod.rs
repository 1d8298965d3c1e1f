//! Pods: what a new one must be, and the little that may change in one that exists.

use serde_json::Value;

use super::container::validate_image_spaces;
use super::errors::Errors;
use super::metadata;
use super::path::Path;
use super::pod_diff::spec_diff;
use super::pod_spec::{Place, validate_pod_annotations, validate_spec};
use super::scheduling::validate_tolerations;
use crate::sandbox::field_error::FieldError;
use crate::sandbox::json::{entries, list, text};
use crate::schema;

const MIRROR: &str = "kubernetes.io/config.mirror";
const UPDATABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// A new pod.
pub(super) fn validate(pod: &Value, errors: &mut Errors) {
    validate_contents(pod, errors);
    let (spec, path) = (&pod["spec"], Path::root("spec"));
    if !list(&spec["ephemeralContainers"]).is_empty() {
        let detail = "cannot be set on create";
        errors.forbidden(&path.child("ephemeralContainers"), detail);
    }
    if !text(&spec["nodeName"]).is_empty() && !list(&spec["schedulingGates"]).is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.forbidden(&path.child("nodeName"), detail);
    }
}

fn validate_contents(pod: &Value, errors: &mut Errors) {
    metadata::validate("Pod", pod, errors);
    let (spec, path) = (&pod["spec"], Path::root("spec"));
    let annotations = &pod["metadata"]["annotations"];
    let metadata_path = Path::root("metadata");
    let annotations_path = metadata_path.child("annotations");
    validate_pod_annotations(annotations, spec, &annotations_path, errors);
    let name = text(&pod["metadata"]["name"]);
    validate_spec(spec, Place::Pod { name }, &path, errors);
    if text(&spec["serviceAccountName"]).is_empty() {
        forbid_tokens(spec, errors);
    }
    for field in ["containers", "initContainers"] {
        let path = path.child(field);
        for (index, container) in list(&spec[field]).iter().enumerate() {
            validate_image_spaces(container, &path.index(index), errors);
        }
    }
}

fn forbid_tokens(spec: &Value, errors: &mut Errors) {
    for (volume_index, volume) in list(&spec["volumes"]).iter().enumerate() {
        let sources = list(&volume["projected"]["sources"]);
        for (index, source) in sources.iter().enumerate() {
            if !source["serviceAccountToken"].is_null() {
                let field = format!(
                    "spec.volumes[{volume_index}].projected.sources[{index}].serviceAccountToken"
                );
                let detail = "must not be specified when serviceAccountName is not set";
                errors.push(FieldError::forbidden(field, detail));
            }
        }
    }
}

/// An update of a pod.
pub(super) fn validate_update(new: &Value, old: &Value, errors: &mut Errors) {
    metadata::validate_update(new, old, errors);
    validate_contents(new, errors);
    validate_annotation_update(new, old, errors);
    let path = Path::root("spec");
    let (new, old) = (&new["spec"], &old["spec"]);
    for field in ["containers", "initContainers"] {
        let path = path.child(field);
        if list(&new[field]).len() != list(&old[field]).len() {
            errors.forbidden(&path, "pod updates may not add or remove containers");
            return;
        }
        for (index, container) in list(&new[field]).iter().enumerate() {
            let path = path.index(index);
            if text(&container["image"]).is_empty() {
                errors.required(&path.child("image"), "");
            }
            validate_image_spaces(container, &path, errors);
        }
    }
    if !validate_deadline(new, old, &path.child("activeDeadlineSeconds"), errors) {
        return;
    }
    validate_added_tolerations(new, old, &path.child("tolerations"), errors);
    validate_removed_gates(new, old, &path.child("schedulingGates"), errors);
    validate_unchanged(new, old, &path, errors);
}

/// The annotation of a mirror pod stays as it is.
pub(super) fn validate_annotation_update(new: &Value, old: &Value, errors: &mut Errors) {
    let path = Path::root("metadata");
    let path = path.child("annotations");
    let mirror = |pod: &Value| pod["metadata"]["annotations"][MIRROR].clone();
    match (mirror(new), mirror(old)) {
        (new, old) if new == old => {}
        (_, Value::Null) => {
            errors.forbidden(&path.key(MIRROR), "may not add mirror pod annotation");
        }
        _ => {
            let detail = "may not remove or update mirror pod annotation";
            errors.forbidden(&path.key(MIRROR), detail);
        }
    }
}

/// A deadline may be set, and brought forward. Returns whether it is worth looking further.
fn validate_deadline(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) -> bool {
    let seconds = |spec: &Value| spec["activeDeadlineSeconds"].as_i64();
    match (seconds(new), seconds(old)) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            errors.invalid(path, new, "must be between 0 and 2147483647, inclusive");
            false
        }
        (Some(new), Some(old)) if new > old => {
            errors.invalid(path, new, "must be less than or equal to previous value");
            false
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.invalid(path, Value::Null, detail);
            true
        }
        _ => true,
    }
}

fn validate_added_tolerations(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let is_same = |a: &Value, b: &Value| {
        ["key", "operator", "value", "effect"]
            .iter()
            .all(|field| text(&a[*field]) == text(&b[*field]))
    };
    let new_tolerations = list(&new["tolerations"]);
    for old in list(&old["tolerations"]) {
        if !new_tolerations.iter().any(|new| is_same(new, old)) {
            let detail = "existing toleration can not be modified except its tolerationSeconds";
            errors.forbidden(path, detail);
            return;
        }
    }
    validate_tolerations(&new["tolerations"], path, errors);
}

fn validate_removed_gates(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let old = list(&old["schedulingGates"]);
    for (index, gate) in list(&new["schedulingGates"]).iter().enumerate() {
        if !old.contains(gate) {
            let gate = text(&gate["name"]);
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{gate}'");
            errors.forbidden(&path.index(index).child("name"), detail);
        }
    }
}

/// Everything that was not looked at one by one must be as it was.
fn validate_unchanged(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let ty = schema::named("PodSpec").expect("the type table has PodSpec");
    if schema::semantically_equal(ty, new, old) {
        return;
    }
    let mut masked = new.clone();
    for field in ["containers", "initContainers"] {
        let containers = masked[field].as_array_mut().into_iter().flatten();
        for (container, old) in containers.zip(list(&old[field])) {
            container["image"] = old["image"].clone();
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        masked[field] = old[field].clone();
    }
    let grace = "terminationGracePeriodSeconds";
    if old[grace].as_i64().is_some_and(|seconds| seconds < 0) && masked[grace] == 1 {
        masked[grace] = old[grace].clone();
    }
    if !list(&old["schedulingGates"]).is_empty() {
        mask_gated(&mut masked, old, path, errors);
    }
    if !schema::semantically_equal(ty, &masked, old) {
        let detail = format!("{UPDATABLE}\n{}", spec_diff(old, &masked));
        errors.forbidden(path, detail);
    }
}

/// A pod that the scheduler may not look at yet can still be narrowed down.
fn mask_gated(masked: &mut Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let is_kept = |(key, value): (&str, &Value)| masked["nodeSelector"][key] == *value;
    if !entries(&old["nodeSelector"]).all(is_kept) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        let value = masked["nodeSelector"].clone();
        errors.invalid(&path.child("nodeSelector"), value, detail);
    }
    masked["nodeSelector"] = old["nodeSelector"].clone();
    let old_affinity = old["affinity"]["nodeAffinity"].clone();
    if masked["affinity"]["nodeAffinity"] == old_affinity {
        return;
    }
    let affinity_path = path.child("affinity");
    let node_path = affinity_path.child("nodeAffinity");
    validate_affinity_update(
        &masked["affinity"]["nodeAffinity"],
        &old_affinity,
        &node_path,
        errors,
    );
    if old["affinity"].is_null() && masked["affinity"].as_object().is_some_and(|a| a.len() == 1) {
        masked["affinity"] = Value::Null;
    } else {
        masked["affinity"]["nodeAffinity"] = old_affinity;
    }
}

fn validate_affinity_update(new: &Value, old: &Value, path: &Path<'_>, errors: &mut Errors) {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let path = path.child(required);
    let path = path.child("nodeSelectorTerms");
    let old_terms = list(&old[required]["nodeSelectorTerms"]);
    let new_terms = list(&new[required]["nodeSelectorTerms"]);
    if !old_terms.is_empty() && old_terms.len() != new_terms.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.invalid(&path, new_terms.to_vec(), detail);
        return;
    }
    for (index, (new, old)) in new_terms.iter().zip(old_terms).enumerate() {
        let is_extended = ["matchExpressions", "matchFields"]
            .iter()
            .all(|field| list(&new[*field]).starts_with(list(&old[*field])));
        if !is_extended {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.invalid(&path.index(index), new.clone(), detail);
        }
    }
}
