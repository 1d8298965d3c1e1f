//! Programs that are stopped, or whose reader goes away.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Program, Witness};

const NEVER_READY: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {sandbox.kubectl-rs.dev/never-ready: "true"}
    spec: {containers: [{name: main, image: nginx}]}
"#;

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("the program still runs");
}

/// The exit code and the rest of stderr.
pub(crate) fn end(mut child: Child) -> (Option<i32>, String) {
    let mut told = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut told).expect("UTF-8 output");
    }
    (child.wait().expect("the program ends").code(), told)
}

/// Waits for a line on stderr that contains `text`.
pub(crate) fn wait_for(child: &mut Child, text: &str) {
    let stderr = child.stderr.take().expect("a pipe");
    let mut lines = BufReader::new(stderr);
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        let read = lines.read_line(&mut line).expect("UTF-8 output");
        assert_ne!(read, 0, "the program ended without a line with {text:?}");
    }
    child.stderr = Some(lines.into_inner());
}

#[test]
fn a_signal_ends_a_wait_with_130() {
    let program = Program::new();
    program.write("web.yaml", NEVER_READY);
    for number in [Signal::INT, Signal::TERM] {
        let mut child = program.start("sync --embedded -f web.yaml --wait");
        wait_for(&mut child, "created");
        signal(&child, number);
        assert_eq!(end(child).0, Some(130), "{number:?}");
    }
}

#[test]
fn a_signal_ends_what_waits_for_a_silent_server() {
    let program = Program::new();
    program.write("web.yaml", NEVER_READY);
    for line in [
        "sync --controller=client deploy/web",
        "sync --controller=client --wait deploy/web",
        "sync --controller=client -f web.yaml",
    ] {
        let server = Witness::new();
        let mut child = program.start(&format!("{line} --server={}", server.url()));
        let call = server.wait_for_a_call(&mut child);
        signal(&child, Signal::INT);
        assert_eq!(end(child), (Some(130), String::new()), "{line}");
        drop(call);
    }
}

#[test]
fn a_timeout_holds_from_the_first_request() {
    let program = Program::new();
    let server = Witness::new();
    let url = server.url();
    let child = program.start(&format!(
        "sync --controller=client --wait --timeout=1ms deploy/web --server={url}"
    ));
    // Nobody answers; whether the call comes before time is up does not matter.
    let (code, told) = end(child);
    assert_eq!(code, Some(4), "{told}");
    let expected = "error: timed out waiting for the condition: the API server has not answered\n";
    assert_eq!(told, expected);
}

/// `kubectl rs … | head -0`: who has read enough is not told off.
#[test]
fn a_closed_pipe_is_no_error() {
    let program = Program::new();
    program.write("web.yaml", NEVER_READY);
    for format in ["table", "yaml", "json", "name", "jsonl"] {
        let mut child = program.start(&format!("sync --embedded -f web.yaml --quiet -o {format}"));
        drop(child.stdout.take());
        assert_eq!(end(child), (Some(0), String::new()), "{format}");
    }
}
