//! Whole commands beside stock kubectl, on the same server, in turn: wall time and peak memory, as ratios in one run.
//!
//! `cargo bench --bench commands` measures the profile for benches. What users install is smaller:
//! `cargo build --profile dist`, then the same with `COMMANDS_BENCH_PROGRAM=$PWD/target/dist/kubectl-rs`. The numbers to hold
//! are that one's: short commands in a quarter of kubectl's time and memory, and
//! `status -A` of 1,000 Deployments with 10,000 pods in a quarter of the time and an eighth of the memory that
//! `kubectl get deploy,rs,pods -A -o json` takes. The server is a real one where `KUBEBUILDER_ASSETS` names a folder
//! with etcd and kube-apiserver, and the embedded cluster over HTTP elsewhere. `COMMANDS_BENCH_DEPLOYMENTS` sets the
//! size. Every command is started by a small process of its own: a child's peak memory counts its parent's in.

#[expect(clippy::panic, reason = "it is written for tests, which may")]
#[path = "../../tests/support/api_server.rs"]
mod api_server;
mod population;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use api_server::ApiServer;
use k8s_openapi::jiff::Timestamp;
use kube::{Client, Config};
use kubectl_rs::clock::Clock;
use kubectl_rs::sandbox::{Sandbox, SandboxOptions, Served};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Set where this program is to run another one and to report on it.
const MEASURE: &str = "COMMANDS_BENCH_MEASURE";
const DEPLOYMENTS: &str = "COMMANDS_BENCH_DEPLOYMENTS";
const PROGRAM: &str = "COMMANDS_BENCH_PROGRAM";

/// What kubectl is asked, what we are asked, and how often in turn.
struct Pair {
    kubectl: &'static str,
    ours: &'static str,
    rounds: usize,
}

const SHORT: [Pair; 3] = [
    same("rollout status deploy/web --watch=false"),
    same("rollout history deploy/web"),
    same("set image deploy/web web=nginx:2"),
];

const LARGE: Pair = Pair {
    kubectl: "get deploy,rs,pods -A -o json",
    ours: "status -A",
    rounds: 3,
};

const fn same(words: &'static str) -> Pair {
    Pair {
        kubectl: words,
        ours: words,
        rounds: 20,
    }
}

/// What one command took.
#[derive(Clone, Copy)]
struct Cost {
    wall_ms: f64,
    processor_ms: f64,
    peak_mb: f64,
}

/// Runs the command line and reports what it took.
fn measure(words: &[String]) {
    let [program, arguments @ ..] = words else {
        return;
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "a bench measures the machine's time"
    )]
    let start = Instant::now();
    let ended = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status();
    let wall = start.elapsed().as_micros();
    assert!(ended.is_ok_and(|status| status.success()), "{words:?}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts");
    let times = [usage.user_time(), usage.system_time()];
    let processor: i64 = times
        .iter()
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec())
        .sum();
    report(&format!("{wall} {processor} {}", usage.max_rss()));
}

