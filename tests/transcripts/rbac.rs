//! Who may do what: impersonated users have the rules of the case, or none; a bearer token is wrong.

use http::Request;
use serde_json::{Value, json};

use crate::recording::Rbac;

/// What a request asks for.
struct Asked<'a> {
    verb: &'a str,
    group: &'a str,
    plural: &'a str,
    namespace: &'a str,
    name: Option<String>,
}

/// The refusal of a request, if it is refused: code and body.
pub(crate) fn refusal<B>(request: &Request<B>, rbac: Option<&Rbac>) -> Option<(u16, Value)> {
    let header = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    if header("authorization").is_some() {
        return Some((401, status(401, "Unauthorized", "Unauthorized", &json!({}))));
    }
    let user = header("impersonate-user")?;
    let asked = Asked::of(request)?;
    let rules = rbac
        .filter(|rbac| rbac.user == user)
        .map_or(&[][..], |rbac| &rbac.rules);
    let names = |list: &[String], name: &str| list.iter().any(|one| one == "*" || one == name);
    let is_allowed = rules.iter().any(|rule| {
        names(&rule.api_groups, asked.group)
            && names(&rule.resources, asked.plural)
            && names(&rule.verbs, asked.verb)
    });
    (!is_allowed).then(|| (403, asked.forbidden(user)))
}

impl<'a> Asked<'a> {
    fn of<B>(request: &'a Request<B>) -> Option<Self> {
        let parts: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
        let (group, rest) = match parts.as_slice() {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (namespace, plural, name) = match rest {
            ["namespaces", namespace, plural] => (*namespace, *plural, None),
            ["namespaces", namespace, plural, name, ..] => (*namespace, *plural, Some(*name)),
            [plural] => ("", *plural, None),
            [plural, name, ..] => ("", *plural, Some(*name)),
            [] => return None,
        };
        let query = request.uri().query().unwrap_or_default();
        let verb = match request.method().as_str() {
            "GET" if query.contains("watch=true") => "watch",
            "GET" if name.is_none() => "list",
            "GET" => "get",
            "PATCH" => "patch",
            _ => "update",
        };
        // The one object that a list is narrowed to counts as named.
        let narrowed = query
            .split("metadata.name%3D")
            .nth(1)
            .map(|rest| rest.split('&').next().unwrap());
        Some(Self {
            verb,
            group,
            plural,
            namespace,
            name: name.or(narrowed).map(str::to_owned),
        })
    }

    fn forbidden(&self, user: &str) -> Value {
        let resource = match self.group {
            "" => self.plural.to_owned(),
            group => format!("{}.{group}", self.plural),
        };
        let name = self
            .name
            .as_ref()
            .map_or_else(String::new, |name| format!(" \"{name}\""));
        let message = format!(
            "{resource}{name} is forbidden: User \"{user}\" cannot {} resource \"{}\" in API group \"{}\" in the namespace \"{}\"",
            self.verb, self.plural, self.group, self.namespace
        );
        let name = self.name.as_deref().unwrap_or_default();
        let details = json!({"name": name, "group": self.group, "kind": self.plural});
        status(403, "Forbidden", &message, &details)
    }
}

fn status(code: u16, reason: &str, message: &str, details: &Value) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": details, "code": code,
    })
}
