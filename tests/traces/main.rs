//! Recorded rollouts, played again with our controller in charge: the state at rest after each step must be the one
//! that Kubernetes 1.36's controllers came to. `TRACES_DIR=DIR` plays the traces of another folder.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/api_server.rs"]
mod api_server;
mod cluster;
mod play;
mod script;
mod state;
mod trace;

use std::fmt::Write as _;
use std::io::{self, Write as _};

use futures::stream::{self, StreamExt as _};

use api_server::ApiServer;
use cluster::Cluster;

/// Traces that are played at once on a real API server.
const AT_ONCE: usize = 6;
/// How often a trace that differs in company is played alone.
const ALONE: usize = 3;

#[tokio::test(start_paused = true)]
async fn the_embedded_cluster_comes_to_rest_in_the_recorded_states() {
    let mut differences = Vec::new();
    let traces = trace::load();
    for trace in &traces {
        let cluster = Cluster::embedded();
        differences.push((&trace.name, play::play(&cluster, trace).await));
    }
    judge("embedded", &differences);
}

/// On a real API server, where `KUBEBUILDER_ASSETS` names one: in its own time, each trace in a namespace of its own. On a
/// busy machine the script may be slower than the controllers are meant to find it, so what differs in company is played
/// again alone: a fault of ours differs each time.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_api_server_comes_to_rest_in_the_recorded_states() {
    let Some(server) = ApiServer::start().await else {
        return;
    };
    let traces = trace::load();
    let client = server.client();
    let played = stream::iter(traces.iter().enumerate()).map(|(number, trace)| {
        let client = client.clone();
        async move {
            let cluster = Cluster::real(client, &format!("trace-{number}")).await;
            (&trace.name, play::play(&cluster, trace).await)
        }
    });
    let mut played: Vec<_> = played.buffered(AT_ONCE).collect().await;
    for attempt in 1..=ALONE {
        for (number, trace) in traces.iter().enumerate() {
            if played[number].1.is_ok() {
                continue;
            }
            let namespace = format!("alone-{attempt}-{number}");
            let cluster = Cluster::real(client.clone(), &namespace).await;
            played[number].1 = play::play(&cluster, trace).await;
        }
    }
    judge("real API server", &played);
}

/// Says how many traces were played, and fails with those that differ.
fn judge(what: &str, played: &[(&String, Result<(), String>)]) {
    let mut failures = String::new();
    for (name, result) in played {
        if let Err(difference) = result {
            let _ = writeln!(failures, "--- {name}: {difference}");
        }
    }
    let failed = played.iter().filter(|(_, result)| result.is_err()).count();
    let all = played.len();
    // Written past the test harness, which shows the output of failing tests only.
    let _ = writeln!(
        io::stderr(),
        "traces, {what}: {all} played, {failed} differ"
    );
    assert!(failed == 0, "{failed} of {all} traces differ:\n{failures}");
}
