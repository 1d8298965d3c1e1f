//! From flags and kubeconfig files to a configuration; kubectl's words for what is missing.

use std::time::Duration;

use clap::Parser;
use kube::Config;

use super::{KubeFlags, RequestTimeout};
use crate::error::{ExitCode, Failure};

const KUBECONFIG: &str = r#"
apiVersion: v1
kind: Config
current-context: a
clusters:
- {name: one, cluster: {server: "https://one.example:6443", tls-server-name: api}}
- {name: two, cluster: {server: "http://127.0.0.1:1"}}
contexts:
- {name: a, context: {cluster: one, user: alice}}
- {name: b, context: {cluster: two, user: nobody, namespace: team}}
- {name: c, context: {cluster: gone, user: alice}}
users:
- {name: alice, user: {username: alice, password: secret}}
- {name: bob, user: {username: bob, password: secret}}
"#;

#[derive(Parser)]
struct Words {
    #[command(flatten)]
    kube: KubeFlags,
}

fn flags(line: &str) -> KubeFlags {
    let words = std::iter::once("kubectl").chain(line.split_whitespace());
    Words::try_parse_from(words)
        .expect("these flags exist")
        .kube
}

/// What the flags come to beside a kubeconfig file with the text above.
fn config(line: &str) -> Result<Config, Failure> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("config");
    std::fs::write(&path, KUBECONFIG).expect("a writable file");
    let mut flags = flags(line);
    flags.kubeconfig.get_or_insert(path);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(flags.config())
}

#[test]
fn flags_override_the_kubeconfig() {
    let show = |line: &str| {
        let config = config(line).expect("a configuration");
        let auth = &config.auth_info;
        format!(
            "{} ns={} user={} tls={} insecure={} gzip={}",
            config.cluster_url,
            config.default_namespace,
            auth.username.as_deref().unwrap_or("-"),
            config.tls_server_name.as_deref().unwrap_or("-"),
            config.accept_invalid_certs,
            !config.disable_compression,
        )
    };
    let lines = [
        "",
        "--context=b",
        "--context=b -n other",
        "--context=c",
        "--cluster=two",
        "--user=bob",
        "-s 127.0.0.1:7 --tls-server-name=x --disable-compression",
        "-s 127.0.0.1:7 --insecure-skip-tls-verify",
        "--token=t --insecure-skip-tls-verify=false",
    ];
    let shown: Vec<_> = lines
        .into_iter()
        .map(|line| format!("[{line}]\n{}", show(line)))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    []
    https://one.example:6443/ ns=default user=alice tls=api insecure=false gzip=true
    [--context=b]
    http://127.0.0.1:1/ ns=team user=- tls=- insecure=false gzip=true
    [--context=b -n other]
    http://127.0.0.1:1/ ns=other user=- tls=- insecure=false gzip=true
    [--context=c]
    http://localhost:8080/ ns=default user=alice tls=- insecure=false gzip=true
    [--cluster=two]
    http://127.0.0.1:1/ ns=default user=alice tls=- insecure=false gzip=true
    [--user=bob]
    https://one.example:6443/ ns=default user=bob tls=api insecure=false gzip=true
    [-s 127.0.0.1:7 --tls-server-name=x --disable-compression]
    http://127.0.0.1:7/ ns=default user=alice tls=x insecure=false gzip=false
    [-s 127.0.0.1:7 --insecure-skip-tls-verify]
    https://127.0.0.1:7/ ns=default user=alice tls=api insecure=true gzip=true
    [--token=t --insecure-skip-tls-verify=false]
    https://one.example:6443/ ns=default user=- tls=api insecure=false gzip=true
    ");
}

#[test]
fn impersonation_reaches_the_configuration() {
    let config = config(
        "--as=jane --as-group=dev --as-group=ops --as-uid=7 --as-user-extra=scope=a --as-user-extra=scope=b",
    );
    let auth = config.expect("a configuration").auth_info;
    assert_eq!(auth.impersonate.as_deref(), Some("jane"));
    assert_eq!(auth.impersonate_uid.as_deref(), Some("7"));
    assert_eq!(
        auth.impersonate_groups,
        Some(vec!["dev".into(), "ops".into()])
    );
    assert_eq!(
        auth.impersonate_user_extra
            .and_then(|extra| extra.get("scope").cloned()),
        Some(vec!["a".into(), "b".into()])
    );
}

#[test]
fn what_is_missing_is_said_in_kubectls_words() {
    let cases = [
        (
            "--context=zz",
            ExitCode::Error,
            "context \"zz\" does not exist",
        ),
        (
            "--cluster=q",
            ExitCode::Error,
            "no server found for cluster \"q\"",
        ),
        (
            "--user=q",
            ExitCode::Error,
            "auth info \"q\" does not exist",
        ),
        (
            "--kubeconfig=/nope",
            ExitCode::Error,
            "stat /nope: no such file or directory",
        ),
        (
            "--as-group=dev",
            ExitCode::Usage,
            "requesting uid, groups or user-extra without impersonating a user",
        ),
        (
            "--as=jane --as-user-extra=scope",
            ExitCode::Usage,
            "invalid argument \"scope\" for \"--as-user-extra\" flag: must be KEY=VALUE",
        ),
    ];
    for (line, code, message) in cases {
        let failure = config(line).expect_err(line);
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (code, message),
            "{line}"
        );
    }
}

#[test]
fn request_timeouts_are_seconds_or_carry_a_unit() {
    let limit = |text: &str| text.parse::<RequestTimeout>().map(RequestTimeout::limit);
    assert_eq!(limit("0"), Ok(None));
    assert_eq!(limit("0s"), Ok(None));
    assert_eq!(limit("5"), Ok(Some(Duration::from_secs(5))));
    assert_eq!(limit("1m30s"), Ok(Some(Duration::from_secs(90))));
    for wrong in ["x", "-1s", "-1", "5 s", "2d", ""] {
        assert!(limit(wrong).is_err(), "{wrong:?}");
    }
}
