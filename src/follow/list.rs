//! Lists, in pages, decoded straight into slim types.

use std::sync::Arc;

use kube::Client;
use kube::api::ListParams;
use serde::Deserialize;

use super::kind::{Readable, Resource};
use crate::engine::apply::one_line;

/// Objects a page.
const PAGE: u32 = 500;

/// Objects could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot list {plural}{scope}: {cause}")]
pub struct ReadError {
    /// The resource, in the plural.
    pub plural: &'static str,
    /// ` in namespace …`, or empty.
    pub scope: String,
    /// The server's words.
    pub cause: String,
    /// Whether it was refused, so that asking again can't help.
    pub is_denied: bool,
}

impl ReadError {
    pub(super) fn new(resource: Resource, namespace: Option<&str>, error: &kube::Error) -> Self {
        Self {
            plural: resource.plural,
            scope: namespace
                .map(|name| format!(" in namespace {name}"))
                .unwrap_or_default(),
            cause: one_line(error),
            is_denied: matches!(error, kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404)),
        }
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: Readable")]
struct Page<T> {
    #[serde(default)]
    metadata: PageMeta,
    items: Option<Vec<T>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
    #[serde(rename = "resourceVersion")]
    version: String,
}

/// What a list came to.
pub(super) struct Listed<T> {
    /// The objects.
    pub(super) objects: Vec<Arc<T>>,
    /// The version of the whole: a watch goes on from there.
    pub(super) version: String,
}

/// All objects of a kind in one namespace or in all, as far as `params` select them.
pub(super) async fn list<T: Readable>(
    client: &Client,
    namespace: Option<&str>,
    params: &ListParams,
) -> Result<Vec<Arc<T>>, ReadError> {
    let listed = list_with_version(client, namespace, params).await?;
    Ok(listed.objects)
}

/// As [`list`], with the version of what was seen.
pub(super) async fn list_with_version<T: Readable>(
    client: &Client,
    namespace: Option<&str>,
    params: &ListParams,
) -> Result<Listed<T>, ReadError> {
    let failed = |error: kube::Error| ReadError::new(T::RESOURCE, namespace, &error);
    let mut params = params.clone().limit(PAGE);
    let mut objects = Vec::new();
    loop {
        let request = kube::core::Request::new(T::RESOURCE.path(namespace))
            .list(&params)
            .map_err(|error| failed(kube::Error::BuildRequest(error)))?;
        let page: Page<T> = client.request(request).await.map_err(failed)?;
        objects.extend(page.items.unwrap_or_default().into_iter().map(Arc::new));
        let PageMeta { next, version } = page.metadata;
        let Some(token) = next.filter(|token| !token.is_empty()) else {
            return Ok(Listed { objects, version });
        };
        params = params.continue_token(&token);
    }
}

/// As [`list`]; what may not be read is noted instead of failing.
pub(super) async fn list_if_allowed<T: Readable>(
    client: &Client,
    namespace: Option<&str>,
    params: &ListParams,
    denied: &mut Vec<ReadError>,
) -> Result<Vec<Arc<T>>, ReadError> {
    match list(client, namespace, params).await {
        Err(error) if error.is_denied => {
            if !denied.contains(&error) {
                denied.push(error);
            }
            Ok(Vec::new())
        }
        result => result,
    }
}
