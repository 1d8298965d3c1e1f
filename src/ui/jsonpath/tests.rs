//! Templates as kubectl's documentation has them, and what it prints for them.

use serde_json::json;

use super::JsonPath;

fn filled(template: &str) -> Result<String, String> {
    let object = json!({
        "kind": "List",
        "items": [
            {"metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x"}}, "n": 1, "ready": true},
            {"metadata": {"name": "b"}, "n": 5},
            {"metadata": {"name": "c"}, "n": 9},
        ],
    });
    let template = JsonPath::parse(template).map_err(|error| error.to_string())?;
    template
        .evaluate(&object)
        .map_err(|error| error.to_string())
}

#[test]
fn templates_are_filled_in() {
    for (template, expected) in [
        ("{.kind}", "List"),
        ("{kind}", "List"),
        ("{$.kind}", "List"),
        ("kind: {.kind}{\"\\n\"}", "kind: List\n"),
        ("{.kind}{' | '}{.missing}.", "List | ."),
        ("{.items[*].metadata.name}", "a b c"),
        ("{.items[0].metadata.name}", "a"),
        ("{.items[-1].n}", "9"),
        ("{.items[0:2].n}", "1 5"),
        ("{.items[::2].n}", "1 9"),
        ("{.items[0,2].n}", "1 9"),
        ("{.items[0]['n','ready']}", "1 true"),
        ("{..name}", "a b c"),
        (
            "{.items[0].metadata.labels.app\\.kubernetes\\.io/name}",
            "x",
        ),
        ("{.items[0].metadata.labels['app.kubernetes.io/name']}", "x"),
        ("{.items[?(@.n>1)].metadata.name}", "b c"),
        ("{.items[?(@.metadata.name==\"b\")].n}", "5"),
        ("{.items[?(@.ready)].n}", "1"),
        ("{.items[?(@.n!=5)].n}", "1 9"),
        (
            "{range .items[*]}{.metadata.name}={.n}{\"\\n\"}{end}",
            "a=1\nb=5\nc=9\n",
        ),
        ("{.items[1].metadata}", r#"{"name":"b"}"#),
        ("text", "text"),
    ] {
        assert_eq!(filled(template).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn what_is_wrong_with_a_template() {
    for (template, expected) in [
        ("{.kind", "unclosed action"),
        ("{range .items[*]}{.n}", "unclosed range"),
        ("{end}", "not in range, nothing to end"),
        ("{.items[x]}", "invalid array index x"),
        ("{.items[0}", "unclosed action"),
        (
            "{.items[7].n}",
            "array index out of bounds: index 7, length 3",
        ),
        ("{.kind[0]}", "is not array or slice"),
    ] {
        assert_eq!(filled(template), Err(expected.to_owned()), "{template}");
    }
    let strict = JsonPath::parse("{.missing}").unwrap();
    let strict = strict.allow_missing_keys(false).evaluate(&json!({}));
    assert_eq!(strict.unwrap_err().to_string(), "missing is not found");
}
