//! Reading request bodies: media type, syntax, and whether what came is of the kind that the path names.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::decode::{self, Decoded, FieldValidation, Reading};
use super::json::type_name;
use super::kinds::{self, Kind};
use super::request::ApiRequest;
use super::status::ApiError;

/// How much of a body a message quotes, in bytes of JSON text.
const QUOTED: usize = 30;

/// The object in a body, with `kind` and `apiVersion` as the path has them where it says nothing.
pub(crate) fn object(
    request: &ApiRequest,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Decoded, ApiError> {
    let reading = read(request, kind)?;
    check_kind(&reading.object, kind)?;
    let mut decoded = reading.check(validation).map_err(|error| {
        let version = kind.api_version.rsplit('/').next().unwrap_or_default();
        let kind = kind.kind;
        ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {error}"
        ))
    })?;
    if decoded.object.is_null() {
        decoded.object = Value::Object(Map::new());
    }
    set_kind(&mut decoded.object, kind);
    Ok(decoded)
}

/// Says what kind an object is.
pub(crate) fn set_kind(object: &mut Value, kind: &Kind) {
    if let Some(object) = object.as_object_mut() {
        object.insert("kind".to_owned(), kind.kind.into());
        object.insert("apiVersion".to_owned(), kind.api_version.into());
    }
}

/// Reads a body as an object of a kind. JSON is read in its own order and with what is there twice.
fn read(request: &ApiRequest, kind: &Kind) -> Result<Reading, ApiError> {
    if matches!(request.content_type(), "" | "application/json")
        && let Ok(reading) = Reading::of_json(kind.ty(), &request.body)
        && (reading.object.is_object() || reading.object.is_null())
    {
        return Ok(reading);
    }
    Ok(Reading::of_value(kind.ty(), parse(request, kind.kind)?))
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
                .map_err(|error| unrecognized(yaml_problem(&error), quote_bytes(&request.body)))
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
            "error decoding YAML: error converting YAML to JSON: {}",
            yaml_problem(&error)
        ))
    })
}

/// Whether a merge patch speaks of the status and of nothing else, preconditions apart.
pub(crate) fn is_status_alone(request: &ApiRequest) -> bool {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Patch {
        #[serde(rename = "metadata")]
        _metadata: Option<Preconditions>,
        #[serde(rename = "status")]
        _status: IgnoredAny,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Preconditions {
        #[serde(rename = "uid")]
        _uid: Option<IgnoredAny>,
        #[serde(rename = "resourceVersion")]
        _resource_version: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Patch>(&request.body).is_ok()
}

/// Whether what a patch made of an object is one of its kind: what there is to warn of.
///
/// # Errors
/// Why it is none, in the server's words.
pub(crate) fn check_patched(
    value: &Value,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Vec<String>, String> {
    if !is_other_version(value, kind)
        && let Some(problem) = conversion_problem(value, kind)
    {
        return Err(problem);
    }
    decode::check(kind.ty(), value, validation).map_err(|error| error.to_string())
}

/// A syntax error of YAML in one line, as Go's reader puts it: it leaves out the first line's number.
fn yaml_problem(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let problem = text.lines().next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let Some((place, what)) = problem.split_once(": ") else {
        return format!("yaml: {problem}");
    };
    match place.split(' ').nth(1) {
        None | Some("1") => format!("yaml: {what}"),
        Some(line) => format!("yaml: line {line}: {what}"),
    }
}

fn check_kind(value: &Value, kind: &Kind) -> Result<(), ApiError> {
    let (api_version, name) = type_of(value, kind);
    let Some(problem) = conversion_problem(value, kind) else {
        return Ok(());
    };
    if is_other_version(value, kind) {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            kind.api_version
        )));
    }
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    Err(ApiError::bad_request(format!(
        "{name} in version {version:?} cannot be handled as a {}: {problem}",
        kind.kind
    )))
}

/// The `apiVersion` and `kind` of a value, which are those expected where it says nothing.
fn type_of<'a>(value: &'a Value, kind: &'a Kind) -> (&'a str, &'a str) {
    let text = |field: &str| value[field].as_str().filter(|text| !text.is_empty());
    (
        text("apiVersion").unwrap_or(kind.api_version),
        text("kind").unwrap_or(kind.kind),
    )
}

/// Whether a value says that it is of another version of the kind, such as `apps/v1beta2`.
fn is_other_version(value: &Value, kind: &Kind) -> bool {
    let (api_version, name) = type_of(value, kind);
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let is_old_scale = name == "Scale" && group == "apps";
    name == kind.kind && (group == kind.group() || is_old_scale) && api_version != kind.api_version
}

/// Why a value can't become an object of a kind, going by what it says it is.
fn conversion_problem(value: &Value, kind: &Kind) -> Option<String> {
    let (api_version, name) = type_of(value, kind);
    if name == kind.kind && api_version == kind.api_version {
        return None;
    }
    let is_known =
        kinds::of_object(api_version, name).is_some() || (api_version, name) == ("v1", "List");
    if is_known {
        let version = api_version.rsplit('/').next().unwrap_or(api_version);
        return Some(format!(
            "converting ({version}.{name}) to ({}.{}): unknown conversion",
            kind.go_package(),
            kind.kind
        ));
    }
    Some(format!(
        "no kind {name:?} is registered for version {api_version:?} in scheme \
         \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
    ))
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
