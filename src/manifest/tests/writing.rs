//! Objects to YAML and back.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::objects;
use crate::manifest::{to_yaml, to_yaml_documents};

/// Texts that some reader takes for something else, or that need care to be written.
pub(super) const TRICKY: [&str; 68] = [
    "",
    " ",
    "~",
    "null",
    "Null",
    "y",
    "Y",
    "yes",
    "NO",
    "on",
    "off",
    "true",
    "False",
    "0",
    "-1",
    "+1",
    "0755",
    "0o7",
    "0x1F",
    "0b1",
    "08",
    "1_000",
    "1.0",
    ".5",
    "1.",
    "1e3",
    "1e",
    "-0",
    ".inf",
    "-.Inf",
    ".nan",
    "nan",
    "12:30:45",
    "1:2",
    "2001-01-01",
    "2001-01-01T00:00:00Z",
    "=",
    "<<",
    "-",
    "- a",
    "--- a",
    "---",
    "...",
    "?",
    "? a",
    ":",
    "a:",
    "a: b",
    "a #b",
    "#a",
    "!a",
    "&a",
    "*a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "'a'",
    "\"a\"",
    "\\",
    "[a]",
    "{a}",
    " a",
    "a ",
    "a\tb",
    "100m",
    "1.5Gi",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(TRICKY.as_slice()).prop_map(str::to_owned),
        "[a-z0-9./:_-]{0,12}",
        "[ -~]{0,20}",
        "[ \ta-c#:\n-]{0,16}",
        any::<String>(),
        ".*[\u{85}\u{2028}\u{2029}\u{feff}\u{0}\u{7f}]{1,2}.*",
    ]
}

pub(super) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|halves| json!(f64::from(halves) / 2.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object(value: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Foo", "v": value})
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in json()) {
        let object = object(&value);
        // A merge key is no text; nothing that the API has could hold it.
        prop_assume!(!object.to_string().contains("\"<<\":"));
        let yaml = to_yaml(&object);
        let read = objects(&yaml);
        let mut expected = object;
        crate::manifest::number::normalize(&mut expected);
        prop_assert_eq!(&read, &[expected], "{}", yaml);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,60}|[ \t\n\\-?:,\\[\\]{}#&*!|>'\"%@`a-c0-9<=~]{0,60}") {
        let _ = crate::manifest::parse(&text, "x");
        let _ = crate::manifest::parse(&format!("apiVersion: v1\nkind: Foo\nv: {text}"), "x");
    }
}

#[test]
fn yaml_looks_as_kubectls_does() {
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "annotations": {"deployment.kubernetes.io/revision": "1", "on": "yes"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "name": "web",
        },
        "spec": {
            "replicas": 3,
            "template": {"spec": {
                "containers": [{
                    "args": ["--port=80", "-v"],
                    "command": ["sh", "-c", "set -e\necho hi\n"],
                    "image": "nginx:1.27",
                    "name": "web",
                    "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}},
                    "volumeMounts": [],
                }],
                "securityContext": {},
            }},
        },
    });
    insta::assert_snapshot!(to_yaml(&deployment), @r#"
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      annotations:
        deployment.kubernetes.io/revision: "1"
        "on": "yes"
      creationTimestamp: "2026-01-01T00:00:00Z"
      name: web
    spec:
      replicas: 3
      template:
        spec:
          containers:
          - args:
            - --port=80
            - -v
            command:
            - sh
            - -c
            - |
              set -e
              echo hi
            image: nginx:1.27
            name: web
            resources:
              limits:
                cpu: 100m
                memory: 1Gi
            volumeMounts: []
          securityContext: {}
    "#);
    let both = to_yaml_documents([&deployment, &deployment]);
    assert_eq!(objects(&both), [deployment.clone(), deployment]);
}
