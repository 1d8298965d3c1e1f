//! Every mistake that the specification of the commands words, as the user gets to see it.

use std::fmt::Write as _;

use crate::recording::Case;
use crate::replay;
use crate::side_by_side::world;

async fn told(lines: &[&str]) -> String {
    let before = world();
    let mut told = String::new();
    for line in lines {
        let ended = replay::run(&Case::new(&before, line)).await;
        assert_eq!(ended.writes, Vec::<serde_json::Value>::new(), "{line}");
        writeln!(
            told,
            "$ kubectl rs {line}\n{}[{}]",
            ended.stderr, ended.exit
        )
        .unwrap();
    }
    told
}

#[tokio::test]
async fn mistakes_in_naming_objects() {
    insta::assert_snapshot!(told(&[
        "rollout foo",
        "rollout status",
        "rollout pause deployment deployment/web",
        "rollout pause deployment web -l app=web",
        "rollout pause deployment/web -l app=web",
        "rollout pause deployment -f nope.yaml",
        "rollout pause deployment/web -f nope.yaml",
        "rollout pause -f nope.yaml",
        "rollout pause foo/web",
        "rollout pause deployment/nope",
        "rollout pause deployment/nope deployment/nada",
        "rollout pause deployment -l app=none",
        "rollout pause deploy/web -o foo",
        "rollout undo deploy/web --dry-run=maybe",
    ]).await, @r#"
    $ kubectl rs rollout foo
    error: unknown command "foo"
    See 'kubectl rs rollout -h' for help and examples
    [2]
    $ kubectl rs rollout status
    error: required resource not specified
    hint: name some (deploy/web), or a type for all of it (deploy)
    [2]
    $ kubectl rs rollout pause deployment deployment/web
    error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'
    [2]
    $ kubectl rs rollout pause deployment web -l app=web
    error: name cannot be provided when a selector is specified
    [2]
    $ kubectl rs rollout pause deployment/web -l app=web
    error: selectors and the all flag cannot be used when passing resource/name arguments
    [2]
    $ kubectl rs rollout pause deployment -f nope.yaml
    error: when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well
    [2]
    $ kubectl rs rollout pause deployment/web -f nope.yaml
    error: resource/name arguments cannot be provided when a path is specified
    [2]
    $ kubectl rs rollout pause -f nope.yaml
    error: the path "nope.yaml" does not exist
    [2]
    $ kubectl rs rollout pause foo/web
    error: the server doesn't have a resource type "foo"
    [2]
    $ kubectl rs rollout pause deployment/nope
    Error from server (NotFound): deployments.apps "nope" not found
    [1]
    $ kubectl rs rollout pause deployment/nope deployment/nada
    Error from server (NotFound): deployments.apps "nope" not found
    Error from server (NotFound): deployments.apps "nada" not found
    [1]
    $ kubectl rs rollout pause deployment -l app=none
    No resources found in default namespace.
    [8]
    $ kubectl rs rollout pause deploy/web -o foo
    error: unable to match a printer suitable for the output format "foo", allowed formats are: go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml
    [2]
    $ kubectl rs rollout undo deploy/web --dry-run=maybe
    error: Invalid dry-run value (maybe). Must be "none", "server", or "client".
    [2]
    "#);
}

#[tokio::test]
async fn refusals_of_the_rollout_commands() {
    insta::assert_snapshot!(told(&[
        "rollout status deploy/web --revision=-1",
        "rollout status deploy/web --revision=7",
        "rollout status rs/web-7f001",
        "rollout history deploy/web --revision=-1",
        "rollout history deploy/web --revision=7",
        "rollout history pod,rs",
        "rollout undo deploy/web --to-revision=7",
        "rollout undo deploy/web --to-revision=-7",
        "rollout undo sts/db --to-revision=7",
        "rollout undo rs/web-7f001",
        "rollout resume deploy/web",
        "rollout resume ds/agent",
        "rollout pause ds/agent",
        "rollout restart cj/nightly",
    ]).await, @r#"
    $ kubectl rs rollout status deploy/web --revision=-1
    error: revision must be a positive integer: -1
    [2]
    $ kubectl rs rollout status deploy/web --revision=7
    error: desired revision (7) is different from the running revision (2)
    [9]
    $ kubectl rs rollout status rs/web-7f001
    error: no status viewer has been implemented for ReplicaSet.apps
    [1]
    $ kubectl rs rollout history deploy/web --revision=-1
    error: revision must be a positive integer: -1
    [2]
    $ kubectl rs rollout history deploy/web --revision=7
    error: unable to find the specified revision
    hint: there are revisions 1 and 2
    [1]
    $ kubectl rs rollout history pod,rs
    no history viewer has been implemented for "ReplicaSet.apps"
    no history viewer has been implemented for "ReplicaSet.apps"
    [1]
    $ kubectl rs rollout undo deploy/web --to-revision=7
    error: unable to find specified revision 7 in history
    hint: there are revisions 1 and 2
    [1]
    $ kubectl rs rollout undo deploy/web --to-revision=-7
    error: unable to find specified revision -7 in history
    [1]
    $ kubectl rs rollout undo sts/db --to-revision=7
    error: unable to find specified revision 7 in history
    hint: there are revisions 1 and 3
    [1]
    $ kubectl rs rollout undo rs/web-7f001
    error: no rollbacker has been implemented for "ReplicaSet.apps"
    [1]
    $ kubectl rs rollout resume deploy/web
    error: deployments.apps "web" is not paused
    [1]
    $ kubectl rs rollout resume ds/agent
    error: daemonsets.apps "agent" resuming is not supported
    [1]
    $ kubectl rs rollout pause ds/agent
    error: daemonsets.apps "agent" pausing is not supported
    [1]
    $ kubectl rs rollout restart cj/nightly
    error: cronjobs.batch "nightly" restarting is not supported
    [1]
    "#);
}

#[tokio::test]
async fn refusals_of_set_image() {
    insta::assert_snapshot!(told(&[
        "set image",
        "set image deploy",
        "set image deploy main=a:1",
        "set image deploy/web",
        "set image deploy/web main-",
        "set image main=a:1 deploy/web",
        "set image deploy/web nope=a:1",
        "set image deploy/web *=a:1 main=a:2",
        "set image deploy --all -l app=web main=a:1",
        "set image cm/settings main=a:1",
        "set image -l app=web main=a:1",
        "set image --local deploy/web main=a:1",
        "set image deploy/web main=a:1 -o foo",
    ]).await, @r#"
    $ kubectl rs set image
    error: You must provide one or more resources by argument or filename.
    Example resource specifications include:
       '-f rsrc.yaml'
       '--filename=rsrc.json'
       '<resource> <name>'
       '<resource>'
    [2]
    $ kubectl rs set image deploy
    error: resource(s) were provided, but no name was specified
    hint: --all takes every one of them, -l those with certain labels
    [2]
    $ kubectl rs set image deploy main=a:1
    error: resource(s) were provided, but no name was specified
    hint: --all takes every one of them, -l those with certain labels
    [2]
    $ kubectl rs set image deploy/web
    error: at least one image update is required
    hint: name a container and its image, such as web=nginx:1.27
    [2]
    $ kubectl rs set image deploy/web main-
    error: invalid image format: main-
    [2]
    $ kubectl rs set image main=a:1 deploy/web
    error: all resources must be specified before image changes: deploy/web
    [2]
    $ kubectl rs set image deploy/web nope=a:1
    error: unable to find container named "nope"
    hint: deployment.apps/web has main, side; init: prep
    [1]
    $ kubectl rs set image deploy/web *=a:1 main=a:2
    error: all containers are already specified by *, but saw more than one container_name=container_image pairs
    [2]
    $ kubectl rs set image deploy --all -l app=web main=a:1
    error: cannot set --all and --selector at the same time
    [2]
    $ kubectl rs set image cm/settings main=a:1
    error: configmaps/settings the object is not a pod or does not have a pod template: *v1.ConfigMap
    [1]
    $ kubectl rs set image -l app=web main=a:1
    error: at least one resource must be specified to use a selector
    [2]
    $ kubectl rs set image --local deploy/web main=a:1
    error: you must specify resources by --filename when --local is set.
    Example resource specifications include:
       '-f rsrc.yaml'
       '--filename=rsrc.json'
    [2]
    $ kubectl rs set image deploy/web main=a:1 -o foo
    error: unable to match a printer suitable for the output format "foo", allowed formats are: go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml
    [2]
    "#);
}
