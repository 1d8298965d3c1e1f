//! Which cluster a command works on: the kubeconfig's, or one inside this process (`--embedded`).

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use kube::Client;
use serde_json::{Value, json};

use super::kube_flags::KubeFlags;
use crate::clock::Clock;
use crate::error::Failure;
use crate::manifest::Object;
use crate::sandbox::kinds;
use crate::sandbox::{Sandbox, SandboxOptions};

/// Which cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterFlags {
    /// Work on a fresh cluster inside this process: empty, or loaded from the files and brought to rest first
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_delimiter = ','
    )]
    pub embedded: Option<Vec<String>>,
    /// Who acts: auto, client (this tool) or server (the cluster's controller manager)
    #[arg(
        long,
        value_name = "WHO",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub controller: Controller,
}

/// Who acts on Deployments and ReplicaSets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Controller {
    /// Whoever is there.
    #[default]
    Auto,
    /// This tool.
    Client,
    /// The cluster's controller manager.
    Server,
}

/// A cluster to work on.
pub struct Cluster {
    /// The client.
    pub client: Client,
    /// What time it is there.
    pub clock: Clock,
    /// The namespace to work in.
    pub namespace: String,
    sandbox: Option<Sandbox>,
}

impl ClusterFlags {
    /// Connects to the cluster, or makes it.
    ///
    /// # Errors
    /// What keeps from connecting, in kubectl's words; files that can't be loaded.
    pub async fn open(&self, kube: &KubeFlags) -> Result<Cluster, Failure> {
        if self.embedded.is_some() {
            return Ok(embedded(kube.namespace_or_default()));
        }
        let connection = kube.connect().await?;
        Ok(Cluster {
            client: connection.client,
            clock: Clock::system(),
            namespace: connection.namespace,
            sandbox: None,
        })
    }

    /// Refuses to act where that was not asked for.
    ///
    /// # Errors
    /// The cluster is a real one and the flags do not say that this tool is to act.
    pub fn must_act(&self) -> Result<(), Failure> {
        if self.embedded.is_some() && self.controller != Controller::Server
            || self.controller == Controller::Client
        {
            return Ok(());
        }
        Err(Failure::usage("sync acts on a cluster only when told to: two controllers on one Deployment create surplus pods")
            .hint("--controller=client, if no kube-controller-manager runs there; or --embedded"))
    }
}

impl Cluster {
    /// Puts into an embedded cluster what the objects of a set of manifests rely on: the kinds that it knows, and the
    /// namespaces that are named. Another cluster is left as it is. Returns which of the objects were put there.
    ///
    /// # Errors
    /// An object that the embedded cluster refuses.
    pub fn prepare<'a>(
        &self,
        others: &'a [Object],
        namespaces: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<&'a Object>, Failure> {
        let Some(sandbox) = &self.sandbox else {
            return Ok(Vec::new());
        };
        let named = others.iter().map(Object::namespace).chain(namespaces);
        let mut namespaces: BTreeSet<&str> = named.filter(|name| !name.is_empty()).collect();
        namespaces.insert(&self.namespace);
        for object in others.iter().filter(|object| object.kind() == "Namespace") {
            namespaces.remove(object.name());
        }
        let mut loaded = Vec::new();
        // Namespaces first, whatever their place in the file.
        let (spaces, rest): (Vec<_>, Vec<_>) = others
            .iter()
            .partition(|object| object.kind() == "Namespace");
        for name in namespaces {
            if sandbox.get("namespaces", "", name).is_none() {
                load(
                    sandbox,
                    "namespaces",
                    "",
                    json!({ "metadata": { "name": name } }),
                )?;
            }
        }
        for object in spaces.into_iter().chain(rest) {
            if self.load_object(sandbox, object)? {
                loaded.push(object);
            }
        }
        Ok(loaded)
    }

    fn load_object(&self, sandbox: &Sandbox, object: &Object) -> Result<bool, Failure> {
        let Some(kind) = kinds::of_object(object.api_version(), object.kind()) else {
            return Ok(false);
        };
        let namespace = match (kind.namespaced, object.namespace()) {
            (false, _) => "",
            (true, "") => &self.namespace,
            (true, own) => own,
        };
        if sandbox.get(kind.plural, namespace, object.name()).is_none() {
            load(sandbox, kind.plural, namespace, object.json.clone())?;
        }
        Ok(true)
    }
}

fn load(sandbox: &Sandbox, plural: &str, namespace: &str, object: Value) -> Result<(), Failure> {
    let name = object["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    sandbox
        .create(plural, namespace, object)
        .map(|_| ())
        .map_err(|error| {
            Failure::error(format!(
                "the embedded cluster refused {plural}/{name}: {}",
                error.message
            ))
        })
}

fn embedded(namespace: &str) -> Cluster {
    let clock = Clock::system();
    let sandbox = Sandbox::new(SandboxOptions::new(clock));
    Cluster {
        client: sandbox.client(),
        clock,
        namespace: namespace.to_owned(),
        sandbox: Some(sandbox),
    }
}
