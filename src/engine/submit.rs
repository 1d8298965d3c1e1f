//! Server-side apply of Deployments and ReplicaSets from files, before they are reconciled.

use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::Value;

use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;

use super::apply::one_line;
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

/// Why an object could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// Other managers own fields that the file sets.
    #[error("{message}")]
    Conflict {
        /// The server's words, which name the managers and fields.
        message: String,
    },
    /// The server refused it or could not be asked.
    #[error("{message}")]
    Refused {
        /// The server's words.
        message: String,
    },
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
/// When the server refuses, or other managers own its fields and they are not to be taken over.
pub async fn submit(
    client: &Client,
    item: &Item,
    object: &Value,
    options: SubmitOptions,
) -> Result<(Submitted, Value), SubmitError> {
    let before = version(client, item.kind, &item.key).await?;
    let params = PatchParams {
        dry_run: options.dry_run != DryRun::None,
        force: options.force_conflicts,
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let request = Request::new(item.kind.path(Some(&item.key.namespace)))
        .patch(&item.key.name, &params, &Patch::Apply(object))
        .map_err(|error| SubmitError::Refused {
            message: error.to_string(),
        })?;
    let applied: Value = client
        .request(request)
        .await
        .map_err(|error| refusal(&error))?;
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
) -> Result<Option<String>, SubmitError> {
    let request = Request::new(kind.path(Some(&key.namespace)))
        .get(&key.name, &kube::api::GetParams::default())
        .map_err(|error| SubmitError::Refused {
            message: error.to_string(),
        })?;
    match client.request::<Value>(request).await {
        Ok(object) => Ok(object["metadata"]["resourceVersion"]
            .as_str()
            .map(str::to_owned)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(refusal(&error)),
    }
}

fn refusal(error: &kube::Error) -> SubmitError {
    let message = one_line(error);
    match error {
        kube::Error::Api(status) if status.is_conflict() => SubmitError::Conflict { message },
        _ => SubmitError::Refused { message },
    }
}
