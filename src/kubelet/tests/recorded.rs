//! Simulated failures beside the recorded ones (`tests/conformance/failure-objects`): the same status, stage by stage,
//! and the same events, but for names, times and counts.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::world::World;

/// One recorded pod and how to make a simulated one fail like it.
struct Case {
    file: &'static str,
    /// A variant; empty: the file's own pod and its stages.
    variant: &'static str,
    /// What sets the behaviour.
    behaviour: &'static [(&'static str, &'static str)],
    /// What differs from a pod with one container `web` and no probes.
    spec: Value,
    /// Until when to let it run, in seconds.
    until: f64,
    /// When to delete it, in seconds, and with how much grace.
    deleted: Option<(f64, i64)>,
}

impl Case {
    fn new(file: &'static str, behaviour: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            file,
            variant: "",
            behaviour,
            spec: json!({}),
            until: 700.0,
            deleted: None,
        }
    }

    fn variant(mut self, variant: &'static str) -> Self {
        self.variant = variant;
        self
    }

    fn spec(mut self, spec: Value) -> Self {
        self.spec = spec;
        self
    }

    fn until(mut self, seconds: f64) -> Self {
        self.until = seconds;
        self
    }

    fn deleted(mut self, seconds: f64, grace: i64) -> Self {
        self.deleted = Some((seconds, grace));
        self
    }

    fn recorded(&self) -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/conformance/failure-objects")
            .join(self.file)
            .with_extension("json");
        let text = std::fs::read_to_string(path).expect("the recording is there");
        serde_json::from_str(&text).expect("the recording is JSON")
    }

    /// The pod to simulate: named like the recorded one.
    fn pod(&self, recorded: &Value, image: &Value) -> Value {
        let mut pod = super::world::pod("web-1", self.behaviour);
        for field in ["name", "uid", "finalizers"] {
            if !recorded["metadata"][field].is_null() {
                pod["metadata"][field] = recorded["metadata"][field].clone();
            }
        }
        if pod["metadata"]["uid"]
            .as_str()
            .is_none_or(|uid| uid.len() != 36)
        {
            pod["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000".into();
        }
        if image.is_string() {
            pod["spec"]["containers"][0]["image"] = image.clone();
        }
        if let Value::String(class) = &recorded["status"]["qosClass"] {
            pod["status"]["qosClass"] = class.as_str().into();
        }
        for (field, value) in self.spec.as_object().expect("a spec") {
            if field == "web" {
                for (field, value) in value.as_object().expect("a container") {
                    pod["spec"]["containers"][0][field] = value.clone();
                }
            } else {
                pod["spec"][field] = value.clone();
            }
        }
        pod
    }

    fn check(&self) {
        let file = self.recorded();
        let recorded = if self.variant.is_empty() {
            file.clone()
        } else {
            let variants = file["variants"].as_array().expect("variants");
            let mut named = variants
                .iter()
                .filter(|variant| variant["variant"] == self.variant);
            named.next().expect("the variant is recorded").clone()
        };
        let pod = self.pod(
            &recorded["pod"],
            &file["pod"]["status"]["containerStatuses"][0]["image"],
        );
        let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
        let mut world = World::with_nodes(1);
        warm_up(&mut world, has_image(&recorded));
        world.put(pod);
        if let Some((seconds, grace)) = self.deleted {
            world.run_until(seconds);
            world.delete(&name, grace);
        }
        world.run_until(self.until);
        if self.file == "node-unreachable" {
            world.cut_off("node-1", true);
            world.run_until(self.until + 100.0);
        }
        let what = format!("{} {}", self.file, self.variant);
        let seen: Vec<Value> = world.seen[&name].iter().cloned().map(plain).collect();
        if !recorded["pod"].is_null() {
            let status = plain(recorded["pod"]["status"].clone());
            let whole = self.variant.is_empty() && file["source"] == "recorded";
            expect(&what, &status, &seen, whole);
        }
        let stages = recorded["stages"].as_array().into_iter().flatten();
        // The garbage collection of pods whose node object was deleted is not simulated.
        for stage in stages.filter(|stage| stage["stage"] != "node-object-deleted-pod-gc") {
            let status = plain(stage["pod"]["status"].clone());
            expect(&format!("{what} {}", stage["stage"]), &status, &seen, false);
        }
        self.check_events(&what, &recorded, &world, &name);
    }

    fn check_events(&self, what: &str, recorded: &Value, world: &World, name: &str) {
        let Some(events) = recorded["events"].as_array() else {
            return;
        };
        // Stages add events of their own to those of the main state.
        let stages = recorded["stages"].as_array().into_iter().flatten();
        let later = stages
            .filter_map(|stage| stage["events"].as_array())
            .flatten();
        let of_the_pod = events
            .iter()
            .chain(later)
            .filter(|event| event["involvedObject"]["kind"] == "Pod");
        let expected: BTreeSet<String> = of_the_pod.map(event_text).collect();
        let ours = world
            .events
            .values()
            .filter(|event| event["involvedObject"]["name"] == name);
        let ours: BTreeSet<String> = ours.map(event_text).collect();
        let missing: Vec<_> = expected.difference(&ours).collect();
        assert!(
            missing.is_empty(),
            "{what}: no event {missing:#?}\nbut {ours:#?}"
        );
        if self.variant.is_empty() && recorded["source"] == "recorded" {
            let surplus: Vec<_> = ours.difference(&expected).collect();
            assert!(surplus.is_empty(), "{what}: not recorded: {surplus:#?}");
        }
    }
}

