//! Actions as API requests. Updates are patches: they name what changes and the version it relies on, so fields that
//! this binary does not know stay as they are.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy};
use kube::core::Request;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::controller::action::{Action, AnnotationChanges, Kind, NewPod, NewReplicaSet, Target};
use crate::controller::api::{DeploymentStatus, OwnerReference, ReplicaSetStatus};
use crate::controller::garbage::Propagation;
use crate::controller::template::Template;

use super::kind::SlimKind;
use super::options::DryRun;

type HttpRequest = http::Request<Vec<u8>>;

/// Who writes, in `managedFields`.
pub const FIELD_MANAGER: &str = "kubectl-rs";

/// Builds requests for one dry-run mode.
#[derive(Clone, Copy, Debug)]
pub struct Requests {
    /// Whether the server should only pretend.
    pub dry_run: DryRun,
}

impl Requests {
    /// The request of an action; `None` for events, which the event recorder sends.
    ///
    /// # Errors
    /// When a name cannot be part of a URL.
    pub fn of(self, action: &Action) -> Result<Option<HttpRequest>, kube::core::request::Error> {
        match action {
            Action::CreateReplicaSet(new) => {
                let namespace = &new.key.namespace;
                self.create(&path_of::<crate::controller::api::ReplicaSet>(namespace), &replica_set_body(new))
            }
            Action::CreatePod { pod, .. } => {
                self.create(&path_of::<crate::controller::api::Pod>(&pod.namespace), &pod_body(pod))
            }
            Action::ScaleReplicaSet { target, to, annotations, .. } => {
                let mut body = merge_body(target, annotations);
                body["spec"] = json!({ "replicas": to });
                self.merge(target, None, body)
            }
            Action::UpdateReplicaSet { target, min_ready_seconds, annotations } => {
                let mut body = merge_body(target, annotations);
                if let Some(seconds) = min_ready_seconds {
                    body["spec"] = json!({ "minReadySeconds": seconds });
                }
                self.merge(target, None, body)
            }
            Action::DeleteReplicaSet { target } | Action::DeletePod { target } => self.delete(target, None),
            Action::Collect { target, propagation } => self.delete(target, Some(policy(*propagation))),
            Action::AdoptReplicaSet { target, owner } | Action::AdoptPod { target, owner } => {
                self.strategic(target, &json!([owner_body(owner)]))
            }
            Action::RemoveFinalizer { target, remaining, .. } => {
                let mut body = merge_body(target, &AnnotationChanges::new());
                body["metadata"]["finalizers"] = json!(remaining);
                self.merge(target, None, body)
            }
            Action::ReleaseReplicaSet { target, owner_uid }
            | Action::ReleasePod { target, owner_uid }
            | Action::Disown { target, owner_uid } => {
                self.strategic(target, &json!([{ "$patch": "delete", "uid": owner_uid }]))
            }
            Action::Unblock { target, owner_uids } => {
                let references = owner_uids
                    .iter()
                    .map(|uid| json!({ "uid": uid, "blockOwnerDeletion": false }));
                self.strategic(target, &references.collect())
            }
            Action::UpdateDeployment { target, template, annotations } => {
                let mut operations = vec![json!({
                    "op": "replace", "path": "/metadata/resourceVersion", "value": target.resource_version,
                })];
                if let Some(template) = template {
                    operations.push(
                        json!({ "op": "replace", "path": "/spec/template", "value": template }),
                    );
                }
                operations.extend(annotations.iter().map(annotation_operation));
                self.json_patch(target, Value::Array(operations))
            }
            Action::UpdateDeploymentStatus { target, status, annotations } => {
                let mut body = merge_body(target, annotations);
                body["status"] = deployment_status_body(status);
                self.merge(target, Some("status"), body)
            }
            Action::UpdateReplicaSetStatus { target, status, .. } => {
                let mut body = merge_body(target, &AnnotationChanges::new());
                body["status"] = replica_set_status_body(status);
                self.merge(target, Some("status"), body)
            }
            Action::RecordEvent { .. } => return Ok(None),
        }
        .map(Some)
    }

