//! `--simulate-pods`: when it may be, and beside the engine.

use std::convert::Infallible;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::args::SyncArgs;
use crate::cli::authority::way_to_act;
use crate::cli::cluster::{Cluster, Controller};
use crate::engine::actor::Finding;
use crate::engine::options::{Goal, Scope};
use crate::error::Failure;
use crate::simulate::{Simulation, ready_nodes};
use crate::ui::printer::Printer;

/// Nodes that a line names before it only counts.
const NAMED: usize = 3;

/// Refuses where it would be of no use.
///
/// # Errors
/// What to do instead.
pub(super) fn check_usage(args: &SyncArgs) -> Result<(), Failure> {
    if !args.simulate_pods {
        return Ok(());
    }
    if args.goal() == Goal::AtRest {
        return Err(Failure::usage(
            "--simulate-pods goes with --watch or --wait",
        ));
    }
    if args.cluster.embedded.is_some() {
        return Err(Failure::usage("the embedded cluster has nodes of its own")
            .hint("leave --simulate-pods out"));
    }
    Ok(())
}

/// Refuses where pods have kubelets, or where somebody else acts.
///
/// # Errors
/// Why pods are not simulated, and what to do.
pub(super) async fn check(
    args: &SyncArgs,
    cluster: &Cluster,
    finding: &Finding,
) -> Result<(), Failure> {
    if !args.cluster.acts(finding) {
        let (why, way_out) = match args.cluster.controller {
            Controller::Server => ("--controller=server".to_owned(), "--controller=auto"),
            _ => (finding.to_string(), way_to_act(finding)),
        };
        return Err(
            Failure::error(format!("{why}: pods are simulated only where sync acts"))
                .hint(format!("leave --simulate-pods out, or act: {way_out}")),
        );
    }
    if args.force {
        return Ok(());
    }
    let refused = |why: String| {
        Failure::error(why).hint(
            "leave --simulate-pods out; with --force, pods that no node has taken are simulated",
        )
    };
    let ready = ready_nodes(&cluster.client).await;
    let ready = ready.map_err(|error| {
        refused(format!(
            "whether the cluster has nodes can't be told: {error}"
        ))
    })?;
    match ready.as_slice() {
        [] => Ok(()),
        [one] => Err(refused(format!(
            "node {one} is ready: its kubelet runs pods"
        ))),
        several => {
            let named = several.iter().take(NAMED).cloned().collect::<Vec<_>>();
            let dots = if several.len() > NAMED { ", …" } else { "" };
            Err(refused(format!(
                "{} nodes are ready ({}{dots}): their kubelets run pods",
                several.len(),
                named.join(", "),
            )))
        }
    }
}

/// Pods that are simulated until this is dropped.
pub(super) struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Simulates the pods of a scope, for as long as we act.
pub(super) fn start(
    cluster: &Cluster,
    scope: &Scope,
    acting: watch::Receiver<bool>,
    printer: &Printer,
) -> Running {
    printer.talk("pods are simulated: scheduled to nodes that do not exist, and made ready");
    let simulation = Simulation {
        client: cluster.client.clone(),
        clock: cluster.clock,
        namespaces: scope.namespaces.clone(),
    };
    let printer = printer.clone();
    Running(tokio::spawn(async move {
        let ended: Result<Infallible, _> = simulation.run(acting).await;
        let Err(error) = ended;
        printer.warning(&format!("pods are not simulated any more: {error}"));
    }))
}