/// Most recordings were made with the image on the node.
fn has_image(recorded: &Value) -> bool {
    let events = recorded["events"].as_array();
    !events
        .into_iter()
        .flatten()
        .any(|event| event["reason"] == "Pulling")
}

/// A pod that runs the image on the node beforehand.
fn warm_up(world: &mut World, has_image: bool) {
    if has_image {
        let mut pod = super::world::pod("before", &[]);
        pod["metadata"]["uid"] = "before".into();
        world.put(pod);
        world.run_until(5.0);
    }
}

/// One of the statuses that were seen must be the expected one: all of it, or what it says.
fn expect(what: &str, expected: &Value, seen: &[Value], whole: bool) {
    let fits = |status: &Value| {
        if whole {
            status == expected
        } else {
            says(status, expected)
        }
    };
    if seen.iter().any(fits) {
        return;
    }
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
    // The one that has most lines in common is the most telling.
    let wanted = pretty(expected);
    let wanted: BTreeSet<&str> = wanted.lines().collect();
    let closest = seen
        .iter()
        .map(pretty)
        .max_by_key(|status| status.lines().filter(|line| wanted.contains(line)).count())
        .unwrap_or_default();
    let expected = pretty(expected);
    let diff = similar::TextDiff::from_lines(&expected, &closest);
    panic!(
        "{what}: never seen:\n{}",
        diff.unified_diff().context_radius(3)
    );
}

/// Whether `status` says all that `expected` says.
fn says(status: &Value, expected: &Value) -> bool {
    match (status, expected) {
        (Value::Object(status), Value::Object(expected)) => expected
            .iter()
            .all(|(field, value)| status.get(field).is_some_and(|ours| says(ours, value))),
        (Value::Array(status), Value::Array(expected)) => expected
            .iter()
            .all(|value| status.iter().any(|ours| says(ours, value))),
        _ => status == expected,
    }
}

/// A status without what differs from run to run.
fn plain(mut value: Value) -> Value {
    blank(&mut value);
    value
}

