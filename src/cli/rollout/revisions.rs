//! The revisions of an object: ReplicaSets of a Deployment, ControllerRevisions of a DaemonSet or StatefulSet
//! (rollout-commands section 1.5).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use kube::Client;
use serde_json::Value;

use crate::cli::objects::{self, Found};
use crate::cli::resource::Resource;
use crate::controller::api::{Deployment, ReplicaSet};
use crate::controller::deployment::{history, revision};
use crate::controller::keys::CHANGE_CAUSE;
use crate::controller::label_selector;
use crate::error::Failure;
use crate::ui::history::change_cause;

/// A Deployment with its ReplicaSets.
pub(in crate::cli) struct DeploymentHistory {
    deployment: Deployment,
    /// Old ones, oldest first, then the one with the Deployment's template.
    pub(in crate::cli) sets: Vec<Set>,
}

/// One of a Deployment's ReplicaSets.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Set {
    /// As it decides.
    pub(in crate::cli) slim: ReplicaSet,
    /// All of it.
    pub(in crate::cli) full: Found,
}

impl Set {
    /// Its number; `None` where that can't be read.
    pub(in crate::cli) fn revision(&self) -> Option<i64> {
        revision(&self.slim)
    }

    /// Its template, with the hash label.
    pub(in crate::cli) fn template(&self) -> &Value {
        &self.full.json["spec"]["template"]
    }
}

impl DeploymentHistory {
    /// Reads the ReplicaSets of a Deployment. Nothing is adopted.
    ///
    /// # Errors
    /// The server's, as part of kubectl's message.
    pub(in crate::cli) async fn read(client: &Client, object: &Found) -> anyhow::Result<Self> {
        let deployment = deployment_of(object)?;
        let name = object.name();
        let selector = label_selector::text_of(&object.json["spec"]["selector"]);
        let resource = Resource::parse("replicasets")?;
        let sets = objects::list(client, resource, Some(object.namespace()), Some(&selector))
            .await
            .with_context(|| format!("failed to retrieve replica sets from deployment {name}"))?;
        let sets = sets
            .into_iter()
            .map(|full| {
                let slim = ReplicaSet::from_json(&full.json)?;
                Ok(Set { slim, full })
            })
            .collect::<serde_json::Result<Vec<_>>>()?;
        let mut history = Self { deployment, sets };
        history.sort();
        Ok(history)
    }

    /// Goes on with a later version of the Deployment.
    pub(super) fn of_version(&self, object: &Found) -> anyhow::Result<Self> {
        let mut history = Self {
            deployment: deployment_of(object)?,
            sets: self.sets.clone(),
        };
        history.sort();
        Ok(history)
    }

    /// Keeps what is the Deployment's, in the order in which kubectl goes through it.
    fn sort(&mut self) {
        let order = history(&self.deployment, self.sets.iter().map(|set| &set.slim));
        let order: Vec<String> = order.into_iter().map(|set| set.meta.uid.clone()).collect();
        let place = |set: &Set| order.iter().position(|uid| *uid == set.slim.meta.uid);
        self.sets.retain(|set| place(set).is_some());
        self.sets.sort_by_key(place);
    }

    /// The Deployment, as it decides.
    pub(super) fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The highest number that can be read.
    pub(super) fn highest(&self) -> i64 {
        self.sets
            .iter()
            .filter_map(Set::revision)
            .max()
            .unwrap_or(0)
    }

    /// The numbers that there are, ascending.
    pub(super) fn numbers(&self) -> Vec<i64> {
        let numbers = self.sets.iter().filter_map(Set::revision);
        numbers.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The revisions, by number; of two with the same the later one.
    pub(super) fn revisions(&self) -> BTreeMap<i64, Revision> {
        let revision = |set: &Set| {
            let revision = Revision {
                object: set.full.clone(),
                template: set.template().clone(),
                cause: change_cause(&set.slim),
            };
            Some((set.revision()?, revision))
        };
        self.sets.iter().filter_map(revision).collect()
    }
}

fn deployment_of(object: &Found) -> anyhow::Result<Deployment> {
    Deployment::from_json(&object.json)
        .with_context(|| format!("{} can't be read", object.line_name()))
}

/// A revision, as `history` shows it.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    /// What `-o` prints.
    pub(super) object: Found,
    /// Its pod template.
    pub(super) template: Value,
    /// Why it was made; empty where nobody said.
    pub(super) cause: String,
}

/// A ControllerRevision: its number, and the patch that brings it back.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) number: i64,
    pub(super) patch: Value,
    cause: String,
}

/// The ControllerRevisions of an object, by number.
///
/// # Errors
/// The server's, as part of kubectl's message.
pub(super) async fn recorded(client: &Client, object: &Found) -> anyhow::Result<Vec<Recorded>> {
    let selector = label_selector::text_of(&object.json["spec"]["selector"]);
    let resource = Resource::parse("controllerrevisions")?;
    let found = objects::list(client, resource, Some(object.namespace()), Some(&selector))
        .await
        .with_context(|| {
            format!(
                "unable to find history controlled by {} {}",
                object.resource.kind,
                object.name()
            )
        })?;
    let uid = &object.json["metadata"]["uid"];
    let is_owned = |found: &&Found| {
        let owners = found.json["metadata"]["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten();
        owners.any(|owner| owner["controller"] == true && owner["uid"] == *uid)
    };
    let mut recorded: Vec<Recorded> = found
        .iter()
        .filter(is_owned)
        .map(|found| Recorded {
            number: found.json["revision"].as_i64().unwrap_or(0),
            patch: found.json["data"].clone(),
            cause: found.json["metadata"]["annotations"][CHANGE_CAUSE]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        })
        .collect();
    recorded.sort_by_key(|recorded| recorded.number);
    Ok(recorded)
}

impl Recorded {
    /// The pod template that it brings back.
    pub(super) fn template(&self) -> Value {
        let mut template = self.patch["spec"]["template"].clone();
        if let Some(fields) = template.as_object_mut() {
            fields.remove("$patch");
        }
        template
    }

    fn revision(&self, object: &Found) -> Revision {
        let template = self.template();
        let mut object = object.clone();
        object.json["spec"]["template"] = template.clone();
        object.settle();
        Revision {
            object,
            template,
            cause: self.cause.clone(),
        }
    }
}

/// The revisions of any object that has some, by number.
///
/// # Errors
/// Reading them fails; a kind that has none, in kubectl's words.
pub(super) async fn revisions(
    client: &Client,
    object: &Found,
) -> anyhow::Result<BTreeMap<i64, Revision>> {
    let recorded = recorded(client, object).await?;
    Ok(recorded
        .iter()
        .map(|recorded| (recorded.number, recorded.revision(object)))
        .collect())
}

/// Whether the object's revisions are ControllerRevisions.
pub(super) fn has_controller_revisions(object: &Found) -> bool {
    matches!(object.resource.kind, "DaemonSet" | "StatefulSet")
}

/// A kind that has no revisions. kubectl knows two sorts of them.
pub(super) fn unsupported(what: &str, viewer: &str, object: &Found) -> Failure {
    let kind = object.resource.kind_with_group();
    Failure::error(match object.resource.kind {
        "Job" | "CronJob" | "Pod" | "ReplicaSet" | "ReplicationController" => {
            format!("no {viewer} has been implemented for \"{kind}\"")
        }
        short => format!(
            "error retrieving {what} for \"{kind}\", no visitor method exists for {{{} {short}}}",
            object.resource.group()
        ),
    })
}
