//! As much of OpenAPI as kubectl asks for before it writes: which documents there are, and in them which parameters a
//! patch of each kind takes.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::kinds::{KINDS, Kind};
use super::reply::{PLAIN, Reply};
use super::request::ApiRequest;
use crate::schema::{Shape, Type};

/// The answer below `/openapi/v3`.
pub(crate) fn answer(request: &ApiRequest, rest: &[&str]) -> Reply {
    if rest.is_empty() && !request.path.ends_with('/') {
        return Reply::value(StatusCode::OK, &index()).typed(PLAIN);
    }
    let api_version = match rest {
        ["api", version] => (*version).to_owned(),
        ["apis", group, version] => format!("{group}/{version}"),
        _ => return Reply::empty(StatusCode::NOT_FOUND),
    };
    let kinds = || KINDS.iter().filter(|kind| kind.api_version == api_version);
    if kinds().next().is_none() {
        return Reply::empty(StatusCode::NOT_FOUND);
    }
    Reply::value(StatusCode::OK, &document(kinds()))
}

/// A short text that tells one thing from another: what the real server has its hashes for.
pub(crate) fn hash(text: &str) -> String {
    use base64::Engine as _;
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    base64::engine::general_purpose::STANDARD.encode(sum.to_be_bytes())
}

fn index() -> Value {
    let mut paths = Map::new();
    for kind in KINDS {
        let root = if kind.group().is_empty() {
            "api"
        } else {
            "apis"
        };
        let path = format!("{root}/{}", kind.api_version);
        let version = env!("CARGO_PKG_VERSION").replace('.', "-");
        let url = format!("/openapi/v3/{path}?hash={version}");
        paths.insert(path, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

fn document<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for kind in kinds {
        paths.insert(path_of(kind), json!({"patch": patch_operation(kind)}));
        let mut schema =
            json!({"type": "object", "properties": properties(kind.ty(), &mut schemas)});
        schema["x-kubernetes-group-version-kind"] = json!([group_version_kind(kind)]);
        schemas.insert(format!("{}.{}", kind.version(), kind.kind), schema);
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn path_of(kind: &Kind) -> String {
    let root = if kind.group().is_empty() {
        "api"
    } else {
        "apis"
    };
    let scope = if kind.namespaced {
        "namespaces/{namespace}/"
    } else {
        ""
    };
    format!(
        "/{root}/{}/{scope}{}/{{name}}",
        kind.api_version, kind.plural
    )
}

fn patch_operation(kind: &Kind) -> Value {
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    let names = ["dryRun", "fieldManager", "fieldValidation", "force"];
    json!({
        "parameters": names.map(parameter),
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": group_version_kind(kind),
    })
}

fn group_version_kind(kind: &Kind) -> Value {
    json!({"group": kind.group(), "version": kind.version(), "kind": kind.kind})
}

/// The fields of a type; the types that they refer to are added to `schemas`.
fn properties(ty: &'static Type, schemas: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for field in ty.fields() {
        properties.insert(field.name.to_owned(), schema(&field.shape, schemas));
    }
    Value::Object(properties)
}

fn schema(shape: &'static Shape, schemas: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Int32 | Shape::Int64 => json!({"type": "integer"}),
        Shape::Float => json!({"type": "number"}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::String | Shape::Bytes | Shape::Quantity | Shape::Time | Shape::MicroTime => {
            json!({"type": "string"})
        }
        Shape::IntOrString => json!({"type": "string", "format": "int-or-string"}),
        Shape::Raw => json!({"type": "object"}),
        Shape::List(element) => json!({"type": "array", "items": schema(element, schemas)}),
        Shape::Map(value) => {
            json!({"type": "object", "additionalProperties": schema(value, schemas)})
        }
        Shape::Struct(ty) => {
            let ty = ty.get();
            let name = ty.name().to_owned();
            if !schemas.contains_key(&name) {
                // Put down first, so that a type that holds itself comes to an end.
                schemas.insert(name.clone(), Value::Null);
                let properties = properties(ty, schemas);
                let schema = json!({"type": "object", "properties": properties});
                schemas.insert(name.clone(), schema);
            }
            json!({"$ref": format!("#/components/schemas/{name}")})
        }
    }
}
