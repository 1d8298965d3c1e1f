//! The API server itself: from a request to an answer, synchronously and under one lock.
//!
//! Whatever takes time (reading the body, streaming a watch) is `service.rs`' and `watch.rs`' business.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;
use k8s_openapi::jiff::Timestamp;

use super::encode::Encoder;
use super::kinds::Kind;
use super::managed_fields::Tracking;
use super::query::ListOptions;
use super::random::Random;
use super::reply::Reply;
use super::request::ApiRequest;
use super::route::Target;
use super::status::ApiError;
use super::store::Store;
use super::watch::Watch;
use super::{delete, discovery, list, read, subresource, write};
use crate::clock::Clock;

/// All state that requests change.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) random: Random,
    pub(crate) tracking: Tracking,
    pub(crate) clock: Clock,
}

impl State {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The server: its state and the verbs on it.
#[derive(Debug)]
pub(crate) struct Server {
    clock: Clock,
    state: Mutex<State>,
}

impl Server {
    pub(crate) fn new(state: State) -> Self {
        Self {
            clock: state.clock,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // Every write replaces whole objects, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request.
    pub(crate) fn answer(self: &Arc<Self>, request: &ApiRequest) -> Reply {
        let reply = self.route(request);
        if request.method == Method::HEAD {
            return reply.without_body();
        }
        reply
    }

    fn route(self: &Arc<Self>, request: &ApiRequest) -> Reply {
        if let Some(target) = Target::parse(&request.path) {
            return self.serve(request, &target).unwrap_or_else(Reply::from);
        }
        match discovery::answer(request) {
            Some(reply) => reply.unwrap_or_else(Reply::from),
            None => Reply::path_not_found(),
        }
    }

    fn serve(self: &Arc<Self>, request: &ApiRequest, target: &Target) -> Result<Reply, ApiError> {
        let verb = Verb::of(request, target).ok_or_else(ApiError::method_not_allowed)?;
        let encoder = Encoder::of(request, self.clock)?;
        match verb {
            Verb::Get if target.is_connection() => subresource::get(&self.lock(), request, target),
            Verb::Get => read::get(&self.lock(), request, target, &encoder),
            Verb::List => self.list_or_watch(request, target, encoder),
            Verb::Create => write::create(&mut self.lock(), request, target, &encoder),
            Verb::Update => write::update(&mut self.lock(), request, target, &encoder),
            Verb::Patch => write::patch(&mut self.lock(), request, target, &encoder),
            Verb::Delete => delete::delete(&mut self.lock(), request, target, &encoder),
            Verb::DeleteCollection => {
                delete::delete_collection(&mut self.lock(), request, target, &encoder)
            }
        }
    }

    fn list_or_watch(
        self: &Arc<Self>,
        request: &ApiRequest,
        target: &Target,
        encoder: Encoder,
    ) -> Result<Reply, ApiError> {
        let options = ListOptions::parse(&request.query)?;
        let mut state = self.lock();
        if !options.watch {
            return list::list(&state, target, &options, &encoder);
        }
        Watch::open(
            self.clone(),
            &mut state.store,
            target.kind,
            target.namespace.clone(),
            &options,
            encoder,
        )
        .map(Reply::watch)
    }
}

/// What is done with a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Get,
    List,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    fn of(request: &ApiRequest, target: &Target) -> Option<Self> {
        let verb = match (&request.method, target.name.is_some()) {
            (&Method::GET, false) => Self::List,
            (&Method::GET, true) => Self::Get,
            (&Method::POST, _) => Self::Create,
            (&Method::PUT, true) => Self::Update,
            (&Method::PATCH, true) => Self::Patch,
            (&Method::DELETE, true) => Self::Delete,
            (&Method::DELETE, false) => Self::DeleteCollection,
            _ => return None,
        };
        verb.is_served(target).then_some(verb)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    fn is_served(self, target: &Target) -> bool {
        let kind: &Kind = target.kind;
        if let Some(name) = &target.subresource {
            return kind
                .subresource(name)
                .is_some_and(|sub| sub.verbs.contains(&self.name()));
        }
        let across_namespaces = kind.namespaced && target.namespace.is_none();
        match self {
            Self::Create if target.name.is_some() || across_namespaces => false,
            Self::DeleteCollection if across_namespaces => false,
            _ => kind.verbs().contains(&self.name()),
        }
    }
}
