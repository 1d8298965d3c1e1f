//! What kubectl does worse: changes of others between reading and writing, and what goes with them.

use serde_json::{Value, json};

use crate::recording::Case;
use crate::replay::{self, Ended};

fn deployment(paused: bool) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 3, "paused": paused, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:2"}, {"name": "side", "image": "side:1"}]},
            },
        },
    })
}

fn old_set() -> Value {
    let labels = json!({"app": "web", "pod-template-hash": "7f001"});
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": "web-7f001", "namespace": "default", "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [{"kind": "Deployment", "name": "web"}],
        },
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "main", "image": "app:1"}]},
        }},
    })
}

async fn interfered(line: &str, before: &[Value], patch: Value) -> Ended {
    let mut case = Case::new(before, line);
    case.interference = vec![patch];
    replay::run(&case).await
}

/// Each command meets a change that somebody else made after it had read: it reads anew, and both changes stand.
#[tokio::test]
async fn a_change_made_meanwhile_is_not_lost() {
    let before = [deployment(false), old_set()];
    let images = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "app:2"}, {"name": "side", "image": "side:9"}, {"name": "third", "image": "x:1"},
    ]}}}});
    let ended = interfered("set image deploy/web main=app:3", &before, images).await;
    assert_eq!((ended.exit, ended.writes.len()), (0, 2), "{}", ended.stderr);
    let template = &ended.after["deployment/web"]["template"];
    assert_eq!(
        template["spec"]["containers"],
        json!([
            {"name": "main", "image": "app:3"}, {"name": "side", "image": "side:9"}, {"name": "third", "image": "x:1"},
        ])
    );
    let scaled = json!({"spec": {"replicas": 7}, "metadata": {"labels": {"new": "one"}}});
    for line in ["rollout pause deploy/web", "rollout restart deploy/web"] {
        let ended = interfered(line, &before, scaled.clone()).await;
        assert_eq!(
            (ended.exit, ended.writes.len()),
            (0, 2),
            "{line}: {}",
            ended.stderr
        );
        assert_eq!(ended.after["deployment/web"]["replicas"], 7, "{line}");
    }
}

/// Who is always too late says so in the end, and has changed nothing.
#[tokio::test]
async fn a_conflict_that_does_not_end_is_told() {
    let mut case = Case::new(&[deployment(false)], "set image deploy/web main=app:3");
    case.interference = (0..20)
        .map(|number| json!({"metadata": {"labels": {"number": number.to_string()}}}))
        .collect();
    let ended = replay::run(&case).await;
    assert_eq!((ended.exit, ended.writes.len()), (1, 8));
    insta::assert_snapshot!(ended.stderr, @r#"error: failed to patch image update to pod template: Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again"#);
    let web = ended.objects["deployment/web"].as_ref().unwrap();
    assert_eq!(web["metadata"]["labels"]["number"], "7");
    let images = web.pointer("/spec/template/spec/containers/0/image");
    assert_eq!(images, Some(&json!("app:2")));
}

/// kubectl refuses the second of two restarts within a second, since it would change nothing.
#[tokio::test]
async fn a_second_restart_within_a_second_counts() {
    const RESTARTED_AT: &str =
        "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";
    let mut before = deployment(false);
    before["spec"]["template"]["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/restartedAt": "<now>", "own": "x"});
    let ended = replay::run(&Case::new(&[before], "rollout restart deploy/web")).await;
    assert_eq!(
        (ended.exit, &*ended.stdout),
        (0, "deployment.apps/web restarted\n")
    );
    let web = ended.objects["deployment/web"].as_ref().unwrap();
    assert_eq!(web["metadata"]["generation"], 2);
    assert_eq!(
        web["spec"]["template"]["metadata"]["annotations"]["own"],
        "x"
    );
    assert!(web.pointer(RESTARTED_AT).is_some_and(Value::is_string));
}

