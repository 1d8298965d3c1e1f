//! Following rollouts with the built program, on a cluster behind a kubeconfig: where it acts itself, and where
//! somebody else's controllers do.

use std::sync::Arc;

use kubectl_rs::clock::Clock;
use kubectl_rs::engine::options::{Goal, Options, Scope};
use kubectl_rs::engine::run::Engine;
use kubectl_rs::sandbox::{NodeOptions, Nodes, Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::program::{Ended, Program};

/// A cluster that lives as long as this.
struct Cluster {
    runtime: Runtime,
    sandbox: Sandbox,
    clock: Clock,
    program: Program,
    _nodes: Nodes,
    _served: kubectl_rs::sandbox::Served,
}

impl Cluster {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let program = Program::new();
        let inside = runtime.enter();
        let clock = Clock::system();
        let sandbox = Sandbox::new(SandboxOptions::new(clock));
        let nodes = sandbox.start_nodes(NodeOptions::default());
        let nodes = nodes.expect("no nodes are there yet");
        drop(inside);
        let served = runtime.block_on(sandbox.serve(0)).expect("a free port");
        program.write("config", served.kubeconfig().to_string());
        Self {
            runtime,
            sandbox,
            clock,
            program,
            _nodes: nodes,
            _served: served,
        }
    }

    /// The same, with somebody else's controllers and their Lease.
    fn with_controllers() -> Self {
        let cluster = Self::new();
        let renewed = format!("{:.6}", cluster.clock.now());
        let lease = json!({"metadata": {"name": "kube-controller-manager"}, "spec": {
            "holderIdentity": "cp-1", "leaseDurationSeconds": 3600, "renewTime": renewed,
        }});
        let created = cluster.sandbox.create("leases", "kube-system", lease);
        created.expect("it is valid");
        let options = Options::new(Scope::everything(None), Goal::Forever);
        let client = {
            let _inside = cluster.runtime.enter();
            cluster.sandbox.client()
        };
        let engine = Engine::new(client, cluster.clock, options, Arc::new(|_| {}));
        cluster.runtime.spawn(async move {
            engine.run(std::future::pending()).await.expect("it runs");
        });
        cluster
    }

    fn create(&self, name: &str, image: &str) {
        let probe = json!({"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1});
        let deployment = json!({
            "metadata": {"name": name},
            "spec": {
                "replicas": 4,
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "web", "image": image, "readinessProbe": probe}]},
                },
            },
        });
        let created = self.sandbox.create("deployments", "default", deployment);
        created.expect("it is valid");
    }

    fn run(&self, line: &str) -> Ended {
        self.program.run(&format!("{line} --kubeconfig=config"))
    }

    fn expect(&self, code: i32, line: &str) -> Ended {
        let ended = self.run(line);
        assert_eq!(ended.code, code, "{line}\n{}{}", ended.stdout, ended.stderr);
        ended
    }

    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let edited = self.sandbox.update("deployments", "default", "web", change);
        edited.expect("it is valid");
    }

    fn image(&self) -> Value {
        let web = self.sandbox.get("deployments", "default", "web");
        let web: Value = web.expect("it is there").decode().expect("JSON");
        web["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    }
}

/// Both kinds of clusters, with a Deployment at rest.
fn both() -> [Cluster; 2] {
    let clusters = [Cluster::new(), Cluster::with_controllers()];
    for cluster in &clusters {
        cluster.create("web", "web:1");
        cluster.expect(0, "sync deploy/web --wait --timeout=2m");
    }
    clusters
}

/// Where a kubelet runs the pods, or somebody else acts on what they belong to, none is simulated.
#[test]
fn pods_are_simulated_only_where_nobody_runs_them() {
    let cluster = Cluster::new();
    cluster.create("web", "web:1");
    let refused = |cluster: &Cluster, flags: &str| {
        let line = format!("sync deploy/web --wait --simulate-pods {flags}");
        let ended = cluster.expect(1, &line);
        assert_eq!(ended.stdout, "");
        ended.stderr
    };
    insta::assert_snapshot!(refused(&cluster, ""), @"
    error: 3 nodes are ready (node-1, node-2, node-3): their kubelets run pods
    hint: leave --simulate-pods out; with --force, pods that no node has taken are simulated
    ");
    insta::assert_snapshot!(refused(&cluster, "--controller=server"), @"
    error: --controller=server: pods are simulated only where sync acts
    hint: leave --simulate-pods out, or act: --controller=auto
    ");
    let managed = Cluster::with_controllers();
    managed.create("web", "web:1");
    insta::assert_snapshot!(refused(&managed, "").replace(char::is_numeric, "N"), @"
    error: kube-controller-manager is in charge (cp-N renewed its Lease Ns ago): pods are simulated only where sync acts
    hint: leave --simulate-pods out, or act: --controller=client --force
    ");
    let pods = cluster.sandbox.list("pods", Some("default"));
    assert!(pods.is_empty(), "nothing was done");
}

/// A change that nobody looks at is told of, since kubectl's line alone says nothing about why.
#[test]
fn rollout_status_tells_of_a_change_that_nobody_looks_at() {
    let cluster = Cluster::new();
    cluster.create("web", "web:1");
    let ended = cluster.expect(4, "rollout status deploy/web --timeout=13s");
    insta::assert_snapshot!(ended.stdout, @"Waiting for deployment spec update to be observed...");
    insta::assert_snapshot!(ended.stderr, @"
    warning: no controller has looked at the change for 10s: is kube-controller-manager running? 'kubectl rs sync' acts from here
    error: timed out waiting for the condition
    ");
}

/// What an embedded cluster was loaded with goes on as it was when it had come to rest.
#[test]
fn status_of_a_loaded_cluster_has_the_causes() {
    let program = Program::new();
    let manifest = |name: &str, image: &str, fails: &str| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": {"sandbox.kubectl-rs.dev/fails": fails}},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        }})
    };
    for (fails, code) in [
        ("ErrImagePull", "imageNotFound"),
        ("CreateContainerError", "containerCreate"),
        ("ErrImageNeverPull", "imageNeverPull"),
    ] {
        program.write("web.json", manifest("web", "web:2", fails).to_string());
        let ended = program.run("status --embedded=web.json deploy/web");
        assert!(ended.stdout.contains(code), "{fails}: {}", ended.stdout);
    }
}

fn has_no_controls(ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{text:?}");
    }
}

#[test]
fn a_failed_change_is_undone_with_exit_code_5() {
    for cluster in both() {
        let ended = cluster.expect(5, "set image deploy/web web=Nginx:1 --undo-on-failure");
        assert_eq!(ended.stdout, "deployment.apps/web image updated\n");
        let undone = "deployment/web: undone: revision 1 is back as revision 3\n";
        assert!(ended.stderr.contains(undone), "{}", ended.stderr);
        assert_eq!(cluster.image(), "web:1");
        has_no_controls(&ended);
    }
}

#[test]
fn a_rollout_goes_in_stages_with_exit_code_7() {
    for cluster in both() {
        cluster.expect(7, "set image deploy/web web=web:2 --pause-at=25%");
        cluster.expect(7, "status deploy/web --exit-code");
        cluster.expect(7, "rollout resume deploy/web --pause-at=2");
        cluster.expect(0, "rollout resume deploy/web --wait");
        cluster.expect(0, "status deploy/web --exit-code");
    }
}

#[test]
fn a_failure_ends_a_wait_fast_with_exit_code_3() {
    for cluster in both() {
        let ended = cluster.expect(3, "set image deploy/web web=Nginx:1 --wait");
        let why = "deployment/web: failed: ";
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
        cluster.expect(3, "sync deploy/web --wait");
        cluster.expect(3, "status deploy/web --exit-code");
    }
}

#[test]
fn what_is_overtaken_ends_with_exit_code_9() {
    for cluster in both() {
        let line = "set image deploy/web web=web:2-never-ready --wait --kubeconfig=config";
        let mut child = cluster.program.start(line);
        crate::ending::wait_for(&mut child, "revision 2");
        cluster.edit(|web| {
            web["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:3");
        });
        let (code, told) = crate::ending::end(child);
        assert_eq!(code, Some(9), "{told}");
        assert!(told.contains("that is another rollout"), "{told}");
    }
}

#[test]
fn status_has_a_dashboard_rows_and_forms_for_programs() {
    let cluster = Cluster::with_controllers();
    cluster.create("web", "web:1");
    cluster.create("api", "web:1-never-ready");
    cluster.expect(0, "rollout status deploy/web --timeout=2m");
    let dashboard = cluster.expect(0, "status deploy/web");
    assert!(
        dashboard.stdout.starts_with("✓ web  complete"),
        "{}",
        dashboard.stdout
    );
    let rows = cluster.expect(6, "status --exit-code");
    let names: Vec<&str> = rows
        .stdout
        .lines()
        .filter_map(|line| {
            line.split_whitespace()
                .find(|word| ["web", "api"].contains(word))
        })
        .collect();
    assert_eq!(names, ["api", "web"], "the worst first: {}", rows.stdout);
    for form in [
        "table", "wide", "name", "markdown", "github", "jsonl", "json", "yaml",
    ] {
        let ended = cluster.expect(0, &format!("status -o {form}"));
        assert!(!ended.stdout.is_empty(), "{form}");
        has_no_controls(&ended);
        let names = ended.stdout.matches("api").count();
        assert!(names > 0, "{form}: {}", ended.stdout);
    }
    let json = cluster.expect(0, "status deploy/web -o json");
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["verdict"]["phase"], "complete", "{json}");
    let list = cluster.expect(0, "status -o json");
    let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2), "{list}");
    cluster.expect(8, "status -l app=none");
    cluster.expect(1, "status deploy/none");
}

