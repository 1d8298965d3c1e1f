//! Stock kubectl reads the same objects from a manifest as this program does, and from what this program writes.
//!
//! `kubectl create --dry-run=client` asks a server for nothing but which kinds there are. Where there is no kubectl there
//! is nothing to compare with; with `REQUIRE_KUBECTL` set, as in CI, that is a failure.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use kubectl_rs::manifest::{parse, to_yaml_documents};
use serde_json::{Value, json};

/// A server that knows Deployments and ConfigMaps by name, and nothing else.
struct Kinds(TcpListener);

impl Kinds {
    /// Serves until the test ends; gives the address.
    fn serve() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let kinds = Self(listener);
        std::thread::spawn(move || kinds.answer_all());
        format!("http://{address}")
    }

    fn answer_all(&self) {
        for stream in self.0.incoming().flatten() {
            // kubectl gives up on an answer that does not come, and the test with it.
            let _ = answer(stream);
        }
    }
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = request.split([' ', '?']).nth(1).unwrap_or_default();
    let body = discovery(path).to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn discovery(path: &str) -> Value {
    let resources = |version: &str, name: &str, kind: &str| {
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [
            {"name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["create", "get"]},
        ]})
    };
    match path {
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/apis" => {
            let version = json!({"groupVersion": "apps/v1", "version": "v1"});
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": "apps", "versions": [version.clone()], "preferredVersion": version},
            ]})
        }
        "/api/v1" => resources("v1", "configmaps", "ConfigMap"),
        _ => resources("apps/v1", "deployments", "Deployment"),
    }
}

/// What kubectl would create from a manifest; `None` where there is no kubectl.
fn kubectl_creates(manifest: &str) -> Option<Vec<Value>> {
    let home = tempfile::tempdir().expect("a temporary directory");
    let spawned = Command::new("kubectl")
        .args([
            "create",
            "--dry-run=client",
            "--validate=false",
            "-o",
            "json",
            "-f",
            "-",
            "-s",
            &Kinds::serve(),
        ])
        .env("HOME", home.path())
        .env_remove("KUBECONFIG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        assert!(
            std::env::var_os("REQUIRE_KUBECTL").is_none(),
            "kubectl is required"
        );
        return None;
    };
    // Dropped at the end of the statement, which is the end of kubectl's input. The manifests fit into a pipe.
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(manifest.as_bytes())
        .expect("kubectl reads");
    let output = child.wait_with_output().expect("kubectl ends");
    assert!(
        output.status.success(),
        "{}\n{manifest}",
        String::from_utf8_lossy(&output.stderr)
    );
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let documents = documents
        .collect::<Result<Vec<_>, _>>()
        .expect("kubectl prints JSON");
    Some(
        documents
            .into_iter()
            .flat_map(items)
            .map(without_namespace)
            .collect(),
    )
}

/// kubectl puts several objects into a list.
fn items(mut document: Value) -> Vec<Value> {
    let fields = document.as_object_mut().expect("an object");
    match fields.remove("items") {
        Some(Value::Array(items)) => items,
        _ => vec![document],
    }
}

/// kubectl fills in the namespace.
fn without_namespace(mut object: Value) -> Value {
    object["metadata"]
        .as_object_mut()
        .expect("metadata")
        .remove("namespace");
    object
}

fn reads(manifest: &str) -> Vec<Value> {
    let objects = parse(manifest, "STDIN").expect("a good manifest");
    objects.into_iter().map(|object| object.json).collect()
}

const OLD_HABITS: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: &labels {app: web, tier: "on", version: "1.10"}
  annotations:
    on: "yes"
    0755: octal
    1.0: one
    note: |
      first

      ---
      last
spec:
  replicas: 03
  paused: no
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels:
        <<: *labels
        tier: 'y'
    spec:
      hostNetwork: yes
      terminationGracePeriodSeconds: 3e1
      containers:
      - name: main
        image: nginx
        args: [on, "off", '0x1F', 12:30:45, ~, 1_000]
        env:
        - {name: ANSWER, value: "42"}
        - {name: EMPTY, value: ""}
      volumes:
      - name: config
        configMap: {name: web, defaultMode: 0755}
"#;

#[test]
fn a_manifest_means_what_it_means_to_kubectl() {
    let json = reads(OLD_HABITS).remove(0).to_string();
    let manifests = [
        OLD_HABITS.to_owned(),
        OLD_HABITS.replace('\n', "\r\n"),
        format!("\u{feff}{}", OLD_HABITS.trim_start()),
        format!("---\n# one\n---\n{OLD_HABITS}\n--- # two\n\n---\n{OLD_HABITS}"),
        format!("{json}\n{json}\n"),
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- {json}\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}}}\n"
        ),
    ];
    for manifest in manifests {
        let Some(created) = kubectl_creates(&manifest) else {
            return;
        };
        assert_eq!(reads(&manifest), created, "{manifest}");
    }
}

#[test]
fn what_is_written_means_the_same_to_kubectl() {
    let texts = [
        "",
        "~",
        "null",
        "y",
        "no",
        "On",
        "true",
        "0755",
        "0o7",
        "0x1F",
        "0b1",
        "1_000",
        "1.0",
        ".5",
        "1e3",
        ".inf",
        "12:30:45",
        "2001-01-01",
        "=",
        "<",
        "- a",
        "---",
        "a: b",
        "a #b",
        "#a",
        "*a",
        "&a",
        "!a",
        "|",
        "'",
        "\"",
        "\\",
        " a ",
        "a\nb",
        "a\n\n",
        "\ta",
        "a\r\nb",
        "\u{0}\u{7f}\u{85}\u{2028}\u{feff}",
        "日本語",
        "7f001",
        "5678e4",
        "1e+3",
        "56789bcdf4",
        "00000000-0000-4000-8000-000000000000",
        "8a1b2c3d-0000-4000-8000-000000000000",
        "1234-5678",
        "2001-1-1",
        "2001-12-14t21:59:43.10-05:00",
        "10.0.0.1",
        "1.2.3e4",
        "1_000.5_0",
        "0b12",
        "1:2",
        "80:http",
    ];
    let object = |(index, text): (usize, &&str)| {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": format!("c{index}"), "annotations": {"text": text}},
            "data": {*text: text, "again": text},
        })
    };
    let mut objects: Vec<Value> = texts.iter().enumerate().map(object).collect();
    objects.extend(reads(OLD_HABITS));
    let Some(created) = kubectl_creates(&to_yaml_documents(&objects)) else {
        return;
    };
    assert_eq!(created, objects);
}
