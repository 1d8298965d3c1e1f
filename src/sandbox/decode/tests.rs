//! Decoding, case by case.

use serde_json::json;

use super::{DecodeError, FieldValidation, Reading};
use crate::schema;

/// The notes on an object that can be read, or the error.
fn read(api_version: &str, kind: &str, json: &str) -> Result<Vec<String>, String> {
    let ty = schema::of_kind(api_version, kind).unwrap_or_else(|| panic!("no type {kind}"));
    let reading = Reading::of_json(ty, json.as_bytes()).unwrap();
    let decoded = reading.check(FieldValidation::Warn);
    decoded
        .map(|decoded| decoded.warnings)
        .map_err(|error| error.to_string())
}

/// `KIND JSON`, and the error in the line below.
const WRONG: &str = r#"
Deployment {"spec": {"replicas": "three"}}
    json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32
Deployment {"spec": {"replicas": 1.5}}
    json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32
Deployment {"spec": {"replicas": 3000000000}}
    json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32
Deployment {"spec": {"paused": "yes", "replicas": "x"}}
    json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool
Deployment {"spec": {"template": {"spec": {"containers": {"a": 1}}}}}
    json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container
Deployment {"spec": {"strategy": {"rollingUpdate": {"maxSurge": [1]}}}}
    json: cannot unmarshal array into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32
Deployment {"spec": {"strategy": {"rollingUpdate": {"maxSurge": true}}}}
    json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32
Deployment {"metadata": {"labels": ["a"]}}
    json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string
Deployment {"metadata": {"creationTimestamp": "yesterday"}}
    parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"
Deployment {"spec": {"template": {"spec": {"overhead": {"cpu": "lots"}}}}}
    quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
Deployment {"spec": "none"}
    json: cannot unmarshal string into Go struct field Deployment.spec of type v1.DeploymentSpec
ConfigMap {"data": {"k": 1}}
    json: cannot unmarshal number into Go struct field ConfigMap.data of type string
Secret {"data": {"k": "%%%"}}
    illegal base64 data at input byte 0
Secret {"data": {"k": "YQ="}}
    illegal base64 data at input byte 3
Secret {"data": {"k": "YWJjYQ"}}
    illegal base64 data at input byte 4
"#;

#[test]
fn wrong_types_are_named_as_the_decoder_names_them() {
    let lines: Vec<&str> = WRONG.trim().lines().collect();
    for case in lines.chunks(2) {
        let (kind, json) = case[0].split_once(' ').unwrap();
        let api_version = if kind == "Deployment" {
            "apps/v1"
        } else {
            "v1"
        };
        assert_eq!(
            read(api_version, kind, json),
            Err(case[1].trim().to_owned()),
            "{json}"
        );
    }
}

#[test]
fn unknown_and_duplicate_fields_are_noted_in_order() {
    let cases = [
        (
            r#"{"metadata": {"name": "a", "name": "b", "nolabel": 1}, "dta": {"k": "v"}, "Data": {}}"#,
            vec![
                "duplicate field \"metadata.name\"",
                "unknown field \"metadata.nolabel\"",
                "unknown field \"dta\"",
                "unknown field \"Data\"",
            ],
        ),
        (
            r#"{"metadata": {"labels": {"a": "1", "a": "2"}}, "data": {"k": "v"}, "data": {"k": "w"}}"#,
            vec![
                "duplicate field \"metadata.labels.a\"",
                "duplicate field \"data\"",
            ],
        ),
        (
            r#"{"kind": "ConfigMap", "apiVersion": "v1", "data": null, "immutable": true}"#,
            vec![],
        ),
    ];
    for (json, notes) in cases {
        let notes = notes.into_iter().map(str::to_owned).collect();
        assert_eq!(read("v1", "ConfigMap", json), Ok(notes), "{json}");
    }
    let json = r#"{"spec": {"template": {"spec": {"containers": [{"name": "a", "imagee": "x"}]}}, "nosuch": 1}}"#;
    let notes = [
        "unknown field \"spec.template.spec.containers[0].imagee\"",
        "unknown field \"spec.nosuch\"",
    ];
    assert_eq!(
        read("apps/v1", "Deployment", json),
        Ok(notes.map(str::to_owned).to_vec())
    );
}

#[test]
fn unknown_fields_are_errors_or_nothing_if_so_wished() {
    let ty = schema::of_kind("v1", "ConfigMap").expect("ConfigMap");
    let reading = Reading::of_value(ty, json!({"a": 1, "metadata": {"b": 2}}));
    let notes = ["unknown field \"a\"", "unknown field \"metadata.b\""].map(str::to_owned);
    let strict = DecodeError::Strict(notes.to_vec());
    assert_eq!(
        strict.to_string(),
        "strict decoding error: unknown field \"a\", unknown field \"metadata.b\""
    );
    assert_eq!(reading.clone().check(FieldValidation::Strict), Err(strict));
    let ignored = reading.check(FieldValidation::Ignore);
    assert_eq!(ignored.map(|decoded| decoded.warnings), Ok(Vec::new()));
}

#[test]
fn what_comes_again_adds_to_objects() {
    let ty = schema::of_kind("v1", "ConfigMap").expect("ConfigMap");
    let json = br#"{"data": {"a": "1", "b": "1"}, "data": {"b": "2"}, "kind": "x", "kind": "y"}"#;
    let reading = Reading::of_json(ty, json).unwrap();
    assert_eq!(
        reading.object,
        json!({"data": {"a": "1", "b": "2"}, "kind": "y"})
    );
}

#[test]
fn times_are_refused_at_the_first_element_that_is_wrong() {
    let whole = "2006-01-02T15:04:05Z07:00";
    let micro = "2006-01-02T15:04:05.000000Z07:00";
    let refused = |text: &str, layout: &str, rest: &str, element: &str| {
        Err(format!(
            "parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}"
        ))
    };
    let range = |text: &str, what: &str| Err(format!("parsing time {text:?}: {what} out of range"));
    let cases = [
        (whole, "2024-01-01T00:00:00Z", Ok(())),
        (whole, "2024-02-29T23:59:59.123+02:00", Ok(())),
        (whole, "2024-01-01", refused("2024-01-01", whole, "", "T")),
        (
            whole,
            "2024-01-01 00:00:00Z",
            refused("2024-01-01 00:00:00Z", whole, " 00:00:00Z", "T"),
        ),
        (
            whole,
            "2024-01-01T00:00:00",
            refused("2024-01-01T00:00:00", whole, "", "Z07:00"),
        ),
        (
            whole,
            "2024-13-01T00:00:00Z",
            range("2024-13-01T00:00:00Z", "month"),
        ),
        (
            whole,
            "2023-02-29T00:00:00Z",
            range("2023-02-29T00:00:00Z", "day"),
        ),
        (
            whole,
            "2024-01-01T24:00:00Z",
            range("2024-01-01T24:00:00Z", "hour"),
        ),
        (micro, "2024-01-01T00:00:10.000001Z", Ok(())),
        (
            micro,
            "2024-01-01T00:00:10.5Z",
            refused("2024-01-01T00:00:10.5Z", micro, ".5Z", ".000000"),
        ),
        (
            micro,
            "2024-01-01T00:00:10Z",
            refused("2024-01-01T00:00:10Z", micro, "Z", ".000000"),
        ),
    ];
    for (layout, text, expected) in cases {
        assert_eq!(super::time::parse(layout, text), expected, "{text}");
    }
}
