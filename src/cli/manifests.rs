//! What `-f` and `--embedded=FILE` name, sorted by what is done with it, and applying what is ours.

use std::collections::BTreeMap;
use std::io;

use kube::Client;
use serde_json::Value;

use super::dry_run;
use super::report::one_line;
use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;
use crate::engine::options::DryRun;
use crate::engine::store::Item;
use crate::engine::submit::{SubmitOptions, Submitted, submit};
use crate::error::Failure;
use crate::manifest::{self, Inputs, Object};
use crate::ui::printer::Printer;

/// The contents of the files, sorted by what is done with them.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    /// Deployments and ReplicaSets, each with its namespace filled in.
    pub(super) ours: Vec<(Item, Value)>,
    /// All others, in order.
    pub(super) others: Vec<Object>,
}

/// Reads and checks all files. Nothing has been sent when this fails.
///
/// # Errors
/// The first thing that is wrong with the files or the objects.
pub(super) fn read(
    paths: &[String],
    recursive: bool,
    namespace: &str,
    flagged: Option<&str>,
) -> Result<Manifests, Failure> {
    let wrong = |error: manifest::Error| Failure::usage(error.to_string());
    let objects = Inputs { paths, recursive }
        .read(io::stdin())
        .map_err(wrong)?;
    manifest::check(&objects, namespace).map_err(wrong)?;
    let mut manifests = Manifests::default();
    for object in objects {
        match kind_of(&object) {
            Some(kind) => manifests.ours.push(ours(kind, object, namespace, flagged)?),
            None => manifests.others.push(object),
        }
    }
    Ok(manifests)
}

fn kind_of(object: &Object) -> Option<Kind> {
    match (object.group(), object.kind()) {
        ("apps", "Deployment") => Some(Kind::Deployment),
        ("apps", "ReplicaSet") => Some(Kind::ReplicaSet),
        _ => None,
    }
}

/// An object with its namespace: its own, which must not contradict the flag, or the default one.
fn ours(
    kind: Kind,
    object: Object,
    namespace: &str,
    flagged: Option<&str>,
) -> Result<(Item, Value), Failure> {
    let own = object.namespace();
    if let Some(flagged) = flagged
        && !own.is_empty()
        && own != flagged
    {
        return Err(other_namespace(own, flagged));
    }
    let namespace = if own.is_empty() { namespace } else { own }.to_owned();
    let item = Item {
        kind,
        key: ObjectKey::new(&namespace, object.name()),
    };
    let mut json = object.json;
    json["metadata"]["namespace"] = Value::String(namespace);
    Ok((item, json))
}

/// An object's namespace contradicts the flag; kubectl's words.
pub(super) fn other_namespace(own: &str, flagged: &str) -> Failure {
    Failure::usage(format!(
        "the namespace from the provided object \"{own}\" does not match the namespace \"{flagged}\". \
         You must pass '--namespace={own}' to perform this operation."
    ))
}

