//! A `kube::Client` from a configuration, with kubectl's words for a server that can't be reached.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use kube::client::ClientBuilder;
use kube::{Client, Config};
use tower::timeout::TimeoutLayer;
use tower::util::{MapErrLayer, MapResponseLayer};

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
    let builder = ClientBuilder::try_from(config)
        .map_err(|error| Failure::error(super::report::one_line(&error)))?;
    let told = move |error: tower::BoxError| explain(error, &host, limit);
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

/// `host:port`, as kubectl prints it.
fn host_of(config: &Config) -> String {
    let uri = &config.cluster_url;
    uri.authority()
        .map_or_else(|| uri.to_string(), ToString::to_string)
}

fn explain(error: tower::BoxError, host: &str, limit: Option<Duration>) -> tower::BoxError {
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