fn blank(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for field in ["hostIPs", "podIPs"] {
                map.remove(field);
            }
            for (field, value) in map.iter_mut() {
                let is_text = value.as_str().is_some_and(|text| !text.is_empty());
                let varies = matches!(
                    field.as_str(),
                    "lastTransitionTime"
                        | "startTime"
                        | "startedAt"
                        | "finishedAt"
                        | "hostIP"
                        | "podIP"
                        | "imageID"
                        | "containerID"
                );
                if varies && is_text && *value != "1970-01-01T00:00:00Z" {
                    *value = "…".into();
                } else {
                    blank(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(blank),
        Value::String(text) => *text = without_uid(text),
        _ => {}
    }
}

/// Pod UIDs and names stand in parentheses or before them in the kubelet's texts.
fn without_uid(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        plain.push_str(before);
        plain.push('(');
        match after.split_once(')') {
            Some((inside, after)) if inside.len() == 36 && inside.matches('-').count() == 4 => {
                plain.push_str("uid)");
                rest = after;
            }
            _ => rest = after,
        }
    }
    plain.push_str(rest);
    plain
}

fn event_text(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let source = text(&event["source"]["component"]) + &text(&event["action"]);
    let path = text(&event["involvedObject"]["fieldPath"]);
    let message = without_uid(&text(&event["message"]));
    // The second pod of the first node, here and there.
    let message = message
        .replace("10.244.1.7", "10.244.1.3")
        .replace("node-2", "node-1");
    format!(
        "{} {} {source} {path} {message}",
        text(&event["type"]),
        text(&event["reason"])
    )
}

#[test]
fn images() {
    for case in [
        Case::new("image-not-found", &[("fails", "ErrImagePull")]),
        Case::new("image-invalid-name", &[]),
        Case::new("image-never-pull", &[("fails", "ErrImageNeverPull")]),
        Case::new("image-signature", &[("fails", "SignatureValidationFailed")]),
        Case::new("image-unauthorized", &[
            ("fails", "ErrImagePull"),
            ("message", "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"),
        ]).spec(json!({"imagePullSecrets": [{"name": "regcred"}, {"name": "regcred2"}]})),
        Case::new("image-registry-unavailable", &[
            ("fails", "RegistryUnavailable"),
            ("message", "pinging container registry reg.example.com: Get \"https://reg.example.com/v2/\": dial tcp 203.0.113.7:443: connect: connection refused"),
        ]),
    ] {
        case.check();
    }
}

#[test]
fn configuration() {
    let config_map = |optional: bool| {
        json!({"web": {"env": [{"name": "A", "valueFrom": {
        "configMapKeyRef": {"name": "absent", "key": "k", "optional": optional}}}]}})
    };
    let secret = json!({"web": {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "k"}}}]}});
    let volume = |volume: Value| json!({"volumes": [volume]});
    for case in [
        Case::new("config-reference-missing", &[]).spec(config_map(false)),
        Case::new("config-reference-missing", &[])
            .variant("secret-missing")
            .spec(secret),
        Case::new(
            "create-container-error",
            &[
                ("fails", "CreateContainerError"),
                (
                    "message",
                    "failed to generate container \"0a1b\" spec: failed to generate spec: path \"/data\" is mounted on \"/\" but it is not a shared mount",
                ),
            ],
        ),
        Case::new(
            "run-container-error",
            &[
                ("fails", "RunContainerError"),
                (
                    "message",
                    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: \"nosuch\": executable file not found in $PATH: unknown",
                ),
            ],
        ),
        Case::new("failed-mount", &[]).spec(volume(
            json!({"name": "v", "configMap": {"name": "absent"}}),
        )),
        Case::new("failed-mount", &[])
            .variant("vol-secret")
            .spec(volume(
                json!({"name": "v", "secret": {"secretName": "absent"}}),
            )),
    ] {
        case.check();
    }
}

#[test]
fn crashes() {
    for case in [
        Case::new("crash-loop", &[("fails", "CrashLoopBackOff")]),
        Case::new(
            "crash-loop",
            &[("fails", "CrashLoopBackOff"), ("exit-code", "126")],
        )
        .variant("exit-126"),
        Case::new("completed-in-deployment", &[("fails", "Completed")]),
        Case::new("oom-killed", &[("fails", "OOMKilled"), ("runs-for", "3s")]),
    ] {
        case.check();
    }
}