impl Manifests {
    /// The namespaces of the Deployments and ReplicaSets.
    pub(super) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.ours
            .iter()
            .map(|(item, _)| item.key.namespace.as_str())
    }

    /// Names the objects of other kinds: those that an embedded cluster was given, and those that are left alone.
    pub(super) fn name_others(&self, given: &[&Object], printer: &Printer) {
        let is_given = |object: &&Object| given.iter().any(|other| std::ptr::eq(*other, *object));
        let (given, left): (Vec<&Object>, Vec<&Object>) = self.others.iter().partition(is_given);
        if !given.is_empty() {
            printer.talk(format!("given to the embedded cluster: {}", listed(&given)));
        }
        if !left.is_empty() {
            printer.talk(format!("left alone: {}", listed(&left)));
        }
    }

    /// Applies the Deployments and ReplicaSets, in order, and says what became of each. In any dry run the server
    /// pretends: only it can tell what an apply comes to. Several are tried like that first, so that a file is applied
    /// as a whole or not at all, as far as the server can tell beforehand.
    ///
    /// # Errors
    /// The first refusal, after the others were tried and warned of.
    pub(super) async fn submit(
        &self,
        client: &Client,
        printer: &Printer,
        options: SubmitOptions,
    ) -> anyhow::Result<Vec<Value>> {
        if options.dry_run == DryRun::None && self.ours.len() > 1 {
            let pretended = SubmitOptions {
                dry_run: DryRun::Server,
                ..options
            };
            let tried = self.submit_each(client, pretended).await;
            // A webhook that can't pretend says nothing about the object.
            let refused = tried.into_iter().filter_map(|(item, result)| {
                let error = result.err().filter(|error| !is_about_dry_run(error))?;
                Some((item, error))
            });
            refusals(refused, "can't be applied, so nothing was", printer)?;
        }
        let mut applied = Vec::new();
        let mut refused = Vec::new();
        for (item, result) in self.submit_each(client, options).await {
            match result {
                Ok((submitted, object)) => {
                    printer.talk(line(item, submitted, options.dry_run));
                    applied.push(object);
                }
                Err(error) => refused.push((item, error)),
            }
        }
        refusals(refused, "was not applied", printer)?;
        Ok(applied)
    }

    /// One after the other, in the order of the files.
    async fn submit_each(
        &self,
        client: &Client,
        options: SubmitOptions,
    ) -> Vec<(&Item, Result<(Submitted, Value), kube::Error>)> {
        let mut results = Vec::new();
        for (item, json) in &self.ours {
            let result = submit(client, item, json, options).await;
            // Who can't be reached won't be for the next one either.
            let is_lost = matches!(&result, Err(error) if !matches!(error, kube::Error::Api(_)));
            results.push((item, result));
            if is_lost {
                break;
            }
        }
        results
    }
}

/// `ConfigMap a, b; Service web`.
fn listed(objects: &[&Object]) -> String {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for object in objects {
        names.entry(object.kind()).or_default().push(object.name());
    }
    let kinds = names
        .iter()
        .map(|(kind, names)| format!("{kind} {}", names.join(", ")));
    kinds.collect::<Vec<_>>().join("; ")
}

/// kubectl's line for a server-side apply, and what it did.
fn line(item: &Item, submitted: Submitted, dry_run: DryRun) -> String {
    let what = match submitted {
        Submitted::Created => "created",
        Submitted::Configured => "configured",
        Submitted::Unchanged => "unchanged",
    };
    let dry_run = dry_run::suffix(dry_run);
    format!("{}/{} {what}{dry_run}", resource(item.kind), item.key.name)
}

/// As kubectl names the resource before a slash.
pub(super) fn resource(kind: Kind) -> &'static str {
    match kind {
        Kind::Deployment => "deployment.apps",
        Kind::ReplicaSet => "replicaset.apps",
        Kind::Pod => "pod",
    }
}

/// Warns of all refusals but the first, which is returned.
fn refusals<'a>(
    refused: impl IntoIterator<Item = (&'a Item, kube::Error)>,
    what: &str,
    printer: &Printer,
) -> anyhow::Result<()> {
    let refused = refused.into_iter();
    let mut refused = refused.map(|(item, error)| refusal(item, what, error));
    let Some(first) = refused.next() else {
        return Ok(());
    };
    for other in refused {
        printer.warning(&one_line(other.as_ref()));
    }
    Err(first)
}

fn refusal(item: &Item, what: &str, error: kube::Error) -> anyhow::Error {
    let what = format!("{}/{} {what}", resource(item.kind), item.key.name);
    match &error {
        kube::Error::Api(status) if status.is_conflict() => {
            Failure::error(format!("{what}: {}", status.message))
                .hint("--force-conflicts takes these fields over; or leave them out of the file")
                .into()
        }
        _ => anyhow::Error::new(error).context(what),
    }
}

fn is_about_dry_run(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 400 && status.message.contains("does not support dry run"))
}
