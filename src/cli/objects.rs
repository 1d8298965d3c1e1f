//! The objects that a command is about, as the server has them: named ones got, types listed, files looked up.
//!
//! Objects stay JSON, verbatim: what this program does not know of them it must not lose.

mod found;

use std::io;

pub(super) use found::Found;

use futures::stream::{self, StreamExt as _};
use kube::Client;
use kube::api::{GetParams, ListParams};
use kube::core::Request;
use serde_json::Value;

use super::cluster::Cluster;
use super::kube_flags::KubeFlags;
use super::resource::Resource;
use super::selection::{ObjectArgs, Target, Targets};
use crate::controller::label_selector::LabelSelector;
use crate::error::Failure;
use crate::manifest::{self, Inputs};

/// How many objects are asked for at once.
const AT_ONCE: usize = 8;
/// Objects a page of a list.
const PAGE: u32 = 500;

/// What a command line selects.
#[derive(Debug)]
pub(super) struct Query<'a> {
    targets: Targets<&'static Resource>,
    selector: Option<&'a str>,
    all_namespaces: bool,
}

impl<'a> Query<'a> {
    /// Reads the arguments.
    ///
    /// # Errors
    /// Arguments that don't go together, types that don't exist.
    pub(super) fn new(args: &'a ObjectArgs) -> Result<Self, Failure> {
        Ok(Self {
            targets: args.targets(Resource::parse)?,
            selector: args.selector.as_deref(),
            all_namespaces: args.all_namespaces,
        })
    }

    /// The same, where something must be selected.
    ///
    /// # Errors
    /// As [`Query::new`]; no argument and no file.
    pub(super) fn required(args: &'a ObjectArgs) -> Result<Self, Failure> {
        let query = Self::new(args)?;
        match query.targets {
            Targets::Unnamed => Err(Failure::usage("required resource not specified")
                .hint("name some (deploy/web), or a type for all of it (deploy)")),
            _ => Ok(query),
        }
    }

    /// The same, where what is selected is changed. A type alone stands for all of it, as in kubectl, but not in every
    /// namespace at once: that takes the system's own, too.
    ///
    /// # Errors
    /// As [`Query::required`]; all objects of all namespaces.
    pub(super) fn to_change(args: &'a ObjectArgs) -> Result<Self, Failure> {
        let query = Self::required(args)?;
        let takes_all = query.selector.is_none_or(str::is_empty);
        match query.targets {
            Targets::Types(_) if query.all_namespaces && takes_all => Err(Failure::usage(
                "-A alone would change every namespace, the system's own too",
            )
            .hint("say which objects with -l")),
            _ => Ok(query),
        }
    }