#[test]
fn probes() {
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": 8080}, "periodSeconds": 3});
    let web = |kind: &str, probe: Value| json!({"web": {kind: probe}});
    for case in [
        Case::new("readiness-probe", &[
            ("fails", "NeverReady"),
            ("message", "HTTP probe failed with statuscode: 500"),
        ])
        .spec(web("readinessProbe", probe("/x")))
        .until(60.0),
        // Nobody listens yet: the application takes ten minutes to come up.
        Case::new("readiness-probe", &[("ready-after", "10m")])
            .variant("ready-refused")
            .spec(web("readinessProbe", probe("/x")))
            .until(60.0),
        Case::new("readiness-probe", &[("ready-after", "10m")])
            .variant("ready-tcp")
            .spec(web("readinessProbe", json!({"tcpSocket": {"port": 8080}})))
            .until(60.0),
        Case::new("readiness-probe", &[("ready-after", "10m")])
            .variant("ready-grpc")
            .spec(web("readinessProbe", json!({"grpc": {"port": 8080}})))
            .until(60.0),
        Case::new("startup-probe", &[
            ("fails", "StartupProbe"),
            ("message", "HTTP probe failed with statuscode: 404"),
        ])
        .spec(web("startupProbe", probe("/x")))
        .until(1500.0),
        Case::new("liveness-probe", &[
            ("fails", "LivenessProbe"),
            ("message", "HTTP probe failed with statuscode: 500"),
        ])
        .spec(web("livenessProbe", probe("/x")))
        .until(1500.0),
        Case::new("liveness-probe", &[
            ("fails", "LivenessProbe"),
            ("terminates-after", "1m"),
        ])
        .variant("sigkill-after-grace")
        .spec(web("livenessProbe", probe("/x")))
        .until(1500.0),
        Case::new("min-ready-seconds", &[]),
        Case::new("readiness-gate", &[]).spec(json!({"readinessGates": [{"conditionType": "example.com/lb"}]})),
        Case::new("post-start-hook", &[
            ("fails", "PostStartHookError"),
            ("message", "command 'fail 7 boom' exited with 7: boom, message: \"boom\""),
        ])
        .spec(json!({"web": {"lifecycle": {"postStart": {"exec": {"command": ["fail", "7", "boom"]}}}}})),
    ] {
        case.check();
    }
}

#[test]
fn init_containers_and_sidecars() {
    let init = |containers: Value| json!({"initContainers": containers});
    let container = |name: &str| json!({"name": name, "image": "reg.example.com/ok:v1"});
    let sidecar = |more: Value| {
        let mut proxy = container("proxy");
        proxy["restartPolicy"] = "Always".into();
        for (field, value) in more.as_object().expect("fields") {
            proxy[field] = value.clone();
        }
        init(json!([proxy]))
    };
    let probe = json!({"httpGet": {"path": "/x", "port": 8080}, "periodSeconds": 2});
    for case in [
        Case::new("init-container", &[("fails.migrate", "CrashLoopBackOff")])
            .spec(init(json!([container("migrate"), container("second")]))),
        Case::new("init-container", &[("runs-for.wait-db", "1h")])
            .variant("init-only-waits")
            .spec(init(json!([container("wait-db")]))),
        Case::new("init-container", &[("fails.fetch", "ErrImagePull")])
            .variant("init-image")
            .spec(init(
                json!([{"name": "fetch", "image": "reg.example.com/notfound:v2"}]),
            )),
        Case::new(
            "sidecar-crash",
            &[
                ("fails.proxy", "CrashLoopBackOff"),
                ("runs-for.proxy", "2s"),
            ],
        )
        .spec(sidecar(json!({}))),
        Case::new(
            "sidecar-crash",
            &[
                ("fails.proxy", "StartupProbe"),
                ("message.proxy", "HTTP probe failed with statuscode: 404"),
            ],
        )
        .variant("startup-probe-never-passes")
        .spec(sidecar(json!({"startupProbe": probe})))
        .until(1500.0),
        Case::new("sidecar-crash", &[("fails.proxy", "NeverReady")])
            .variant("readiness-probe")
            .spec(sidecar(json!({"readinessProbe": probe}))),
    ] {
        case.check();
    }
}

#[test]
fn the_pod_as_a_whole() {
    for case in [
        Case::new("evicted-node-pressure", &[
            ("fails", "Evicted"),
            ("message", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 86424Ki. Container web was using 812340Ki, request is 256Mi, has larger consumption of memory. "),
        ]),
        Case::new("kubelet-rejected", &[("fails", "SysctlForbidden")]),
        Case::new("node-unreachable", &[])
            .spec(json!({"tolerations": [{
                "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                "effect": "NoExecute", "tolerationSeconds": 15}]}))
            .until(10.0),
        Case::new("terminating-finalizer", &[]).deleted(12.0, 30),
        Case::new("terminating-finalizer", &[("terminates-after", "1h")])
            .variant("ignores-sigterm")
            .deleted(12.0, 40)
            .until(50.0),
        Case::new("failed-mount", &[
            ("fails", "FailedCreatePodSandBox"),
            ("message", "rpc error: code = Unknown desc = failed to setup network for sandbox \"0123abcd\": plugin type=\"calico\" failed (add): stat /var/lib/calico/nodename: no such file or directory: check that the calico/node container is running and has mounted /var/lib/calico/"),
        ])
        .variant("nosandbox"),
    ] {
        case.check();
    }
}
