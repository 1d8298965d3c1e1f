//! Texts to objects. What values mean was taken from kubectl 1.32 (`kubectl label --local -f - x=y -o json`).

use serde_json::{Value, json};

use super::{mistake, objects};
use crate::manifest::parse;

/// The object's `v` when its manifest says `v: TEXT`.
fn value(text: &str) -> Value {
    let manifest = format!("apiVersion: v1\nkind: Foo\nv: {text}\n");
    objects(&manifest).remove(0)["v"].take()
}

#[test]
fn plain_scalars_mean_what_they_mean_to_kubectl() {
    let cases = [
        ("yes", json!(true)),
        ("Yes", json!(true)),
        ("y", json!(true)),
        ("Y", json!(true)),
        ("on", json!(true)),
        ("ON", json!(true)),
        ("true", json!(true)),
        ("no", json!(false)),
        ("n", json!(false)),
        ("N", json!(false)),
        ("Off", json!(false)),
        ("FALSE", json!(false)),
        ("null", json!(null)),
        ("~", json!(null)),
        ("", json!(null)),
        ("nULL", json!("nULL")),
        ("0755", json!(493)),
        ("0o755", json!(493)),
        ("-0755", json!(-493)),
        ("+0755", json!(493)),
        ("0x1F", json!(31)),
        ("0b101", json!(5)),
        ("007", json!(7)),
        ("08", json!(8)),
        ("09.5", json!(9.5)),
        ("1_000", json!(1000)),
        ("_1", json!("_1")),
        ("+1", json!(1)),
        ("-1", json!(-1)),
        ("1.", json!(1)),
        (".5", json!(0.5)),
        ("1.0", json!(1)),
        ("1.10", json!(1.1)),
        ("1e3", json!(1000)),
        ("1E+3", json!(1000)),
        ("1e20", json!(1e20)),
        ("-0.0", json!(0)),
        ("9223372036854775807", json!(i64::MAX)),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_f64)),
        ("-9223372036854775808", json!(i64::MIN)),
        (
            "12345678901234567890",
            json!(12_345_678_901_234_567_890_f64),
        ),
        ("Infinity", json!("Infinity")),
        ("nan", json!("nan")),
        ("12:30:45", json!("12:30:45")),
        ("2001-01-01", json!("2001-01-01")),
        (
            "2001-12-14t21:59:43.10-05:00",
            json!("2001-12-14t21:59:43.10-05:00"),
        ),
        ("1.2.3", json!("1.2.3")),
        ("1e", json!("1e")),
        ("0x", json!("0x")),
        ("0b2", json!("0b2")),
        ("1,000", json!("1,000")),
        ("=", json!("=")),
        ("<<", json!("<<")),
        ("foo #bar", json!("foo")),
        ("foo#bar", json!("foo#bar")),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn quotes_and_tags_decide() {
    let cases = [
        ("\"0755\"", json!("0755")),
        ("'yes'", json!("yes")),
        ("\"~\"", json!("~")),
        ("''", json!("")),
        ("'1.0'", json!("1.0")),
        ("!!str 123", json!("123")),
        ("!!str yes", json!("yes")),
        ("!!str", json!("")),
        ("!!int \"7\"", json!(7)),
        ("!!float 1", json!(1)),
        ("!!bool \"yes\"", json!(true)),
        ("!!null \"\"", json!(null)),
        ("!!binary aGVsbG8=", json!("hello")),
        ("!foo bar", json!("bar")),
        ("! 12", json!("12")),
        ("!!int 0755", json!(493)),
        ("\"\\x41\\u263a\\U0001F600\"", json!("A☺😀")),
        ("|\n  a\n  b", json!("a\nb\n")),
        (">-\n  a\n  b", json!("a b")),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn keys_are_text_by_kubectls_rules() {
    let cases = [
        ("{yes: no}", json!({"true": false})),
        ("{on: off}", json!({"true": false})),
        ("{'on': 'off'}", json!({"on": "off"})),
        ("{1: 2}", json!({"1": 2})),
        ("{0755: x}", json!({"493": "x"})),
        ("{1.5: 2}", json!({"1.5": 2})),
        ("{1.0: x}", json!({"1": "x"})),
        ("{1e3: x}", json!({"1000": "x"})),
        ("{2001-01-01: 2}", json!({"2001-01-01": 2})),
        ("{\"\": 1}", json!({"": 1})),
        ("{a}", json!({"a": null})),
        ("{a: 1, a: 2}", json!({"a": 2})),
        ("{\"true\": x, true: y}", json!({"true": true})),
        ("!!set {a, b}", json!({"a": null, "b": null})),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn anchors_aliases_and_merge_keys() {
    let cases = [
        (
            "{a: &x {b: 1}, c: *x}",
            json!({"a": {"b": 1}, "c": {"b": 1}}),
        ),
        ("{<<: {a: b}, c: d}", json!({"a": "b", "c": "d"})),
        ("{<<: {a: b}, a: z}", json!({"a": "z"})),
        ("{a: z, <<: {a: b}}", json!({"a": "b"})),
        ("{<<: [{a: b}, {a: c, d: e}]}", json!({"a": "b", "d": "e"})),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn fields_that_are_often_written_the_old_way() {
    let manifest = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      hostNetwork: yes
      containers:
      - name: web
        env: [{name: ENABLED, value: 'yes'}, {name: MODE, value: \"0755\"}]
      volumes:
      - name: config
        configMap: {name: web, defaultMode: 0755}
";
    let spec = &objects(manifest)[0]["spec"]["template"]["spec"];
    assert_eq!(spec["hostNetwork"], json!(true));
    assert_eq!(spec["volumes"][0]["configMap"]["defaultMode"], json!(493));
    assert_eq!(spec["containers"][0]["env"][0]["value"], json!("yes"));
    assert_eq!(spec["containers"][0]["env"][1]["value"], json!("0755"));
}

/// Name, document and line of every object.
fn places(text: &str) -> String {
    let objects = parse(text, "web.yaml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let shown = objects.iter().map(|object| {
        let place = &object.place;
        format!("{} {} {}", object.name(), place.document, place.line)
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn documents_are_parted_as_kubectl_parts_them() {
    let object = |name: &str| format!("apiVersion: v1\nkind: Foo\nmetadata: {{name: {name}}}\n");
    let (a, b) = (object("a"), object("b"));
    let cases = [
        (format!("{a}---\n{b}"), "a 1 1, b 2 5"),
        (
            format!("---\n{a}---\n---\n\n# nothing\n--- # more\n# b\n{b}---\n"),
            "a 1 2, b 2 11",
        ),
        (format!("\u{feff}{a}"), "a 1 1"),
        (format!("{a}---\n{b}").replace('\n', "\r\n"), "a 1 1, b 2 5"),
        (format!("%YAML 1.1\n---\n{a}"), "a 1 3"),
        (format!("{a}...\n"), "a 1 1"),
        (format!("# head\n\n{a}"), "a 1 3"),
        (format!("null\n---\n{a}"), "a 2 3"),
        (a.trim_end().to_owned(), "a 1 1"),
        (String::new(), ""),
        ("# nothing\n---\n\n".to_owned(), ""),
    ];
    for (text, expected) in cases {
        assert_eq!(places(&text), expected, "{text}");
    }
}

#[test]
fn a_line_of_dashes_inside_a_block_is_text() {
    let manifest = "apiVersion: v1\nkind: Foo\nv: |\n  ---\n  -----BEGIN\n";
    assert_eq!(objects(manifest)[0]["v"], json!("---\n-----BEGIN\n"));
}

#[test]
fn json_alone_in_a_stream_and_among_yaml() {
    let object = |name: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Foo","metadata":{{"name":"{name}"}}}}"#)
    };
    let (a, b, c) = (object("a"), object("b"), object("c"));
    let cases = [
        (a.clone(), "a 1 1"),
        (format!("{a}\n{b}{c}\n"), "a 1 1, b 1 2, c 1 2"),
        (format!("\n{a}\n\n{b}"), "a 1 2, b 1 4"),
        (
            format!("{a}\n---\nkind: Foo\napiVersion: v1\nmetadata: {{name: b}}\n"),
            "a 1 1, b 2 3",
        ),
        (
            "{apiVersion: v1, kind: Foo, metadata: {name: a}}".to_owned(),
            "a 1 1",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(places(&text), expected, "{text}");
    }
    let numbers =
        r#"{"apiVersion":"v1","kind":"Foo","<<":{"x":1},"v":[1.0,1e2,18446744073709551615,0.5]}"#;
    assert_eq!(
        objects(numbers)[0]["v"],
        json!([1, 100, 18_446_744_073_709_551_615_f64, 0.5])
    );
    assert_eq!(objects(numbers)[0]["<<"], json!({"x": 1}));
}

#[test]
fn lists_are_taken_apart() {
    let manifest = "
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Foo, metadata: {name: a}}
- apiVersion: apps/v1
  kind: DeploymentList
  items:
  - metadata: {name: b}
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: c}}
- {apiVersion: v1, kind: List, items: []}
- {apiVersion: example.com/v1, kind: Blocklist, metadata: {name: d}}
- {apiVersion: example.com/v1, kind: AllowList, metadata: {name: e}, spec: {}}
";
    let kinds: Vec<_> = objects(manifest)
        .iter()
        .map(|object| format!("{}/{}", object["kind"], object["metadata"]["name"]).replace('"', ""))
        .collect();
    assert_eq!(
        kinds,
        [
            "Foo/a",
            "Deployment/b",
            "Deployment/c",
            "Blocklist/d",
            "AllowList/e"
        ]
    );
}

#[test]
fn what_is_no_manifest_is_refused_with_its_line() {
    let good = "apiVersion: v1\nkind: Foo\n---\n";
    let cases = [
        "a: b\n c: d\n",
        "a: 'x\n",
        "a: {b\n",
        "a:\n\tb: c\n",
        "a: *nobody\n",
        "a: .inf\n",
        "image: {{ .Values.image }}\n",
        "{\"a\": 1\n \"b\": 2}\n",
        "{\"a\": 1} [2]\n",
        "--- foo\n",
        "a: b\n...\nc: d\n",
        "- a\n",
        "hello\n",
        "42\n",
        "metadata: {}\n",
        "kind: Foo\n",
        "apiVersion: 1\nkind: Foo\n",
        "apiVersion: v1\nkind: List\nitems: [x]\n",
        "a: \u{1}\n",
    ];
    let told: Vec<_> = cases
        .into_iter()
        .map(|text| format!("{text:?}\n    {}", mistake(&format!("{good}{text}"))))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    "a: b\n c: d\n"
        web.yaml:5: mapping values are not allowed in this context
    "a: 'x\n"
        web.yaml:4: unclosed quote
    "a: {b\n"
        web.yaml:4: unclosed bracket '{'
    "a:\n\tb: c\n"
        web.yaml:5: tabs disallowed within this context (block indentation)
    "a: *nobody\n"
        web.yaml:4: alias references unknown anchor
    "a: .inf\n"
        web.yaml:4: a number has to be finite
    "image: {{ .Values.image }}\n"
        web.yaml:4: a mapping key is a list or a mapping; is this an unrendered template?
    "{\"a\": 1\n \"b\": 2}\n"
        web.yaml:5: expected `,` or `}`
    "{\"a\": 1} [2]\n"
        web.yaml:4: a document is no object
    "--- foo\n"
        web.yaml:4: invalid Yaml document separator: foo
    "a: b\n...\nc: d\n"
        web.yaml:6: a document has to begin with ---
    "- a\n"
        web.yaml:4: a list where an object is expected
    "hello\n"
        web.yaml:4: text where an object is expected
    "42\n"
        web.yaml:4: a number where an object is expected
    "metadata: {}\n"
        web.yaml:4: Object 'Kind' is missing
    "kind: Foo\n"
        web.yaml:4: Object 'apiVersion' is missing
    "apiVersion: 1\nkind: Foo\n"
        web.yaml:4: Object 'apiVersion' is missing
    "apiVersion: v1\nkind: List\nitems: [x]\n"
        web.yaml:4: text where an object is expected
    "a: \u{1}\n"
        web.yaml:4: unexpected character: `\u{1}'
    "#);
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let levels = (1..10).map(|level| {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{below}]\n")
    });
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let aliases: Vec<_> = std::iter::once(first).chain(levels).collect();
    let blocks: Vec<_> = (0..1_000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    let nesting = format!("a: {}{}\n", "[".repeat(10_000), "]".repeat(10_000));
    let json = format!("{{\"a\": {}{}}}\n", "[".repeat(10_000), "]".repeat(10_000));
    let told: Vec<_> = [aliases.concat(), nesting, json, blocks.concat()]
        .iter()
        .map(|text| mistake(text))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    web.yaml:1: too large once aliases are expanded, or nested too deeply
    web.yaml:1: recursion limit exceeded
    web.yaml:1: recursion limit exceeded
    web.yaml:1: too large once aliases are expanded, or nested too deeply
    ");
}
