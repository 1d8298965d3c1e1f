//! Recorded rollouts, played again with our controller in charge: the state at rest after each step must be the one
//! that Kubernetes 1.36's controllers came to. `TRACES_DIR=DIR` plays the traces of another folder.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod cluster;
mod play;
mod script;
mod state;
mod trace;

use std::fmt::Write as _;
use std::io::{self, Write as _};

use cluster::Cluster;

#[tokio::test(start_paused = true)]
async fn the_embedded_cluster_comes_to_rest_in_the_recorded_states() {
    let traces = trace::load();
    let mut failures = String::new();
    let mut failed = 0;
    for trace in &traces {
        let cluster = Cluster::embedded();
        if let Err(difference) = play::play(&cluster, trace).await {
            failed += 1;
            let _ = writeln!(failures, "--- {}: {difference}", trace.name);
        }
    }
    // Written past the test harness, which shows the output of failing tests only.
    let _ = writeln!(
        io::stderr(),
        "traces: {} played, {failed} differ",
        traces.len()
    );
    assert!(
        failed == 0,
        "{failed} of {} traces differ:\n{failures}",
        traces.len()
    );
}
