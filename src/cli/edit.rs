//! Changing one object on the server: a patch that names what changes and the version that it was computed from.
//!
//! Where somebody else was faster, the patch is computed anew from a fresh read: nothing that was changed between our
//! read and our write is overwritten. Fields that this program does not know are in no patch, so they stay.

use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::{Value, json};

use super::objects::Found;
use crate::engine::options::DryRun;

/// How often a change is computed anew before the conflict is reported.
const ATTEMPTS: usize = 8;

/// What is to change.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// A strategic merge patch.
    Strategic(Value),
    /// The operations of a JSON patch.
    Operations(Vec<Value>),
}

/// How a change is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing<'a> {
    /// Who writes, in `managedFields`; `None` leaves it to the server.
    pub(super) field_manager: Option<&'a str>,
    /// Whether the server should only pretend.
    pub(super) dry_run: DryRun,
}

/// An object that has the change.
#[derive(Clone, Debug)]
pub(super) struct Edited {
    /// As the server has it now.
    pub(super) now: Found,
    /// The version that the change was made to; `None` where somebody else was faster with the same change.
    pub(super) from: Option<Found>,
}

impl Edited {
    /// An object that had it before.
    pub(super) fn unchanged(object: &Found) -> Self {
        Self {
            now: object.clone(),
            from: None,
        }
    }
}

/// Why an object was not changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    /// It is in no state to be changed like this.
    #[error(transparent)]
    Refused(anyhow::Error),
    /// The server did not take the change.
    #[error(transparent)]
    Request(#[from] kube::Error),
}

impl Writing<'_> {
    /// Computes a change from the object and sends it; `None` when there is nothing to change. Where somebody else was
    /// faster with the same change, it counts as made.
    ///
    /// # Errors
    /// `change`'s refusal, or the server's.
    pub(super) async fn edit(
        &self,
        client: &Client,
        object: &Found,
        mut change: impl FnMut(&Found) -> anyhow::Result<Option<Change>>,
    ) -> Result<Option<Edited>, EditError> {
        let mut fresh: Option<Found> = None;
        for attempt in 1.. {
            let object = fresh.as_ref().unwrap_or(object);
            let Some(change) = change(object).map_err(EditError::Refused)? else {
                return Ok(fresh.map(|now| Edited { now, from: None }));
            };
            match self.send(client, object, change).await {
                Err(kube::Error::Api(status))
                    if status.reason == "Conflict" && attempt < ATTEMPTS =>
                {
                    fresh = Some(object.fresh(client).await?);
                }
                sent => {
                    let from = Some(object.clone());
                    return Ok(Some(Edited { now: sent?, from }));
                }
            }
        }
        Ok(None)
    }

    async fn send(
        &self,
        client: &Client,
        object: &Found,
        change: Change,
    ) -> Result<Found, kube::Error> {
        let version = &object.json["metadata"]["resourceVersion"];
        let patch = match change {
            Change::Strategic(mut body) => {
                body["metadata"]["resourceVersion"] = version.clone();
                Patch::Strategic(body)
            }
            Change::Operations(mut operations) => {
                operations.push(json!({
                    "op": "replace", "path": "/metadata/resourceVersion", "value": version,
                }));
                let operations = serde_json::from_value(Value::Array(operations));
                Patch::Json(operations.map_err(kube::Error::SerdeError)?)
            }
        };
        let params = PatchParams {
            dry_run: self.dry_run == DryRun::Server,
            field_manager: self.field_manager.map(str::to_owned),
            ..PatchParams::default()
        };
        let request = Request::new(object.resource.path(object.namespace()))
            .patch(object.name(), &params, &patch)
            .map_err(kube::Error::BuildRequest)?;
        let json = client.request(request).await?;
        Ok(object.version(json))
    }
}
