//! What the program says last when it gives up: each object, what had been written and what had not, and the exit code.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use http::{Method, Request};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use kubectl_rs::sandbox::Served;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tower::Service as _;

use crate::faults::{control, set_image};
use crate::killed::{available, quick, wait_until};
use crate::world::World;

/// Serves a cluster that answers requests of one method to paths that contain a text with a code, and nothing else.
async fn serve(world: &World, method: Method, path: &'static str, code: u16) -> Served {
    let service = world.sandbox.service();
    let service = tower::service_fn(move |request: Request<Incoming>| {
        let (mut service, method) = (service.clone(), method.clone());
        async move {
            let asked = request.uri().path();
            if *request.method() != method || !asked.contains(path) || asked.ends_with("/status") {
                return service.call(request).await;
            }
            let reason = if code == 403 {
                "Forbidden"
            } else {
                "InternalError"
            };
            let body = json!({
                "kind": "Status", "status": "Failure", "code": code, "reason": reason,
                "message": "the server does not want that",
            });
            let body = http_body_util::Full::new(body.to_string().into());
            let refused = http::Response::builder().status(code);
            Ok(refused.body(body.boxed_unsync()).expect("a response"))
        }
    });
    Served::start(0, service).await.expect("a free port")
}

fn start(served: &Served, line: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("kubectl-rs"))
        .args(line.split_whitespace())
        .arg(format!("--server=http://{}", served.address()))
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The exit code and what was said on stderr, with the hashes of names blanked out.
fn end(mut child: Child) -> String {
    let mut told = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut told).expect("UTF-8 output");
    let code = child.wait().expect("the program ends").code();
    let code = code.expect("an exit code, not a signal");
    let hash = regex::Regex::new(r"web-[a-z0-9]+").expect("a pattern");
    format!("exit code {code}\n{}", hash.replace_all(&told, "web-HASH"))
}

async fn ended(child: Child) -> String {
    let ending = tokio::task::spawn_blocking(move || end(child));
    ending.await.expect("no panic")
}

/// Creates a Deployment, brings it to rest, and returns the name of its ReplicaSet.
async fn rolled_out(world: &World) -> String {
    world.create("deployments", quick());
    let controller = control(world.sandbox.client(), world.clock);
    wait_until(|| available(world) == Some(2)).await;
    controller.abort();
    let _ = controller.await;
    let set = &world.objects("replicasets")[0];
    set["metadata"]["name"].as_str().expect("a name").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_creation_of_pods() {
    let world = World::live();
    world.create("deployments", quick());
    let served = serve(&world, Method::POST, "/pods", 403).await;
    let told = ended(start(&served, "sync deploy/web --quiet")).await;
    insta::assert_snapshot!(told, @r#"
    exit code 1
    error: deployment "web": created web-HASH (revision 1) with 2 pods; not done: create 1 pod for web-HASH (revision 1) (the server does not want that)
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_step_of_a_rollout() {
    let world = World::live();
    let old: &'static str = rolled_out(&world).await.leak();
    set_image(&world, "registry.example/web:2");
    let served = serve(&world, Method::PATCH, old, 403).await;
    let told = ended(start(&served, "sync deploy/web --quiet")).await;
    insta::assert_snapshot!(told, @r#"
    exit code 1
    error: deployment "web": created web-HASH (revision 2) with 1 pod, created 1 pod; not done: scale down web-HASH (revision 1) 2→1 (the server does not want that)
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_in_the_middle() {
    let world = World::live();
    world.create("deployments", quick());
    let served = serve(&world, Method::POST, "/pods", 500).await;
    let mut child = start(&served, "sync deploy/web --wait");
    let told = tokio::task::spawn_blocking(move || {
        let stderr = child.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(stderr);
        let mut line = String::new();
        while !line.contains("retrying") {
            line.clear();
            let read = lines.read_line(&mut line).expect("UTF-8 output");
            assert_ne!(read, 0, "the program ended by itself");
        }
        kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
        child.stderr = Some(lines.into_inner());
        end(child)
    });
    let told = told.await.expect("no panic");
    // How much is said before that is a matter of time.
    let code = told.lines().next();
    let last: Vec<&str> = told.lines().rev().take(2).collect();
    let last: Vec<&str> = code.into_iter().chain(last.into_iter().rev()).collect();
    insta::assert_snapshot!(last.join("\n"), @r#"
    exit code 130
    error: interrupted
    deployment "web": created web-HASH (revision 1) with 2 pods; not done: create 1 pod for web-HASH (revision 1) (the server does not want that)
    "#);
}
