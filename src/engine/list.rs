//! Lists, in pages, decoded straight into slim types.

use std::sync::Arc;

use kube::Client;
use kube::api::ListParams;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use super::error::EngineError;
use super::exchange::{Failed, exchange};
use super::kind::SlimKind;

/// Objects a page.
const PAGE: u32 = 500;
/// How often a page is asked for again.
const ATTEMPTS: u32 = 5;

#[derive(Deserialize)]
#[serde(bound = "T: SlimKind")]
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
}

/// All objects of a kind, in one namespace or in all.
///
/// # Errors
/// When the server can't be asked or refuses.
pub async fn list<T: SlimKind>(
    client: &Client,
    namespace: Option<&str>,
) -> Result<Vec<Arc<T>>, EngineError> {
    let failed = |source| EngineError::listing(T::KIND, namespace, source);
    let mut params = ListParams::default().limit(PAGE);
    let mut objects = Vec::new();
    loop {
        let request = kube::core::Request::new(T::KIND.path(namespace))
            .list(&params)
            .map_err(|error| failed(kube::Error::BuildRequest(error)))?;
        let page: Page<T> = patiently(client, request).await.map_err(failed)?;
        objects.extend(page.items.unwrap_or_default().into_iter().map(Arc::new));
        match page.metadata.next.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(objects),
        }
    }
}

/// Sends a request that may be sent again, until a server that has too much to do finds the time.
async fn patiently<T: DeserializeOwned>(
    client: &Client,
    request: http::Request<Vec<u8>>,
) -> Result<T, kube::Error> {
    let mut attempts = 0;
    loop {
        match exchange(client, request.clone()).await {
            Err(Failed {
                retry_after: Some(pause),
                ..
            }) if attempts < ATTEMPTS => {
                attempts += 1;
                sleep(pause).await;
            }
            Err(failed) => return Err(failed.error),
            Ok(text) => return serde_json::from_str(&text).map_err(kube::Error::SerdeError),
        }
    }
}
