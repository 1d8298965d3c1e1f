//! What the server says about itself: groups, resources, version, health.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::kinds::{KINDS, Kind, Subresource};
use super::negotiate::{Form, negotiate};
use super::openapi;
use super::reply::Reply;
use super::request::ApiRequest;
use super::status::ApiError;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The answer to a path that names no resource; `None`: the path names nothing.
pub(crate) fn answer(request: &ApiRequest) -> Option<Result<Reply, ApiError>> {
    let path = request.path.trim_end_matches('/');
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let reply = match parts.as_slice() {
        ["api"] => aggregated(request, str::is_empty, api_versions),
        ["apis"] => aggregated(request, |group| !group.is_empty(), group_list),
        ["api", version] => resource_list(version)?,
        ["apis", group] => Ok(group_of(group)?),
        ["apis", group, version] => resource_list(&format!("{group}/{version}"))?,
        ["version"] if request.method != http::Method::GET => Err(ApiError::method_not_allowed()),
        ["version"] => Ok(version()),
        ["healthz" | "livez" | "readyz"]
        | ["healthz" | "livez" | "readyz", "ping" | "etcd" | "log"] => {
            return Some(Ok(Reply::text(StatusCode::OK, "ok")));
        }
        ["openapi", "v3", rest @ ..] => return Some(Ok(openapi::answer(request, rest))),
        _ => return None,
    };
    Some(reply.map(|body| match body {
        Body::Plain(value) => Reply::value(StatusCode::OK, &value),
        Body::Aggregated(value) => Reply::value(StatusCode::OK, &value).typed(AGGREGATED),
    }))
}

enum Body {
    Plain(Value),
    Aggregated(Value),
}

fn aggregated(
    request: &ApiRequest,
    wanted: impl Fn(&str) -> bool,
    plain: impl FnOnce(&ApiRequest) -> Value,
) -> Result<Body, ApiError> {
    if negotiate(request.header(http::header::ACCEPT), true)? != Form::GroupDiscovery {
        return Ok(Body::Plain(plain(request)));
    }
    let groups = groups().into_iter().filter(|group| wanted(group.name));
    let items: Vec<Value> = groups.map(|group| group.discovery()).collect();
    Ok(Body::Aggregated(json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })))
}

fn api_versions(request: &ApiRequest) -> Value {
    let host = request.header(http::header::HOST).unwrap_or("localhost");
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}],
    })
}

fn group_list(_: &ApiRequest) -> Value {
    let named = groups().into_iter().filter(|group| !group.name.is_empty());
    let groups: Vec<Value> = named.map(|group| group.summary()).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn group_of(name: &str) -> Option<Body> {
    let group = groups().into_iter().find(|group| group.name == name)?;
    let mut body = group.summary();
    body["kind"] = "APIGroup".into();
    body["apiVersion"] = "v1".into();
    Some(Body::Plain(body))
}

fn resource_list(api_version: &str) -> Option<Result<Body, ApiError>> {
    let kinds = || KINDS.iter().filter(|kind| kind.api_version == api_version);
    kinds().next()?;
    let mut resources: Vec<Value> = Vec::new();
    for kind in kinds() {
        resources.push(resource(kind));
        resources.extend(kind.subresources.iter().map(|sub| subresource(kind, sub)));
    }
    let mut body = json!({
        "kind": "APIResourceList",
        "groupVersion": api_version,
        "resources": resources,
    });
    if api_version != "v1" {
        body["apiVersion"] = "v1".into();
    }
    Some(Ok(Body::Plain(body)))
}

fn resource(kind: &Kind) -> Value {
    let mut resource = json!({
        "name": kind.plural,
        "singularName": kind.singular(),
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": kind.verbs(),
    });
    if kind.verbs().contains(&"get") {
        resource["storageVersionHash"] = openapi::hash(&kind.qualified_kind()).into();
    }
    add_names(kind, &mut resource);
    resource
}

fn subresource(kind: &Kind, sub: &Subresource) -> Value {
    let mut resource = json!({
        "name": format!("{}/{}", kind.plural, sub.name),
        "singularName": "",
        "namespaced": kind.namespaced,
        "kind": if sub.kind.is_empty() { kind.kind } else { sub.kind },
        "verbs": sub.verbs,
    });
    if let Some((group, version)) = sub.group_version {
        resource["group"] = group.into();
        resource["version"] = version.into();
    }
    resource
}

fn add_names(kind: &Kind, resource: &mut Value) {
    for (field, names) in [
        ("shortNames", kind.short_names),
        ("categories", kind.categories),
    ] {
        if !names.is_empty() {
            resource[field] = names.into();
        }
    }
}

/// A group with its versions, the preferred one first, in the order of the table.
struct Group {
    name: &'static str,
    versions: Vec<&'static str>,
}

fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for kind in KINDS {
        let (name, version) = (kind.group(), kind.version());
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) if group.versions.contains(&version) => {}
            Some(group) => group.versions.push(version),
            None => groups.push(Group {
                name,
                versions: vec![version],
            }),
        }
    }
    groups
}

impl Group {
    fn api_version(&self, version: &str) -> String {
        match self.name {
            "" => version.to_owned(),
            name => format!("{name}/{version}"),
        }
    }

    fn summary(&self) -> Value {
        let versions: Vec<Value> = self
            .versions
            .iter()
            .map(|version| json!({"groupVersion": self.api_version(version), "version": version}))
            .collect();
        let preferred = versions[0].clone();
        json!({"name": self.name, "versions": versions, "preferredVersion": preferred})
    }

    fn discovery(&self) -> Value {
        let versions: Vec<Value> = self
            .versions
            .iter()
            .map(|version| {
                let api_version = self.api_version(version);
                let kinds = KINDS.iter().filter(|kind| kind.api_version == api_version);
                let resources: Vec<Value> = kinds.map(discovered).collect();
                json!({"version": version, "resources": resources, "freshness": "Current"})
            })
            .collect();
        let mut metadata = Map::new();
        if !self.name.is_empty() {
            metadata.insert("name".to_owned(), self.name.into());
        }
        json!({"metadata": metadata, "versions": versions})
    }
}

fn discovered(kind: &Kind) -> Value {
    let own = |name: &str| json!({"group": "", "version": "", "kind": name});
    let mut resource = json!({
        "resource": kind.plural,
        "responseKind": own(kind.kind),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular(),
        "verbs": kind.verbs(),
    });
    add_names(kind, &mut resource);
    let subresources: Vec<Value> = kind
        .subresources
        .iter()
        .map(|sub| {
            let name = if sub.kind.is_empty() {
                kind.kind
            } else {
                sub.kind
            };
            let response_kind = match sub.group_version {
                Some((group, version)) => json!({"group": group, "version": version, "kind": name}),
                None => own(name),
            };
            json!({"subresource": sub.name, "responseKind": response_kind, "verbs": sub.verbs})
        })
        .collect();
    if !subresources.is_empty() {
        resource["subresources"] = subresources.into();
    }
    resource
}

fn version() -> Body {
    const MINOR: &str = "36";
    let texts = BTreeMap::from([
        ("major", "1"),
        ("minor", MINOR),
        ("emulationMajor", "1"),
        ("emulationMinor", MINOR),
        ("minCompatibilityMajor", "1"),
        ("minCompatibilityMinor", "35"),
        ("gitVersion", "v1.36.2"),
        ("gitCommit", "embedded"),
        ("gitTreeState", "clean"),
        ("buildDate", "2026-01-01T00:00:00Z"),
        ("goVersion", "none"),
        ("compiler", "gc"),
        ("platform", "embedded"),
    ]);
    Body::Plain(json!(texts))
}
