//! How the slim types of the core are read from an API server: their REST paths, and `kube::Resource` for watchers.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta as FullMeta;
use kube::Resource;
use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::controller::action::Kind;
use crate::controller::api::{Deployment, ObjectKey, ObjectMeta, Pod, ReplicaSet};

use super::apply::Effect;
use super::store::{Store, Table};

/// A slim type that an API server serves.
pub trait SlimKind: Sized + DeserializeOwned + fmt::Debug + Send + Sync + 'static {
    /// Its kind.
    const KIND: Kind;

    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;

    /// What having read it means for the store.
    fn effect(object: Arc<Self>) -> Effect;

    /// Where the store has its like.
    fn table(store: &Store) -> &Table<Self>;

    /// Takes over what is known already of the version before, where this one says the same.
    fn learn_from(&self, _known: &Self) {}
}

impl SlimKind for Deployment {
    const KIND: Kind = Kind::Deployment;

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn effect(object: Arc<Self>) -> Effect {
        Effect::Deployment(object)
    }

    fn table(store: &Store) -> &Table<Self> {
        &store.deployments
    }

    fn learn_from(&self, known: &Self) {
        self.spec.template.learn_from(&known.spec.template);
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

    fn table(store: &Store) -> &Table<Self> {
        &store.replica_sets
    }

    fn learn_from(&self, known: &Self) {
        self.spec.template.learn_from(&known.spec.template);
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

    fn table(store: &Store) -> &Table<Self> {
        &store.pods
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

/// An object as a watcher hands it on: its text, and the little metadata that `kube` looks at. What is known already is
/// never decoded.
#[derive(Debug)]
pub struct Watched<T> {
    text: Box<RawValue>,
    identity: FullMeta,
    kind: PhantomData<fn() -> T>,
}

impl<T: SlimKind> Watched<T> {
    /// Decodes the object.
    ///
    /// # Errors
    /// When a field has a type that the API does not allow.
    pub fn decode(&self) -> Result<Arc<T>, serde_json::Error> {
        serde_json::from_str(self.text.get()).map(Arc::new)
    }

    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        ObjectKey::new(text(&self.identity.namespace), text(&self.identity.name))
    }

    /// The UID.
    pub fn uid(&self) -> &str {
        self.identity.uid.as_deref().unwrap_or_default()
    }

    /// The version.
    pub fn version(&self) -> &str {
        self.identity
            .resource_version
            .as_deref()
            .unwrap_or_default()
    }
}

impl<T> Clone for Watched<T> {
    fn clone(&self) -> Self {
        Self {
            text: self.text.clone(),
            identity: self.identity.clone(),
            kind: PhantomData,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Identity {
    /// Reads an object's metadata and nothing that comes after it.
    fn of(object: &str) -> Result<Self, serde_json::Error> {
        let mut found = None;
        let mut reader = serde_json::Deserializer::from_str(object);
        let end = reader.deserialize_map(Search(&mut found));
        found.map_or_else(|| end.map(|()| Self::default()), Ok)
    }
}

/// Looks for `metadata` among the members of an object; once they are found, reading ends with an error.
struct Search<'a>(&'a mut Option<Identity>);

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'_, str>>()? {
            if name == "metadata" {
                *self.0 = Some(members.next_value()?);
                return Err(A::Error::custom("the rest is not read"));
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

impl<'de, T> Deserialize<'de> for Watched<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let metadata = Identity::of(text.get()).map_err(D::Error::custom)?;
        let identity = FullMeta {
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            ..FullMeta::default()
        };
        Ok(Self {
            text,
            identity,
            kind: PhantomData,
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
