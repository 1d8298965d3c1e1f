//! An API server, kubectl, and the program in charge.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kube::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::api_server::ApiServer;
use crate::stock_kubectl;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The same, as kubectl takes it.
pub(crate) const TIMEOUT: &str = "--timeout=120s";
const LOOK: Duration = Duration::from_millis(100);

/// Where a test works.
pub(crate) struct Bench {
    server: ApiServer,
    kubeconfig: PathBuf,
    pub(crate) client: Client,
}

impl Bench {
    /// An API server with these flags, if there is one, and kubectl.
    pub(crate) async fn set_up(flags: &[&str]) -> Option<Self> {
        if !stock_kubectl::is_there() {
            return None;
        }
        let server = ApiServer::start_with(flags).await?;
        let kubeconfig = server.kubeconfig_file();
        let client = server.client();
        Some(Self {
            server,
            kubeconfig,
            client,
        })
    }

    /// Runs kubectl, which must succeed; gives what it prints.
    pub(crate) async fn kubectl(&self, args: &[&str]) -> String {
        let mut kubectl = Command::new("kubectl");
        kubectl
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(args)
            .stdin(Stdio::null());
        let run = tokio::task::spawn_blocking(move || kubectl.output());
        let output = run.await.expect("no panic").expect("kubectl runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "kubectl {args:?}: {}{}\nthe program: {}",
            text(&output.stdout),
            text(&output.stderr),
            std::fs::read_to_string(self.log()).unwrap_or_default()
        );
        text(&output.stdout)
    }

    /// Starts the program, with what it says in a file.
    pub(crate) fn start(&self, args: &[&str]) -> Program {
        let log = self.log();
        let file = File::create(&log).expect("a writable directory");
        let child = Command::new(env!("CARGO_BIN_EXE_kubectl-rs"))
            .args(args)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the program starts");
        Program { child, log }
    }

    /// Where the program says what it does.
    fn log(&self) -> PathBuf {
        self.kubeconfig.with_file_name("kubectl-rs.log")
    }

    /// The objects at a path.
    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        let request = http::Request::get(path)
            .body(Vec::new())
            .expect("a request");
        let list: Value = self.client.request(request).await.expect("a list");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// ReplicaSets and pods of namespace `default`.
    pub(crate) async fn left(&self) -> (Vec<Value>, Vec<Value>) {
        let sets = self
            .list("/apis/apps/v1/namespaces/default/replicasets")
            .await;
        let pods = self.list("/api/v1/namespaces/default/pods").await;
        (sets, pods)
    }

    /// Waits until ReplicaSets and pods are as they should be.
    pub(crate) async fn until(&self, what: &str, is: impl Fn(&[Value], &[Value]) -> bool) {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let (sets, pods) = self.left().await;
            if is(&sets, &pods) {
                return;
            }
            assert!(Instant::now() < give_up, "{what}: {sets:#?} {pods:#?}");
            sleep(LOOK).await;
        }
    }

    /// Waits for the end of a rollout, as kubectl sees it.
    pub(crate) async fn rolled_out(&self, deployment: &str) {
        let told = self
            .kubectl(&["rollout", "status", deployment, TIMEOUT])
            .await;
        assert!(told.contains("successfully rolled out"), "{told}");
    }

    /// Ends the servers.
    pub(crate) fn tear_down(self) {
        drop(self.server);
    }
}

/// The program, until it is stopped.
pub(crate) struct Program {
    child: Child,
    log: PathBuf,
}

impl Program {
    /// Stops it as Ctrl-C does; gives its exit code and what it has said.
    pub(crate) async fn stop(mut self) -> (Option<i32>, String) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let give_up = Instant::now() + PATIENCE;
        let code = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status.code();
            }
            assert!(Instant::now() < give_up, "it does not end: {}", self.said());
            sleep(LOOK).await;
        };
        (code, self.said())
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The image that pods run.
pub(crate) fn images(pods: &[Value]) -> Vec<&str> {
    let images = pods
        .iter()
        .map(|pod| &pod["spec"]["containers"][0]["image"]);
    images
        .map(|image| image.as_str().unwrap_or_default())
        .collect()
}

/// Whether an object has an owner.
pub(crate) fn is_owned(object: &Value) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.is_some_and(|owners| !owners.is_empty())
}
