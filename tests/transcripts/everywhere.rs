//! `-A`: kubectl's `rollout` and `set` commands do not have it. Lines say the namespace, since names need not be unique.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::recording::Case;
use crate::replay;

/// Two Deployments of the same name, each with two revisions.
fn world() -> Vec<Value> {
    ["default", "kube-public"]
        .into_iter()
        .flat_map(|namespace| {
            [
                deployment(namespace),
                set(namespace, 1, 0),
                set(namespace, 2, 1),
            ]
        })
        .collect()
}

fn deployment(namespace: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace, "labels": {"app": "web"}, "annotations": {
            "deployment.kubernetes.io/revision": "2", "kubectl.kubernetes.io/last-applied-configuration": "{}",
        }},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template(2)},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1},
    })
}

fn set(namespace: &str, number: u32, replicas: u32) -> Value {
    let mut template = template(number);
    template["metadata"]["labels"]["pod-template-hash"] = json!(format!("7f00{number}"));
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("web-7f00{number}"), "namespace": namespace,
            "labels": template["metadata"]["labels"], "creationTimestamp": -86400,
            "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
            "ownerReferences": [{"kind": "Deployment", "name": "web"}],
        },
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": template["metadata"]["labels"]}, "template": template,
        },
    })
}

fn template(number: u32) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": format!("app:{number}")}]},
    })
}

/// What is said, what it ends with and what is written.
async fn told(lines: &[&str]) -> String {
    let before = world();
    let mut told = String::new();
    for line in lines {
        let ended = replay::run(&Case::new(&before, line)).await;
        let (out, err, exit) = (ended.stdout, ended.stderr, ended.exit);
        writeln!(told, "$ kubectl rs {line}\n{out}{err}[{exit}]").unwrap();
        for write in ended.writes {
            let (method, path) = (write["method"].as_str(), write["path"].as_str());
            writeln!(told, "{} {}", method.unwrap(), path.unwrap()).unwrap();
        }
    }
    told
}

