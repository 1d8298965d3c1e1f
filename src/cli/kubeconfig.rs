//! Kubeconfig files: which are read, how the flags override them, and kubectl's words for what is missing.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, LoadDataError,
    NamedAuthInfo, NamedCluster, NamedContext,
};
use serde_json::json;

use super::kube_flags::{DEFAULT_HOST, KubeFlags};
use crate::error::Failure;

/// The name under which what the flags and files come to is put together.
const EFFECTIVE: &str = "effective";

/// The kubeconfig that applies: the flag's file, the files that `KUBECONFIG` lists merged, or `~/.kube/config`; none
/// when there is no such file. As in kubectl, a listed file need not exist but the flag's must.
///
/// # Errors
/// A file that can't be read or understood.
pub(super) fn read(flag: Option<&Path>) -> Result<Option<Kubeconfig>, Failure> {
    if let Some(path) = flag {
        return Kubeconfig::read_from(path)
            .map(Some)
            .map_err(|error| unreadable(&error));
    }
    let paths: Vec<PathBuf> = match std::env::var_os("KUBECONFIG") {
        Some(list) if !list.is_empty() => std::env::split_paths(&list)
            .filter(|path| !path.as_os_str().is_empty())
            .collect(),
        _ => std::env::home_dir()
            .map(|home| home.join(".kube").join("config"))
            .into_iter()
            .collect(),
    };
    let mut merged: Option<Kubeconfig> = None;
    for path in paths {
        let next = match Kubeconfig::read_from(&path) {
            Err(KubeconfigError::ReadConfig(error, _))
                if error.kind() == io::ErrorKind::NotFound =>
            {
                continue;
            }
            read => read.map_err(|error| unreadable(&error))?,
        };
        merged = Some(match merged {
            Some(first) => first.merge(next).map_err(|error| unreadable(&error))?,
            None => next,
        });
    }
    Ok(merged)
}

/// What kubectl falls back to when it finds no kubeconfig.
pub(super) fn default_server() -> Kubeconfig {
    Kubeconfig::default()
}

/// The configuration that a kubeconfig and the flags come to.
///
/// # Errors
/// A context, cluster or user that the flags or the context name and the kubeconfig doesn't have; certificates that
/// can't be read.
pub(super) async fn resolve(
    mut kubeconfig: Kubeconfig,
    flags: &KubeFlags,
) -> Result<Config, Failure> {
    let context = context(&kubeconfig, flags)?;
    let cluster = cluster(&kubeconfig, &context, flags)?;
    let user = user(&kubeconfig, &context, flags)?;
    let name = || EFFECTIVE.to_owned();
    kubeconfig.current_context = Some(name());
    kubeconfig.clusters = vec![NamedCluster {
        name: name(),
        cluster: Some(cluster),
        ..NamedCluster::default()
    }];
    kubeconfig.auth_infos = vec![NamedAuthInfo {
        name: name(),
        auth_info: Some(user),
        ..NamedAuthInfo::default()
    }];
    kubeconfig.contexts = vec![NamedContext {
        name: name(),
        context: Some(Context {
            cluster: name(),
            user: Some(name()),
            ..context
        }),
        ..NamedContext::default()
    }];
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| unusable(&error))?;
    if config.default_namespace.is_empty() {
        "default".clone_into(&mut config.default_namespace);
    }
    Ok(config)
}

fn context(kubeconfig: &Kubeconfig, flags: &KubeFlags) -> Result<Context, Failure> {
    let named = |name: &str| {
        let found = kubeconfig.contexts.iter().find(|named| named.name == name);
        found.map(|named| named.context.clone().unwrap_or_default())
    };
    match (&flags.context, kubeconfig.current_context.as_deref()) {
        (Some(name), _) => named(name).ok_or_else(|| {
            Failure::error(format!("context \"{name}\" does not exist")).hint(names_hint(
                "contexts",
                kubeconfig.contexts.iter().map(|named| &named.name),
            ))
        }),
        (None, Some(name)) if !name.is_empty() => named(name).ok_or_else(|| {
            Failure::error(format!("context \"{name}\" does not exist"))
                .hint("the kubeconfig's current-context names it; choose one with --context")
        }),
        _ => Ok(Context::default()),
    }
}

fn cluster(
    kubeconfig: &Kubeconfig,
    context: &Context,
    flags: &KubeFlags,
) -> Result<Cluster, Failure> {
    let name = flags.cluster.as_ref().unwrap_or(&context.cluster);
    let found = kubeconfig.clusters.iter().find(|named| &named.name == name);
    let mut cluster = match found {
        Some(named) => named.cluster.clone().unwrap_or_default(),
        None if flags.cluster.is_some() => {
            return Err(
                Failure::error(format!("no server found for cluster \"{name}\"")).hint(names_hint(
                    "clusters",
                    kubeconfig.clusters.iter().map(|named| &named.name),
                )),
            );
        }
        None => Cluster::default(),
    };
    if let Some(path) = &flags.certificate_authority {
        cluster.certificate_authority = Some(path.display().to_string());
        cluster.certificate_authority_data = None;
    }
    override_with(
        &mut cluster.insecure_skip_tls_verify,
        flags.insecure_skip_tls_verify.as_ref(),
    );
    override_with(&mut cluster.tls_server_name, flags.tls_server_name.as_ref());
    override_with(
        &mut cluster.disable_compression,
        flags.disable_compression.as_ref(),
    );
    override_with(&mut cluster.server, flags.server.as_ref());
    let server = cluster.server.as_deref().unwrap_or(DEFAULT_HOST);
    cluster.server = Some(with_scheme(server, &cluster));
    Ok(cluster)
}

