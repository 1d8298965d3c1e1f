//! Which cluster a command works on: the kubeconfig's, or one inside this process (`--embedded`).

use clap::{Args, ValueEnum};
use kube::Client;

use super::embedded::Embedded;
use super::kube_flags::KubeFlags;
use super::throttle::ThrottleFlags;
use crate::clock::Clock;
use crate::error::Failure;

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
    /// How fast requests are sent
    #[command(flatten)]
    pub throttle: ThrottleFlags,
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
    /// What is behind the client when the cluster is inside this process.
    pub(super) embedded: Option<Embedded>,
}

impl Cluster {
    /// The namespace to work in; `None`: all of them.
    pub(super) fn namespace_or_all(&self, all: bool) -> Option<&str> {
        (!all).then_some(&*self.namespace)
    }
}

impl ClusterFlags {
    /// Connects to the cluster, or makes it.
    ///
    /// # Errors
    /// What keeps from connecting, in kubectl's words; files that can't be loaded.
    pub async fn open(&self, kube: &KubeFlags) -> Result<Cluster, Failure> {
        if let Some(files) = &self.embedded {
            return Self::open_embedded(files, kube.namespace_or_default());
        }
        let connection = kube.connect().await?;
        Ok(Cluster {
            client: self.throttle.hold(connection.client, &connection.server),
            clock: Clock::system(),
            namespace: connection.namespace,
            embedded: None,
        })
    }

    fn open_embedded(files: &[String], namespace: &str) -> Result<Cluster, Failure> {
        let embedded = Embedded::start(files, namespace)?;
        Ok(Cluster {
            client: embedded.client(),
            clock: embedded.clock(),
            namespace: namespace.to_owned(),
            embedded: Some(embedded),
        })
    }
}
