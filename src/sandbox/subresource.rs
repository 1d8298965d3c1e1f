//! Paths below an object that are no view of it: bindings, evictions.

use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use super::write::WriteContext;

/// POST to a subresource, or to a resource that keeps nothing.
pub(crate) fn create(
    _state: &mut State,
    _request: &ApiRequest,
    _target: &Target,
    _context: &WriteContext,
) -> Result<Reply, ApiError> {
    Err(ApiError::method_not_allowed())
}
