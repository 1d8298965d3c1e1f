//! Files that can't be used: one line, exit code 2, and nothing sent, however good the rest of the file is.

use crate::program::{Program, Witness};

const GOOD: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: good
spec:
  replicas: 1
  selector: {matchLabels: {app: good}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: good}}
    spec: {containers: [{name: main, image: nginx}]}
";

/// A good Deployment, and one that was good before `from` became `to`.
fn spoilt(from: &str, to: &str) -> Vec<u8> {
    assert!(GOOD.contains(from), "{from}");
    let second = GOOD.replace("name: good", "name: bad").replace(from, to);
    format!("{GOOD}---\n{second}").into_bytes()
}

fn after_good(rest: &[u8]) -> Vec<u8> {
    [GOOD.as_bytes(), b"---\n", rest].concat()
}

fn alias_bomb() -> Vec<u8> {
    let levels = (1..10).map(|level| {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{below}]\n")
    });
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let bomb: String = std::iter::once(first).chain(levels).collect();
    after_good(bomb.as_bytes())
}

/// Files that can't be used, each in a way of its own.
fn bad_files(long_name: &str) -> [(&'static str, Vec<u8>); 19] {
    [
        ("empty.yaml", Vec::new()),
        ("comments.yaml", b"# nothing\n---\n".to_vec()),
        ("syntax.yaml", after_good(b"kind: Deployment\n  name: x\n")),
        ("tabs.yaml", after_good(b"metadata:\n\tname: x\n")),
        (
            "json.json",
            b"{\"apiVersion\": \"apps/v1\",\n \"kind\": }\n".to_vec(),
        ),
        ("list.yaml", after_good(b"- a\n- b\n")),
        ("no-kind.yaml", after_good(b"apiVersion: v1\n")),
        (
            "wrong-kind.yaml",
            spoilt("kind: Deployment", "kind: Deploymint"),
        ),
        ("old-version.yaml", spoilt("apps/v1", "apps/v1beta1")),
        (
            "selector.yaml",
            spoilt("{matchLabels: {app: good}}", "{matchLabels: {app: other}}"),
        ),
        ("replicas.yaml", spoilt("replicas: 1", "replicas: -1")),
        ("bounds.yaml", spoilt("maxSurge: 1", "maxSurge: 0")),
        ("twice.yaml", after_good(GOOD.as_bytes())),
        ("bomb.yaml", alias_bomb()),
        (
            "junk.yaml",
            vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0xff],
        ),
        ("latin1.yaml", after_good(b"metadata: {name: caf\xe9}\n")),
        ("control.yaml", after_good(b"metadata: {name: a\x07b}\n")),
        (
            "long-name.yaml",
            after_good(
                GOOD.replace("name: good", &format!("name: {long_name}"))
                    .as_bytes(),
            ),
        ),
        ("template.yaml", after_good(b"image: {{ .Values.image }}\n")),
    ]
}

#[test]
fn each_is_refused_in_one_line_and_nothing_is_sent() {
    let long_name = "n".repeat(300);
    let files = bad_files(&long_name);
    let program = Program::new();
    let witness = Witness::new();
    for (name, content) in &files {
        program.write(name, content);
    }
    let big = std::fs::File::create(program.directory().join("big.yaml")).expect("a file");
    big.set_len(50 << 20).expect("a sparse file");
    let names = files
        .iter()
        .map(|(name, _)| *name)
        .chain(["missing.yaml", "big.yaml"]);

    let mut told = Vec::new();
    for name in names {
        let ended = program.run(&format!(
            "sync --controller=client --server={} -f {name}",
            witness.url()
        ));
        assert_eq!(ended.code, 2, "{name}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{name}");
        assert!(witness.saw_nobody(), "{name}");
        let stderr = ended.stderr.replace(&long_name, "nnn…");
        assert_eq!(stderr.lines().count(), 1, "{name}: {stderr}");
        told.push(stderr);
    }
    insta::assert_snapshot!(told.concat(), @r#"
    error: no objects in empty.yaml
    error: no objects in comments.yaml
    error: syntax.yaml:14: mapping values are not allowed in this context
    error: tabs.yaml:14: tabs disallowed within this context (block indentation)
    error: json.json:2: expected value
    error: list.yaml:13: a list where an object is expected
    error: no-kind.yaml:13: Object 'Kind' is missing
    error: wrong-kind.yaml:13: no matches for kind "Deploymint" in version "apps/v1" (did you mean Deployment?)
    error: old-version.yaml:13: no matches for kind "Deployment" in version "apps/v1beta1" (its version is apps/v1)
    error: selector.yaml:13: The Deployment "bad" is invalid: spec.template.metadata.labels: Invalid value: {"app":"good"}: `selector` does not match template `labels`
    error: replicas.yaml:13: The Deployment "bad" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0
    error: bounds.yaml:13: The Deployment "bad" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0
    error: twice.yaml:13: deployment.apps "good" is already defined at twice.yaml:1
    error: bomb.yaml:13: too large once aliases are expanded, or nested too deeply
    error: junk.yaml is binary, not YAML or JSON
    error: latin1.yaml:13: invalid UTF-8
    error: control.yaml:13: unexpected character: `\u{7}'
    error: long-name.yaml:13: The Deployment "nnn…" is invalid: metadata.name: Invalid value: "nnn…": must be no more than 253 characters
    error: template.yaml:13: a mapping key is a list or a mapping; is this an unrendered template?
    error: the path "missing.yaml" does not exist
    error: big.yaml is too large: manifests may have 32 MiB together
    "#);
}

#[test]
fn standard_input_is_held_to_the_same() {
    let program = Program::new();
    let ended = program.run_with_input("sync --embedded -f -", "kind: [\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(ended.stderr, @"error: STDIN:1: unclosed bracket '['");
}

/// What only the server can tell stops the whole file as well.
#[test]
fn what_the_server_refuses_keeps_the_rest_from_being_applied() {
    let program = Program::new();
    let port = "image: nginx, ports: [{containerPort: 99999}]";
    program.write("two.yaml", spoilt("image: nginx", port));
    let ended = program.run("sync --embedded -f two.yaml");
    insta::assert_snapshot!(ended.stderr, @r#"error: deployment.apps/bad can't be applied, so nothing was: Deployment.apps "bad" is invalid: spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive"#);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
}
