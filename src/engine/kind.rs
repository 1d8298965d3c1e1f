//! How the slim types of the core are read from an API server: their REST paths, and `kube::Resource` for watchers.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta as FullMeta;
use kube::Resource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::controller::action::Kind;
use crate::controller::api::{Deployment, ObjectMeta, Pod, ReplicaSet};

use super::apply::Effect;

/// A slim type that an API server serves.
pub trait SlimKind: DeserializeOwned + fmt::Debug + Send + Sync + 'static {
    /// Its kind.
    const KIND: Kind;

    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;

    /// What having read it means for the store.
    fn effect(object: Arc<Self>) -> Effect;
}

impl SlimKind for Deployment {
    const KIND: Kind = Kind::Deployment;

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn effect(object: Arc<Self>) -> Effect {
        Effect::Deployment(object)
    }
}

impl SlimKind for ReplicaSet {
    const KIND: Kind = Kind::ReplicaSet;

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn effect(object: Arc<Self>) -> Effect {
        Effect::ReplicaSet(object)
    }
}

impl SlimKind for Pod {
    const KIND: Kind = Kind::Pod;

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn effect(object: Arc<Self>) -> Effect {
        Effect::Pod(object)
    }
}

impl Kind {
    /// API group; empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Deployment | Self::ReplicaSet => "apps",
            Self::Pod => "",
        }
    }

    /// The resource's name in URLs.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Deployment => "deployments",
            Self::ReplicaSet => "replicasets",
            Self::Pod => "pods",
        }
    }

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::Pod => "Pod",
        }
    }

    /// `apiVersion` of its objects.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Deployment | Self::ReplicaSet => "apps/v1",
            Self::Pod => "v1",
        }
    }

    /// The collection's path, of one namespace or of all.
    pub fn path(self, namespace: Option<&str>) -> String {
        let root = match self {
            Self::Deployment | Self::ReplicaSet => "/apis/apps/v1",
            Self::Pod => "/api/v1",
        };
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural()),
            None => format!("{root}/{}", self.plural()),
        }
    }
}

/// A slim object as a watcher hands it on: the little metadata that `kube` looks at is kept beside it.
#[derive(Debug)]
pub struct Watched<T> {
    /// The object.
    pub object: Arc<T>,
    identity: FullMeta,
}

impl<T> Clone for Watched<T> {
    fn clone(&self) -> Self {
        Self {
            object: Arc::clone(&self.object),
            identity: self.identity.clone(),
        }
    }
}

impl<'de, T: SlimKind> Deserialize<'de> for Watched<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = T::deserialize(deserializer)?;
        let meta = object.meta();
        let identity = FullMeta {
            name: Some(meta.name.clone()),
            namespace: Some(meta.namespace.clone()),
            uid: Some(meta.uid.clone()),
            resource_version: Some(meta.resource_version.clone()),
            ..FullMeta::default()
        };
        Ok(Self {
            object: Arc::new(object),
            identity,
        })
    }
}

impl<T: SlimKind> Resource for Watched<T> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        T::KIND.name().into()
    }

    fn group((): &()) -> Cow<'_, str> {
        T::KIND.group().into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        T::KIND.plural().into()
    }

    fn meta(&self) -> &FullMeta {
        &self.identity
    }

    fn meta_mut(&mut self) -> &mut FullMeta {
        &mut self.identity
    }
}