    /// How the objects are named.
    pub(super) fn targets(&self) -> &Targets<&'static Resource> {
        &self.targets
    }

    /// The objects, or what keeps from having them, in the order of the arguments.
    ///
    /// # Errors
    /// Files that can't be read, and a selector that can't be read beside them.
    pub(super) async fn fetch(
        &self,
        cluster: &Cluster,
        kube: &KubeFlags,
    ) -> Result<Vec<anyhow::Result<Found>>, Failure> {
        match &self.targets {
            Targets::Unnamed => Ok(Vec::new()),
            Targets::Named(targets) => Ok(named(cluster, targets).await),
            Targets::Types(types) => Ok(self.listed(cluster, types).await),
            Targets::Files { paths, recursive } => {
                let in_files = read_files(
                    paths,
                    *recursive,
                    &cluster.namespace,
                    kube.namespace.as_deref(),
                )?;
                self.looked_up(cluster, in_files).await
            }
        }
    }

    async fn listed(
        &self,
        cluster: &Cluster,
        types: &[&'static Resource],
    ) -> Vec<anyhow::Result<Found>> {
        let namespace = cluster.namespace_or_all(self.all_namespaces);
        let mut found = Vec::new();
        for resource in types {
            match list(&cluster.client, resource, namespace, self.selector).await {
                Ok(objects) => found.extend(objects.into_iter().map(Ok)),
                Err(error) => found.push(Err(self.told(resource, error).into())),
            }
        }
        found
    }

    /// kubectl says what it was looking for when a list is refused as such.
    fn told(&self, resource: &Resource, error: kube::Error) -> kube::Error {
        let kube::Error::Api(mut status) = error else {
            return error;
        };
        if matches!(status.code, 400 | 404) {
            let what = resource.with_version();
            status.message = match self.selector.unwrap_or_default() {
                "" => format!("Unable to list \"{what}\": {}", status.message),
                selector => format!(
                    "Unable to find \"{what}\" that match label selector \"{selector}\", field selector \"\": {}",
                    status.message
                ),
            };
        }
        kube::Error::Api(status)
    }

    /// Files only name objects; with a selector, those whose labels in the cluster match.
    async fn looked_up(
        &self,
        cluster: &Cluster,
        in_files: Vec<Found>,
    ) -> Result<Vec<anyhow::Result<Found>>, Failure> {
        let labels = self
            .selector
            .map(LabelSelector::parse)
            .transpose()
            .map_err(Failure::usage)?;
        let found = stream::iter(in_files)
            .map(|object| async move { object.fresh(&cluster.client).await })
            .buffered(AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        let is_selected = |found: &Found| {
            let theirs = &found.json["metadata"]["labels"];
            let matches = |labels: &LabelSelector| labels.matches(|key| theirs.get(key)?.as_str());
            labels.as_ref().is_none_or(matches)
        };
        Ok(found
            .into_iter()
            .filter(|found| found.as_ref().map_or(true, is_selected))
            .map(|found| found.map_err(Into::into))
            .collect())
    }
}

async fn named(
    cluster: &Cluster,
    targets: &[Target<&'static Resource>],
) -> Vec<anyhow::Result<Found>> {
    stream::iter(targets)
        .map(|target| async move {
            let (client, namespace) = (&cluster.client, &cluster.namespace);
            let found = get(client, target.kind, namespace, &target.name).await;
            Ok(found?)
        })
        .buffered(AT_ONCE)
        .collect()
        .await
}

/// One object. Where a name is not found because its namespace is not there, the latter is what is told.
///
/// # Errors
/// The server's.
pub(super) async fn get(
    client: &Client,
    resource: &'static Resource,
    namespace: &str,
    name: &str,
) -> Result<Found, kube::Error> {
    let request = Request::new(resource.path(namespace))
        .get(name, &GetParams::default())
        .map_err(kube::Error::BuildRequest)?;
    match client.request(request).await {
        Ok(json) => Ok(Found::new(resource, json)),
        Err(error) if is_not_found(&error) && resource.namespaced && namespace != "default" => {
            let request = Request::new("/api/v1/namespaces")
                .get(namespace, &GetParams::default())
                .map_err(kube::Error::BuildRequest)?;
            match client.request::<Value>(request).await {
                Err(of_namespace) if is_not_found(&of_namespace) => Err(of_namespace),
                _ => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// All objects of a type in a namespace, or in all of them, in the server's order.
///
/// # Errors
/// The server's.
pub(super) async fn list(
    client: &Client,
    resource: &'static Resource,
    namespace: Option<&str>,
    selector: Option<&str>,
) -> Result<Vec<Found>, kube::Error> {
    let path = namespace.map_or_else(
        || resource.path_everywhere(),
        |namespace| resource.path(namespace),
    );
    let mut params = ListParams::default().limit(PAGE);
    params.label_selector = selector
        .filter(|selector| !selector.is_empty())
        .map(str::to_owned);
    let mut found = Vec::new();
    loop {
        let request = Request::new(&path)
            .list(&params)
            .map_err(kube::Error::BuildRequest)?;
        let mut page: Value = client.request(request).await?;
        if let Value::Array(items) = page["items"].take() {
            found.extend(items.into_iter().map(|json| Found {
                says_namespace: namespace.is_none() && resource.namespaced,
                ..typed(resource, json)
            }));
        }
        match page["metadata"]["continue"].as_str() {
            Some(token) if !token.is_empty() => params = params.continue_token(token),
            _ => return Ok(found),
        }
    }
}

/// Lists leave out what all their items have in common.
fn typed(resource: &'static Resource, mut json: Value) -> Found {
    json["apiVersion"] = resource.api_version.into();
    json["kind"] = resource.kind.into();
    Found::new(resource, json)
}

/// The objects in files, each with its namespace: its own, which must not contradict the flag, or the default one.
///
/// # Errors
/// The first thing that is wrong with the files or the objects.
pub(super) fn read_files(
    paths: &[String],
    recursive: bool,
    namespace: &str,
    flagged: Option<&str>,
) -> Result<Vec<Found>, Failure> {
    let objects = match (Inputs { paths, recursive }).read(io::stdin()) {
        Ok(objects) => objects,
        Err(manifest::Error::Empty { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(Failure::usage(error.to_string())),
    };
    objects
        .into_iter()
        .map(|object| {
            let resource = Resource::of_kind(object.api_version(), object.kind());
            let resource = resource.ok_or_else(|| {
                Failure::usage(format!(
                    "no matches for kind \"{}\" in version \"{}\"",
                    object.kind(),
                    object.api_version()
                ))
            })?;
            let own = object.namespace();
            if let Some(flagged) = flagged
                && !own.is_empty()
                && own != flagged
            {
                return Err(super::manifests::other_namespace(own, flagged));
            }
            let namespace = if own.is_empty() { namespace } else { own }.to_owned();
            let mut json = object.json;
            if resource.namespaced {
                json["metadata"]["namespace"] = namespace.into();
            }
            Ok(Found::new(resource, json))
        })
        .collect()
}
