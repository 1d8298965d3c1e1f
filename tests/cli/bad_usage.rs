//! Wrong command lines and clusters that are not there: one line, where to look, perhaps a hint, and the right exit code.

use crate::program::Program;

/// Runs each line and shows what it was told, with its exit code.
fn told(lines: &[&str]) -> String {
    let program = Program::new();
    let mut told = Vec::new();
    for line in lines {
        let ended = program.run(line);
        assert_eq!(ended.stdout, "", "{line}");
        let shape: Vec<_> = ended
            .stderr
            .lines()
            .filter(|line| !line.starts_with("See '"))
            .map(|line| line.starts_with("hint: "))
            .collect();
        assert!(
            matches!(shape[..], [false] | [false, true]),
            "{line}\n{}",
            ended.stderr
        );
        told.push(format!(
            "$ kubectl rs {line}\n{}[{}]\n",
            ended.stderr, ended.code
        ));
    }
    told.concat()
}

#[test]
fn wrong_words() {
    insta::assert_snapshot!(told(&[
        "snyc",
        "sync --wiat",
        "sync -x",
        "sync --timeout=soon deploy/web",
        "sync --timeout=5 deploy/web",
        "sync --dry-run=maybe deploy/web",
        "sync --until=200% deploy/web",
        "sync --wait --watch deploy/web",
    ]), @r#"
    $ kubectl rs snyc
    error: unknown command "snyc"
    See 'kubectl rs -h' for help and examples
    hint: did you mean 'sync'?
    [2]
    $ kubectl rs sync --wiat
    error: unknown flag: --wiat
    See 'kubectl rs sync --help' for usage.
    hint: did you mean '--wait'?
    [2]
    $ kubectl rs sync -x
    error: unknown shorthand flag: 'x' in -x
    See 'kubectl rs sync --help' for usage.
    [2]
    $ kubectl rs sync --timeout=soon deploy/web
    error: invalid argument "soon" for "--timeout" flag: time: invalid duration "soon"
    See 'kubectl rs sync --help' for usage.
    [2]
    $ kubectl rs sync --timeout=5 deploy/web
    error: invalid argument "5" for "--timeout" flag: time: missing unit in duration "5"
    See 'kubectl rs sync --help' for usage.
    [2]
    $ kubectl rs sync --dry-run=maybe deploy/web
    error: invalid argument "maybe" for "--dry-run" flag: must be one of none, client, server
    See 'kubectl rs sync --help' for usage.
    [2]
    $ kubectl rs sync --until=200% deploy/web
    error: invalid argument "200%" for "--until" flag: a share is at most 100%
    See 'kubectl rs sync --help' for usage.
    [2]
    $ kubectl rs sync --wait --watch deploy/web
    error: the argument '--wait' cannot be used with '--watch'
    See 'kubectl rs sync --help' for usage.
    [2]
    "#);
}

#[test]
fn stages_that_are_none_and_directories_for_kustomize() {
    insta::assert_snapshot!(told(&[
        "set image deploy/web web=nginx --pause-at=half",
        "set image deploy/web web=nginx --pause-at=0%",
        "rollout restart deploy/web --pause-at=100%",
        "rollout pause deploy/web --pause-at=1",
        "rollout restart -k overlays/prod",
    ]), @r#"
    $ kubectl rs set image deploy/web web=nginx --pause-at=half
    error: invalid argument "half" for "--pause-at" flag: give a number of pods such as 3, or a share such as 50%
    See 'kubectl rs set image --help' for usage.
    [2]
    $ kubectl rs set image deploy/web web=nginx --pause-at=0%
    error: invalid argument "0%" for "--pause-at" flag: a stage has at least one pod; 'rollout pause' holds everything back
    See 'kubectl rs set image --help' for usage.
    [2]
    $ kubectl rs rollout restart deploy/web --pause-at=100%
    error: invalid argument "100%" for "--pause-at" flag: 100% is the whole rollout: leave it out
    See 'kubectl rs rollout restart --help' for usage.
    [2]
    $ kubectl rs rollout pause deploy/web --pause-at=1
    error: unknown flag: --pause-at
    See 'kubectl rs rollout pause --help' for usage.
    hint: did you mean '--as'?
    [2]
    $ kubectl rs rollout restart -k overlays/prod
    error: kustomize is not built in, so -k can't be used
    hint: kubectl kustomize overlays/prod | kubectl rs … -f -
    [2]
    "#);
}

#[test]
fn words_that_do_not_go_together() {
    insta::assert_snapshot!(told(&[
        "sync -o foo --embedded deploy/web",
        "sync --embedded",
        "sync --embedded foo/web",
        "sync --embedded pods/web",
        "sync --embedded deploy/web deploy web",
        "sync --embedded deploy/web -l app=web",
        "sync --embedded deploy/web -f web.yaml",
        "sync --embedded deploy/web -A",
        "sync --embedded -l a==b=c",
        "sync --embedded -A --watch --simulate-pods",
        "sync -A --simulate-pods",
    ]), @r#"
    $ kubectl rs sync -o foo --embedded deploy/web
    error: unable to match a printer suitable for the output format "foo", allowed formats are: json,jsonl,name,table,wide,yaml
    [2]
    $ kubectl rs sync --embedded
    error: which objects? none were named
    hint: name some (deploy/web), or use -f, -l or -A
    [2]
    $ kubectl rs sync --embedded foo/web
    error: the server doesn't have a resource type "foo"
    [2]
    $ kubectl rs sync --embedded pods/web
    error: cannot work on resource type "pods"
    hint: Deployments and ReplicaSets are what can be named
    [2]
    $ kubectl rs sync --embedded deploy/web deploy web
    error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'
    [2]
    $ kubectl rs sync --embedded deploy/web -l app=web
    error: selectors and the all flag cannot be used when passing resource/name arguments
    [2]
    $ kubectl rs sync --embedded deploy/web -f web.yaml
    error: resource/name arguments cannot be provided when a path is specified
    [2]
    $ kubectl rs sync --embedded deploy/web -A
    error: a resource cannot be retrieved by name across all namespaces
    [2]
    $ kubectl rs sync --embedded -l a==b=c
    error: found '=', expected: ',' or 'end of string'
    [2]
    $ kubectl rs sync --embedded -A --watch --simulate-pods
    error: the embedded cluster has nodes of its own
    hint: leave --simulate-pods out
    [2]
    $ kubectl rs sync -A --simulate-pods
    error: --simulate-pods goes with --watch or --wait
    [2]
    "#);
}

#[test]
fn clusters_that_are_not_there() {
    insta::assert_snapshot!(told(&[
        "sync deploy/web",
        "sync deploy/web --controller=client -s http://127.0.0.1:1",
        "sync deploy/web --controller=client -s ftp://127.0.0.1:1",
        "sync deploy/web --controller=client --context=nowhere",
        "sync deploy/web --controller=client --kubeconfig=missing",
        "sync deploy/web --controller=client --as-group=dev",
        "sync deploy/web --controller=client -s https://127.0.0.1:1 --certificate-authority=missing",
    ]), @r#"
    $ kubectl rs sync deploy/web
    The connection to the server localhost:8080 was refused - did you specify the right host or port?
    hint: no kubeconfig was found; name one with --kubeconfig or KUBECONFIG, or use --embedded
    [1]
    $ kubectl rs sync deploy/web --controller=client -s http://127.0.0.1:1
    The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?
    [1]
    $ kubectl rs sync deploy/web --controller=client -s ftp://127.0.0.1:1
    Unable to connect to the server: 127.0.0.1:1: unsupported scheme ftp
    [1]
    $ kubectl rs sync deploy/web --controller=client --context=nowhere
    error: context "nowhere" does not exist
    hint: the kubeconfig has no contexts
    [1]
    $ kubectl rs sync deploy/web --controller=client --kubeconfig=missing
    error: stat missing: no such file or directory
    [1]
    $ kubectl rs sync deploy/web --controller=client --as-group=dev
    error: requesting uid, groups or user-extra without impersonating a user
    hint: name the user with --as
    [2]
    $ kubectl rs sync deploy/web --controller=client -s https://127.0.0.1:1 --certificate-authority=missing
    error: unable to read certificate-authority missing: No such file or directory (os error 2)
    [1]
    "#);
}
