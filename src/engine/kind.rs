//! How the slim types of the core are read from an API server: their REST paths, and `kube::Resource` for watchers.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta as FullMeta;
use kube::Resource;
use serde::de::{DeserializeOwned, DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
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

    /// Keeps what is equal in another of its kind together with it.
    fn share_with(&mut self, known: &Self);
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

    fn share_with(&mut self, known: &Self) {
        self.meta.share_with(&known.meta);
        self.spec.template.share_with(&known.spec.template);
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

    fn share_with(&mut self, known: &Self) {
        self.meta.share_with(&known.meta);
        self.spec.template.share_with(&known.spec.template);
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

    fn share_with(&mut self, known: &Self) {
        self.meta.share_with(&known.meta);
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

/// What tells an object and its version.
#[derive(Default)]
struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Identity {
    /// Reads it from an object, and nothing that comes after it: who manages which fields is often half of the text.
    fn of(object: &str) -> Result<Self, serde_json::Error> {
        let mut search = Search::default();
        let mut reader = serde_json::Deserializer::from_str(object);
        match reader.deserialize_map(&mut search) {
            Err(error) if !search.is_over => Err(error),
            _ => Ok(search.found),
        }
    }

    fn is_whole(&self) -> bool {
        let fields = [&self.name, &self.namespace, &self.uid];
        self.resource_version.is_some() && fields.iter().all(|field| field.is_some())
    }
}

/// Names of members that the search is about.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Member {
    Metadata,
    Name,
    Namespace,
    Uid,
    ResourceVersion,
    #[serde(other)]
    Other,
}

/// Looks for `metadata` among the members of an object, and for an identity among those of `metadata`. Once it is found,
/// reading ends with an error.
#[derive(Default)]
struct Search {
    is_in_metadata: bool,
    found: Identity,
    is_over: bool,
}

impl Search {
    fn end<E: Error>(&mut self) -> E {
        self.is_over = true;
        E::custom("the rest is not read")
    }

    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: Member,
        members: &mut A,
    ) -> Result<(), A::Error> {
        let field = match name {
            Member::Name => &mut self.found.name,
            Member::Namespace => &mut self.found.namespace,
            Member::Uid => &mut self.found.uid,
            Member::ResourceVersion => &mut self.found.resource_version,
            Member::Metadata | Member::Other => {
                return members.next_value().map(|IgnoredAny| ());
            }
        };
        *field = members.next_value()?;
        if self.found.is_whole() {
            return Err(self.end());
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for &mut Search {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Member>()? {
            if self.is_in_metadata {
                self.read(name, &mut members)?;
            } else if name == Member::Metadata {
                self.is_in_metadata = true;
                members.next_value_seed(&mut *self)?;
                return Err(self.end());
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Search {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
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
