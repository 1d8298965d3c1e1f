//! The parts of a request that say how to do it: query parameters and `DeleteOptions`.
//!
//! Only parsing and the checks that need no object are here; the messages are the server's own.

use serde::Deserialize;

use super::decode::FieldValidation;
use super::field_error::FieldError;
use super::status::ApiError;

/// A decoded query string. Empty pairs (`?&limit=1`) are skipped, as kube's client sends them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(raw: &str) -> Self {
        let pairs = raw
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name), decode(value))
            })
            .collect();
        Self(pairs)
    }

    /// The first value of a parameter; empty counts as absent, as in Kubernetes.
    pub(crate) fn get<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).next().filter(|value| !value.is_empty())
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A switch: anything but `0` and `false` turns it on.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)
            .map(|value| !matches!(value, "0" | "false" | "False" | "FALSE"))
    }

    fn integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        self.get(name).map(parse_int).transpose()
    }
}

fn parse_int(value: &str) -> Result<i64, ApiError> {
    value.parse().map_err(|_| {
        ApiError::bad_request(format!(
            "strconv.ParseInt: parsing {value:?}: invalid syntax"
        ))
    })
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'+' => b' ',
            b'%' => {
                let digits: Option<Vec<u8>> = [rest.next(), rest.next()].into_iter().collect();
                digits
                    .and_then(|digits| String::from_utf8(digits).ok())
                    .and_then(|digits| u8::from_str_radix(&digits, 16).ok())
                    .unwrap_or(b'%')
            }
            other => other,
        };
        bytes.push(decoded);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a list or watch asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) watch: bool,
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) resource_version: String,
    pub(crate) resource_version_match: String,
    pub(crate) limit: usize,
    pub(crate) continue_token: Option<String>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
}

impl ListOptions {
    pub(crate) fn parse(query: &Query) -> Result<Self, ApiError> {
        let text = |name| query.get(name).unwrap_or_default().to_owned();
        let options = Self {
            watch: query.flag("watch").unwrap_or_default(),
            label_selector: text("labelSelector"),
            field_selector: text("fieldSelector"),
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            limit: query
                .integer("limit")?
                .and_then(|limit| usize::try_from(limit).ok())
                .unwrap_or_default(),
            continue_token: query.get("continue").map(str::to_owned),
            timeout_seconds: query
                .integer("timeoutSeconds")?
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0),
            bookmarks: query.flag("allowWatchBookmarks").unwrap_or_default(),
            send_initial_events: query.flag("sendInitialEvents"),
        };
        let errors = options.check();
        if errors.is_empty() {
            Ok(options)
        } else {
            Err(ApiError::invalid_named(
                "meta.k8s.io",
                "ListOptions",
                "",
                &errors,
            ))
        }
    }

    /// Whether the answer comes in pages. From its cache, which resourceVersion 0 asks for, a server gives all at once.
    pub(crate) fn has_limit(&self) -> bool {
        let from_cache = self.resource_version == "0" && self.continue_token.is_none();
        self.limit > 0 && !from_cache
    }

    fn check(&self) -> Vec<FieldError> {
        const MATCH: &str = "resourceVersionMatch";
        let forbid = |detail: &str| vec![FieldError::forbidden(MATCH, detail)];
        let matching = self.resource_version_match.as_str();
        if self.watch {
            return match (self.send_initial_events, matching) {
                (None, "") | (Some(_), "NotOlderThan") => Vec::new(),
                (None, _) => forbid(
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ),
                (Some(_), _) => forbid(
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ),
            };
        }
        if self.send_initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            return vec![FieldError::forbidden("sendInitialEvents", detail)];
        }
        match matching {
            "" => Vec::new(),
            _ if self.continue_token.is_some() => {
                forbid("resourceVersionMatch is forbidden when continue is provided")
            }
            _ if self.resource_version.is_empty() => {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided")
            }
            "Exact" if self.resource_version == "0" => {
                forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")
            }
            "Exact" | "NotOlderThan" => Vec::new(),
            other => vec![FieldError::not_supported(
                MATCH,
                &other.into(),
                &["Exact", "NotOlderThan", ""],
            )],
        }
    }
}

/// What a create, update or patch asks for beside its body.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_manager: Option<String>,
    pub(crate) field_validation: FieldValidation,
    pub(crate) force: Option<bool>,
}

impl WriteOptions {
    /// `name` is the options' kind, for messages: `CreateOptions`.
    pub(crate) fn parse(query: &Query, name: &str) -> Result<Self, ApiError> {
        let dry_run: Vec<&str> = query
            .all("dryRun")
            .filter(|value| !value.is_empty())
            .collect();
        let mut errors = check_dry_run(&dry_run);
        let field_manager = query.get("fieldManager").map(str::to_owned);
        errors.extend(field_manager.as_deref().and_then(check_field_manager));
        let field_validation = match query.get("fieldValidation") {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                errors.push(FieldError::not_supported(
                    "fieldValidation",
                    &other.into(),
                    &["", "Ignore", "Strict", "Warn"],
                ));
                FieldValidation::Warn
            }
        };
        if !errors.is_empty() {
            return Err(ApiError::invalid_named("meta.k8s.io", name, "", &errors));
        }
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            field_manager,
            field_validation,
            force: query.flag("force"),
        })
    }
}

fn check_dry_run(values: &[&str]) -> Vec<FieldError> {
    if values.iter().all(|value| *value == "All") {
        return Vec::new();
    }
    vec![FieldError::not_supported(
        "dryRun",
        &values.into(),
        &["All"],
    )]
}

fn check_field_manager(manager: &str) -> Option<FieldError> {
    const FIELD: &str = "fieldManager";
    if manager.len() > 128 {
        return Some(FieldError::too_long(FIELD, 128));
    }
    let (position, character) = manager
        .char_indices()
        .find(|(_, character)| character.is_control())?;
    let detail = format!(
        "invalid character U+{:04X} (at position {position})",
        u32::from(character)
    );
    Some(FieldError::invalid(FIELD, &manager.into(), &detail))
}

/// `DeleteOptions`, from the body or the query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DeleteOptions {
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) preconditions: Option<Preconditions>,
    pub(crate) orphan_dependents: Option<bool>,
    pub(crate) propagation_policy: Option<String>,
    pub(crate) dry_run: Vec<String>,
}

/// What must hold for a delete to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

impl DeleteOptions {
    pub(crate) fn from_query(query: &Query) -> Result<Self, ApiError> {
        Ok(Self {
            grace_period_seconds: query.integer("gracePeriodSeconds")?,
            orphan_dependents: query.flag("orphanDependents"),
            propagation_policy: query.get("propagationPolicy").map(str::to_owned),
            dry_run: query.all("dryRun").map(str::to_owned).collect(),
            preconditions: None,
        })
    }

    /// Refuses values that no delete can mean.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let mut errors = Vec::new();
        match self.propagation_policy.as_deref() {
            None | Some("Foreground" | "Background" | "Orphan") => {}
            Some(other) => errors.push(FieldError::not_supported(
                "propagationPolicy",
                &other.into(),
                &["Foreground", "Background", "Orphan", "nil"],
            )),
        }
        let dry_run: Vec<&str> = self.dry_run.iter().map(String::as_str).collect();
        errors.extend(check_dry_run(&dry_run));
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ApiError::invalid_named(
                "meta.k8s.io",
                "DeleteOptions",
                "",
                &errors,
            ))
        }
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        !self.dry_run.is_empty()
    }
}
