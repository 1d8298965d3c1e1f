//! The kinds that are read here, and how they are asked for.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::controller::api::{
    Deployment, DeploymentSpec, DeploymentStatus, ObjectMeta, ReplicaSet, null_as_default,
};
use crate::diagnose::Change;
use crate::diagnose::api::{Autoscaler, Event, Node, Pod, Quota};

/// Where a kind is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// The path of its group and version.
    root: &'static str,
    /// Its name in URLs.
    pub(super) plural: &'static str,
}

impl Resource {
    const fn core(plural: &'static str) -> Self {
        let root = "/api/v1";
        Self { root, plural }
    }

    const fn apps(plural: &'static str) -> Self {
        let root = "/apis/apps/v1";
        Self { root, plural }
    }

    /// The collection's path, of one namespace or of all.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let Self { root, plural } = self;
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{plural}"),
        }
    }
}

/// A slim type that is read here.
pub(super) trait Readable: Clone + DeserializeOwned + Send + Sync + 'static {
    /// How it is asked for.
    const RESOURCE: Resource;
}

/// A slim type that is watched here.
pub(super) trait Watchable: Readable {
    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;
}

macro_rules! readable {
    ($($type:ty = $resource:expr;)+) => {
        $(impl Readable for $type {
            const RESOURCE: Resource = $resource;
        })+
    };
}

impl Watchable for Deployed {
    fn meta(&self) -> &ObjectMeta {
        &self.deployment.meta
    }
}

impl Watchable for ReplicaSet {
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
}

impl Watchable for Pod {
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
}

readable! {
    Deployed = Resource::apps("deployments");
    ReplicaSet = Resource::apps("replicasets");
    Pod = Resource::core("pods");
    Event = Resource::core("events");
    Quota = Resource::core("resourcequotas");
    Node = Resource::core("nodes");
    Namespace = Resource::core("namespaces");
    Autoscaler = Resource {
        root: "/apis/autoscaling/v2",
        plural: "horizontalpodautoscalers",
    };
}

/// A namespace, for whether it is being deleted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Namespace {
    #[serde(rename = "metadata")]
    pub(super) meta: ObjectMeta,
    pub(super) status: NamespaceStatus,
}

/// A namespace's phase.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NamespaceStatus {
    pub(super) phase: String,
}

/// A Deployment, who changed its spec last, and when its status was written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "RawDeployed")]
pub(super) struct Deployed {
    pub(super) deployment: Arc<Deployment>,
    pub(super) last_change: Option<Change>,
    pub(super) reported_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct RawDeployed {
    metadata: RawMeta,
    #[serde(default)]
    spec: DeploymentSpec,
    #[serde(default, deserialize_with = "null_as_default")]
    status: DeploymentStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawMeta {
    #[serde(flatten)]
    meta: ObjectMeta,
    #[serde(default)]
    managed_fields: Option<Vec<Managed>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Managed {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    time: Option<Time>,
    #[serde(default, rename = "fieldsV1")]
    fields: Option<Fields>,
}

#[derive(Deserialize)]
struct Fields {
    #[serde(default, rename = "f:spec")]
    spec: Option<IgnoredAny>,
    #[serde(default, rename = "f:status")]
    status: Option<IgnoredAny>,
}

impl From<RawDeployed> for Deployed {
    fn from(raw: RawDeployed) -> Self {
        let managed = raw.metadata.managed_fields.unwrap_or_default();
        let writes_spec = |entry: &Managed| {
            let fields = entry.fields.as_ref();
            fields.is_some_and(|fields| fields.spec.is_some())
                && matches!(entry.subresource.as_str(), "" | "scale")
        };
        let reports = managed
            .iter()
            // Older servers name no subresource.
            .filter(|entry| {
                entry.subresource == "status"
                    || entry
                        .fields
                        .as_ref()
                        .is_some_and(|fields| fields.status.is_some())
            });
        let reported_at = reports
            .filter_map(|entry| Some(entry.time.as_ref()?.0))
            .max();
        let last_change = managed
            .into_iter()
            .filter(writes_spec)
            .filter_map(|entry| {
                Some(Change {
                    at: entry.time?.0,
                    manager: entry.manager,
                })
            })
            .max_by_key(|change| change.at);
        Self {
            deployment: Arc::new(Deployment {
                meta: raw.metadata.meta,
                spec: raw.spec,
                status: raw.status,
            }),
            last_change,
            reported_at,
        }
    }
}
