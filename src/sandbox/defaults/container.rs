//! Defaults of containers: image pull policy, termination message, ports, env, probes, lifecycle hooks.

use serde_json::Value;

use super::{default_nil, default_zero, resource_list};
use crate::sandbox::json::{Object, object_mut, object_or_new, objects_mut, text};

/// Fills in a container of any sort.
pub(super) fn container(container: &mut Object) {
    let policy = pull_policy(container.get("image").map_or("", text));
    default_zero(container, "imagePullPolicy", policy);
    default_zero(container, "terminationMessagePath", "/dev/termination-log");
    default_zero(container, "terminationMessagePolicy", "File");
    for port in objects_mut(container, "ports") {
        default_zero(port, "protocol", "TCP");
    }
    for variable in objects_mut(container, "env") {
        if let Some(source) = object_mut(variable, "valueFrom") {
            env_source(source);
        }
    }
    if let Some(resources) = object_mut(container, "resources") {
        resource_list(resources, "limits");
        resource_list(resources, "requests");
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = object_mut(container, probe) {
            self::probe(probe);
        }
    }
    if let Some(lifecycle) = object_mut(container, "lifecycle") {
        for hook in ["postStart", "preStop"] {
            if let Some(hook) = object_mut(lifecycle, hook) {
                http_get(hook);
            }
        }
    }
}

/// When the kubelet pulls an image whose container does not say: always for `latest`, said or meant.
pub(super) fn pull_policy(image: &str) -> &'static str {
    if tag(image) == Some("latest") {
        "Always"
    } else {
        "IfNotPresent"
    }
}

/// The tag of an image, `latest` where neither tag nor digest is given; nothing for a malformed name.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let path_start = name.rfind('/').map_or(0, |slash| slash + 1);
    let (repository, tag) = match name[path_start..].rfind(':') {
        Some(colon) => (
            &name[..path_start + colon],
            Some(&name[path_start + colon + 1..]),
        ),
        None => (name, None),
    };
    let malformed = repository.is_empty()
        || repository
            .bytes()
            .any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_uppercase());
    if malformed {
        return None;
    }
    tag.or(digest.is_none().then_some("latest"))
}

fn env_source(source: &mut Object) {
    field_ref(source);
    if let Some(reference) = object_mut(source, "fileKeyRef") {
        default_nil(reference, "optional", false);
    }
}

/// The version a `fieldRef` of this source speaks.
pub(super) fn field_ref(source: &mut Object) {
    if let Some(reference) = object_mut(source, "fieldRef") {
        default_zero(reference, "apiVersion", "v1");
    }
}

fn probe(probe: &mut Object) {
    default_zero(probe, "timeoutSeconds", 1);
    default_zero(probe, "periodSeconds", 10);
    default_zero(probe, "successThreshold", 1);
    default_zero(probe, "failureThreshold", 3);
    http_get(probe);
    if let Some(grpc) = object_mut(probe, "grpc") {
        default_nil(grpc, "service", "");
    }
}

fn http_get(handler: &mut Object) {
    if let Some(action) = object_mut(handler, "httpGet") {
        default_zero(action, "path", "/");
        default_zero(action, "scheme", "HTTP");
    }
}

/// Copies each limit without a request into the requests: done to pods, never to templates.
pub(super) fn requests_from_limits(container: &mut Object) {
    let Some(resources) = object_mut(container, "resources") else {
        return;
    };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    if let Some(requests) = object_or_new(resources, "requests") {
        for (name, limit) in limits {
            requests.entry(name).or_insert(limit);
        }
    }
}