#[tokio::test]
async fn all_namespaces_are_looked_at() {
    insta::assert_snapshot!(told(&[
        "rollout status deploy -A --watch=false",
        "rollout status deploy -A --watch=false --revision=3",
        "rollout history deploy --all-namespaces -l app=web",
        "rollout history deploy -A -o wide",
        "rollout history deploy -A --revision=9",
        "rollout history deploy -A -o name --revision=1",
        "rollout status deploy -A -l app=none",
        "rollout status deploy -A -n kube-public --watch=false",
    ]).await, @r#"
    $ kubectl rs rollout status deploy -A --watch=false
    default/web: deployment "web" successfully rolled out
    kube-public/web: deployment "web" successfully rolled out
    [0]
    $ kubectl rs rollout status deploy -A --watch=false --revision=3
    default/web: desired revision (3) is different from the running revision (2)
    kube-public/web: desired revision (3) is different from the running revision (2)
    [9]
    $ kubectl rs rollout history deploy --all-namespaces -l app=web
    deployment.apps/default/web 
    REVISION  CHANGE-CAUSE
    1         <none>
    2         <none>

    deployment.apps/kube-public/web 
    REVISION  CHANGE-CAUSE
    1         <none>
    2         <none>

    [0]
    $ kubectl rs rollout history deploy -A -o wide
    deployment.apps/default/web
    REVISION   CHANGE-CAUSE   AGE   IMAGES   REPLICAS   READY   HASH    REUSED-FROM   CURRENT
    1          <none>         24h   app:1    0          0       7f001   <none>        no
    2          <none>         24h   app:2    1          0       7f002   <none>        yes
    deployment.apps/kube-public/web
    REVISION   CHANGE-CAUSE   AGE   IMAGES   REPLICAS   READY   HASH    REUSED-FROM   CURRENT
    1          <none>         24h   app:1    0          0       7f001   <none>        no
    2          <none>         24h   app:2    1          0       7f002   <none>        yes
    [0]
    $ kubectl rs rollout history deploy -A --revision=9
    default/web: unable to find the specified revision
    hint: there are revisions 1 and 2
    kube-public/web: unable to find the specified revision
    hint: there are revisions 1 and 2
    [1]
    $ kubectl rs rollout history deploy -A -o name --revision=1
    replicaset.apps/web-7f001
    replicaset.apps/web-7f001
    [0]
    $ kubectl rs rollout status deploy -A -l app=none
    No resources found
    [8]
    $ kubectl rs rollout status deploy -A -n kube-public --watch=false
    default/web: deployment "web" successfully rolled out
    kube-public/web: deployment "web" successfully rolled out
    [0]
    "#);
}

#[tokio::test]
async fn all_namespaces_are_changed_where_labels_say_what() {
    insta::assert_snapshot!(told(&[
        "rollout pause deploy -A -l app=web",
        "rollout resume deploy -A -l app=web",
        "rollout restart deploy -A -l app=web",
        "rollout undo deploy -A -l app=web --dry-run=server",
        "set image deploy -A -l app=web main=app:3",
        "set image deploy -A --all main=app:3 --dry-run=client",
        "set image deploy -A --all other=app:3",
    ]).await, @r#"
    $ kubectl rs rollout pause deploy -A -l app=web
    deployment.apps/default/web paused
    deployment.apps/kube-public/web paused
    [0]
    PATCH /apis/apps/v1/namespaces/default/deployments/web
    PATCH /apis/apps/v1/namespaces/kube-public/deployments/web
    $ kubectl rs rollout resume deploy -A -l app=web
    error: deployments.apps "default/web" is not paused
    error: deployments.apps "kube-public/web" is not paused
    [1]
    $ kubectl rs rollout restart deploy -A -l app=web
    deployment.apps/default/web restarted
    deployment.apps/kube-public/web restarted
    [0]
    PATCH /apis/apps/v1/namespaces/default/deployments/web
    PATCH /apis/apps/v1/namespaces/kube-public/deployments/web
    $ kubectl rs rollout undo deploy -A -l app=web --dry-run=server
    deployment.apps/default/web rolled back (server dry run)
    deployment.apps/kube-public/web rolled back (server dry run)
    Warning: resource deployments/default/web was previously managed with 'kubectl apply'. Rolling back will not update the kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.
    note: deployment.apps/default/web: a later 'kubectl apply' of the present configuration would leave behind: main
    note: deployment.apps/default/web: revision 1 becomes revision 3; replicas stay 1
    Warning: resource deployments/kube-public/web was previously managed with 'kubectl apply'. Rolling back will not update the kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.
    note: deployment.apps/kube-public/web: a later 'kubectl apply' of the present configuration would leave behind: main
    note: deployment.apps/kube-public/web: revision 1 becomes revision 3; replicas stay 1
    [0]
    PATCH /apis/apps/v1/namespaces/default/deployments/web
    PATCH /apis/apps/v1/namespaces/kube-public/deployments/web
    $ kubectl rs set image deploy -A -l app=web main=app:3
    deployment.apps/default/web image updated
    deployment.apps/kube-public/web image updated
    [0]
    PATCH /apis/apps/v1/namespaces/default/deployments/web
    PATCH /apis/apps/v1/namespaces/kube-public/deployments/web
    $ kubectl rs set image deploy -A --all main=app:3 --dry-run=client
    deployment.apps/default/web image updated (dry run)
    deployment.apps/kube-public/web image updated (dry run)
    [0]
    $ kubectl rs set image deploy -A --all other=app:3
    error: unable to find container named "other"
    hint: deployment.apps/default/web has main
    error: unable to find container named "other"
    hint: deployment.apps/kube-public/web has main
    [1]
    "#);
}

#[tokio::test]
async fn names_and_everything_at_once_are_refused() {
    insta::assert_snapshot!(told(&[
        "rollout status deploy/web -A",
        "rollout pause deploy web -A",
        "rollout pause deploy -A",
        "rollout restart deploy -A -l=",
        "rollout undo deploy,sts -A",
        "set image deploy -A main=app:3",
    ]).await, @"
    $ kubectl rs rollout status deploy/web -A
    error: a resource cannot be retrieved by name across all namespaces
    [2]
    $ kubectl rs rollout pause deploy web -A
    error: a resource cannot be retrieved by name across all namespaces
    [2]
    $ kubectl rs rollout pause deploy -A
    error: -A alone would change every namespace, the system's own too
    hint: say which objects with -l
    [2]
    $ kubectl rs rollout restart deploy -A -l=
    error: -A alone would change every namespace, the system's own too
    hint: say which objects with -l
    [2]
    $ kubectl rs rollout undo deploy,sts -A
    error: -A alone would change every namespace, the system's own too
    hint: say which objects with -l
    [2]
    $ kubectl rs set image deploy -A main=app:3
    error: resource(s) were provided, but no name was specified
    hint: --all takes every one of them, -l those with certain labels
    [2]
    ");
}
