//! One look at the selected Deployments: targeted lists, and events only where something is wrong.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::try_join;
use futures::stream::{StreamExt, TryStreamExt, iter};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;

use super::gathered::Gathered;
use super::kind::{Deployed, Namespace};
use super::list::{ReadError, list, list_if_allowed};
use crate::controller::api::{ConditionStatus, ObjectKey, ReplicaSet};
use crate::controller::condition::get_condition;
use crate::controller::keys;
use crate::diagnose::api::{Event, Pod};
use crate::engine::options::{Scope, Which};

/// Up to so many objects in trouble are asked about one by one; for more, all events of their namespaces are listed.
const ONE_BY_ONE: usize = 24;
/// How many requests are under way at once.
const PARALLEL: usize = 8;

/// Reads what a diagnosis of the selected Deployments needs. What may not be read is noted, Deployments apart.
///
/// # Errors
/// When Deployments can't be listed, or the server can't be asked.
pub async fn look(client: &Client, scope: &Scope, now: Timestamp) -> Result<Gathered, ReadError> {
    let mut gathered = Gathered::default();
    for namespace in namespaces(scope) {
        read(client, scope, namespace.as_deref(), &mut gathered).await?;
    }
    let subjects = troubled(scope, &gathered, now);
    events(client, scope, subjects, &mut gathered).await?;
    let is_pending = gathered.pods.iter().any(|pod| pod.node_name.is_empty());
    surroundings(client, scope, is_pending, &mut gathered).await?;
    Ok(gathered)
}

/// The namespaces in scope; `None`: all at once.
pub(super) fn namespaces(scope: &Scope) -> Vec<Option<String>> {
    match &scope.namespaces {
        None => vec![None],
        Some(names) => names.iter().cloned().map(Some).collect(),
    }
}

async fn read(
    client: &Client,
    scope: &Scope,
    namespace: Option<&str>,
    gathered: &mut Gathered,
) -> Result<(), ReadError> {
    let everything = ListParams::default();
    let deployments = list::<Deployed>(client, namespace, &everything);
    // Where everything is wanted, nothing has to be known to ask for it.
    let (deployments, parts) = if namespace.is_none() && scope.selects_all_deployments() {
        let parts = Parts::read(client, namespace, &everything);
        try_join(deployments, parts).await?
    } else {
        let deployments = deployments.await?;
        let Some(params) = narrowed(&deployments, scope) else {
            return Ok(());
        };
        let parts = Parts::read(client, namespace, &params).await?;
        (deployments, parts)
    };
    gathered.deployments.extend(deployments);
    gathered.replica_sets.extend(parts.replica_sets);
    gathered.pods.extend(parts.pods);
    gathered.denied.extend(parts.denied);
    Ok(())
}

/// What Deployments are made of.
struct Parts {
    replica_sets: Vec<Arc<ReplicaSet>>,
    pods: Vec<Arc<Pod>>,
    denied: Vec<ReadError>,
}

impl Parts {
    async fn read(
        client: &Client,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<Self, ReadError> {
        let (mut no_sets, mut no_pods) = (Vec::new(), Vec::new());
        let (replica_sets, pods) = try_join(
            list_if_allowed::<ReplicaSet>(client, namespace, params, &mut no_sets),
            list_if_allowed::<Pod>(client, namespace, params, &mut no_pods),
        )
        .await?;
        no_sets.extend(no_pods);
        Ok(Self {
            replica_sets,
            pods,
            denied: no_sets,
        })
    }
}

/// Which ReplicaSets and pods to ask for: what belongs to one Deployment carries the labels that it selects by. `None`:
/// no Deployment is selected.
pub(super) fn narrowed<'a>(
    deployments: impl IntoIterator<Item = &'a Arc<Deployed>>,
    scope: &Scope,
) -> Option<ListParams> {
    let mut selected = deployments
        .into_iter()
        .filter(|it| scope.selects_deployment(&it.deployment));
    let one = selected.next()?;
    let selector = one.deployment.spec.selector.clone().unwrap_or_default();
    Some(match kube::core::Selector::try_from(selector) {
        Ok(selector) if selected.next().is_none() => ListParams::default().labels_from(&selector),
        _ => ListParams::default(),
    })
}

