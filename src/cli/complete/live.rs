//! Candidates that a kubeconfig or a cluster knows, within a second and a half: a shell is waiting.

use std::time::Duration;

use clap::FromArgMatches as _;
use kube::Client;

use super::Candidate;
use super::place::{Live, Place};
use crate::cli::kube_flags::{Connection, KubeFlags};
use crate::cli::kubeconfig;
use crate::cli::objects::{self, Found};
use crate::cli::resource::Resource;
use crate::controller::keys::REVISION;

/// How long a shell may be kept waiting.
const LIMIT: Duration = Duration::from_millis(1500);

/// Types that are offered before one is typed.
const TYPES: [&str; 4] = ["deployment", "replicaset", "daemonset", "statefulset"];

/// The candidates; fewer, or none, where it takes too long or is not allowed.
pub(super) fn candidates(place: &Place, wanted: Live) -> Vec<Candidate> {
    let flags = kube_flags(place);
    if wanted == Live::Contexts {
        return contexts(&flags);
    }
    let given = match wanted {
        Live::Objects => TYPES
            .map(|name| Candidate::new(format!("{name}/"), ""))
            .to_vec(),
        _ => Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return given };
    let asked = tokio::time::timeout;
    let found = runtime.block_on(async { asked(LIMIT, ask(place, wanted, &flags)).await });
    // Name resolution and credential plugins may go on for long; they are not waited for.
    runtime.shutdown_background();
    let mut candidates = found.ok().flatten().unwrap_or_default();
    candidates.extend(given);
    candidates
}

fn kube_flags(place: &Place) -> KubeFlags {
    let words = place
        .flags
        .iter()
        .map(|(name, value)| format!("--{name}={value}"));
    let words = std::iter::once("kubectl-rs".to_owned()).chain(words);
    let command = <KubeFlags as clap::Args>::augment_args(clap::Command::new("kubectl-rs"));
    let matches = command.ignore_errors(true).try_get_matches_from(words);
    let flags = matches
        .ok()
        .and_then(|matches| KubeFlags::from_arg_matches(&matches).ok());
    flags.unwrap_or_default()
}

fn contexts(flags: &KubeFlags) -> Vec<Candidate> {
    let config = kubeconfig::read(flags.kubeconfig.as_deref()).ok().flatten();
    let contexts = config.into_iter().flat_map(|config| config.contexts);
    contexts
        .map(|context| Candidate::new(context.name, ""))
        .collect()
}

async fn ask(place: &Place, wanted: Live, flags: &KubeFlags) -> Option<Vec<Candidate>> {
    let Connection {
        client, namespace, ..
    } = flags.connect().await.ok()?;
    let names = |found: Vec<Found>, prefix: &str| {
        let name = |found: &Found| Candidate::new(format!("{prefix}{}", found.name()), "");
        found.iter().map(name).collect::<Vec<_>>()
    };
    match wanted {
        Live::Contexts => None,
        Live::Namespaces => Some(names(list(&client, "namespaces", "").await?, "")),
        Live::Objects => Some(names(
            list(&client, "deployments", &namespace).await?,
            "deployment/",
        )),
        Live::Names => {
            let (word, prefix) = match place.partial.split_once('/') {
                Some((word, _)) => (word, format!("{word}/")),
                None => (place.arguments.first()?.as_str(), String::new()),
            };
            Some(names(list(&client, word, &namespace).await?, &prefix))
        }
        Live::Containers => containers(&object(place, &client, &namespace).await?),
        Live::Revisions => revisions(place, &client, &namespace).await,
    }
}

async fn list(client: &Client, word: &str, namespace: &str) -> Option<Vec<Found>> {
    let resource = Resource::parse(word).ok()?;
    objects::list(client, resource, Some(namespace), None)
        .await
        .ok()
}

/// The object that the arguments name.
async fn object(place: &Place, client: &Client, namespace: &str) -> Option<Found> {
    let (word, name) = match &place.arguments[..] {
        [first, ..] if first.contains('/') => first.split_once('/')?,
        [word, name, ..] => (word.as_str(), name.as_str()),
        _ => return None,
    };
    let resource = Resource::parse(word).ok()?;
    objects::get(client, resource, namespace, name).await.ok()
}

fn containers(object: &Found) -> Option<Vec<Candidate>> {
    let path = crate::cli::set::pod_spec_path(object)?;
    let pod_spec = path
        .iter()
        .fold(&object.json, |value, field| &value[*field]);
    let lists = ["initContainers", "containers"];
    let containers = lists
        .iter()
        .filter_map(|list| pod_spec[*list].as_array())
        .flatten();
    let candidate = |container: &serde_json::Value| {
        let image = container["image"].as_str().unwrap_or_default();
        Some(Candidate::new(
            format!("{}=", container["name"].as_str()?),
            image,
        ))
    };
    Some(containers.filter_map(candidate).collect())
}

/// The revisions of the Deployment that is named, each with its images.
async fn revisions(place: &Place, client: &Client, namespace: &str) -> Option<Vec<Candidate>> {
    let object = object(place, client, namespace).await?;
    let uid = &object.json["metadata"]["uid"];
    let prefix = match place.partial.split_once('=') {
        Some((flag, _)) => format!("{flag}="),
        None => String::new(),
    };
    let sets = list(client, "replicasets", namespace).await?;
    let is_owned = |set: &&Found| {
        let owners = set.json["metadata"]["ownerReferences"].as_array();
        owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == *uid))
    };
    let candidate = |set: &Found| {
        let number = set.json["metadata"]["annotations"][REVISION].as_str()?;
        let images = containers(set)?
            .into_iter()
            .map(|container| container.description);
        let images: Vec<String> = images.collect();
        Some(Candidate::new(
            format!("{prefix}{number}"),
            images.join(", "),
        ))
    };
    Some(sets.iter().filter(is_owned).filter_map(candidate).collect())
}
