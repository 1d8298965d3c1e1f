//! kubectl's command lines, recorded, replayed with the built program against the embedded cluster over HTTP.
//!
//! `recordings/` holds them gzip-compressed, a theme a file; `TRANSCRIPTS_DIR=DIR` replays the `*.jsonl` or
//! `*.jsonl.gz` of another folder. What differs on purpose is in `differences.txt`, with reasons: rules, which
//! `differences.rs` knows how to allow for, and single cases. One that no longer differs fails too.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[path = "../support/api_server.rs"]
mod api_server;

mod after;
mod better;
mod compare;
mod differences;
mod during;
mod errors;
mod everywhere;
mod place;
mod rbac;
mod real;
mod recording;
mod replay;
mod server;
mod side_by_side;
#[path = "../support/stock_kubectl.rs"]
mod stock_kubectl;
mod unknown_fields;
mod world;

use std::fmt::Write as _;
use std::sync::Arc;

use differences::Differences;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How many cases run at once: each is a process, and most wait for something.
const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_line_does_what_kubectl_does() {
    let (cases, is_ours) = recording::load();
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for case in cases {
        let room = room.clone();
        running.spawn(async move {
            let _permit = room.acquire_owned().await.unwrap();
            let ended = replay::run(&case).await;
            (case, ended)
        });
    }
    let mut known = Differences::load();
    let mut failed: Vec<(String, Vec<String>)> = Vec::new();
    let mut count = 0;
    while let Some(joined) = running.join_next().await {
        let (case, ended) = joined.unwrap();
        count += 1;
        let problems = compare::compare(&case, &ended, &mut known);
        if !problems.is_empty() && !known.expects(&case.id) {
            failed.push((case.id, problems));
        }
    }
    if is_ours {
        let unused = known.unused();
        failed.extend(unused.map(|name| (name, vec!["no longer differs".to_owned()])));
    }
    failed.sort();
    let mut report = String::new();
    for (id, problems) in &failed {
        writeln!(report, "{id}\n  {}", problems.join("\n  ")).unwrap();
    }
    assert!(
        failed.is_empty(),
        "{} of {count} command lines differ:\n{report}",
        failed.len()
    );
}
