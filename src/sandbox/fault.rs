//! Faults for tests: a layer around the API that answers otherwise than asked, by a plan drawn from a seed.
//!
//! The same seed and the same requests meet the same faults, so that a failure can be run again. The cluster behind
//! the layer is sound: what a client makes of a bad day is what is tested.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::StreamExt as _;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tower::{Layer, Service};

use super::random::Random;
use super::reply::{ApiBody, Reply};
use super::status::ApiError;

/// How often what goes wrong, in requests out of a thousand. Kinds of faults exclude one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Where the draws come from.
    pub seed: u64,
    /// Writes refused with 409, as if somebody else had been faster.
    pub conflict: u16,
    /// Requests refused with 429 and a `Retry-After` of one second.
    pub throttle: u16,
    /// Requests refused with 503 and a `Retry-After` of one second.
    pub unavailable: u16,
    /// Requests refused with 500.
    pub error: u16,
    /// Requests that don't arrive: the connection is refused.
    pub refused: u16,
    /// Requests refused with 504 after a while, without having been looked at.
    pub timeout: u16,
    /// Writes that are done, and then answered with 504.
    pub lost_answer: u16,
    /// Writes that are done, and then the connection breaks.
    pub reset: u16,
    /// Watches that end some seconds after they began, in the middle of whatever they were doing.
    pub cut_watch: u16,
}

/// How long a request takes that times out.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest that a watch lasts which is to be cut.
const LONGEST_WATCH_MS: u64 = 30_000;
/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// What happens to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Conflict,
    Throttle,
    Unavailable,
    Error,
    Refused,
    Timeout,
    LostAnswer,
    Reset,
    CutWatch(Duration),
}

impl FaultPlan {
    /// Draws what happens to a request. Every request takes as many draws, whatever comes of them.
    fn draw(&self, random: &mut Random, is_write: bool, is_watch: bool) -> Option<Fault> {
        let lasting = Duration::from_millis(random.next("lasting") % LONGEST_WATCH_MS);
        let mut drawn = random.next("faults") % 1000;
        let choices = [
            (self.conflict, is_write, Fault::Conflict),
            (self.throttle, true, Fault::Throttle),
            (self.unavailable, true, Fault::Unavailable),
            (self.error, true, Fault::Error),
            (self.refused, true, Fault::Refused),
            (self.timeout, true, Fault::Timeout),
            (self.lost_answer, is_write, Fault::LostAnswer),
            (self.reset, is_write, Fault::Reset),
            (self.cut_watch, is_watch, Fault::CutWatch(lasting)),
        ];
        for (share, applies, fault) in choices {
            let share = u64::from(share);
            if drawn < share {
                return applies.then_some(fault);
            }
            drawn -= share;
        }
        None
    }
}

/// Puts faults between a client and the API; clones share one sequence of draws and one outage.
#[derive(Clone, Debug)]
pub struct FaultLayer {
    plan: FaultPlan,
    random: Arc<Mutex<Random>>,
    down: watch::Sender<bool>,
}

impl FaultLayer {
    /// A layer that follows the plan from its beginning.
    pub fn new(plan: FaultPlan) -> Self {
        Self {
            plan,
            random: Arc::new(Mutex::new(Random::new(plan.seed))),
            down: watch::Sender::new(false),
        }
    }

    /// Stops the API server as far as clients can tell, or starts it again: while it is down, connections are refused
    /// and watches end.
    pub fn set_down(&self, down: bool) {
        self.down.send_replace(down);
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = Faulty<S>;

    fn layer(&self, inner: S) -> Faulty<S> {
        Faulty {
            inner,
            layer: self.clone(),
        }
    }
}

/// An API with faults.
#[derive(Clone, Debug)]
pub struct Faulty<S> {
    inner: S,
    layer: FaultLayer,
}

impl<S> Faulty<S> {
    fn fault_of<B>(&self, request: &Request<B>) -> Option<Fault> {
        if *self.layer.down.borrow() {
            return Some(Fault::Refused);
        }
        let is_write = *request.method() != Method::GET;
        let query = request.uri().query().unwrap_or_default();
        let is_watch = query
            .split('&')
            .any(|pair| matches!(pair, "watch=true" | "watch=1"));
        let random = self.layer.random.lock();
        let mut random = random.unwrap_or_else(PoisonError::into_inner);
        self.layer.plan.draw(&mut random, is_write, is_watch)
    }
}

impl<S, B> Service<Request<B>> for Faulty<S>
where
    S: Service<Request<B>, Response = Response<ApiBody>, Error = Infallible>,
    S::Future: Send + 'static,
    B: 'static,
{
    type Response = Response<ApiBody>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        self.inner
            .poll_ready(context)
            .map_err(|never| match never {})
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let fault = self.fault_of(&request);
        let arrives = matches!(
            fault,
            None | Some(Fault::LostAnswer | Fault::Reset | Fault::CutWatch(_))
        );
        let answer = arrives.then(|| self.inner.call(request));
        let down = self.layer.down.subscribe();
        Box::pin(async move {
            let Some(answer) = answer else {
                return without_asking(fault.unwrap_or(Fault::Error)).await;
            };
            let Ok(answer) = answer.await;
            match fault {
                Some(Fault::LostAnswer) => Ok(refusal(ApiError::timed_out())),
                Some(Fault::Reset) => Err(io::ErrorKind::ConnectionReset.into()),
                Some(Fault::CutWatch(lasting)) => Ok(answer.map(|body| cut(body, lasting, down))),
                _ => Ok(answer.map(|body| cut(body, FOREVER, down))),
            }
        })
    }
}

