//! The one way into the store: every create and every change completes, checks and stores an object here.
//!
//! The order is the API server's: default, record the field managers, admit, complete, validate, store. A dry run goes
//! all the way and leaves out the last step.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::kinds::Kind;
use super::managed_fields::{self, Writer};
use super::object::{Object, View};
use super::query::WriteOptions;
use super::route::Target;
use super::server::State;
use super::status::ApiError;
use super::{
    admission, allocation, defaults, event_view, metadata, pod_parts, read, strategy, validation,
};
use crate::controller::api::ObjectKey;
use crate::schema;

/// How often a taken generated name is replaced by another.
const NAME_ATTEMPTS: usize = 8;

/// A write under way: what it is about, how it was asked for, and by whom.
#[derive(Clone, Debug)]
pub(crate) struct Write<'a> {
    pub(crate) target: &'a Target,
    pub(crate) options: WriteOptions,
    /// The name under which `managedFields` records it.
    pub(crate) manager: String,
    /// Whether the objects that come already carry the `managedFields` they are to have.
    pub(crate) manages_itself: bool,
    /// What its change looks at.
    pub(crate) view: View,
    /// What the answer warns of.
    pub(crate) warnings: RefCell<Vec<String>>,
}

impl<'a> Write<'a> {
    pub(crate) fn new(target: &'a Target, options: WriteOptions, manager: String) -> Self {
        Self {
            target,
            options,
            manager,
            manages_itself: false,
            view: View::Whole,
            warnings: RefCell::default(),
        }
    }

    pub(crate) fn warn(&self, warnings: impl IntoIterator<Item = String>) {
        self.warnings.borrow_mut().extend(warnings);
    }

    pub(crate) fn subresource(&self) -> &str {
        self.target.subresource.as_deref().unwrap_or_default()
    }

    /// The writer as `managedFields` knows it.
    pub(crate) fn writer(&self, now: Timestamp) -> Writer<'_> {
        Writer {
            manager: &self.manager,
            subresource: self.subresource(),
            now,
        }
    }

    fn record_managers(&self, state: &State, live: Option<&Value>, new: &mut Value) {
        if !self.manages_itself {
            let writer = self.writer(state.now());
            let ty = self.target.kind.storage().ty();
            managed_fields::update(ty, live, new, &writer, state.tracking);
        }
    }
}

/// Completes, checks and stores a new object.
pub(crate) fn create(
    state: &mut State,
    write: &Write<'_>,
    mut object: Value,
) -> Result<Arc<Object>, ApiError> {
    let kind = write.target.kind.storage();
    metadata::set_namespace(write.target, &mut object)?;
    admission::namespace_lifecycle(&state.store, write.target, &object)?;
    settle(write.target.kind, View::Whole, &mut object);
    write.record_managers(state, None, &mut object);
    admission::admit(&state.store, kind, &mut object)?;
    strategy::prepare_for_create(kind, &mut object, state.now());
    let is_named = metadata::prepare_for_create(state, kind, &mut object)?;
    allocation::allocate(&state.store, &mut state.random, kind, &mut object);
    let errors = validation::validate_create(kind.kind, &as_sent(write.target.kind, &object));
    if !errors.is_empty() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return Err(ApiError::invalid(kind, name, &errors));
    }
    write.warn(validation::warnings_on_create(kind.kind, &object));
    admission::review(state, write, kind, None, &object)?;
    claim_name(state, kind, &mut object, is_named)?;
    strategy::complete(kind, &mut object);
    schema::round_trip(kind.ty(), &mut object);
    if write.options.dry_run {
        return Ok(Arc::new(Object::new(object, 0)));
    }
    Ok(state.store.put(kind.collection, object))
}

