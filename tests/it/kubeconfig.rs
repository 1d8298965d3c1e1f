//! The built program against a cluster behind a kubeconfig.

use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kubectl_rs::sandbox::Served;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::World;

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: 'registry.example/web:1'}]}
";

struct Shell {
    world: World,
    served: Served,
    files: TempDir,
}

impl Shell {
    async fn new() -> Self {
        let world = World::live();
        let served = world.sandbox.serve(0).await.expect("a free port");
        let files = TempDir::new().expect("a folder");
        let shell = Self {
            world,
            served,
            files,
        };
        shell.write("config", &shell.served.kubeconfig().to_string());
        shell.write("web.yaml", WEB);
        shell
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.files.path().join(name), content).expect("a file");
    }

    /// Runs the program; the cluster goes on meanwhile.
    async fn run(&self, args: &'static [&'static str]) -> Output {
        let folder = self.files.path().to_owned();
        let run = move || {
            cargo_bin_cmd!("kubectl-rs")
                .current_dir(&folder)
                .env("KUBECONFIG", folder.join("config"))
                .args(args)
                .output()
                .expect("it starts")
        };
        tokio::task::spawn_blocking(run).await.expect("it ends")
    }

    fn deployment(&self) -> Value {
        self.world.objects("deployments").remove(0)
    }
}

fn code(output: &Output) -> (Option<i32>, String) {
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// A controller manager that renews its Lease, though it does nothing else.
fn keep_lease(shell: &Shell) {
    let now = format!("{:.6}", shell.world.clock.now());
    let lease = json!({
        "metadata": { "name": "kube-controller-manager" },
        "spec": { "holderIdentity": "cp-1", "leaseDurationSeconds": 3600, "renewTime": now },
    });
    let created = shell.world.sandbox.create("leases", "kube-system", lease);
    created.expect("it is valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_acts_where_nobody_else_does_and_says_so() {
    let shell = Shell::new().await;
    let (exit, said) = code(&shell.run(&["sync", "-f", "web.yaml"]).await);
    assert_eq!(exit, Some(0), "{said}");
    assert!(
        said.contains("no controller manager is in charge: acting from here"),
        "{said}"
    );
    assert_eq!(shell.world.objects("pods").len(), 3);
    assert!(
        shell.world.objects("leases").is_empty(),
        "the Lease is given up"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_controller_manager_it_follows_unless_it_is_forced() {
    let shell = Shell::new().await;
    keep_lease(&shell);
    let args = ["sync", "-f", "web.yaml", "--timeout=2s"].as_slice();
    let (exit, said) = code(&shell.run(args).await);
    assert_eq!(exit, Some(4), "nobody does anything: {said}");
    assert!(
        said.contains("kube-controller-manager is in charge (cp-1 renewed its Lease"),
        "{said}"
    );
    assert!(
        said.contains("--controller=client --force to act"),
        "{said}"
    );
    assert!(shell.world.objects("replicasets").is_empty());

    let args = ["sync", "deploy/web", "--controller=client"].as_slice();
    let (exit, said) = code(&shell.run(args).await);
    assert_eq!(exit, Some(1), "{said}");
    assert!(
        said.contains("two controllers on one Deployment create surplus pods"),
        "{said}"
    );
    assert!(shell.world.objects("replicasets").is_empty());

    let args = ["sync", "deploy/web", "--controller=client", "--force"].as_slice();
    let (exit, said) = code(&shell.run(args).await);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(shell.world.objects("pods").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_acts_is_looked_up_where_the_files_objects_are() {
    let shell = Shell::new().await;
    let sandbox = &shell.world.sandbox;
    let shop = json!({ "metadata": { "name": "shop" } });
    sandbox.create("namespaces", "", shop).expect("it is valid");
    let web = WEB.replace("{name: web}", "{name: web, namespace: shop}");
    shell.write("shop.yaml", &web);
    let api: Api<Deployment> = Api::namespaced(sandbox.client(), "shop");
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web" },
        "spec": {
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "main", "image": "registry.example/web:0" }] },
            },
        },
    });
    let (params, patch) = (PatchParams::apply("kubectl-rs"), Patch::Apply(&object));
    let applied = api.patch("web", &params, &patch).await;
    applied.expect("it is valid");
    let manager = sandbox.as_manager("kube-controller-manager");
    let kept = manager.update_status("deployments", "shop", "web", |status| {
        *status = json!({ "observedGeneration": 1, "replicas": 1 });
    });
    kept.expect("it is valid");

    let args = ["sync", "-f", "shop.yaml", "--timeout=2s"].as_slice();
    let (exit, said) = code(&shell.run(args).await);
    assert_eq!(exit, Some(4), "nobody does anything: {said}");
    assert!(
        said.contains("keeps the status of deployment shop/web"),
        "{said}"
    );
    assert!(sandbox.list("replicasets", Some("shop")).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_goes_to_its_end_and_keeps_what_the_program_does_not_know() {
    let shell = Shell::new().await;
    let sync = [
        "sync",
        "-f",
        "web.yaml",
        "--wait",
        "--controller=client",
        "--timeout=60s",
    ]
    .as_slice();
    let (exit, said) = code(&shell.run(sync).await);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(shell.world.objects("pods").len(), 3);
    let status = &shell.deployment()["status"];
    assert_eq!(status["availableReplicas"], json!(3), "{status}");
    let (exit, said) = code(&shell.run(sync).await);
    assert_eq!(exit, Some(0), "a second time changes nothing: {said}");
    assert!(said.contains("deployment.apps/web unchanged"), "{said}");
    assert_eq!(shell.world.objects("pods").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_data_on_stdout() {
    let shell = Shell::new().await;
    shell
        .run(&["sync", "-f", "web.yaml", "--controller=client"])
        .await;
    let name = shell
        .run(&["sync", "deploy/web", "--controller=client", "-o", "name"])
        .await;
    assert_eq!(
        String::from_utf8_lossy(&name.stdout),
        "deployment.apps/web\n"
    );
    let output = shell
        .run(&["sync", "deploy", "--controller=client", "-o", "json", "-q"])
        .await;
    let object: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(object["metadata"]["name"], "web");
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
