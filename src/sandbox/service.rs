//! The server as a `tower::Service`: behind a `kube::Client` in process, or behind hyper on a socket.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::time::sleep;
use tower::Service;

use super::reply::{ApiBody, Reply};
use super::request::ApiRequest;
use super::server::Server;
use super::status::ApiError;

/// The API as a service; every clone speaks to the same cluster.
#[derive(Clone, Debug)]
pub struct ApiService {
    server: Arc<Server>,
}

impl ApiService {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }
}

impl<B> Service<Request<B>> for ApiService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    type Response = Response<ApiBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let reply = match body.collect().await {
                Ok(body) => server.answer(&ApiRequest::new(parts, body.to_bytes())),
                Err(error) => Reply::from(ApiError::bad_request(error.to_string())),
            };
            if !reply.delay.is_zero() {
                sleep(reply.delay).await;
            }
            Ok(reply.into_response())
        })
    }
}
