//! The cluster over HTTP, on loopback only: for kubectl, and for anything else that speaks to an API server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tower::{BoxError, Service};

use super::Sandbox;
use super::reply::ApiBody;

/// How long to wait after the system refused a connection (too many open files, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A cluster that is being served. The server stops, and cuts its connections, when this is dropped.
#[derive(Debug)]
#[must_use = "the server stops when this is dropped"]
pub struct Served {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Sandbox {
    /// Serves the cluster at a loopback port; 0: one that is free.
    ///
    /// # Errors
    /// When the port can't be had.
    pub async fn serve(&self, port: u16) -> io::Result<Served> {
        Served::start(port, self.service()).await
    }
}

impl Served {
    /// Serves what stands between clients and a cluster, such as its API behind a [`FaultLayer`](super::FaultLayer), at a
    /// loopback port; 0: one that is free. Where it fails, the connection is cut.
    ///
    /// # Errors
    /// When the port can't be had.
    pub async fn start<S>(port: u16, service: S) -> io::Result<Self>
    where
        S: Service<Request<Incoming>, Response = Response<ApiBody>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(accept(listener, service));
        Ok(Self { address, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig that leads there.
    pub fn kubeconfig(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": "sandbox",
                "cluster": { "server": format!("http://{}", self.address) },
            }],
            "users": [{ "name": "sandbox", "user": {} }],
            "contexts": [{
                "name": "sandbox",
                "context": { "cluster": "sandbox", "user": "sandbox", "namespace": "default" },
            }],
            "current-context": "sandbox",
        })
    }
}

async fn accept<S>(listener: TcpListener, service: S)
where
    S: Service<Request<Incoming>, Response = Response<ApiBody>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Answers are small; waiting to fill a packet would only slow them down.
                    let _ = stream.set_nodelay(true);
                    let service = TowerToHyperService::new(service.clone());
                    connections.spawn(async move {
                        let served = Builder::new(TokioExecutor::new())
                            .serve_connection_with_upgrades(TokioIo::new(stream), service)
                            .await;
                        if let Err(error) = served {
                            tracing::debug!(%error, "connection ended");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}