/// A Deployment and a template without annotations: there is nothing to replace, only to add.
#[tokio::test]
async fn annotations_that_are_not_there_are_no_obstacle() {
    let mut newer = old_set();
    newer["metadata"]["name"] = json!("web-7f002");
    newer["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!("2");
    newer["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:9");
    let before = [deployment(false), old_set(), newer];
    for line in ["rollout undo deploy/web", "rollout restart deploy/web"] {
        let ended = replay::run(&Case::new(&before, line)).await;
        assert_eq!(
            (ended.exit, ended.writes.len()),
            (0, 1),
            "{line}: {}",
            ended.stderr
        );
    }
}

/// What was decided on what is no longer true is decided again.
#[tokio::test]
async fn a_change_made_meanwhile_counts() {
    let pause = json!({"spec": {"paused": true}});
    let ended = interfered(
        "rollout pause deploy/web",
        &[deployment(false)],
        pause.clone(),
    )
    .await;
    assert_eq!(
        ended.stderr,
        "error: deployments.apps \"web\" is already paused\n"
    );
    assert_eq!(ended.exit, 1);
    let ended = interfered("rollout restart deploy/web", &[deployment(false)], pause).await;
    assert_eq!(ended.exit, 1);
    assert!(
        ended.stderr.contains("can't restart paused deployment"),
        "{}",
        ended.stderr
    );
}

/// Going back takes the annotations that are there when it writes.
#[tokio::test]
async fn undo_keeps_what_the_controller_wrote_meanwhile() {
    let mut newer = old_set();
    newer["metadata"]["name"] = json!("web-7f002");
    newer["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!("2");
    newer["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:9");
    let revision = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "5"}}});
    let before = [deployment(false), old_set(), newer];
    let ended = interfered("rollout undo deploy/web", &before, revision).await;
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    assert_eq!(
        ended.after["deployment/web"]["annotations"],
        json!({"deployment.kubernetes.io/revision": "5"})
    );
}

/// Each revision with its parts; a cause that was not given anew is marked, and what a number was before is told.
#[tokio::test]
async fn history_shows_what_revisions_are_made_of() {
    let set = |number: u32, image: &str, cause: &str, reused: &str| {
        let mut set = old_set();
        let name = format!("7f00{number}");
        set["metadata"]["name"] = json!(format!("web-{name}"));
        set["metadata"]["creationTimestamp"] = json!(i64::from(number) - 3 * 86_400 - 600);
        set["metadata"]["annotations"] = json!({
            "deployment.kubernetes.io/revision": number.to_string(), "kubernetes.io/change-cause": cause,
            "deployment.kubernetes.io/revision-history": reused,
        });
        for labels in [
            "/metadata/labels",
            "/spec/selector/matchLabels",
            "/spec/template/metadata/labels",
        ] {
            set.pointer_mut(labels).unwrap()["pod-template-hash"] = json!(name);
        }
        set["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        set
    };
    let mut web = deployment(false);
    web["spec"]["template"]["spec"]["containers"] = json!([{"name": "main", "image": "app:4"}]);
    let before = [
        web,
        set(2, "app:2", "first", ""),
        set(3, "app:3", "first", ""),
        set(4, "app:4", "back", "1"),
    ];
    let wide = replay::run(&Case::new(&before, "rollout history deploy/web -o wide")).await;
    insta::assert_snapshot!(wide.stdout, @r"
    deployment.apps/web
    REVISION   CHANGE-CAUSE        AGE   IMAGES   REPLICAS   READY   HASH    REUSED-FROM   CURRENT
    2          first               3d    app:2    0          0       7f002   <none>        no
    3          first (inherited)   3d    app:3    0          0       7f003   <none>        no
    4          back                3d    app:4    0          0       7f004   1             yes
    ");
    let diff = replay::run(&Case::new(
        &before,
        "rollout history deploy/web --diff=2..4",
    ))
    .await;
    insta::assert_snapshot!(diff.stdout, @r"
    --- revision 2
    +++ revision 4
    @@ -3,7 +3,7 @@
         app: web
     spec:
       containers:
    -  - image: app:2
    +  - image: app:4
         imagePullPolicy: IfNotPresent
         name: main
         resources: {}
    ");
    let missing = replay::run(&Case::new(&before, "rollout history deploy/web --diff=9")).await;
    insta::assert_snapshot!(missing.stderr, @r"
    error: unable to find revision 9
    hint: there are revisions 2, 3 and 4
    ");
}

/// Who asks for a revision that is not there learns which are, and what a number has become.
#[tokio::test]
async fn undo_says_which_revisions_there_are() {
    let mut set = old_set();
    set["metadata"]["annotations"] = json!({
        "deployment.kubernetes.io/revision": "3", "deployment.kubernetes.io/revision-history": "1",
    });
    let case = Case::new(
        &[deployment(false), set],
        "rollout undo deploy/web --to-revision=1",
    );
    let ended = replay::run(&case).await;
    assert_eq!(
        ended.stderr,
        "error: unable to find specified revision 1 in history\nhint: revision 1 lives on as 3; there is revision 3\n"
    );
}
