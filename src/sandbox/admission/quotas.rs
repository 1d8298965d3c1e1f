//! The quotas of a namespace in the store: charged by writes, recounted by the quota controller.
//!
//! Quotas are charged last of all that admission does, and at once: a write that fails after that leaves them charged
//! until the next recount, as on a real server.

use serde_json::{Value, json};

use super::{all, known, subject};
use crate::sandbox::json::text;
use crate::sandbox::kinds::Kind;
use crate::sandbox::persist::{self, Write};
use crate::sandbox::query::WriteOptions;
use crate::sandbox::quota::{self, Charge};
use crate::sandbox::route::Target;
use crate::sandbox::server::State;
use crate::sandbox::status::ApiError;

/// Charges what a write takes to the quotas that limit it.
pub(super) fn charge(
    state: &mut State,
    write: &Write<'_>,
    kind: &Kind,
    old: Option<&Value>,
    new: &Value,
) -> Result<(), ApiError> {
    let now = state.now();
    let charge = Charge {
        kind,
        old,
        new,
        now,
    };
    if !charge.is_counted() {
        return Ok(());
    }
    let namespace = text(&new["metadata"]["namespace"]);
    let quotas = all(&state.store, "resourcequotas", namespace);
    let charged = charge
        .apply(&quotas)
        .map_err(|why| ApiError::forbidden(kind, subject(new), &why))?;
    if write.options.dry_run {
        return Ok(());
    }
    for (quota, used) in quotas.iter().zip(charged) {
        if let Some(used) = used {
            let status = json!({"hard": quota["status"]["hard"], "used": used});
            set_status(state, quota, status, "kube-apiserver")?;
        }
    }
    Ok(())
}

/// Brings the status of a namespace's quotas to what is there.
pub(crate) fn recount(state: &mut State, namespace: &str) -> Result<(), ApiError> {
    let now = state.now();
    for quota in all(&state.store, "resourcequotas", namespace) {
        let objects = |kind: &Kind| all(&state.store, kind.plural, namespace);
        if let Some(status) = quota::recount(&quota, quota::counted_kinds(), objects, now) {
            set_status(state, &quota, status, "kube-controller-manager")?;
        }
    }
    Ok(())
}

fn set_status(
    state: &mut State,
    quota: &Value,
    status: Value,
    manager: &str,
) -> Result<(), ApiError> {
    let target = Target {
        kind: known("resourcequotas"),
        namespace: quota["metadata"]["namespace"].as_str().map(str::to_owned),
        name: quota["metadata"]["name"].as_str().map(str::to_owned),
        subresource: Some("status".to_owned()),
    };
    let write = Write::new(&target, WriteOptions::default(), manager.to_owned());
    persist::change(state, &write, |quota| {
        let mut quota = quota.clone();
        quota["status"] = status;
        Ok(quota)
    })?;
    Ok(())
}