/// The events about objects in trouble.
pub(super) async fn events(
    client: &Client,
    scope: &Scope,
    subjects: BTreeSet<Subject>,
    gathered: &mut Gathered,
) -> Result<(), ReadError> {
    let requests: Vec<(Option<String>, ListParams)> = if subjects.len() <= ONE_BY_ONE {
        subjects
            .into_iter()
            .map(|(kind, key)| {
                let fields = format!(
                    "involvedObject.kind={kind},involvedObject.name={}",
                    key.name
                );
                (Some(key.namespace), ListParams::default().fields(&fields))
            })
            .collect()
    } else {
        namespaces(scope)
            .into_iter()
            .map(|namespace| (namespace, ListParams::default()))
            .collect()
    };
    let mut answers = iter(requests)
        .map(|(namespace, params)| async move {
            let mut denied = Vec::new();
            let events =
                list_if_allowed::<Event>(client, namespace.as_deref(), &params, &mut denied)
                    .await?;
            Ok((events, denied))
        })
        .buffered(PARALLEL);
    while let Some((events, denied)) = answers.try_next().await? {
        gathered.events.extend(events);
        for error in denied {
            if !gathered.denied.contains(&error) {
                gathered.denied.push(error);
            }
        }
    }
    Ok(())
}

/// Kind and key of an object that events may be about.
pub(super) type Subject = (&'static str, ObjectKey);

/// Objects whose events may say what is wrong.
pub(super) fn troubled(scope: &Scope, gathered: &Gathered, now: Timestamp) -> BTreeSet<Subject> {
    let mut subjects = BTreeSet::new();
    let owners: BTreeSet<&str> = gathered
        .deployments
        .iter()
        .filter(|it| scope.selects_deployment(&it.deployment))
        .map(|it| it.deployment.meta.uid.as_str())
        .collect();
    let mut sets = BTreeSet::new();
    for set in &gathered.replica_sets {
        let is_ours = set
            .meta
            .controller()
            .is_some_and(|owner| owners.contains(owner.uid.as_str()));
        if !is_ours {
            continue;
        }
        sets.insert(set.meta.uid.as_str());
        let failure = get_condition(&set.status.conditions, keys::REPLICA_FAILURE);
        if failure.is_some_and(|condition| condition.status == ConditionStatus::True) {
            subjects.insert(("ReplicaSet", set.meta.key()));
        }
    }
    for pod in &gathered.pods {
        let is_ours = pod
            .meta
            .controller()
            .is_some_and(|owner| sets.contains(owner.uid.as_str()));
        if !is_ours || pod.is_available(0, now) && pod.restarts() == 0 && !pod.meta.is_deleting() {
            continue;
        }
        subjects.insert(("Pod", pod.meta.key()));
        let claims = pod.claims.iter().filter(|_| pod.node_name.is_empty());
        subjects.extend(claims.map(|claim| {
            let key = ObjectKey::new(&pod.meta.namespace, claim);
            ("PersistentVolumeClaim", key)
        }));
    }
    subjects
}

/// What surrounds the rollouts; nodes only where a pod waits for one. Nobody needs the right to read any of it, so a refusal is no news.
pub(super) async fn surroundings(
    client: &Client,
    scope: &Scope,
    is_pending: bool,
    gathered: &mut Gathered,
) -> Result<(), ReadError> {
    let mut ignored = Vec::new();
    let everything = ListParams::default();
    if is_pending {
        gathered.nodes = list_if_allowed(client, None, &everything, &mut ignored).await?;
    }
    for namespace in namespaces(scope) {
        let params = match &namespace {
            Some(name) => ListParams::default().fields(&format!("metadata.name={name}")),
            None => ListParams::default(),
        };
        let spaces = list_if_allowed::<Namespace>(client, None, &params, &mut ignored).await?;
        let going = spaces.iter().filter(|it| it.status.phase == "Terminating");
        gathered
            .terminating
            .extend(going.map(|it| it.meta.name.clone()));
        if matches!(scope.which, Which::Named(_)) {
            let namespace = namespace.as_deref();
            let quotas = list_if_allowed(client, namespace, &everything, &mut ignored).await?;
            gathered.quotas.extend(quotas);
            let scalers = list_if_allowed(client, namespace, &everything, &mut ignored).await?;
            gathered.autoscalers.extend(scalers);
        }
    }
    Ok(())
}
