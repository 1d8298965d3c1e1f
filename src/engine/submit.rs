//! Server-side apply of Deployments and ReplicaSets from files, before they are reconciled.

use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::Value;

use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;

use super::options::DryRun;
use super::request::FIELD_MANAGER;
use super::store::Item;

/// What became of an applied object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It was new.
    Created,
    /// It is another version now.
    Configured,
    /// It was like that already.
    Unchanged,
}

/// How to apply.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubmitOptions {
    /// Whether the server should only pretend. There is no dry run of an apply without it.
    pub dry_run: DryRun,
    /// Take fields over from other managers.
    pub force_conflicts: bool,
}

/// Applies one object; returns what became of it and the object as the server has it now.
///
/// # Errors
/// When the server can't be asked or refuses; a `Conflict` where other managers own its fields and they are not to be
/// taken over.
pub async fn submit(
    client: &Client,
    item: &Item,
    object: &Value,
    options: SubmitOptions,
) -> Result<(Submitted, Value), kube::Error> {
    let before = version(client, item.kind, &item.key).await?;
    let params = PatchParams {
        dry_run: options.dry_run != DryRun::None,
        force: options.force_conflicts,
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let request = Request::new(item.kind.path(Some(&item.key.namespace)))
        .patch(&item.key.name, &params, &Patch::Apply(object))
        .map_err(kube::Error::BuildRequest)?;
    let applied: Value = client.request(request).await?;
    let submitted = match (before, applied["metadata"]["resourceVersion"].as_str()) {
        (None, _) => Submitted::Created,
        (Some(before), Some(after)) if before == after => Submitted::Unchanged,
        _ => Submitted::Configured,
    };
    Ok((submitted, applied))
}

async fn version(
    client: &Client,
    kind: Kind,
    key: &ObjectKey,
) -> Result<Option<String>, kube::Error> {
    let request = Request::new(kind.path(Some(&key.namespace)))
        .get(&key.name, &kube::api::GetParams::default())
        .map_err(kube::Error::BuildRequest)?;
    match client.request::<Value>(request).await {
        Ok(object) => Ok(object["metadata"]["resourceVersion"]
            .as_str()
            .map(str::to_owned)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
