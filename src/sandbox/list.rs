//! List: whole or page by page, at the present or at a moment of the past.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{NO_PAD, URL_SAFE_NO_PAD};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::encode::{Encoder, ListMeta};
use super::object::Object;
use super::query::ListOptions;
use super::read::check_not_ahead;
use super::reply::Reply;
use super::route::Target;
use super::selector::Filter;
use super::server::State;
use super::status::ApiError;
use super::store::Store;
use super::watch::parse_version;
use crate::controller::api::ObjectKey;

/// A page of a collection, or all of it.
pub(crate) fn list(
    state: &State,
    target: &Target,
    options: &ListOptions,
    encoder: &Encoder,
) -> Result<Reply, ApiError> {
    let kind = target.kind;
    let filter = Filter::parse(kind, &options.label_selector, &options.field_selector)?;
    let store = &state.store;
    let namespace = target.namespace.as_deref();
    let start = Start::of(options, store)?;
    let past = match start.revision {
        Some(revision) if revision < store.revision() => {
            let objects = store.list_at(kind.collection, revision);
            Some(objects.map_err(|_| start.expired())?)
        }
        _ => None,
    };
    let after = start.after.clone();
    let first = after.map_or(Bound::Unbounded, Bound::Excluded);
    let in_order: Box<dyn Iterator<Item = &Arc<Object>>> = match &past {
        Some(objects) => Box::new(range(objects, namespace, first)),
        None => Box::new(store.list(kind.collection, namespace, &first)),
    };
    let mut matching = in_order
        .filter(|object| filter.matches(object))
        .map(Arc::as_ref);
    let revision = start.revision.unwrap_or_else(|| store.revision());
    let mut meta = ListMeta {
        resource_version: revision,
        ..ListMeta::default()
    };
    let page: Vec<&Object> = if options.has_limit() {
        let page: Vec<&Object> = matching.by_ref().take(options.limit).collect();
        let rest = matching.count();
        if let (true, Some(last)) = (rest > 0, page.last()) {
            meta.continue_token = Some(Token::new(revision, last.key()).encode());
            meta.remaining = filter.is_empty().then_some(rest);
        }
        page
    } else {
        matching.collect()
    };
    let body = encoder.list(kind, &meta, page.into_iter())?;
    Ok(Reply::json(StatusCode::OK, body))
}

fn range<'a>(
    objects: &'a BTreeMap<ObjectKey, Arc<Object>>,
    namespace: Option<&'a str>,
    first: Bound<ObjectKey>,
) -> impl Iterator<Item = &'a Arc<Object>> {
    objects
        .range((first, Bound::Unbounded))
        .map(|(_, object)| object)
        .filter(move |object| namespace.is_none_or(|name| name == object.namespace()))
}

/// Where a list begins: at which moment, after which object.
#[derive(Debug, Default)]
struct Start {
    /// `None`: the present.
    revision: Option<u64>,
    after: Option<ObjectKey>,
}

impl Start {
    fn of(options: &ListOptions, store: &Store) -> Result<Self, ApiError> {
        let version = parse_version(&options.resource_version).map_err(|error| {
            ApiError::bad_request(format!("invalid resource version: {}", error.message))
        })?;
        if let Some(token) = &options.continue_token {
            if version != 0 {
                return Err(ApiError::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let token = Token::decode(token)?;
            return Ok(Self {
                revision: (token.rv > 0).then_some(token.rv),
                after: Some(token.key()),
            });
        }
        check_not_ahead(store, version)?;
        let is_exact = match options.resource_version_match.as_str() {
            "" => options.limit > 0 && version > 0,
            matching => matching == "Exact",
        };
        Ok(Self {
            revision: is_exact.then_some(version),
            after: None,
        })
    }

    fn expired(&self) -> ApiError {
        let Some(after) = &self.after else {
            return ApiError::expired("The resourceVersion for the provided list is too old.");
        };
        let mut error = ApiError::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list \
             without the continue parameter, or use the continue token in this response to retrieve the remainder of \
             the results. Continuing with the provided token results in an inconsistent list - objects that were \
             created, modified, or deleted between the time the first chunk was returned and now may show up in the \
             list.",
        );
        error.continue_token = Some(Token::new(0, after).encode());
        error
    }
}

/// A continue token, in the outward form of Kubernetes' own.
#[derive(Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    /// The moment of the first page; 0: the present, after the history has expired.
    #[serde(default)]
    rv: u64,
    #[serde(default)]
    start: String,
}

/// As Go reads it: bits left over at the end mean nothing.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    NO_PAD.with_decode_allow_trailing_bits(true),
);

impl Token {
    const VERSION: &str = "meta.k8s.io/v1";

    fn new(rv: u64, after: &ObjectKey) -> Self {
        Self {
            v: Self::VERSION.to_owned(),
            rv,
            start: format!("{}/{}", after.namespace, after.name),
        }
    }

    fn key(&self) -> ObjectKey {
        let (namespace, name) = self.start.split_once('/').unwrap_or(("", &self.start));
        ObjectKey::new(namespace, name)
    }

    fn encode(&self) -> String {
        let json = serde_json::to_string(self).expect("three plain fields serialize");
        URL_SAFE_NO_PAD.encode(json)
    }

    fn decode(text: &str) -> Result<Self, ApiError> {
        let refuse = |why: String| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let bytes = LENIENT
            .decode(text.trim_end_matches('='))
            .map_err(|error| refuse(error.to_string()))?;
        let token: Self = serde_json::from_slice(&bytes).map_err(|_| {
            let first = bytes.first().copied().unwrap_or_default();
            refuse(format!(
                "invalid character '\\x{first:02x}' looking for beginning of value"
            ))
        })?;
        if token.v != Self::VERSION {
            return Err(refuse(format!(
                "server does not recognize this encoded version {}",
                token.v
            )));
        }
        Ok(token)
    }
}
