//! Whole rollouts on the embedded cluster, in virtual time: processor time and peak memory, by the number of Deployments.
//!
//! `cargo bench --bench embedded`. The numbers to hold: a rollout of 100 Deployments × 10 pods in under a second and 60 MB,
//! and ten times the Deployments in about ten times the time. Pods that all take equally long move in steps, as the
//! behaviour `ready-after: 1s` has it; those that each take their own time, as they do where nothing is said, make for a
//! pass after each of them. Each size runs in a process of its own, since a process's peak memory never falls. Processor
//! time is what counts: what else the machine does hardly changes it.

#![allow(clippy::panic, reason = "a bench fails by panicking")]

use std::process::Command;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use kubectl_rs::clock::Clock;
use kubectl_rs::engine::event::End;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::kubelet::Rules;
use kubectl_rs::sandbox::{NodeOptions, Sandbox, SandboxOptions};
use serde_json::{Value, json};

const SIZES: [usize; 3] = [100, 300, 1000];
const PODS: usize = 10;
/// Set where this program is to measure one size.
const SIZE: &str = "EMBEDDED_BENCH_SIZE";
/// Set where pods are to move in steps.
const IN_STEPS: &str = "EMBEDDED_BENCH_IN_STEPS";

/// All pods take equally long.
const EQUALLY_LONG: &str = "\
behaviours:
- image: '*'
  ready-after: 1s
  terminates-after: 1s
";

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

/// Creates Deployments and rolls them; the processor time of both, in milliseconds.
async fn play(deployments: usize, rules: Rules) -> [u64; 2] {
    let clock = Clock::starting_at(Timestamp::from_second(1_700_000_000).expect("an instant"));
    let sandbox = Sandbox::new(SandboxOptions::new(clock));
    let options = NodeOptions {
        // Room for twice the pods: no rollout waits for a place.
        count: u32::try_from(deployments.div_ceil(5)).expect("a small number"),
        rules,
        ..NodeOptions::default()
    };
    let _nodes = sandbox.start_nodes(options).expect("a new cluster");
    let began = processor_millis();
    for number in 0..deployments {
        sandbox
            .create("deployments", "default", deployment(number, "web:1"))
            .expect("it is valid");
    }
    assert_eq!(complete(&sandbox, clock).await, deployments);
    let created = processor_millis();
    for number in 0..deployments {
        let name = format!("web-{number}");
        let changed = sandbox.update("deployments", "default", &name, |object| {
            object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:2");
        });
        changed.expect("it is valid");
    }
    assert_eq!(complete(&sandbox, clock).await, deployments);
    [created - began, processor_millis() - created]
}

/// One line: milliseconds of the processor for creating and for rolling, and peak kilobytes.
fn measure(deployments: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let rules = match std::env::var_os(IN_STEPS) {
        Some(_) => Rules::from_yaml(EQUALLY_LONG).expect("rules"),
        None => Rules::default(),
    };
    let [created, rolled] = runtime.block_on(play(deployments, rules));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("0 kB");
    let peak = peak.trim().trim_end_matches(" kB");
    report(&format!("{created} {rolled} {peak}"));
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

/// The three numbers that [`measure`] tells of one size, from a process of its own.
fn measured(size: usize, in_steps: bool) -> [f64; 3] {
    let program = std::env::current_exe().expect("this program's path");
    let mut command = Command::new(program);
    command.env(SIZE, size.to_string());
    if in_steps {
        command.env(IN_STEPS, "1");
    }
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let complaint = String::from_utf8_lossy(&output.stderr);
    numbers
        .try_into()
        .unwrap_or_else(|_| panic!("{size} Deployments: {complaint}"))
}

fn main() {
    let size = std::env::var(SIZE).ok();
    if let Some(size) = size.and_then(|size| size.parse().ok()) {
        return measure(size);
    }
    for (in_steps, title) in [(true, "in steps"), (false, "each pod in its own time")] {
        report(&format!("{title}:"));
        report(
            "  DEPLOYMENTS  PODS     CREATED    ROLLED  A POD ROLLED  PEAK MEMORY  RATIO (SIZES)",
        );
        let mut base: Option<f64> = None;
        for size in SIZES {
            let [created, rolled, kilobytes] = measured(size, in_steps);
            let base = *base.get_or_insert(rolled);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let (pods, ratio) = ((size * PODS) as f64, size as f64 / SIZES[0] as f64);
            report(&format!(
                "  {size:<11}  {pods:<6}  {created:>5} ms  {rolled:>5} ms  {:>9.0} µs  {:>8.1} MB  {:.1} ({ratio:.0})",
                rolled * 1000.0 / pods,
                kilobytes / 1024.0,
                rolled / base,
            ));
        }
    }
}
