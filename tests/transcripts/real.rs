//! The recordings on etcd and kube-apiserver, where `KUBEBUILDER_ASSETS` names them.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use kube::Client;

use crate::api_server::ApiServer;
use crate::differences::Differences;
use crate::{compare, recording, replay};

/// A real API server.
#[derive(Clone)]
pub(crate) struct Real {
    pub(crate) client: Client,
    /// Whether objects are made in different seconds.
    pub(crate) is_slow: bool,
}

/// The 20 of 1.20.
async fn minor_version(client: &Client) -> u32 {
    let version = client.apiserver_version().await.unwrap();
    version.minor.trim_end_matches('+').parse().unwrap()
}

/// One case after the other, since all are about namespace `default`. Objects carry whole seconds, so what differs where
/// they were made in one is played again, with a pause after each, and that counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_line_does_what_kubectl_does_on_a_real_api_server() {
    let Some(server) = ApiServer::start().await else {
        return;
    };
    let mut real = Real {
        client: server.client(),
        is_slow: false,
    };
    let (cases, is_ours) = recording::load();
    let mut known = Differences::load();
    let mut older = Differences::of_server(minor_version(&real.client).await);
    let mut report = String::new();
    let mut failed = 0;
    for case in &cases {
        let mut problems = Vec::new();
        for is_slow in [false, true] {
            real.is_slow = is_slow;
            let ended = replay::run_on(&real, case).await;
            problems = compare::compare(case, &ended, &mut known);
            if problems.is_empty() {
                break;
            }
        }
        if !problems.is_empty() && !known.expects(&case.id) && !older.expects(&case.id) {
            failed += 1;
            writeln!(report, "{}\n  {}", case.id, problems.join("\n  ")).unwrap();
        }
    }
    if is_ours {
        for name in older.unused() {
            failed += 1;
            writeln!(report, "{name}\n  no longer differs").unwrap();
        }
    }
    // Written past the test harness, which shows the output of failing tests only.
    let all = cases.len();
    let _ = writeln!(
        io::stderr(),
        "command lines, real API server: {all} replayed, {failed} differ"
    );
    assert!(
        failed == 0,
        "{failed} of {all} command lines differ:\n{report}"
    );
}
