//! A server of a later version sends fields that this program does not know: no command takes one away.

use serde_json::{Value, json};

use crate::recording::Case;
use crate::replay::{self, Ended};

fn before(paused: bool) -> [Value; 3] {
    let template = |number: u32| {
        json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [
                {"name": "main", "image": format!("app:{number}")}, {"name": "side", "image": "side:1"},
            ]},
        })
    };
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {
            "replicas": 2, "paused": paused, "selector": {"matchLabels": {"app": "web"}}, "template": template(2),
        },
    });
    let set = |number: u32| {
        let mut template = template(number);
        template["metadata"]["labels"]["pod-template-hash"] = json!(format!("7f00{number}"));
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": format!("web-7f00{number}"), "namespace": "default", "labels": template["metadata"]["labels"],
                "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": [{"kind": "Deployment", "name": "web"}],
            },
            "spec": {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template},
        })
    };
    [deployment, set(1), set(2)]
}

async fn run(line: &str, paused: bool) -> Ended {
    let mut case = Case::new(&before(paused), line);
    case.is_newer = true;
    let ended = replay::run(&case).await;
    assert_eq!(ended.exit, 0, "{line}: {}", ended.stderr);
    ended
}

/// A merge patch that names nothing but what changes leaves all else to the server.
#[tokio::test]
async fn patches_name_only_what_changes() {
    let order = json!([{"name": "main"}, {"name": "side"}]);
    let restarted = json!({"kubectl.kubernetes.io/restartedAt": "<at>"});
    for (line, paused, spec) in [
        (
            "set image deploy/web side=side:2",
            false,
            json!({"template": {"spec": {
                "$setElementOrder/containers": order, "containers": [{"name": "side", "image": "side:2"}],
            }}}),
        ),
        ("rollout pause deploy/web", false, json!({"paused": true})),
        ("rollout resume deploy/web", true, json!({"paused": null})),
        (
            "rollout restart deploy/web",
            false,
            json!({"template": {"metadata": {"annotations": restarted}}}),
        ),
    ] {
        let ended = run(line, paused).await;
        let [write] = &ended.writes[..] else {
            panic!("{line}: {:?}", ended.writes);
        };
        assert_eq!(
            write["contentType"],
            "application/strategic-merge-patch+json"
        );
        let mut body = write["body"].clone();
        let metadata = body["metadata"].take();
        let metadata = metadata.as_object().unwrap();
        assert_eq!(
            metadata.keys().collect::<Vec<_>>(),
            ["resourceVersion"],
            "{line}"
        );
        if let Some(at) = body
            .pointer_mut("/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt")
        {
            *at = "<at>".into();
        }
        assert_eq!(body["spec"], spec, "{line}");
    }
}

/// The template comes from the ReplicaSet as the server sent it.
#[tokio::test]
async fn undo_brings_back_what_it_does_not_know() {
    let ended = run("rollout undo deploy/web", false).await;
    let [write] = &ended.writes[..] else {
        panic!("{:?}", ended.writes);
    };
    let operation = &write["body"][0];
    assert_eq!(operation["path"], "/spec/template");
    let pod_spec = &operation["value"]["spec"];
    assert_eq!(pod_spec["inventedList"], json!([{"name": "x"}, 2]));
    assert_eq!(
        pod_spec["containers"][0]["inventedField"],
        json!({"of": ["app:1"]})
    );
    assert_eq!(
        pod_spec["containers"][1]["inventedField"],
        json!({"of": ["side:1"]})
    );
}

/// Revisions that differ in nothing else are not the same.
#[tokio::test]
async fn what_is_not_known_is_compared_and_printed() {
    let diff = run("rollout history deploy/web --diff", false).await;
    assert!(diff.stdout.contains("-      - app:1\n"), "{}", diff.stdout);
    assert!(diff.stdout.contains("+      - app:2\n"), "{}", diff.stdout);
    for line in [
        "rollout history deploy/web --revision=1 -o json",
        "set image deploy/web main=app:9 --dry-run=client -o json",
    ] {
        let ended = run(line, false).await;
        let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
        let containers = &printed["spec"]["template"]["spec"]["containers"];
        assert_eq!(
            containers[1]["inventedField"],
            json!({"of": ["side:1"]}),
            "{line}"
        );
    }
}
