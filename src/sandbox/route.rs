//! From a path to what it names.

use super::kinds::{self, Kind};

/// What a path below `/api` or `/apis` names: a collection, an object, or a subresource of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: &'static Kind,
    /// The namespace in the path; `None` for cluster-scoped kinds and for all namespaces at once.
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl Target {
    /// Whether it is no view of an object but a way to something else: a log, a shell.
    pub(crate) fn is_connection(&self) -> bool {
        matches!(
            self.subresource.as_deref(),
            Some("log" | "exec" | "attach" | "portforward" | "proxy")
        )
    }

    /// What the path names; `None` if it names nothing that is served here.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (api_version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ((*version).to_owned(), rest),
            ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            _ => (None, rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (plural, None, None),
            [plural, name] => (plural, Some(*name), None),
            [plural, name, subresource] => (plural, Some(*name), Some(*subresource)),
            _ => return None,
        };
        let kind = kinds::find(&api_version, plural)?;
        let known = subresource.is_none_or(|sub| kind.subresource(sub).is_some());
        let scope_fits = match (kind.namespaced, &namespace) {
            (true, None) => name.is_none(),
            (true, Some(_)) | (false, None) => true,
            (false, Some(_)) => false,
        };
        (known && scope_fits).then(|| Self {
            kind,
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
            subresource: subresource.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> Option<String> {
        let target = Target::parse(path)?;
        Some(format!(
            "{} {:?} {:?} {:?}",
            target.kind.plural,
            target.namespace.as_deref().unwrap_or("-"),
            target.name.as_deref().unwrap_or("-"),
            target.subresource.as_deref().unwrap_or("-"),
        ))
    }

    #[test]
    fn paths_name_collections_objects_and_subresources() {
        for (path, expected) in [
            ("/api/v1/pods", Some(r#"pods "-" "-" "-""#)),
            ("/api/v1/namespaces", Some(r#"namespaces "-" "-" "-""#)),
            ("/api/v1/namespaces/a", Some(r#"namespaces "-" "a" "-""#)),
            (
                "/api/v1/namespaces/a/finalize",
                Some(r#"namespaces "-" "a" "finalize""#),
            ),
            (
                "/api/v1/namespaces/a/pods/p/log",
                Some(r#"pods "a" "p" "log""#),
            ),
            (
                "/apis/apps/v1/namespaces/a/deployments/web/scale",
                Some(r#"deployments "a" "web" "scale""#),
            ),
            ("/api/v1/nodes/n", Some(r#"nodes "-" "n" "-""#)),
            ("/api/v1/pods/p", None),
            ("/api/v1/namespaces/a/nodes/n", None),
            ("/api/v1/namespaces/a/pods/p/nosuch", None),
            ("/apis/apps/v1", None),
            ("/apis/apps/v9/deployments", None),
            ("/version", None),
        ] {
            assert_eq!(parse(path).as_deref(), expected, "{path}");
        }
    }
}