    fn create(
        self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<HttpRequest, kube::core::request::Error> {
        let params = PostParams {
            dry_run: self.dry_run == DryRun::Server,
            field_manager: Some(FIELD_MANAGER.to_owned()),
        };
        let body = serde_json::to_vec(body).map_err(kube::core::request::Error::SerializeBody)?;
        Request::new(path).create(&params, body)
    }

    fn delete(
        self,
        target: &Target,
        policy: Option<PropagationPolicy>,
    ) -> Result<HttpRequest, kube::core::request::Error> {
        let params = DeleteParams {
            propagation_policy: policy,
            dry_run: self.dry_run == DryRun::Server,
            preconditions: Some(Preconditions {
                uid: Some(target.uid.clone()),
                resource_version: Some(target.resource_version.clone()),
            }),
            ..DeleteParams::default()
        };
        Request::new(target.kind.path(Some(&target.key.namespace)))
            .delete(&target.key.name, &params)
    }

    fn merge(
        self,
        target: &Target,
        subresource: Option<&str>,
        body: Value,
    ) -> Result<HttpRequest, kube::core::request::Error> {
        self.patch(target, subresource, &Patch::Merge(body))
    }

    fn strategic(
        self,
        target: &Target,
        owners: &Value,
    ) -> Result<HttpRequest, kube::core::request::Error> {
        let body = json!({ "metadata": {
            "uid": target.uid,
            "resourceVersion": target.resource_version,
            "ownerReferences": owners,
        }});
        self.patch(target, None, &Patch::Strategic(body))
    }

    fn json_patch(
        self,
        target: &Target,
        body: Value,
    ) -> Result<HttpRequest, kube::core::request::Error> {
        let request = self.patch(target, None, &Patch::Merge(body))?;
        let (mut head, body) = request.into_parts();
        head.headers.insert(
            http::header::CONTENT_TYPE,
            http::HeaderValue::from_static("application/json-patch+json"),
        );
        Ok(http::Request::from_parts(head, body))
    }

    fn patch(
        self,
        target: &Target,
        subresource: Option<&str>,
        patch: &Patch<Value>,
    ) -> Result<HttpRequest, kube::core::request::Error> {
        let params = PatchParams {
            dry_run: self.dry_run == DryRun::Server,
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let request = Request::new(target.kind.path(Some(&target.key.namespace)));
        match subresource {
            None => request.patch(&target.key.name, &params, patch),
            Some(subresource) => {
                request.patch_subresource(subresource, &target.key.name, &params, patch)
            }
        }
    }
}

fn policy(propagation: Propagation) -> PropagationPolicy {
    match propagation {
        Propagation::Background => PropagationPolicy::Background,
        Propagation::Foreground => PropagationPolicy::Foreground,
        Propagation::Orphan => PropagationPolicy::Orphan,
    }
}

fn path_of<T: SlimKind>(namespace: &str) -> String {
    T::KIND.path(Some(namespace))
}

fn merge_body(target: &Target, annotations: &AnnotationChanges) -> Value {
    let mut metadata = json!({ "uid": target.uid, "resourceVersion": target.resource_version });
    if !annotations.is_empty() {
        metadata["annotations"] = json!(annotations);
    }
    json!({ "metadata": metadata })
}

fn annotation_operation((key, value): (&String, &Option<String>)) -> Value {
    let path = format!(
        "/metadata/annotations/{}",
        key.replace('~', "~0").replace('/', "~1")
    );
    match value {
        Some(value) => json!({ "op": "add", "path": path, "value": value }),
        None => json!({ "op": "remove", "path": path }),
    }
}

fn owner_body(owner: &OwnerReference) -> Value {
    json!({
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": owner.controller,
        "blockOwnerDeletion": owner.block_owner_deletion,
    })
}

/// A new object; its spec, which is most of it, is written as it is and not copied before.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewObject<S> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Value,
    spec: S,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewReplicaSetSpec<'a> {
    replicas: i32,
    min_ready_seconds: i32,
    selector: &'a LabelSelector,
    template: &'a Template,
}

fn replica_set_body(new: &NewReplicaSet) -> impl Serialize {
    NewObject {
        api_version: Kind::ReplicaSet.api_version(),
        kind: Kind::ReplicaSet.name(),
        metadata: json!({
            "name": new.key.name,
            "namespace": new.key.namespace,
            "labels": new.labels,
            "annotations": new.annotations,
            "ownerReferences": [owner_body(&new.owner)],
        }),
        spec: NewReplicaSetSpec {
            replicas: new.replicas,
            min_ready_seconds: new.min_ready_seconds,
            selector: &new.selector,
            template: &new.template,
        },
    }
}

fn pod_body(pod: &NewPod) -> impl Serialize {
    let mut metadata = json!({
        "generateName": pod.generate_name,
        "namespace": pod.namespace,
        "labels": pod.labels,
        "ownerReferences": [owner_body(&pod.owner)],
    });
    if !pod.annotations.is_empty() {
        metadata["annotations"] = json!(pod.annotations);
    }
    if !pod.finalizers.is_empty() {
        metadata["finalizers"] = json!(pod.finalizers);
    }
    NewObject {
        api_version: Kind::Pod.api_version(),
        kind: Kind::Pod.name(),
        metadata,
        spec: &pod.spec,
    }
}

/// A counter as the API writes it: zero is absent, and `null` in a merge patch makes it so.
fn counter(value: i32) -> Value {
    if value == 0 {
        Value::Null
    } else {
        json!(value)
    }
}

fn conditions(conditions: &[crate::controller::api::Condition]) -> Value {
    if conditions.is_empty() {
        Value::Null
    } else {
        json!(conditions)
    }
}

fn deployment_status_body(status: &DeploymentStatus) -> Value {
    let mut body = Map::new();
    body.insert(
        "observedGeneration".into(),
        json!(status.observed_generation),
    );
    for (name, value) in [
        ("replicas", status.replicas),
        ("updatedReplicas", status.updated_replicas),
        ("readyReplicas", status.ready_replicas),
        ("availableReplicas", status.available_replicas),
        ("unavailableReplicas", status.unavailable_replicas),
    ] {
        body.insert(name.into(), counter(value));
    }
    body.insert(
        "terminatingReplicas".into(),
        json!(status.terminating_replicas),
    );
    body.insert("collisionCount".into(), json!(status.collision_count));
    body.insert("conditions".into(), conditions(&status.conditions));
    Value::Object(body)
}

fn replica_set_status_body(status: &ReplicaSetStatus) -> Value {
    json!({
        "replicas": status.replicas,
        "fullyLabeledReplicas": counter(status.fully_labeled_replicas),
        "readyReplicas": counter(status.ready_replicas),
        "availableReplicas": counter(status.available_replicas),
        "terminatingReplicas": status.terminating_replicas,
        "observedGeneration": status.observed_generation,
        "conditions": conditions(&status.conditions),
    })
}
