//! What the server answers with, before it becomes an HTTP response.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::Value;

use super::status::ApiError;
use super::watch::Watch;

/// The body of every answer: whole, or the stream of a watch.
pub type ApiBody = UnsyncBoxBody<Bytes, Infallible>;

pub(crate) const JSON: &str = "application/json";
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) code: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) warnings: Vec<String>,
    retry_after: Option<u32>,
    content: Content,
    /// How long the server takes over it, where that is part of the behaviour.
    pub(crate) delay: Duration,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Events(Box<Watch>),
}

impl Reply {
    pub(crate) fn json(code: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            content_type: JSON,
            warnings: Vec::new(),
            retry_after: None,
            content: Content::Whole(body.into()),
            delay: Duration::ZERO,
        }
    }

    pub(crate) fn value(code: StatusCode, body: &Value) -> Self {
        Self::json(code, body.to_string())
    }

    pub(crate) fn text(code: StatusCode, body: &'static str) -> Self {
        Self::json(code, body).typed(PLAIN)
    }

    /// The same answer to a caller that wants the headers alone.
    pub(crate) fn without_body(mut self) -> Self {
        self.content = Content::Whole(Bytes::new());
        self
    }

    /// The same answer under another content type.
    pub(crate) fn typed(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }

    pub(crate) fn watch(watch: Watch) -> Self {
        Self {
            content: Content::Events(Box::new(watch)),
            ..Self::json(StatusCode::OK, "")
        }
    }

    pub(crate) fn empty(code: StatusCode) -> Self {
        Self::json(code, "")
    }

    pub(crate) fn path_not_found() -> Self {
        Self::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    pub(crate) fn into_response(self) -> Response<ApiBody> {
        let body = match self.content {
            Content::Whole(bytes) => Full::new(bytes).boxed_unsync(),
            Content::Events(watch) => {
                let frames = stream::unfold(watch, |mut watch| async move {
                    let bytes = watch.next().await?;
                    Some((Ok(Frame::data(bytes)), watch))
                });
                StreamBody::new(frames).boxed_unsync()
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.code;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(self.content_type),
        );
        for warning in &self.warnings {
            let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
                headers.append(header::WARNING, value);
            }
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<ApiError> for Reply {
    fn from(error: ApiError) -> Self {
        let mut reply = Self::value(error.code, &error.body());
        reply.retry_after = error.retry_after;
        if error.code == StatusCode::GATEWAY_TIMEOUT {
            // A real server first waits for the version to come.
            reply.delay = Duration::from_secs(3);
        }
        reply
    }
}
