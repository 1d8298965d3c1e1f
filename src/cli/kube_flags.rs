//! kubectl's connection flags, and the client that they ask for.
//!
//! The same flags with the same meaning as in kubectl, accepted before and after the command. Every command that
//! talks to a cluster goes through [`KubeFlags::connect`].

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kube::{Client, Config};

use super::{connection, kubeconfig};
use crate::error::Failure;

/// What help calls the flags that every command has.
pub(super) const HEADING: &str = "Global options";

/// Where kubectl looks when nothing says where the cluster is.
pub(super) const DEFAULT_HOST: &str = "localhost:8080";

/// kubectl's connection flags.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct KubeFlags {
    /// Path to the kubeconfig file
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The kubeconfig context to use
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// The kubeconfig cluster to use
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The kubeconfig user to use
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub user: Option<String>,
    /// The namespace
    #[arg(short = 'n', long, global = true, value_name = "NAME")]
    pub namespace: Option<String>,
    /// User to impersonate
    #[arg(
        long = "as",
        global = true,
        hide_short_help = true,
        value_name = "USER"
    )]
    pub as_user: Option<String>,
    /// Group to impersonate; may be given several times
    #[arg(long, global = true, hide_short_help = true, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, hide_short_help = true, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra of the impersonated user, KEY=VALUE; may be given several times
    #[arg(long, global = true, hide_short_help = true, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// Address of the API server
    #[arg(
        short = 's',
        long,
        global = true,
        hide_short_help = true,
        value_name = "URL"
    )]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, hide_short_help = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Certificate file of the certificate authority
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// Client certificate file
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// Client key file
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Don't check the server's certificate: insecure
    #[arg(long, global = true, hide_short_help = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Name to check the server's certificate against
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// How long a single request may take, such as 5s; 0 for any time
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "DURATION",
        default_value = "0"
    )]
    pub request_timeout: RequestTimeout,
    /// Don't ask for compressed answers
    #[arg(long, global = true, hide_short_help = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub disable_compression: Option<bool>,
    /// Accepted for kubectl's sake: nothing is cached
    #[arg(long, global = true, value_name = "DIR", hide = true)]
    pub cache_dir: Option<PathBuf>,
}

/// A client, and what the flags and the kubeconfig say beside it.
#[derive(Clone)]
pub struct Connection {
    /// The client.
    pub client: Client,
    /// The namespace to work in: the flag's, the context's, or `default`.
    pub namespace: String,
    /// Where the server is.
    pub server: http::Uri,
}

impl KubeFlags {
    /// A client for the cluster that the flags, `KUBECONFIG` and `~/.kube/config` name. Nothing is sent yet.
    ///
    /// # Errors
    /// Names that the kubeconfig doesn't have, files that can't be read, in kubectl's words.
    pub async fn connect(&self) -> Result<Connection, Failure> {
        let config = self.config().await?;
        let namespace = config.default_namespace.clone();
        let server = config.cluster_url.clone();
        Ok(Connection {
            client: connection::client(config, self.request_timeout.limit())?,
            namespace,
            server,
        })
    }

    /// The namespace without a cluster: the flag's, or `default`.
    pub fn namespace_or_default(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }

    async fn config(&self) -> Result<Config, Failure> {
        self.check_impersonation()?;
        let mut config = match kubeconfig::read(self.kubeconfig.as_deref())? {
            Some(kubeconfig) => kubeconfig::resolve(kubeconfig, self).await?,
            None if self.names_no_cluster()
                && let Ok(config) = Config::incluster() =>
            {
                config
            }
            None => kubeconfig::resolve(kubeconfig::default_server(), self).await?,
        };
        if let Some(namespace) = &self.namespace {
            config.default_namespace.clone_from(namespace);
        }
        Ok(config)
    }

    /// Inside a pod, the pod's own service account is used unless a flag says otherwise, as in kubectl.
    fn names_no_cluster(&self) -> bool {
        self.context.is_none()
            && self.cluster.is_none()
            && self.user.is_none()
            && self.server.is_none()
    }

    fn check_impersonation(&self) -> Result<(), Failure> {
        let more =
            !self.as_group.is_empty() || self.as_uid.is_some() || !self.as_user_extra.is_empty();
        if more && self.as_user.is_none() {
            return Err(Failure::usage(
                "requesting uid, groups or user-extra without impersonating a user",
            )
            .hint("name the user with --as"));
        }
        Ok(())
    }
}

/// `--request-timeout`: whole seconds, or a number with a unit; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestTimeout(Duration);

impl RequestTimeout {
    /// The limit, if there is one.
    pub fn limit(self) -> Option<Duration> {
        Some(self.0).filter(|limit| !limit.is_zero())
    }
}

impl std::str::FromStr for RequestTimeout {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const INVALID: &str = "Invalid timeout value. Timeout must be a single integer in seconds, or an integer \
            followed by a corresponding time unit (e.g. 1s | 2m | 3h)";
        if let Ok(seconds) = text.parse() {
            return Ok(Self(Duration::from_secs(seconds)));
        }
        super::duration::parse(text).map(Self).map_err(|_| INVALID)
    }
}

#[cfg(test)]
mod tests;
