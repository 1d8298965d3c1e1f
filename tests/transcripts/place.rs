//! Where a case is played: the embedded cluster, or a real API server.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use kube::Client;
use kubectl_rs::sandbox::Sandbox;
use tower::ServiceExt as _;

/// A cluster that answers requests.
#[derive(Clone)]
pub(crate) enum Place {
    /// The embedded one.
    Embedded(Sandbox),
    /// A real one.
    Real(Client),
}

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a cluster answers with.
pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Failure>>;

impl Place {
    /// Its answer.
    pub(crate) async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        match self {
            Self::Embedded(sandbox) => {
                let answer = sandbox.service().oneshot(request).await.unwrap();
                answer.map(|body| body.map_err(Into::into).boxed_unsync())
            }
            Self::Real(client) => {
                let (head, body) = request.into_parts();
                let bytes = body.collect().await.unwrap().to_bytes();
                let request = Request::from_parts(head, kube::client::Body::from(bytes.to_vec()));
                let mut answer = client.send(request).await.unwrap();
                // However it came, it goes on as HTTP/1.1.
                *answer.version_mut() = http::Version::default();
                answer.map(|body| body.map_err(Into::into).boxed_unsync())
            }
        }
    }
}
