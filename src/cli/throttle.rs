//! `--qps` and `--burst`: how fast requests are sent, by the token bucket that client-go's users know.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use http::{Request, Uri};
use kube::Client;
use kube::client::Body;
use leaky_bucket::RateLimiter;

/// Requests a second and at once where no flag says so: kubectl's own.
const DEFAULT_QPS: f64 = 50.0;
const DEFAULT_BURST: u32 = 300;
/// The rarest that requests may be: one in this time.
const SLOWEST: Duration = Duration::from_secs(24 * 3600);

/// How fast requests are sent.
#[derive(Clone, Debug, Default, Args)]
pub struct ThrottleFlags {
    /// Requests a second, on average; 0: any number [default: 50; on loopback: any number]
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = parse_qps)]
    pub qps: Option<f64>,
    /// Requests at once, before --qps holds [default: 300]
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub burst: Option<u32>,
}

/// A token bucket's two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    qps: f64,
    burst: u32,
}

impl ThrottleFlags {
    /// The client, held to the rate that the flags ask for. What they leave open depends on where the server is: one on
    /// loopback is nobody else's.
    pub fn hold(&self, client: Client, server: &Uri) -> Client {
        match self.rate(server) {
            Some(rate) => held_to(rate, client),
            None => client,
        }
    }

    fn rate(&self, server: &Uri) -> Option<Rate> {
        let is_asked_for = self.qps.is_some() || self.burst.is_some();
        let rate = Rate {
            qps: self.qps.unwrap_or(DEFAULT_QPS),
            burst: self.burst.unwrap_or(DEFAULT_BURST),
        };
        (rate.qps > 0.0 && (is_asked_for || !is_loopback(server))).then_some(rate)
    }
}

fn parse_qps(text: &str) -> Result<f64, &'static str> {
    let qps: Option<f64> = text.parse().ok();
    qps.filter(|qps| qps.is_finite() && *qps >= 0.0)
        .ok_or("give a number of requests a second, such as 20 or 0.5")
}

fn is_loopback(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Lets requests wait for their turn.
fn held_to(rate: Rate, client: Client) -> Client {
    let pause = Duration::try_from_secs_f64(rate.qps.recip()).unwrap_or(SLOWEST);
    let burst = usize::try_from(rate.burst).unwrap_or(usize::MAX);
    let bucket = RateLimiter::builder()
        .max(burst)
        .initial(burst)
        .refill(1)
        .interval(pause.clamp(Duration::from_nanos(1), SLOWEST))
        .build();
    let bucket = Arc::new(bucket);
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (bucket, client) = (Arc::clone(&bucket), client.clone());
        async move {
            if !is_exempt(&request) {
                bucket.acquire_one().await;
            }
            client.send(request).await
        }
    });
    Client::new(service, namespace)
}

/// client-go holds no watch back either, and a Lease that is renewed too late is lost.
fn is_exempt(request: &Request<Body>) -> bool {
    let uri = request.uri();
    let mut query = uri.query().unwrap_or_default().split('&');
    uri.path().starts_with("/apis/coordination.k8s.io/")
        || query.any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::coordination::v1::Lease;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::Api;
    use kube::api::{ListParams, WatchParams};
    use tokio::time::Instant;

    use super::*;
    use crate::clock::Clock;
    use crate::sandbox::{Sandbox, SandboxOptions};

    #[test]
    fn only_a_server_elsewhere_is_spared_without_being_asked() {
        const FAR: &str = "https://api.example:6443";
        const NEAR: &str = "https://127.0.0.1:6443";
        let rate = |qps, burst| Some(Rate { qps, burst });
        // The server, --qps, --burst, the rate.
        let cases = [
            (FAR, None, None, rate(50.0, 300)),
            (FAR, Some(5.0), None, rate(5.0, 300)),
            (FAR, None, Some(10), rate(50.0, 10)),
            (FAR, Some(0.0), Some(10), None),
            (NEAR, None, None, None),
            (NEAR, Some(5.0), None, rate(5.0, 300)),
            (NEAR, None, Some(10), rate(50.0, 10)),
            ("http://localhost:8080", None, None, None),
            ("http://api.localhost", None, None, None),
            ("https://[::1]:6443", None, None, None),
            ("https://localhost.example", None, None, rate(50.0, 300)),
            ("https://10.0.0.1", None, None, rate(50.0, 300)),
        ];
        for (server, qps, burst, expected) in cases {
            let flags = ThrottleFlags { qps, burst };
            let server: Uri = server.parse().expect("a URL");
            assert_eq!(flags.rate(&server), expected, "{server} {qps:?} {burst:?}");
        }
    }

    #[test]
    fn a_rate_is_a_number_of_requests() {
        for (text, expected) in [("20", Some(20.0)), ("0.5", Some(0.5)), ("0", Some(0.0))] {
            assert_eq!(parse_qps(text).ok(), expected);
        }
        for text in ["", "-1", "inf", "NaN", "many"] {
            assert!(parse_qps(text).is_err(), "{text}");
        }
    }

    /// A client of an empty cluster, held to five requests a second after three at once.
    fn held() -> Client {
        let start = "2026-01-01T00:00:00Z".parse().expect("a timestamp");
        let sandbox = Sandbox::new(SandboxOptions::new(Clock::starting_at(start)));
        let rate = Rate { qps: 5.0, burst: 3 };
        held_to(rate, sandbox.client())
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_burst_requests_come_at_the_rate() {
        let maps: Api<ConfigMap> = Api::default_namespaced(held());
        let began = Instant::now();
        let params = ListParams::default();
        let sent = (0..13).map(|_| maps.list(&params));
        for answer in futures::future::join_all(sent).await {
            answer.expect("the cluster answers");
        }
        assert_eq!(began.elapsed().as_millis(), 2000);
        tokio::time::sleep(Duration::from_secs(60)).await;
        let rested = Instant::now();
        for _ in 0..3 {
            maps.list(&params).await.expect("it answers");
        }
        assert_eq!(rested.elapsed().as_millis(), 0, "the burst is back");
    }

    #[tokio::test(start_paused = true)]
    async fn watches_and_leases_wait_for_nobody() {
        let client = held();
        let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
        let leases: Api<Lease> = Api::default_namespaced(client);
        for _ in 0..3 {
            maps.list(&ListParams::default()).await.expect("it answers");
        }
        let began = Instant::now();
        let watching = maps.watch(&WatchParams::default(), "0").await;
        drop(watching.expect("it answers"));
        leases.get_opt("web").await.expect("it answers");
        assert_eq!(began.elapsed().as_millis(), 0);
        maps.list(&ListParams::default()).await.expect("it answers");
        assert_eq!(began.elapsed().as_millis(), 200);
    }
}
