//! A `kube::Client` from a configuration, with kubectl's words for a server that can't be reached.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use http::uri::Scheme;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ClientBuilder, ConfigExt as _, DynBody};
use kube::{Client, Config};
use tower::timeout::TimeoutLayer;
use tower::util::{BoxService, MapErrLayer, MapResponseLayer};
use tower::{BoxError, ServiceBuilder, ServiceExt as _};
use tower_http::ServiceExt as _;
use tower_http::decompression::DecompressionLayer;
use tower_http::trace::TraceLayer;

use super::warning;
use crate::error::Failure;

/// Who asks. The first word is the manager of writes that name none.
const USER_AGENT: &str = concat!("kubectl-rs/", env!("CARGO_PKG_VERSION"));

/// The server can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// Nobody listens there.
    #[error(
        "The connection to the server {host} was refused - did you specify the right host or port?"
    )]
    Refused {
        /// Host and port.
        host: String,
    },
    /// No answer came in time.
    #[error("Unable to connect to the server: no answer from {host} within {} (--request-timeout)", seconds(.limit))]
    TimedOut {
        /// Host and port.
        host: String,
        /// How long was waited.
        limit: Duration,
    },
    /// Anything else between here and there: name resolution, TLS, a proxy.
    #[error("Unable to connect to the server: {host}: {reason}")]
    Other {
        /// Host and port.
        host: String,
        /// What the network said.
        reason: String,
    },
}

fn seconds(limit: &Duration) -> String {
    format!("{}s", limit.as_secs_f64())
}

/// A client that sends every request once: what may be sent again is for the engine to decide.
///
/// `limit` bounds the time to the head of an answer, so a watch may stay open as long as it likes.
///
/// # Errors
/// Certificates or credentials that can't be used.
pub fn client(mut config: Config, limit: Option<Duration>) -> Result<Client, Failure> {
    config.default_retry = false;
    let agent = http::HeaderValue::from_static(USER_AGENT);
    config.headers.push((http::header::USER_AGENT, agent));
    let host = host_of(&config);
    let builder =
        transport(config).map_err(|error| Failure::error(super::report::one_line(&error)))?;
    let told = move |error: BoxError| explain(error, &host, limit);
    let warnings = warning::Warnings::default();
    let warn = move |response| warnings.tell(response);
    let builder = builder.with_layer(&MapResponseLayer::new(warn));
    Ok(match limit {
        Some(limit) => builder
            .with_layer(&TimeoutLayer::new(limit))
            .with_layer(&MapErrLayer::new(told))
            .build(),
        None => builder.with_layer(&MapErrLayer::new(told)).build(),
    })
}

/// What sends requests and takes answers.
type Transport = BoxService<Request<Body>, Response<Box<DynBody>>, BoxError>;

/// kube's own stack of layers, but for `TCP_NODELAY`: without it the request waits behind the end of the TLS handshake
/// until the server acknowledges that, which servers put off for 40 ms. Proxies are left to kube.
fn transport(mut config: Config) -> Result<ClientBuilder<Transport>, kube::Error> {
    if config.proxy_url.is_some() {
        return ClientBuilder::try_from(config);
    }
    // Where no certificate is checked, the system's hundreds need not be read.
    if config.accept_invalid_certs || config.cluster_url.scheme() == Some(&Scheme::HTTP) {
        config.root_cert.get_or_insert_default();
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .layer(TraceLayer::new_for_http().on_body_chunk(()).on_eos(()))
        .map_err(BoxError::from)
        .service(Builder::new(TokioExecutor::new()).build::<_, Body>(connector));
    let boxed = service
        .map_response_body(|body| Box::new(BodyExt::map_err(body, BoxError::from)) as Box<DynBody>);
    Ok(ClientBuilder::new(boxed.boxed(), config.default_namespace))
}

/// `host:port`, as kubectl prints it.
fn host_of(config: &Config) -> String {
    let uri = &config.cluster_url;
    uri.authority()
        .map_or_else(|| uri.to_string(), ToString::to_string)
}

fn explain(error: BoxError, host: &str, limit: Option<Duration>) -> BoxError {
    let host = host.to_owned();
    if let Some(limit) = limit
        && error.is::<tower::timeout::error::Elapsed>()
    {
        return Unreachable::TimedOut { host, limit }.into();
    }
    // Errors of the layers below, such as a credential plugin that fails, already say what is wrong.
    if error.is::<kube::Error>() {
        return error;
    }
    let refused = chain(error.as_ref())
        .filter_map(|link| link.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if refused {
        return Unreachable::Refused { host }.into();
    }
    let reason = chain(error.as_ref())
        .last()
        .map(ToString::to_string)
        .unwrap_or_default();
    Unreachable::Other { host, reason }.into()
}

/// An error and its causes, outermost first.
pub(super) fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&link| link.source())
}
