//! A real API server for tests: etcd and kube-apiserver from the folder that `KUBEBUILDER_ASSETS` names, as envtest has it.

#![allow(dead_code, reason = "each test program uses its part")]

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kube::{Client, Config};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// How long the servers live where nobody stops them.
const LIFETIME: &str = "1800";
/// How long they may take to start.
const PATIENCE: Duration = Duration::from_secs(120);
const TOKEN: &str = "a-token-for-tests";

/// The two servers on loopback, with a directory of their own. They end with it.
pub(crate) struct ApiServer {
    etcd: Child,
    kubernetes: Child,
    assets: PathBuf,
    /// The API server's command line.
    flags: Vec<String>,
    etcd_url: String,
    url: String,
    directory: TempDir,
}

impl ApiServer {
    /// Starts the servers, if there are any.
    #[allow(dead_code, reason = "not every suite leaves the flags as they are")]
    pub(crate) async fn start() -> Option<Self> {
        Self::start_with(&[]).await
    }

    /// Starts them with further flags for kube-apiserver.
    pub(crate) async fn start_with(more: &[&str]) -> Option<Self> {
        let assets = PathBuf::from(std::env::var_os("KUBEBUILDER_ASSETS")?);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let place = directory.path();
        let etcd = format!("http://127.0.0.1:{}", free_port());
        let peers = format!("http://127.0.0.1:{}", free_port());
        let port = free_port();
        write_credentials(place);
        let etcd_flags = [
            format!("--data-dir={}", place.join("etcd").display()),
            format!("--listen-client-urls={etcd}"),
            format!("--advertise-client-urls={etcd}"),
            format!("--listen-peer-urls={peers}"),
        ];
        let key = place.join("service-account.key").display().to_string();
        let mut flags = vec![
            format!("--etcd-servers={etcd}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--cert-dir={}", place.join("certificates").display()),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={key}"),
            format!("--service-account-signing-key-file={key}"),
            format!("--token-auth-file={}", place.join("tokens.csv").display()),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            // Nobody makes service accounts here.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
        ];
        flags.extend(more.iter().map(ToString::to_string));
        let server = Self {
            etcd: spawn(&assets, "etcd", &etcd_flags, place),
            kubernetes: spawn(&assets, "kube-apiserver", &flags, place),
            assets,
            flags,
            etcd_url: etcd,
            url: format!("https://127.0.0.1:{port}"),
            directory,
        };
        server.wait().await;
        Some(server)
    }

    /// Kills the API server with SIGKILL. etcd lives on.
    pub(crate) fn kill(&mut self) {
        let supervisor = self.kubernetes.id();
        let children = format!("/proc/{supervisor}/task/{supervisor}/children");
        let children = std::fs::read_to_string(children).expect("it runs");
        for child in children.split_whitespace() {
            let child = child.parse().ok().and_then(Pid::from_raw);
            let _ = kill_process(child.expect("a process"), Signal::KILL);
        }
        self.kubernetes.wait().expect("it ends");
    }

    /// Starts an API server that was killed again, at the same address.
    pub(crate) async fn restart(&mut self) {
        let place = self.directory.path();
        self.kubernetes = spawn(&self.assets, "kube-apiserver", &self.flags, place);
        self.wait().await;
    }

    /// Has etcd forget all that was before a version.
    pub(crate) async fn compact(&self, version: &str) {
        let etcd = Config::new(self.etcd_url.parse().expect("a URL"));
        let etcd = Client::try_from(etcd).expect("a client");
        let body = format!(r#"{{"revision":"{version}","physical":true}}"#);
        let request = http::Request::post("/v3/kv/compaction").body(body.into_bytes());
        let answer = etcd.request_text(request.expect("a request")).await;
        answer.expect("etcd compacts");
    }

    /// A file with the kubeconfig, for programs.
    pub(crate) fn kubeconfig_file(&self) -> PathBuf {
        let file = self.directory.path().join("kubeconfig");
        std::fs::write(&file, self.kubeconfig().to_string()).expect("a writable directory");
        file
    }

    /// A client that may do everything.
    pub(crate) fn client(&self) -> Client {
        let mut config = Config::new(self.url.parse().expect("a URL"));
        // Its certificate is its own; the address is loopback.
        config.accept_invalid_certs = true;
        config.auth_info.token = Some(TOKEN.to_owned().into());
        config.default_retry = false;
        Client::try_from(config).expect("a client")
    }

    /// A kubeconfig that leads there.
    pub(crate) fn kubeconfig(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": "tests",
                "cluster": { "server": self.url, "insecure-skip-tls-verify": true },
            }],
            "users": [{ "name": "tests", "user": { "token": TOKEN } }],
            "contexts": [{ "name": "tests", "context": { "cluster": "tests", "user": "tests" } }],
            "current-context": "tests",
        })
    }

    async fn wait(&self) {
        let client = self.client();
        let give_up = Instant::now() + PATIENCE;
        loop {
            let request = http::Request::get("/api/v1/namespaces/default").body(Vec::new());
            let answer = client.request_text(request.expect("a request")).await;
            match answer {
                Ok(_) => return,
                Err(error) if Instant::now() > give_up => panic!("no API server: {error}"),
                Err(_) => sleep(Duration::from_millis(200)).await,
            }
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        // The API server first: it complains about an etcd that is gone.
        for server in [&mut self.kubernetes, &mut self.etcd] {
            let _ = kill_process(Pid::from_child(server), Signal::TERM);
            let _ = server.wait();
        }
    }
}

fn write_credentials(place: &Path) {
    let tokens = format!("{TOKEN},tester,tester,system:masters\n");
    std::fs::write(place.join("tokens.csv"), tokens).expect("a writable directory");
    let made = Command::new("openssl")
        .args(["genrsa", "-out"])
        .arg(place.join("service-account.key"))
        .arg("2048")
        .stderr(Stdio::null())
        .status()
        .expect("openssl makes the key that kube-apiserver asks for");
    assert!(made.success(), "openssl makes no key");
}

/// Starts a server that ends by itself after a while, with its log in `place`.
fn spawn(assets: &Path, name: &str, flags: &[String], place: &Path) -> Child {
    let log = File::create(place.join(format!("{name}.log"))).expect("a writable directory");
    Command::new("timeout")
        .arg(LIFETIME)
        .arg(assets.join(name))
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("{name} does not start: {error}"))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound socket").port()
}
