//! One request and its answer, with what a server says about when to come back.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kube::core::Status;

/// Why a request came to nothing.
#[derive(Debug)]
pub(super) struct Failed {
    /// What happened.
    pub(super) error: kube::Error,
    /// How long the server wants to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl From<kube::Error> for Failed {
    fn from(error: kube::Error) -> Self {
        Self {
            error,
            retry_after: None,
        }
    }
}

/// Sends a request and reads what it is answered with.
///
/// # Errors
/// When it does not get there, or is refused. A refusal that is no `Status` (a proxy's, or that of a server which has
/// too much to do) is made one.
pub(super) async fn exchange(client: &Client, request: Request<Vec<u8>>) -> Result<String, Failed> {
    let response = client.send(request.map(Body::from)).await?;
    let (head, body) = response.into_parts();
    let bytes = body.collect().await?.to_bytes();
    if head.status.is_success() {
        return Ok(String::from_utf8(bytes.into()).map_err(kube::Error::FromUtf8)?);
    }
    let status = serde_json::from_slice(&bytes)
        .ok()
        .filter(|status: &Status| status.code != 0)
        .unwrap_or_else(|| plain(head.status, &bytes));
    let retry_after = retry_after(&head.headers, &status);
    Err(Failed {
        error: kube::Error::Api(Box::new(status)),
        retry_after,
    })
}

fn plain(code: StatusCode, body: &[u8]) -> Status {
    let text = String::from_utf8_lossy(body).trim().to_owned();
    let words = code.canonical_reason().unwrap_or("refused").to_owned();
    let message = if text.is_empty() { words } else { text };
    Status::failure(&message, "").with_code(code.as_u16())
}

fn retry_after(headers: &HeaderMap, status: &Status) -> Option<Duration> {
    let header = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let seconds = header.and_then(|text| text.parse().ok()).or_else(|| {
        let seconds = status.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then_some(u64::from(seconds))
    });
    seconds.map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answer(code: u16, header: Option<&'static str>, body: &'static str) -> Failed {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            let mut response = http::Response::builder().status(code);
            if let Some(header) = header {
                response = response.header(RETRY_AFTER, header);
            }
            Ok::<_, std::convert::Infallible>(
                response
                    .body(Body::from(body.as_bytes().to_vec()))
                    .expect("a response"),
            )
        });
        let client = Client::new(service, "default");
        let request = Request::new(Vec::new());
        exchange(&client, request).await.expect_err("it is refused")
    }

    #[tokio::test]
    async fn the_server_says_when_to_come_back() {
        const STATUS: &str =
            r#"{"kind":"Status","code":503,"message":"m","details":{"retryAfterSeconds":3}}"#;
        // Code, header, body, seconds, message.
        let cases = [
            (
                429,
                Some("7"),
                "Too many requests, please try again later.\n",
                Some(7),
                "Too many requests, please try again later.",
            ),
            (503, None, STATUS, Some(3), "m"),
            (502, None, "", None, "Bad Gateway"),
            (
                429,
                Some("Wed, 21 Oct 2026 07:28:00 GMT"),
                "",
                None,
                "Too Many Requests",
            ),
        ];
        for (code, header, body, seconds, message) in cases {
            let failed = answer(code, header, body).await;
            assert_eq!(failed.retry_after, seconds.map(Duration::from_secs));
            let kube::Error::Api(status) = failed.error else {
                panic!("{code} is the server's");
            };
            assert_eq!((status.code, status.message.as_str()), (code, message));
        }
    }
}
