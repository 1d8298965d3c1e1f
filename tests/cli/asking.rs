//! `rollout undo --confirm` on a terminal: every way to answer. `script` makes the terminal; where there is none there
//! is nobody to ask.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::Command as Program;
use kubectl_rs::clock::Clock;
use kubectl_rs::sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};

/// The end of the question.
const QUESTION: &str = "[n]o: ";
const UNDO: &str = "rollout undo deploy/web --to-revision=1 --confirm";

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    })
}

/// A cluster whose Deployment, of pods like these with an image, can go back to revision 1.
pub(crate) fn cluster(template: impl Fn(&str) -> Value) -> Sandbox {
    let sandbox = Sandbox::new(SandboxOptions::new(Clock::system()));
    let selector = json!({"matchLabels": {"app": "web"}});
    let web = json!({"metadata": {"name": "web"}, "spec": {"selector": selector, "template": template("a:2")}});
    let web = sandbox
        .create("deployments", "default", web)
        .expect("a Deployment");
    let set = json!({
        "metadata": {
            "name": "web-1", "labels": {"app": "web"}, "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": web.uid(),
                "controller": true}],
        },
        "spec": {"selector": selector, "template": template("a:1")},
    });
    sandbox
        .create("replicasets", "default", set)
        .expect("a ReplicaSet");
    sandbox
}

/// The program on a terminal, without colour. Were it not to end, the time limit would end it.
fn on_terminal(words: &str) -> Command {
    let command = format!("'{}' {words}", env!("CARGO_BIN_EXE_kubectl-rs"));
    let mut terminal = Command::new("timeout");
    terminal
        .args(["60", "script", "-q", "-e", "-c", &command, "/dev/null"])
        .env("NO_COLOR", "1");
    terminal
}

/// What is on the terminal in the end, and the exit code, where `keys` are pressed once the question stands there.
fn answer(kubeconfig: &Path, keys: &[u8]) -> Option<(String, Option<i32>)> {
    let mut terminal = on_terminal(UNDO)
        .env("KUBECONFIG", kubeconfig)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = terminal.stdin.take().expect("a pipe");
    let mut output = terminal.stdout.take().expect("a pipe");
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !String::from_utf8_lossy(&text).contains(QUESTION) {
        if output.read(&mut byte).expect("a pipe") == 0 {
            break;
        }
        text.push(byte[0]);
    }
    input.write_all(keys).expect("a pipe");
    output.read_to_end(&mut text).expect("a pipe");
    let code = terminal.wait().expect("it ends").code();
    drop(input);
    // The shell says so where there is no `script`.
    (code != Some(127)).then(|| (String::from_utf8_lossy(&text).replace('\r', ""), code))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_does_what_it_says() {
    const CTRL_C: &[u8] = &[3];
    const CTRL_D: &[u8] = &[4];
    let sandbox = cluster(template);
    let served = sandbox.serve(0).await.expect("a free port");
    let home = tempfile::tempdir().expect("a temporary directory");
    let kubeconfig = home.path().join("config");
    fs::write(&kubeconfig, served.kubeconfig().to_string()).expect("a writable directory");
    tokio::task::spawn_blocking(move || {
        for (keys, code, end) in [
            (b"n\n" as &[u8], 0, "n\n"),
            // Both lines are on the terminal before the first is read.
            (
                b"perhaps\nn\n",
                0,
                "Please answer y or n.\nRoll back deployment.apps/web to revision 1? [y]es, [n]o: ",
            ),
            (CTRL_D, 0, "\n"),
            (CTRL_C, 130, "\n"),
            (b"y\n", 0, "deployment.apps/web rolled back\n"),
        ] {
            let Some((text, ended)) = answer(&kubeconfig, keys) else {
                return;
            };
            assert_eq!(ended, Some(code), "{keys:?}: {text}");
            assert!(text.ends_with(end), "{keys:?}: {text}");
            assert_eq!(
                text.contains("rolled back"),
                keys == b"y\n",
                "{keys:?}: {text}"
            );
        }
    })
    .await
    .expect("the answers hold");
}

/// An error that is wider than the terminal.
#[test]
fn errors_break_between_words() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let output = on_terminal("rollout status deploy/web --server=http://127.0.0.1:1")
        .env("HOME", home.path())
        .env("KUBECONFIG", home.path().join("none"))
        .env("COLUMNS", "40")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return };
    if output.status.code() == Some(127) {
        return;
    }
    let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    let text: Vec<&str> = text.lines().filter(|line| !line.contains('^')).collect();
    assert_eq!(
        text,
        [
            "The connection to the server 127.0.0.1:1",
            "  was refused - did you specify the",
            "  right host or port?"
        ]
    );
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let output = Program::cargo_bin("kubectl-rs")
        .expect("the program is built before its tests")
        .args(UNDO.split(' '))
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: --confirm asks, and there is no terminal to ask on\n"
    );
}
