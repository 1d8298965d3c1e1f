//! Whole rollouts on the embedded cluster, in virtual time: processor and wall time and peak memory, by the number of
//! Deployments.
//!
//! `cargo bench --bench embedded`. The numbers to hold: 100 Deployments × 10 pods created and rolled in under a second
//! and 60 MB, and ten times the Deployments in about ten times the time. Each size runs in a process of its own, since
//! a process's peak memory never falls. Ratios are of processor time, which what else the machine does hardly changes.

use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use k8s_openapi::jiff::Timestamp;
use kubectl_rs::clock::Clock;
use kubectl_rs::engine::event::End;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::sandbox::{NodeOptions, Sandbox, SandboxOptions};
use serde_json::{Value, json};

const SIZES: [usize; 3] = [100, 300, 1000];
const PODS: usize = 10;

fn deployment(number: usize, image: &str) -> Value {
    let name = format!("web-{number}");
    json!({
        "metadata": { "name": name },
        "spec": {
            "replicas": PODS,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "main", "image": image }] },
            },
        },
    })
}

/// Reconciles until every rollout is complete; how many there were.
async fn complete(sandbox: &Sandbox, clock: Clock) -> usize {
    let options = Options::new(Scope::everything(None), Goal::Complete);
    let engine = Engine::new(sandbox.client(), clock, options, Arc::new(|_| {}));
    let summary = engine
        .run(std::future::pending())
        .await
        .expect("the cluster answers");
    summary
        .ends
        .values()
        .filter(|end| matches!(end, Some(End::Complete)))
        .count()
}

async fn roll(deployments: usize) {
    let clock = Clock::starting_at(Timestamp::from_second(1_700_000_000).expect("an instant"));
    let sandbox = Sandbox::new(SandboxOptions::new(clock));
    let options = NodeOptions {
        count: 100,
        ..NodeOptions::default()
    };
    let _nodes = sandbox.start_nodes(options).expect("a new cluster");
    for number in 0..deployments {
        sandbox
            .create("deployments", "default", deployment(number, "web:1"))
            .expect("it is valid");
    }
    assert_eq!(complete(&sandbox, clock).await, deployments);
    for number in 0..deployments {
        let name = format!("web-{number}");
        let changed = sandbox.update("deployments", "default", &name, |object| {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:2");
        });
        changed.expect("it is valid");
    }
    assert_eq!(complete(&sandbox, clock).await, deployments);
}

/// One line: milliseconds on the wall and of the processor, and peak kilobytes.
fn measure(deployments: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    #[expect(
        clippy::disallowed_methods,
        reason = "a bench measures the machine's time"
    )]
    let start = Instant::now();
    runtime.block_on(roll(deployments));
    let millis = start.elapsed().as_millis();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("0 kB");
    let peak = peak.trim().trim_end_matches(" kB");
    report(&format!("{millis} {} {peak}", processor_millis()));
}

/// The time that this process has used of the processor so far.
fn processor_millis() -> u64 {
    /// Linux counts hundredths of a second here.
    const TICK: u64 = 10;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name, in parentheses, may have blanks in it; the times are the 12th and 13th word behind it.
    let words = stat.rsplit(')').next().unwrap_or_default();
    let times = words.split_whitespace().skip(11).take(2);
    let ticks: u64 = times.filter_map(|word| word.parse::<u64>().ok()).sum();
    ticks * TICK
}

#[expect(clippy::print_stdout, reason = "a bench reports on stdout")]
fn report(line: &str) {
    println!("{line}");
}

fn main() -> ExitCode {
    if let Some(size) = std::env::var("EMBEDDED_BENCH_SIZE")
        .ok()
        .and_then(|size| size.parse().ok())
    {
        measure(size);
        return ExitCode::SUCCESS;
    }
    let mut base: Option<f64> = None;
    report(
        "DEPLOYMENTS  PODS        WALL  PROCESSOR  PER POD  PEAK MEMORY  TIME RATIO (SIZE RATIO)",
    );
    for size in SIZES {
        let program = std::env::current_exe().expect("this program's path");
        let output = Command::new(program)
            .env("EMBEDDED_BENCH_SIZE", size.to_string())
            .output();
        let output = output.expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [wall, millis, kilobytes] = numbers[..] else {
            report(&format!(
                "{size}: failed: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
            return ExitCode::FAILURE;
        };
        let base = *base.get_or_insert(millis);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (pods, ratio) = ((size * PODS) as f64, size as f64 / SIZES[0] as f64);
        report(&format!(
            "{size:<11}  {pods:<6}  {wall:>5} ms   {millis:>5} ms  {:>4.0} µs  {:>8.1} MB  {:.1} ({ratio:.1})",
            millis * 1000.0 / pods,
            kilobytes / 1024.0,
            millis / base,
        ));
    }
    ExitCode::SUCCESS
}
