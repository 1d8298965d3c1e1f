//! Runs one command line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::runtime::Handle;

use crate::after::Objects;
use crate::real::Real;
use crate::recording::{Case, Event};
use crate::server::Server;
use crate::world::World;
use crate::{after, during};

/// A command that is not done by then hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a run ended with.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) writes: Vec<Value>,
    pub(crate) after: Map<String, Value>,
    /// The objects afterwards, in full.
    pub(crate) objects: Objects,
}

/// Runs it with our program.
pub(crate) async fn run(case: &Case) -> Ended {
    run_with(env!("CARGO_BIN_EXE_kubectl-rs"), case).await
}

/// Runs it with a program of that path or name.
pub(crate) async fn run_with(program: &str, case: &Case) -> Ended {
    let world = World::new(&case.before).await;
    run_in(&world, program, case).await
}

/// Runs it with our program on a real API server, which is empty again afterwards.
pub(crate) async fn run_on(real: &Real, case: &Case) -> Ended {
    let world = World::real(real, &case.before).await;
    let ended = run_in(&world, env!("CARGO_BIN_EXE_kubectl-rs"), case).await;
    world.clear().await;
    ended
}

async fn run_in(world: &World, program: &str, case: &Case) -> Ended {
    let before = after::objects(world).await;
    let server = Server::start(world.place.clone(), case).await;
    server.interfere(case.interference.clone());
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in &case.files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: 'http://{}'}}}}]\n\
         users: [{{name: c, user: {{}}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: c}}}}]\n",
        server.address
    );
    std::fs::write(directory.path().join(".kubeconfig"), kubeconfig).unwrap();
    let child = Command::new(program)
        .args(&case.argv)
        .current_dir(directory.path())
        .env_clear()
        .env("HOME", directory.path())
        .env("KUBECONFIG", directory.path().join(".kubeconfig"))
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdin, events) = (case.stdin.clone(), case.during.clone());
    let watcher = (world.clone(), Handle::current());
    let reading = tokio::task::spawn_blocking(move || read(child, &stdin, &events, &watcher));
    let (exit, stdout, stderr) = tokio::time::timeout(PATIENCE, reading)
        .await
        .unwrap_or_else(|_| panic!("{} does not end", case.id))
        .unwrap();
    let objects = after::objects(world).await;
    Ended {
        exit,
        stdout,
        stderr,
        writes: server.writes(),
        after: after::changes(&before, &objects),
        objects,
    }
}

/// Feeds the command, reads what it says, and makes things happen as its lines come.
fn read(
    mut child: Child,
    stdin: &str,
    events: &[Event],
    (world, runtime): &(World, Handle),
) -> (i32, String, String) {
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let mut errors = child.stderr.take().unwrap();
    let stderr = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut stdout = String::new();
    let mut lines = 0;
    while reader.read_line(&mut stdout).unwrap() > 0 {
        lines += 1;
        for event in events.iter().filter(|event| event.after_lines == lines) {
            runtime.block_on(during::happen(world, event));
        }
    }
    let exit = child.wait().unwrap().code().unwrap_or(-1);
    (exit, stdout, stderr.join().unwrap())
}
