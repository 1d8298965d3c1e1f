//! ConfigMaps and Secrets that a pod refers to, and what the kubelet says of those that are missing (failure-states
//! spec, sections 3 and 10).

use serde::Deserialize;

use super::container_spec::ContainerSpec;
use super::pod::PodView;
use crate::controller::api::null_as_default;

/// The two kinds that configure pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigKind {
    /// `v1` ConfigMap.
    ConfigMap,
    /// `v1` Secret.
    Secret,
}

impl ConfigKind {
    fn word(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap",
            Self::Secret => "secret",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Everything.
    Found,
    /// No such object.
    NoObject,
    /// The object, but not the key.
    NoKey,
}

/// Who knows the ConfigMaps and Secrets of the cluster.
pub trait References {
    /// Looks up an object, and a key in it if one is named.
    fn look_up(&self, kind: ConfigKind, namespace: &str, name: &str, key: Option<&str>) -> Lookup;
}

/// Takes every reference for good: for a world in which the objects themselves are not there.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllPresent;

impl References for AllPresent {
    fn look_up(&self, _: ConfigKind, _: &str, _: &str, _: Option<&str>) -> Lookup {
        Lookup::Found
    }
}

/// Where an environment variable, or a bunch of them, comes from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvSource {
    /// A ConfigMap, or one key of it.
    #[serde(alias = "configMapKeyRef")]
    pub config_map_ref: Option<Reference>,
    /// A Secret, or one key of it.
    #[serde(alias = "secretKeyRef")]
    pub secret_ref: Option<Reference>,
}

/// A reference to an object, or to a key in it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reference {
    /// The object. Volumes of Secrets spell it `secretName`.
    #[serde(alias = "secretName", deserialize_with = "null_as_default")]
    pub name: String,
    /// The key.
    pub key: Option<String>,
    /// Keys, in volumes.
    #[serde(deserialize_with = "null_as_default")]
    pub items: Vec<Item>,
    /// Whether it may be missing.
    #[serde(deserialize_with = "null_as_default")]
    pub optional: bool,
}

/// A key of a volume's object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Item {
    /// The key.
    pub key: String,
}

/// A volume, as far as it comes from ConfigMaps and Secrets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// The ConfigMap it shows.
    pub config_map: Option<Reference>,
    /// The Secret it shows.
    pub secret: Option<Reference>,
    /// Several of them.
    #[serde(deserialize_with = "null_as_default")]
    pub projected: Projected,
}

/// `projected` of a volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Projected {
    /// What it shows.
    #[serde(deserialize_with = "null_as_default")]
    pub sources: Vec<ProjectedSource>,
}

/// One source of a projected volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectedSource {
    /// A ConfigMap.
    pub config_map: Option<Reference>,
    /// A Secret.
    pub secret: Option<Reference>,
}

/// Every namespace has it, put there by a controller.
const ROOT_CA: &str = "kube-root-ca.crt";

impl Reference {
    /// What is missing: the object or a key.
    fn missing<'a>(
        &'a self,
        kind: ConfigKind,
        namespace: &str,
        references: &dyn References,
    ) -> Option<Missing<'a>> {
        if self.optional || self.name == ROOT_CA {
            return None;
        }
        let mut keys = self
            .key
            .iter()
            .chain(self.items.iter().map(|item| &item.key));
        let look_up = |key| references.look_up(kind, namespace, &self.name, key);
        if look_up(None) == Lookup::NoObject {
            return Some(Missing::Object(kind, &self.name));
        }
        keys.find(|key| look_up(Some(key.as_str())) == Lookup::NoKey)
            .map(|key| Missing::Key(kind, &self.name, key))
    }
}

enum Missing<'a> {
    Object(ConfigKind, &'a str),
    Key(ConfigKind, &'a str, &'a str),
}

/// Why the container can't be configured, in the kubelet's words.
pub(super) fn missing_in_env(
    container: &ContainerSpec,
    namespace: &str,
    references: &dyn References,
) -> Option<String> {
    let bulk = container.env_from.iter();
    let single = container.env.iter().map(|variable| &variable.value_from);
    bulk.chain(single)
        .find_map(|source| {
            let config_map = source.config_map_ref.as_ref();
            let secret = source.secret_ref.as_ref();
            config_map
                .and_then(|reference| {
                    reference.missing(ConfigKind::ConfigMap, namespace, references)
                })
                .or_else(|| {
                    secret.and_then(|reference| {
                        reference.missing(ConfigKind::Secret, namespace, references)
                    })
                })
        })
        .map(|missing| match missing {
            Missing::Object(kind, name) => format!("{} {name:?} not found", kind.word()),
            Missing::Key(kind, name, key) => {
                format!(
                    "couldn't find key {key} in {} {namespace}/{name}",
                    kind.kind()
                )
            }
        })
}

/// Why a volume can't be mounted, in the kubelet's words.
pub(super) fn missing_in_volumes(pod: &PodView, references: &dyn References) -> Option<String> {
    let namespace = &pod.metadata.namespace;
    pod.spec.volumes.iter().find_map(|volume| {
        let projected = volume
            .projected
            .sources
            .iter()
            .flat_map(|source| sources(source.config_map.as_ref(), source.secret.as_ref()));
        sources(volume.config_map.as_ref(), volume.secret.as_ref())
            .chain(projected)
            .find_map(|(kind, reference)| reference.missing(kind, namespace, references))
            .map(|missing| {
                let cause = match missing {
                    Missing::Object(kind, name) => format!("{} {name:?} not found", kind.word()),
                    Missing::Key(ConfigKind::ConfigMap, _, key) => {
                        format!("configmap references non-existent config key: {key}")
                    }
                    Missing::Key(ConfigKind::Secret, _, key) => {
                        format!("references non-existent secret key: {key}")
                    }
                };
                mount_failure(&volume.name, &cause)
            })
    })
}

/// What `FailedMount` says; the blank before the colon is the kubelet's.
pub(super) fn mount_failure(volume: &str, cause: &str) -> String {
    format!("MountVolume.SetUp failed for volume {volume:?} : {cause}")
}

/// Names of pull Secrets that are not there.
pub(super) fn missing_pull_secrets<'a>(
    pod: &'a PodView,
    references: &dyn References,
) -> Vec<&'a str> {
    let namespace = &pod.metadata.namespace;
    let secrets = pod.spec.image_pull_secrets.iter();
    secrets
        .map(|secret| secret.name.as_str())
        .filter(|name| {
            references.look_up(ConfigKind::Secret, namespace, name, None) == Lookup::NoObject
        })
        .collect()
}

fn sources<'a>(
    config_map: Option<&'a Reference>,
    secret: Option<&'a Reference>,
) -> impl Iterator<Item = (ConfigKind, &'a Reference)> {
    let config_map = config_map.map(|reference| (ConfigKind::ConfigMap, reference));
    config_map
        .into_iter()
        .chain(secret.map(|reference| (ConfigKind::Secret, reference)))
}