/// What a command took, told by a process of its own.
fn cost(kubeconfig: &Path, program: &str, words: &str) -> Cost {
    let output = Command::new(std::env::current_exe().expect("this program's path"))
        .arg(program)
        .args(words.split(' '))
        .env(MEASURE, "1")
        .env("KUBECONFIG", kubeconfig)
        .env("HOME", kubeconfig.parent().expect("a directory"))
        .stderr(Stdio::inherit())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [wall, processor, kilobytes] = numbers
        .try_into()
        .expect("three numbers of a command that succeeds");
    Cost {
        wall_ms: wall / 1000.0,
        processor_ms: processor / 1000.0,
        peak_mb: kilobytes / 1024.0,
    }
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Our program: the one that is named, or else the one that was built with this bench.
fn ours() -> String {
    let built = || env!("CARGO_BIN_EXE_kubectl-rs").to_owned();
    std::env::var(PROGRAM).unwrap_or_else(|_| built())
}

fn compare(kubeconfig: &Path, pair: &Pair) {
    let program = ours();
    // kubectl's first run fills its cache of what the server has.
    cost(kubeconfig, "kubectl", pair.kubectl);
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..pair.rounds {
        theirs.push(cost(kubeconfig, "kubectl", pair.kubectl));
        ours.push(cost(kubeconfig, &program, pair.ours));
    }
    let row = |costs: &[Cost]| {
        [
            median(costs, |cost| cost.wall_ms),
            median(costs, |cost| cost.processor_ms),
            median(costs, |cost| cost.peak_mb),
        ]
    };
    let (theirs, ours) = (row(&theirs), row(&ours));
    for (who, words, [wall, processor, peak]) in [
        ("kubectl", pair.kubectl, theirs),
        ("kubectl rs", pair.ours, ours),
    ] {
        let line = format!("{who} {words}");
        report(&format!(
            "{line:<52}  {wall:>7.1} ms  {processor:>7.1} ms  {peak:>6.1} MB"
        ));
    }
    let [wall, processor, peak] = std::array::from_fn(|index| ours[index] / theirs[index]);
    report(&format!(
        "{:<52}  {wall:>10.2}  {processor:>10.2}  {peak:>9.2}\n",
        "  ratio"
    ));
}

/// A server that ends with this.
enum Server {
    Real(ApiServer),
    Embedded(Served),
}

impl Server {
    async fn start() -> Self {
        if let Some(server) = ApiServer::start().await {
            return Self::Real(server);
        }
        let now = Timestamp::from_second(1_700_000_000).expect("an instant");
        let sandbox = Sandbox::new(SandboxOptions::new(Clock::starting_at(now)));
        Self::Embedded(sandbox.serve(0).await.expect("a free port"))
    }

    fn kubeconfig(&self) -> Value {
        match self {
            Self::Real(server) => server.kubeconfig(),
            Self::Embedded(served) => served.kubeconfig(),
        }
    }

    fn client(&self) -> Client {
        match self {
            Self::Real(server) => server.client(),
            Self::Embedded(served) => {
                let url = format!("http://{}", served.address());
                let config = Config::new(url.parse().expect("a URL"));
                Client::try_from(config).expect("a client")
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Real(_) => "a real API server",
            Self::Embedded(_) => "the embedded cluster over HTTP",
        }
    }
}

#[expect(clippy::print_stdout, reason = "a bench reports on stdout")]
fn report(line: &str) {
    println!("{line}");
}

fn main() -> ExitCode {
    if std::env::var_os(MEASURE).is_some() {
        measure(&std::env::args().skip(1).collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    if Command::new("kubectl").arg("version").output().is_err() {
        report("no kubectl here to compare with");
        return ExitCode::FAILURE;
    }
    let runtime = Runtime::new().expect("a runtime");
    let server = runtime.block_on(Server::start());
    let directory = tempfile::tempdir().expect("a temporary directory");
    let kubeconfig = directory.path().join("config");
    std::fs::write(&kubeconfig, server.kubeconfig().to_string()).expect("a writable directory");
    let deployments = std::env::var(DEPLOYMENTS).ok();
    let deployments = deployments
        .and_then(|text| text.parse().ok())
        .unwrap_or(1000);
    report(&format!(
        "{:<52}  {:>10}  {:>10}  {:>9}",
        format!("on {}", server.name()),
        "WALL",
        "PROCESSOR",
        "PEAK"
    ));
    // A client starts a task of its own when it is made.
    let _inside = runtime.enter();
    runtime.block_on(population::one(&server.client()));
    for pair in &SHORT {
        compare(&kubeconfig, pair);
    }
    let pods = runtime.block_on(population::many(&server.client(), deployments));
    report(&format!("{deployments} Deployments, {pods} pods"));
    compare(&kubeconfig, &LARGE);
    ExitCode::SUCCESS
}
