//! A request as the verbs see it.

use bytes::Bytes;
use http::{HeaderMap, Method, header, request::Parts};

use super::query::Query;

/// Method, path and query, the headers that matter, and the whole body.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl ApiRequest {
    pub(crate) fn new(parts: Parts, body: Bytes) -> Self {
        Self {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            headers: parts.headers,
            body,
        }
    }

    pub(crate) fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The media type of the body without its parameters.
    pub(crate) fn content_type(&self) -> &str {
        let full = self.header(header::CONTENT_TYPE).unwrap_or_default();
        full.split(';').next().unwrap_or_default().trim()
    }

    /// Who writes, when the request names no `fieldManager`: the first word of the user agent.
    pub(crate) fn default_manager(&self) -> String {
        let agent = self.header(header::USER_AGENT).unwrap_or_default();
        let name = agent.split('/').next().unwrap_or_default();
        if name.is_empty() { "unknown" } else { name }.to_owned()
    }
}
