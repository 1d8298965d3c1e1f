//! Stock kubectl as the judge: what we write it reads, and what it writes we read.
//!
//! `kubectl label --local` needs no server. Where there is no kubectl there is no judge; with `REQUIRE_KUBECTL` set, as
//! in CI, that is a failure.

use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::objects;
use super::writing::{TRICKY, json};
use crate::manifest::number::normalize;
use crate::manifest::to_yaml;

/// What kubectl makes of a manifest, in its own `output` format; `None` where there is no kubectl.
fn kubectl(manifest: &str, output: &str) -> Option<String> {
    let home = tempfile::tempdir().unwrap();
    let spawned = Command::new("kubectl")
        .args(["label", "--local", "-f", "-", "judged=yes", "-o", output])
        .env("HOME", home.path())
        .env_remove("KUBECONFIG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        assert!(
            std::env::var_os("REQUIRE_KUBECTL").is_none(),
            "kubectl is required"
        );
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let text = manifest.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let answer = child.wait_with_output().unwrap();
    let _ = writer.join();
    let complaint = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{complaint}\n{manifest}");
    Some(String::from_utf8(answer.stdout).unwrap())
}

/// An object around a value.
fn object(value: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "v": value})
}

/// Every tricky text, alone and with its neighbours, as a value and as a key.
fn tricky_texts() -> Value {
    let specials = [
        "\u{0}", "\t", "\r", "\r\n", "\n", "\u{1b}", "\u{7f}", "\u{85}", "\u{a0}", "\u{ad}",
    ];
    let wide = [
        "\u{200b}",
        "\u{2028}",
        "\u{2029}",
        "\u{202e}",
        "\u{d7ff}",
        "\u{feff}",
        "\u{fffe}",
        "\u{1f600}",
    ];
    let shapes = [
        "X",
        "aX",
        "Xa",
        "aXb",
        " X",
        "X ",
        "a\nX\nb\n",
        "X\na",
        "a\nX",
        "a X",
        "a: X",
        "a #X",
        "X\n\n",
    ];
    let long = [
        "word ".repeat(60),
        "x".repeat(300),
        format!("{}\n{}", "a ".repeat(80), "b ".repeat(80)),
    ];
    let mut texts: Vec<String> = long.into();
    for special in TRICKY.iter().chain(&specials).chain(&wide) {
        texts.extend(shapes.map(|shape| shape.replace('X', special)));
    }
    let entries = texts
        .iter()
        .map(|text| json!([text, {text.as_str(): text}, {"a": {text.as_str(): [text]}}]));
    entries.collect()
}

/// Values drawn from the same strategy as the property tests draw them, the same ones each time.
fn drawn_values() -> Value {
    let mut runner = TestRunner::deterministic();
    let draw = |_| json().new_tree(&mut runner).unwrap().current();
    let mut drawn: Value = (0..500).map(draw).collect();
    normalize(&mut drawn);
    drawn
}

/// The value with other characters instead of those that kubectl can't handle, and without keys that are `<<`.
fn within_reach(value: Value, can_handle: fn(char) -> bool) -> Value {
    let text = |text: String| -> String {
        let replaced = text.chars().map(|c| if can_handle(c) { c } else { '_' });
        replaced.collect()
    };
    match value {
        Value::String(string) => text(string).into(),
        Value::Array(items) => items
            .into_iter()
            .map(|item| within_reach(item, can_handle))
            .collect(),
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, _)| key != "<<");
            kept.map(|(key, value)| (text(key), within_reach(value, can_handle)))
                .collect::<Map<_, _>>()
                .into()
        }
        scalar => scalar,
    }
}

#[test]
fn kubectl_reads_what_we_write() {
    for value in [tricky_texts(), drawn_values()] {
        let value = within_reach(value, |_| true);
        let Some(answer) = kubectl(&to_yaml(&object(&value)), "json") else {
            return;
        };
        let read: Value = serde_json::from_str(&answer).unwrap();
        assert_same(&read["v"], &value);
    }
}

#[test]
fn we_read_what_kubectl_writes() {
    // On its way to YAML, kubectl reads its own JSON as YAML, which takes or breaks lines at more than a few characters.
    let can_write =
        |c: char| matches!(c, ' '..='~' | '\n' | '\t') || (c > '\u{ff}' && c.is_alphanumeric());
    for value in [tricky_texts(), drawn_values()] {
        let value = within_reach(value, can_write);
        let Some(answer) = kubectl(&to_yaml(&object(&value)), "yaml") else {
            return;
        };
        assert_same(&objects(&answer)[0]["v"], &value);
    }
}

/// Item by item, so that a difference can be seen.
fn assert_same(read: &Value, written: &Value) {
    let (read, written) = (read.as_array().unwrap(), written.as_array().unwrap());
    assert_eq!(read.len(), written.len());
    for (read, written) in read.iter().zip(written) {
        assert_eq!(read, written);
    }
}