/// An address without a scheme is taken as client-go takes it: `https` if anything about TLS is set, else `http`.
fn with_scheme(server: &str, cluster: &Cluster) -> String {
    if server.contains("://") {
        return server.to_owned();
    }
    let tls = cluster.insecure_skip_tls_verify == Some(true)
        || cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some();
    format!("{}://{server}", if tls { "https" } else { "http" })
}

fn user(
    kubeconfig: &Kubeconfig,
    context: &Context,
    flags: &KubeFlags,
) -> Result<AuthInfo, Failure> {
    let name = flags.user.as_ref().or(context.user.as_ref());
    let found = name.and_then(|name| {
        kubeconfig
            .auth_infos
            .iter()
            .find(|named| &named.name == name)
    });
    let mut user = match (found, &flags.user) {
        (Some(named), _) => named.auth_info.clone().unwrap_or_default(),
        (None, Some(name)) => {
            return Err(
                Failure::error(format!("auth info \"{name}\" does not exist")).hint(names_hint(
                    "users",
                    kubeconfig.auth_infos.iter().map(|named| &named.name),
                )),
            );
        }
        (None, None) => AuthInfo::default(),
    };
    if let Some(token) = &flags.token {
        // It stands for every other way to log in but a client certificate, which may belong to a proxy in between.
        user = AuthInfo {
            client_certificate: user.client_certificate,
            client_certificate_data: user.client_certificate_data,
            client_key: user.client_key,
            client_key_data: user.client_key_data,
            ..with_token(token)?
        };
    }
    if let Some(path) = &flags.client_certificate {
        user.client_certificate = Some(path.display().to_string());
        user.client_certificate_data = None;
    }
    if let Some(path) = &flags.client_key {
        user.client_key = Some(path.display().to_string());
        user.client_key_data = None;
    }
    impersonate(&mut user, flags)?;
    Ok(user)
}

/// kube keeps tokens in a type of its own dependencies; its deserialiser is the way in that needs none of them.
fn with_token(token: &str) -> Result<AuthInfo, Failure> {
    serde_json::from_value(json!({ "token": token }))
        .map_err(|error| Failure::usage(format!("--token: {error}")))
}

fn impersonate(user: &mut AuthInfo, flags: &KubeFlags) -> Result<(), Failure> {
    let Some(name) = &flags.as_user else {
        return Ok(());
    };
    user.impersonate = Some(name.clone());
    user.impersonate_uid.clone_from(&flags.as_uid);
    user.impersonate_groups = Some(flags.as_group.clone()).filter(|groups| !groups.is_empty());
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in &flags.as_user_extra {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "invalid argument \"{pair}\" for \"--as-user-extra\" flag: must be KEY=VALUE"
            ))
        })?;
        extra
            .entry(key.to_owned())
            .or_default()
            .push(value.to_owned());
    }
    user.impersonate_user_extra =
        Some(extra.into_iter().collect()).filter(|_| !flags.as_user_extra.is_empty());
    Ok(())
}

fn override_with<T: Clone>(value: &mut Option<T>, flag: Option<&T>) {
    if let Some(flag) = flag {
        *value = Some(flag.clone());
    }
}

fn names_hint<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<_> = names.map(String::as_str).collect();
    if names.is_empty() {
        format!("the kubeconfig has no {what}")
    } else {
        format!("the kubeconfig has the {what} {}", names.join(", "))
    }
}

fn unreadable(error: &KubeconfigError) -> Failure {
    match error {
        KubeconfigError::ReadConfig(cause, path) if cause.kind() == io::ErrorKind::NotFound => {
            Failure::error(format!(
                "stat {}: no such file or directory",
                path.display()
            ))
        }
        KubeconfigError::ReadConfig(cause, path) => Failure::error(format!(
            "error loading config file \"{}\": {cause}",
            path.display()
        )),
        _ => Failure::error(format!(
            "error loading config file: {}",
            super::report::one_line(error)
        )),
    }
}

fn unusable(error: &KubeconfigError) -> Failure {
    use KubeconfigError as E;
    let (what, cause) = match error {
        E::LoadCertificateAuthority(cause) => ("certificate-authority", cause),
        E::LoadClientCertificate(cause) => ("client-cert", cause),
        E::LoadClientKey(cause) => ("client-key", cause),
        other => return Failure::error(super::report::one_line(other)),
    };
    Failure::error(match cause {
        LoadDataError::ReadFile(cause, path) => {
            format!("unable to read {what} {}: {cause}", path.display())
        }
        other => format!("unable to read {what}: {other}"),
    })
}
