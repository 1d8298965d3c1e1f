//! Probes: when they run, what they find, and what the kubelet says when they fail (failure-states spec, section 5).

use std::fmt;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::container_spec::ContainerPort;
use crate::controller::api::null_as_default;

/// A probe; periods and thresholds are defaulted by the API server and here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    /// Seconds from the container's start to the first try.
    pub initial_delay_seconds: i64,
    /// Seconds between tries.
    pub period_seconds: i64,
    /// Seconds that one try may take.
    pub timeout_seconds: i64,
    /// Tries that must succeed in a row.
    pub success_threshold: u32,
    /// Tries that must fail in a row.
    pub failure_threshold: u32,
    /// Asks over HTTP.
    pub http_get: Option<HttpGet>,
    /// Opens a connection.
    pub tcp_socket: Option<Port>,
    /// Asks over gRPC.
    pub grpc: Option<Port>,
    /// Runs a command; which one does not matter here.
    pub exec: Option<serde::de::IgnoredAny>,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            initial_delay_seconds: 0,
            period_seconds: 10,
            timeout_seconds: 1,
            success_threshold: 1,
            failure_threshold: 3,
            http_get: None,
            tcp_socket: None,
            grpc: None,
            exec: None,
        }
    }
}

/// Where an HTTP probe asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct HttpGet {
    /// The path.
    #[serde(deserialize_with = "null_as_default")]
    pub path: String,
    /// The port, by number or name.
    pub port: Value,
    /// `HTTP` or `HTTPS`.
    #[serde(deserialize_with = "null_as_default")]
    pub scheme: String,
    /// Another host than the pod.
    #[serde(deserialize_with = "null_as_default")]
    pub host: String,
}

/// Where a TCP or gRPC probe connects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Port {
    /// The port, by number or name.
    pub port: Value,
}

/// The three kinds of probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeKind {
    Startup,
    Liveness,
    Readiness,
}

impl fmt::Display for ProbeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Startup => "Startup",
            Self::Liveness => "Liveness",
            Self::Readiness => "Readiness",
        })
    }
}

impl Probe {
    /// The pause between tries.
    pub(super) fn period(&self) -> SignedDuration {
        SignedDuration::from_secs(self.period_seconds.max(1))
    }

    /// How long after the container's start no try counts.
    pub(super) fn initial_delay(&self) -> SignedDuration {
        SignedDuration::from_secs(self.initial_delay_seconds.max(0))
    }

    /// The first tick of the probe that is not before `earliest`, when `tick` is one.
    pub(super) fn first_try(&self, tick: Timestamp, earliest: Timestamp) -> Timestamp {
        if earliest <= tick {
            return tick;
        }
        let period = self.period().as_nanos();
        let ticks = (earliest.duration_since(tick).as_nanos() - 1) / period + 1;
        tick + self
            .period()
            .saturating_mul(i32::try_from(ticks).unwrap_or(i32::MAX))
    }

    /// What a failed try prints. A server that is not up refuses; one that is up says it is not well.
    pub(super) fn output(&self, ip: &str, ports: &[ContainerPort], up: bool) -> String {
        if let Some(http) = &self.http_get {
            if up {
                return "HTTP probe failed with statuscode: 503".to_owned();
            }
            let scheme = http.scheme.to_lowercase();
            let scheme = if scheme.is_empty() { "http" } else { &scheme };
            let host = if http.host.is_empty() { ip } else { &http.host };
            let port = number(&http.port, ports);
            let slash = if http.path.starts_with('/') { "" } else { "/" };
            return format!(
                "Get \"{scheme}://{host}:{port}{slash}{}\": dial tcp {host}:{port}: connect: connection refused",
                http.path
            );
        }
        if let Some(tcp) = &self.tcp_socket {
            let port = number(&tcp.port, ports);
            return format!("dial tcp {ip}:{port}: connect: connection refused");
        }
        if let Some(grpc) = &self.grpc {
            let port = number(&grpc.port, ports);
            return format!(
                "timeout: failed to connect service \"{ip}:{port}\" within {}s: context deadline exceeded",
                self.timeout_seconds
            );
        }
        if self.exec.is_some() {
            return String::new();
        }
        "HTTP probe failed with statuscode: 503".to_owned()
    }
}

fn number(port: &Value, ports: &[ContainerPort]) -> i64 {
    let named = || {
        let name = port.as_str()?;
        ports.iter().find(|port| port.name == name)
    };
    port.as_i64()
        .or_else(|| named().map(|port| port.container_port))
        .unwrap_or_default()
}

/// A probe at work on one run of a container.
#[derive(Clone, Debug)]
pub(super) struct Probing {
    /// The next try; `None` once nothing can change any more.
    pub(super) next: Option<Timestamp>,
    pub(super) successes: u32,
    pub(super) failures: u32,
}

impl Probing {
    pub(super) fn starting_at(at: Timestamp) -> Self {
        Self {
            next: Some(at),
            successes: 0,
            failures: 0,
        }
    }

    /// Notes a try's result and returns whether a threshold is reached with it.
    pub(super) fn note(&mut self, probe: &Probe, success: bool) -> bool {
        if success {
            self.successes += 1;
            self.failures = 0;
            self.successes >= probe.success_threshold.max(1)
        } else {
            self.failures += 1;
            self.successes = 0;
            self.failures >= probe.failure_threshold.max(1)
        }
    }
}
