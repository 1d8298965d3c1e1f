//! `sync -A --watch` on a real API server: processor time, memory, and the writes that the server counts.
//!
//! `KUBEBUILDER_ASSETS=DIR cargo bench --bench acting` starts etcd and kube-apiserver from that folder, the built program as
//! the controller, and a scripted kubelet, which is not counted. `KUBE_CONTROLLER_MANAGER=FILE` plays the same against
//! that controller manager, its rate limit lifted, and `KUBECTL_RS=FILE` against another build of ours. `ACTING_SIZES=1,100`
//! chooses the numbers of Deployments; before them, how soon one Deployment has its pods is told (a second is what is to hold).
//!
//! The numbers to hold, for 100 Deployments × 10 pods created, made ready and rolled: half of the 4.2 CPU-seconds that
//! kube-controller-manager 1.36 uses, 30 MB, and fewer writes than it makes; and at most 3 KB more for each pod.

#![allow(clippy::panic, reason = "a bench fails by panicking")]

#[path = "acting/cluster.rs"]
mod cluster;
#[path = "acting/controller.rs"]
mod controller;
#[path = "acting/latency.rs"]
mod latency;
#[path = "acting/writes.rs"]
mod writes;

use std::path::PathBuf;
use std::time::Duration;

use cluster::Cluster;
use controller::{Controller, Usage};
use writes::Writes;

/// Pods of each Deployment.
const PODS: usize = 10;

/// What one phase cost.
struct Phase {
    name: &'static str,
    usage: Usage,
    writes: Writes,
}

async fn measured(
    name: &'static str,
    cluster: &Cluster,
    controller: &Controller,
    before: &mut (Usage, Writes),
) -> Phase {
    // What is still under way belongs to this phase.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let now = (controller.usage(), cluster.writes().await);
    let phase = Phase {
        name,
        usage: now.0.since(&before.0),
        writes: now.1.since(&before.1),
    };
    *before = now;
    phase
}

/// Creates, makes ready and rolls so many Deployments.
async fn play(program: &Program, deployments: usize) -> Vec<Phase> {
    let cluster = Cluster::start(deployments).await;
    let controller = program.start(&cluster);
    // It finds its way about first.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut before = (controller.usage(), cluster.writes().await);
    let mut phases = Vec::new();
    cluster.create().await;
    phases.push(measured("created", &cluster, &controller, &mut before).await);
    cluster.make_ready().await;
    phases.push(measured("made ready", &cluster, &controller, &mut before).await);
    cluster.roll().await;
    phases.push(measured("rolled", &cluster, &controller, &mut before).await);
    phases
}

/// How soon one Deployment has its pods.
async fn soon(program: &Program) -> latency::Latency {
    let cluster = Cluster::start(1).await;
    let _controller = program.start(&cluster);
    tokio::time::sleep(Duration::from_secs(3)).await;
    latency::measure(&cluster.server).await
}

/// A program to measure.
enum Program {
    Ours(PathBuf),
    ControllerManager(PathBuf),
}

impl Program {
    fn name(&self) -> &'static str {
        match self {
            Self::Ours(_) => "kubectl-rs",
            Self::ControllerManager(_) => "kube-controller-manager",
        }
    }

    fn start(&self, cluster: &Cluster) -> Controller {
        match self {
            Self::Ours(file) => Controller::ours(file, &cluster.server),
            Self::ControllerManager(file) => Controller::manager(file, &cluster.server),
        }
    }
}

fn programs() -> Vec<Program> {
    let ours = std::env::var_os("KUBECTL_RS");
    let ours = ours.map_or_else(|| env!("CARGO_BIN_EXE_kubectl-rs").into(), PathBuf::from);
    let theirs = std::env::var_os("KUBE_CONTROLLER_MANAGER").map(PathBuf::from);
    let theirs = theirs.map(Program::ControllerManager);
    std::iter::once(Program::Ours(ours)).chain(theirs).collect()
}

fn sizes() -> Vec<usize> {
    let chosen = std::env::var("ACTING_SIZES").unwrap_or_else(|_| "1,100,1000".to_owned());
    let sizes = chosen.split(',').filter_map(|size| size.parse().ok());
    sizes.collect()
}

#[expect(clippy::print_stdout, reason = "a bench reports on stdout")]
fn say(line: &str) {
    println!("{line}");
}

fn report(program: &Program, deployments: usize, phases: &[Phase]) {
    let name = program.name();
    say(&format!("{name}, {deployments} Deployments × {PODS} pods"));
    let mut all = Writes::default();
    for Phase {
        name,
        usage,
        writes,
    } in phases
    {
        say(&format!(
            "  {name:<10}  {:>6.2} CPU-s  {:>5.1} MB, at most {:>5.1} MB",
            usage.seconds, usage.megabytes, usage.peak_megabytes
        ));
        all.add(writes);
    }
    let seconds: f64 = phases.iter().map(|phase| phase.usage.seconds).sum();
    say(&format!("  {:<10}  {seconds:>6.2} CPU-s", "together"));
    for (what, number) in all.by_object() {
        say(&format!("  {number:>6}  {what}"));
    }
}

fn main() {
    if std::env::var_os("KUBEBUILDER_ASSETS").is_none() {
        say(
            "KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver: nothing to measure on",
        );
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for program in programs() {
        let soon = runtime.block_on(soon(&program));
        say(&format!(
            "{}: 3 pods {:.0} ms after their Deployment was created, {:.1} times as long as creating it took",
            program.name(),
            soon.pods.as_secs_f64() * 1e3,
            soon.pods.as_secs_f64() / soon.request.as_secs_f64()
        ));
        let mut sizes_seen: Vec<(usize, f64)> = Vec::new();
        for deployments in sizes() {
            let phases = runtime.block_on(play(&program, deployments));
            report(&program, deployments, &phases);
            let most = phases.iter().map(|phase| phase.usage.megabytes);
            sizes_seen.push((deployments, most.fold(0.0, f64::max)));
        }
        if let [.., (fewer, small), (more, large)] = sizes_seen[..] {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let pods = ((more - fewer) * PODS) as f64;
            let growth = (large - small) * 1024.0 / pods;
            say(&format!(
                "{}: {growth:.2} KB more for each pod",
                program.name()
            ));
        }
    }
}
