//! Get.

use std::sync::Arc;

use http::StatusCode;

use super::encode::Encoder;
use super::object::Object;
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use super::store::Store;
use super::watch::parse_version;
use super::{kinds, scale};
use crate::controller::api::ObjectKey;

/// One object.
pub(crate) fn get(
    state: &State,
    request: &ApiRequest,
    target: &Target,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let version = parse_version(request.query.get("resourceVersion").unwrap_or_default())?;
    check_not_ahead(&state.store, version)?;
    let object = find(&state.store, target)?;
    let body = match target.subresource.as_deref() {
        Some("scale") => encoder.object(&kinds::SCALE, &scale::of_stored(object, target.kind))?,
        _ => encoder.object(target.kind, object)?,
    };
    Ok(Reply::json(StatusCode::OK, body))
}

/// The object that a path names.
pub(crate) fn find<'a>(store: &'a Store, target: &Target) -> Result<&'a Arc<Object>, ApiError> {
    let key = key_of(target);
    store
        .get(target.kind.collection, &key)
        .ok_or_else(|| ApiError::not_found(target.kind, &key.name))
}

/// The key that a path names.
pub(crate) fn key_of(target: &Target) -> ObjectKey {
    ObjectKey::new(
        target.namespace.as_deref().unwrap_or_default(),
        target.name.as_deref().unwrap_or_default(),
    )
}

/// Refuses a resourceVersion that no write has reached.
pub(crate) fn check_not_ahead(store: &Store, version: u64) -> Result<(), ApiError> {
    if version > store.revision() {
        return Err(ApiError::too_large_resource_version(
            version,
            store.revision(),
        ));
    }
    Ok(())
}