/// The answer to a request that did not get to the API.
async fn without_asking(fault: Fault) -> Result<Response<ApiBody>, io::Error> {
    Ok(refusal(match fault {
        Fault::Refused => return Err(io::ErrorKind::ConnectionRefused.into()),
        Fault::Timeout => {
            sleep(PATIENCE).await;
            ApiError::timed_out()
        }
        Fault::Conflict => ApiError::contended(),
        Fault::Throttle => ApiError::throttled(),
        Fault::Unavailable => ApiError::unavailable(),
        _ => ApiError::internal("an error on the server"),
    }))
}

fn refusal(error: ApiError) -> Response<ApiBody> {
    Reply::from(error).into_response()
}

/// The same stream, ended after a while, or when the server goes down.
fn cut(body: ApiBody, lasting: Duration, mut down: watch::Receiver<bool>) -> ApiBody {
    let end = Instant::now() + lasting;
    let end = async move {
        tokio::select! {
            () = sleep_until(end) => {}
            _ = down.wait_for(|down| *down) => {}
        }
    };
    let frames = BodyStream::new(body).take_until(Box::pin(end));
    StreamBody::new(frames).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::jiff::Timestamp;
    use kube::Api;
    use kube::api::{ListParams, PostParams, WatchParams};

    use super::super::{Sandbox, SandboxOptions};
    use super::*;
    use crate::clock::Clock;

    fn cluster() -> Sandbox {
        Sandbox::new(SandboxOptions::new(Clock::starting_at(
            Timestamp::UNIX_EPOCH,
        )))
    }

    fn maps(plan: FaultPlan) -> (Sandbox, Api<ConfigMap>) {
        let sandbox = cluster();
        let api = Api::default_namespaced(sandbox.faulty_client(plan));
        (sandbox, api)
    }

    fn named(name: &str) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        map
    }

    /// The codes that twenty creates are answered with; 0: success.
    async fn codes(plan: FaultPlan) -> Vec<u16> {
        let (_, api) = maps(plan);
        let mut codes = Vec::new();
        for number in 0..20 {
            let name = format!("m{number}");
            codes.push(
                match api.create(&PostParams::default(), &named(&name)).await {
                    Ok(_) => 0,
                    Err(kube::Error::Api(status)) => status.code,
                    Err(other) => panic!("{other}"),
                },
            );
        }
        codes
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_seed_has_the_same_bad_day() {
        let plan = FaultPlan {
            seed: 3,
            conflict: 200,
            throttle: 200,
            unavailable: 200,
            error: 200,
            ..FaultPlan::default()
        };
        let first = codes(plan).await;
        assert_eq!(first, codes(plan).await);
        for code in [0, 409, 429, 500, 503] {
            assert!(first.contains(&code), "{first:?}");
        }
        assert_ne!(first, codes(FaultPlan { seed: 4, ..plan }).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_answer_leaves_what_was_done() {
        let (sandbox, api) = maps(FaultPlan {
            lost_answer: 1000,
            ..FaultPlan::default()
        });
        let answer = api.create(&PostParams::default(), &named("a")).await;
        assert!(matches!(answer, Err(kube::Error::Api(status)) if status.code == 504));
        assert!(sandbox.get("configmaps", "default", "a").is_some());
        assert_eq!(
            api.list(&ListParams::default()).await.unwrap().items.len(),
            1
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_does_nothing_and_a_cut_watch_ends() {
        let (sandbox, api) = maps(FaultPlan {
            timeout: 1000,
            ..FaultPlan::default()
        });
        assert!(
            api.create(&PostParams::default(), &named("a"))
                .await
                .is_err()
        );
        assert!(sandbox.get("configmaps", "default", "a").is_none());

        let (_, api) = maps(FaultPlan {
            cut_watch: 1000,
            ..FaultPlan::default()
        });
        let opened = Instant::now();
        let stream = api.watch(&WatchParams::default(), "").await.unwrap();
        let _: Vec<_> = stream.collect().await;
        assert!(opened.elapsed() <= Duration::from_millis(LONGEST_WATCH_MS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_down_refuses_connections_and_ends_watches() {
        let layer = FaultLayer::new(FaultPlan::default());
        let client = kube::Client::new(layer.layer(cluster().service()), "default");
        let api: Api<ConfigMap> = Api::default_namespaced(client);
        let stream = api.watch(&WatchParams::default(), "").await.unwrap();
        layer.set_down(true);
        let _: Vec<_> = stream.collect().await;
        let refused = api.list(&ListParams::default()).await;
        assert!(
            matches!(refused, Err(kube::Error::Service(_))),
            "{refused:?}"
        );
        layer.set_down(false);
        assert!(api.list(&ListParams::default()).await.is_ok());
    }
}