/// Sees to it that the object's name is free, drawing another one where the server made it up.
fn claim_name(
    state: &mut State,
    kind: &Kind,
    object: &mut Value,
    is_named: bool,
) -> Result<(), ApiError> {
    let metadata = &object["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    let mut key = ObjectKey::new(text("namespace"), text("name"));
    let attempts = if is_named { 1 } else { NAME_ATTEMPTS };
    for attempt in 1..=attempts {
        let Some(taken) = state.store.get(kind.collection, &key) else {
            return Ok(());
        };
        if attempt == attempts {
            let is_going = taken.is_terminating();
            return Err(ApiError::already_exists(kind, &key.name, is_going));
        }
        key.name = metadata::generate_name(state, kind, object).unwrap_or_default();
    }
    Ok(())
}

/// Changes a stored object: `change` gets its present state and gives the one asked for, both without the parts that
/// the write leaves alone.
pub(crate) fn change(
    state: &mut State,
    write: &Write<'_>,
    change: impl FnOnce(&Value) -> Result<Value, ApiError>,
) -> Result<Arc<Object>, ApiError> {
    let kind = write.target.kind.storage();
    let stored = read::find(&state.store, write.target)?.clone();
    let view = view_of(write, &stored);
    let mut old = stored.view(kind, view);
    let mut new = match write.target.kind {
        kind if kind.is_view() => change(&stored.value(kind))?,
        _ => change(&old)?,
    };
    metadata::check_name(write.target, &new)?;
    metadata::set_namespace(write.target, &mut new)?;
    metadata::check_resource_version(kind, &stored, &new)?;
    settle(write.target.kind, view, &mut new);
    if view != View::Whole && validation::status_follows_spec(kind.kind, &new, &old) {
        old["spec"] = stored.spec();
    }
    write.record_managers(state, Some(&old), &mut new);
    admission::admit_update(kind, &mut new, &old);
    metadata::prepare_for_update(&mut new, &old);
    strategy::prepare_for_update(kind, write.subresource(), &mut new, &old);
    allocation::keep(kind, &mut new, &old);
    allocation::allocate(&state.store, &mut state.random, kind, &mut new);
    let errors = match write.subresource() {
        "status" => validation::validate_status_update(kind.kind, &new, &old),
        part @ ("ephemeralcontainers" | "resize") => pod_parts::validate(part, &new, &old),
        _ => validation::validate_update(kind.kind, &new, &old),
    };
    if !errors.is_empty() {
        return Err(ApiError::invalid(kind, stored.name(), &errors));
    }
    if write.subresource().is_empty() {
        write.warn(validation::warnings_on_update(kind.kind, &new, &old));
    }
    admission::review(state, write, kind, Some(&old), &new)?;
    strategy::complete(kind, &mut new);
    // Of a status nothing was completed but what is in form.
    if view != View::Status {
        schema::round_trip_part(kind.ty(), |member| view.shows(member), &mut new);
    }
    Ok(store_changed(state, write, &stored, (&old, new), view))
}

/// How much of a stored object a write looks at: most status writes leave all else alone, which is the larger part.
/// Who manages which fields can be told of the whole object only.
fn view_of(write: &Write<'_>, stored: &Object) -> View {
    let is_workload = matches!(write.target.kind.kind, "Deployment" | "ReplicaSet" | "Pod");
    let is_managed = stored.has_managers() || write.manages_itself;
    if is_workload && write.subresource() == "status" && !is_managed {
        write.view
    } else {
        View::Whole
    }
}

/// Stores a new state of an object, unless it is the old one.
fn store_changed(
    state: &mut State,
    write: &Write<'_>,
    stored: &Arc<Object>,
    (old, mut new): (&Value, Value),
    view: View,
) -> Arc<Object> {
    let kind = write.target.kind.storage();
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
    managed_fields::keep_times(old, &mut new);
    if view.changeable(&new).eq(view.changeable(old)) {
        return stored.clone();
    }
    let unsaved = |new| {
        let version = stored.resource_version();
        Arc::new(Object::replacing(Some(stored), view, new, version))
    };
    if write.options.dry_run {
        return unsaved(new);
    }
    if metadata::is_released(kind, &new) {
        // The last finalizer is gone: the object goes without being stored once more.
        state.store.remove(kind.collection, stored.key());
        return unsaved(new);
    }
    state.store.put_viewed(kind.collection, view, new)
}

/// An object with the field names that the caller used: validation speaks of those.
fn as_sent<'a>(sent_as: &Kind, object: &'a Value) -> Cow<'a, Value> {
    let mut object = Cow::Borrowed(object);
    if sent_as.is_view() {
        event_view::from_core(object.to_mut());
    }
    object
}

/// Brings what a caller sent into the form that the server works on: typed, as it is stored, defaulted. What has
/// defaults is in the spec.
fn settle(sent_as: &'static Kind, view: View, object: &mut Value) {
    schema::round_trip_part(sent_as.ty(), |member| view.shows(member), object);
    if view != View::Whole {
        return;
    }
    let kind = sent_as.storage();
    if sent_as.is_view() {
        event_view::to_core(object);
        schema::round_trip(kind.ty(), object);
    }
    defaults::apply_defaults(kind.kind, object);
}
