//! Completion: what `__complete` offers, with a cluster and without, and the scripts that ask it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::json;

use crate::asking::cluster;

/// Who answers later than that waits for the server.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is offered for these words, one a line.
fn offered(server: &str, words: &[&str]) -> String {
    let home = tempfile::tempdir().expect("a temporary directory");
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n\
         contexts: [{{name: here, context: {{cluster: c}}}}, {{name: there, context: {{cluster: c}}}}]\n"
    );
    fs::write(home.path().join("config"), config).expect("a writable directory");
    let output = Command::cargo_bin("kubectl-rs")
        .expect("the program is built before its tests")
        .arg("__complete")
        .args(words)
        .env_clear()
        .env("HOME", home.path())
        .env("KUBECONFIG", home.path().join("config"))
        .timeout(PATIENCE)
        .output()
        .expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:1";

#[test]
fn commands_flags_and_values_need_no_cluster() {
    for (words, expected) in [
        (
            &["roll"][..],
            "rollout\tLook at, pause, resume, restart and undo rollouts\n:4\n",
        ),
        (
            &["rollout", "re"],
            "restart\tRestart rollouts: every pod is replaced\nresume\tResume paused Deployments\n:4\n",
        ),
        (
            &["rollout", "undo", "--to-r"],
            "--to-revision\tThe revision to go back to; 0: the one before the last\n:4\n",
        ),
        (
            &["rollout", "undo", "deploy/web", "--dry-run=s"],
            "--dry-run=server\n:4\n",
        ),
        (&["rollout", "history", "-o", "y"], "yaml\n:4\n"),
        (&["set", "image", "-f", ""], ":0\n"),
        (&["completion", "b"], "bash\n:4\n"),
        (&["--context", "t"], "there\n:4\n"),
        (&["rollout", "status", "deploy"], "deployment/\n:6\n"),
        (&["rollout", "status", "nope/"], ":4\n"),
        (&["no", "such", "thing"], ":4\n"),
    ] {
        assert_eq!(offered(NOWHERE, words), expected, "{words:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_containers_and_revisions_come_from_the_cluster() {
    let template = |image: &str| {
        json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": image}, {"name": "side", "image": "s:1"}]},
        })
    };
    let sandbox = cluster(template);
    let served = sandbox.serve(0).await.expect("a free port");
    let url = format!("http://{}", served.address());
    let check = move |words: &[&str], expected: &str| {
        assert_eq!(offered(&url, words), expected, "{words:?}");
    };
    tokio::task::spawn_blocking(move || {
        check(&["rollout", "undo", "deployment/w"], "deployment/web\n:4\n");
        check(&["rollout", "undo", "deploy/"], "deploy/web\n:4\n");
        check(&["rollout", "undo", "deploy", ""], "web\n:4\n");
        check(
            &["set", "image", "deploy/web", ""],
            "main=\ta:2\nside=\ts:1\n:6\n",
        );
        check(&["set", "image", "deploy", "web", "s"], "side=\ts:1\n:6\n");
        check(
            &["rollout", "undo", "deploy/web", "--to-revision="],
            "--to-revision=1\ta:1, s:1\n:4\n",
        );
        check(
            &["rollout", "history", "deploy/web", "--revision", ""],
            "1\ta:1, s:1\n:4\n",
        );
        check(&["rollout", "status", "-n", "kube"], "kube-system\n:4\n");
    })
    .await
    .expect("the checks hold");
}

/// A server that takes connections and never answers is not waited for.
#[test]
fn a_silent_server_does_not_hold_up_the_shell() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let server = format!("http://{}", listener.local_addr().expect("a bound socket"));
    assert_eq!(offered(&server, &["rollout", "undo", "deploy/"]), ":4\n");
}

#[test]
fn the_scripts_are_those_of_the_program() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    for (shell, file) in [
        ("bash", "kubectl-rs.bash"),
        ("zsh", "_kubectl-rs"),
        ("fish", "kubectl-rs.fish"),
        ("powershell", "kubectl-rs.ps1"),
    ] {
        let output = Command::cargo_bin("kubectl-rs")
            .expect("the program is built before its tests")
            .args(["completion", shell])
            .output()
            .expect("the program runs");
        let script = fs::read_to_string(directory.join(file)).expect("a script");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            script,
            "{file} is stale"
        );
    }
}

/// bash itself, with a line as it hands it to the script; where there is no bash there is nothing to ask.
#[cfg(unix)]
#[test]
fn bash_completes() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = env!("CARGO_BIN_EXE_kubectl-rs");
    let script = "source \"$1\"; COMP_LINE=\"$2 rollout undo deploy/web --dry-run=s\"; COMP_POINT=${#COMP_LINE}; \
        compopt() { :; }; _kubectl_rs; echo \"${COMPREPLY[*]}\"; \
        COMP_LINE=\"$2 roll\"; COMP_POINT=${#COMP_LINE}; _kubectl_rs; echo \"${COMPREPLY[*]}\"";
    let run = std::process::Command::new("bash")
        .args(["-c", script, "bash"])
        .arg(repository.join("completions/kubectl-rs.bash"))
        .arg(program)
        .output();
    if let Ok(output) = run {
        assert_eq!(String::from_utf8_lossy(&output.stdout), "server\nrollout\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// zsh itself, with the script both sourced and found in `fpath`; where there is no zsh there is nothing to ask. What
/// shows candidates works in an interactive shell only, so another one takes its place.
#[cfg(unix)]
#[test]
fn zsh_completes() {
    let script = "compdef() { :; }; _describe() { print -rl -- $candidates; }; _files() { print files; }; \
        words=($2 rollout re); CURRENT=3; \
        source $1/_kubectl-rs; _kubectl_rs; unfunction _kubectl_rs; \
        fpath=($1); autoload -Uz _kubectl-rs; _kubectl-rs; \
        words=($2 set image -f ''); CURRENT=5; _kubectl-rs";
    let Some(said) = shell("zsh", &["-f", "-c", script, "zsh"]) else {
        return;
    };
    let commands =
        "restart:Restart rollouts: every pod is replaced\nresume:Resume paused Deployments\n";
    assert_eq!(said, format!("{commands}{commands}files\n"));
}

/// fish itself; where there is no fish there is nothing to ask.
#[cfg(unix)]
#[test]
fn fish_completes() {
    let script = "source $argv[1]/kubectl-rs.fish; \
        complete -C \"$argv[2] rollout re\"; complete -C \"$argv[2] set image -f $argv[1]/_kubectl\"";
    if let Some(said) = shell("fish", &["--no-config", "-c", script]) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/_kubectl-rs");
        let commands =
            "restart\tRestart rollouts: every pod is replaced\nresume\tResume paused Deployments\n";
        assert_eq!(said, format!("{commands}{file}\n"));
    }
}

/// What a shell says that is given the folder of the scripts and the program; nothing where there is no such shell.
#[cfg(unix)]
fn shell(name: &str, arguments: &[&str]) -> Option<String> {
    let home = tempfile::tempdir().expect("a temporary directory");
    let output = std::process::Command::new(name)
        .args(arguments)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("completions"))
        .arg(env!("CARGO_BIN_EXE_kubectl-rs"))
        .env("HOME", home.path())
        .output()
        .ok()?;
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}