/// Names of images, annotations and messages come from whoever may write to the cluster.
#[test]
fn control_characters_never_reach_the_reader() {
    let cluster = Cluster::with_controllers();
    cluster.create("web", "web:1");
    cluster.expect(0, "rollout status deploy/web --timeout=2m");
    cluster.edit(|web| {
        let evil = "x\u{1b}[31mred\u{1b}]0;title\u{7}\r\u{202e}\u{9b}2J";
        web["metadata"]["annotations"]["kubernetes.io/change-cause"] = json!(evil);
        let template = &mut web["spec"]["template"];
        template["metadata"]["annotations"]["sandbox.kubectl-rs.dev/message"] = json!(evil);
        template["spec"]["containers"][0]["image"] = json!("Web\u{1b}[31m:2");
    });
    for line in [
        "sync deploy/web --wait",
        "rollout restart deploy/web --wait",
        "status deploy/web",
        "status",
        "status -o wide",
        "status -o markdown",
        "status -o github",
        "status -o json",
        "status -o jsonl",
        "rollout status deploy/web --watch=false",
    ] {
        let ended = cluster.run(line);
        assert!([0, 3].contains(&ended.code), "{line}: {}", ended.stderr);
        for text in [&ended.stdout, &ended.stderr] {
            let control = text
                .chars()
                .find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
            assert_eq!(control, None, "{line}: {text:?}");
        }
    }
}
