//! Reading request bodies: media type, syntax, and whether what came is of the kind that the path names.

use serde_json::Value;

use super::kinds::{self, Kind};
use super::request::ApiRequest;
use super::status::ApiError;

/// How much of a body a message quotes, in bytes of JSON text.
const QUOTED: usize = 30;

/// The object in a body, with `kind` and `apiVersion` as the path has them where it says nothing.
pub(crate) fn object(request: &ApiRequest, kind: &Kind) -> Result<Value, ApiError> {
    let mut value = parse(request, kind.kind)?;
    check_kind(&value, kind)?;
    if value.is_null() {
        value = Value::Object(serde_json::Map::new());
    }
    if let Some(object) = value.as_object_mut() {
        object.insert("kind".to_owned(), kind.kind.into());
        object.insert("apiVersion".to_owned(), kind.api_version.into());
    }
    Ok(value)
}

/// The body as a tree. `expected` is the kind that messages name.
pub(crate) fn parse(request: &ApiRequest, expected: &str) -> Result<Value, ApiError> {
    let unrecognized = |why: String, quoted: String| {
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {expected}): {why} ({quoted})"
        ))
    };
    match request.content_type() {
        "" | "application/json" => {
            let value: Value = serde_json::from_slice(&request.body).map_err(|error| {
                let why = format!(
                    "couldn't get version/kind; json parse error: {}",
                    json_error(&error, &request.body)
                );
                unrecognized(why, quote_text(&request.body))
            })?;
            if value.is_object() || value.is_null() {
                return Ok(value);
            }
            let found = type_name(&value);
            let why = format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type \
                 struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                 \"json:\\\"kind,omitempty\\\"\" }}"
            );
            Err(unrecognized(why, quote_bytes(&request.body)))
        }
        "application/yaml" => {
            let text = String::from_utf8_lossy(&request.body);
            serde_saphyr::from_str(&text)
                .map_err(|error| unrecognized(format!("yaml: {error}"), quote_bytes(&request.body)))
        }
        _ => Err(ApiError::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/yaml, application/vnd.kubernetes.protobuf",
        )),
    }
}

/// What a server-side apply asks for: YAML, of which JSON is a part.
pub(crate) fn apply_configuration(request: &ApiRequest) -> Result<Value, ApiError> {
    let text = String::from_utf8_lossy(&request.body);
    serde_saphyr::from_str(&text).map_err(|error| {
        ApiError::bad_request(format!(
            "error decoding YAML: error converting YAML to JSON: yaml: {error}"
        ))
    })
}

fn check_kind(value: &Value, kind: &Kind) -> Result<(), ApiError> {
    let api_version = value["apiVersion"]
        .as_str()
        .filter(|text| !text.is_empty())
        .unwrap_or(kind.api_version);
    let name = value["kind"]
        .as_str()
        .filter(|text| !text.is_empty())
        .unwrap_or(kind.kind);
    if name == kind.kind && api_version == kind.api_version {
        return Ok(());
    }
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    let refused = |why: String| {
        Err(ApiError::bad_request(format!(
            "{name} in version {version:?} cannot be handled as a {}: {why}",
            kind.kind
        )))
    };
    let is_known =
        kinds::of_object(api_version, name).is_some() || (api_version, name) == ("v1", "List");
    if is_known {
        return refused(format!(
            "converting ({version}.{name}) to ({}.{}): unknown conversion",
            kind.go_package(),
            kind.kind
        ));
    }
    let same_group = api_version.rsplit_once('/').map_or("", |(group, _)| group) == kind.group();
    if same_group && name == kind.kind {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            kind.api_version
        )));
    }
    refused(format!(
        "no kind {name:?} is registered for version {api_version:?} in scheme \
         \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
    ))
}

/// The name that Go's decoder has for a JSON type.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A syntax error in the words of Go's decoder.
fn json_error(error: &serde_json::Error, body: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let position = offset(body, error.line(), error.column());
    let found = body
        .get(position..)
        .and_then(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace()))
        .map_or('?', |byte| char::from(*byte));
    let place = if error.to_string().starts_with("trailing characters") {
        "after top-level value"
    } else {
        "looking for beginning of value"
    };
    format!("invalid character '{found}' {place}")
}

/// From a line and column, both counted from 1, to an index.
fn offset(body: &[u8], line: usize, column: usize) -> usize {
    let before: usize = body
        .split(|byte| *byte == b'\n')
        .take(line.saturating_sub(1))
        .map(|text| text.len() + 1)
        .sum();
    before + column.saturating_sub(1)
}

fn quote_text(body: &[u8]) -> String {
    if body.is_empty() {
        return "<empty>".to_owned();
    }
    let shown = &body[..body.len().min(QUOTED)];
    let rest = if body.len() > QUOTED { " ..." } else { "" };
    format!("{}{rest}", String::from_utf8_lossy(shown))
}

fn quote_bytes(body: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in body.iter().take(QUOTED) {
        write!(out, "{byte:02x}").expect("writing to a String cannot fail");
    }
    if body.len() > QUOTED {
        out.push_str(" ...");
    }
    out
}
