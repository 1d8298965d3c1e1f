//! Templates that are equal, their hash, and what is read of them.

use serde_json::json;

use super::*;

fn parse(text: &str) -> Template {
    Template::new(text.parse().unwrap())
}

/// A template whose container has these members besides its name.
fn container(members: &str) -> Template {
    parse(&format!(
        r#"{{"metadata": {{"labels": {{"app": "web"}}}}, "spec": {{"containers": [{{"name": "web" {members}}}]}}}}"#
    ))
}

#[test]
fn equality_is_by_meaning_and_equal_templates_share_a_hash() {
    let plain = container("");
    for (a, b, equal) in [
        (plain.clone(), plain.clone(), true),
        (
            plain.clone(),
            container(r#", "args": [], "env": null"#),
            true,
        ),
        (
            plain.clone(),
            container(r#", "resources": {}, "tty": false"#),
            true,
        ),
        (
            plain.clone(),
            container(r#", "securityContext": {}"#),
            false,
        ),
        (plain.clone(), container(r#", "image": "a""#), false),
        (
            plain.clone(),
            container(r#", "fieldOfTheFuture": 0"#),
            false,
        ),
        (
            container(r#", "resources": {"limits": {"cpu": "1"}}"#),
            container(r#", "resources": {"limits": {"cpu": "1000m"}}"#),
            true,
        ),
        (
            container(r#", "args": ["a", "b"]"#),
            container(r#", "args": ["b", "a"]"#),
            false,
        ),
        (
            parse(r#"{"spec": {"terminationGracePeriodSeconds": 0}}"#),
            parse(r#"{"spec": {}}"#),
            false,
        ),
        (
            parse(
                r#"{"metadata": {"creationTimestamp": null}, "spec": {"nodeName": "", "hostPID": false}}"#,
            ),
            parse(r#"{"spec": {"hostPID": false}}"#),
            true,
        ),
        (
            parse(r#"{"metadata": {"labels": {"a": "1"}}, "spec": {}}"#),
            parse(r#"{"metadata": {"labels": {"a": "2"}}, "spec": {}}"#),
            false,
        ),
    ] {
        assert_eq!(a.is_equal_to(&b), equal, "{a:?} {b:?}");
        assert_eq!(b.is_equal_to(&a), equal, "{b:?} {a:?}");
        assert_eq!(a.hash(None) == b.hash(None), equal, "{a:?} {b:?}");
    }
}

#[test]
fn a_template_that_was_sent_is_read_when_it_is_looked_into() {
    const TEXT: &str = r#"{ "spec": {"containers": [{"image": "a"}]} }"#;
    let read = |text: &str| serde_json::from_str::<Template>(text).unwrap();
    let (mut known, mut again) = (read(TEXT), read(TEXT));
    again.share_with(&known);
    assert!(Arc::ptr_eq(&known.0, &again.0));
    known.share_with(&read("{}"));
    assert_eq!(known.images().collect::<Vec<_>>(), ["a"]);
    assert_eq!(known, parse(TEXT));
    assert_ne!(known, read("{}"));
    assert_eq!(serde_json::to_value(&known).unwrap(), *known.json());
    assert_eq!(known.mould().spec, known.json()["spec"]);
    assert_eq!(*read("null").json(), Value::Null);
    let bottomless = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(*read(&bottomless).json(), Value::Null);
}

#[test]
fn the_hash_label_counts_for_nothing() {
    let plain = container("");
    let labelled = plain.with_hash_label("4");
    assert!(labelled.is_equal_to(&plain));
    assert!(labelled.is_equal_to(&plain.with_hash_label("5")));
    assert_eq!(labelled.hash(None), plain.hash(None));
    assert_eq!(labelled.without_hash_label(), plain);
    assert_eq!(labelled.labels()[keys::POD_TEMPLATE_HASH], "4");
}

#[test]
fn a_label_goes_into_anything() {
    for json in [json!({}), json!(null), json!({"metadata": {"labels": 5}})] {
        let labelled = Template::new(json).with_hash_label("4");
        assert_eq!(labelled.labels()[keys::POD_TEMPLATE_HASH], "4");
    }
}

#[test]
fn each_collision_gives_another_hash() {
    let template = container("");
    let hashes = [None, Some(0), Some(1), Some(2)].map(|count| template.hash(count));
    for (i, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..i].contains(hash), "{hashes:?}");
    }
}

#[test]
fn the_order_of_members_counts_for_nothing() {
    let one = parse(r#"{"spec": {"nodeName": "n", "hostname": "h"}, "metadata": {}}"#);
    let other = parse(r#"{"metadata": {}, "spec": {"hostname": "h", "nodeName": "n"}}"#);
    assert_eq!(one.hash(None), other.hash(None));
}

#[test]
fn hashes_are_written_in_safe_letters() {
    for (sum, expected) in [
        (1_234_567_890, "56789bcdf4"),
        (0, "4"),
        (4_294_967_295, "86f8fbc6f9"),
    ] {
        assert_eq!(safe_encode(sum), expected);
    }
}
