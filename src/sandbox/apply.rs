//! Server-side apply: merges what a manager wants into an object, tells conflicts with other managers, and removes
//! what the manager no longer wants. Pure; the verbs call [`apply`] and then decode, default and store as for any
//! other write.

mod last_applied;
mod merge;
mod validate;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::managed_fields::compare::{Comparison, fields_of};
use super::managed_fields::layout::Layout;
use super::managed_fields::managers::{Entry, ManagerId, Managers, Operation};
use super::managed_fields::set::FieldSet;
use super::managed_fields::{
    Writer, empty_object, record_update, remove_managed_fields, reset_fields, unmanaged,
};
use crate::schema::Type;

/// Who has the fields of an object whose managers were not tracked before its first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// One field that another manager has with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who has it.
    pub manager: ManagerId,
    /// The field, `.spec.replicas`.
    pub field: String,
}

/// Why a configuration is not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The configuration is of no use here: 400 with this message.
    #[error("{0}")]
    BadRequest(String),
    /// Other managers have fields with other values: 409 with this message and a cause for each.
    #[error("{}", conflict_message(.0))]
    Conflict(Vec<Conflict>),
    /// The configuration does not fit the type: 500 with this message and no reason.
    #[error("{0}")]
    Internal(String),
}

/// Applies `config` to `live`, in the name of `writer`; nothing live means that the object is to be created.
///
/// `live` is in the form that [`crate::schema::round_trip`] gives. The result carries the new `managedFields`; it has
/// yet to be brought into that form, and defaulted. Where nothing changes it equals `live`, a new manager apart.
pub fn apply(
    ty: &'static Type,
    live: Option<&Value>,
    config: &Value,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Value, ApplyError> {
    check_kind(ty, config)?;
    let mut managers = live
        .map_or(Ok(Managers::default()), Managers::of)
        .map_err(|error| {
            ApplyError::Internal(format!("failed to decode managed fields: {error}"))
        })?;
    let mut object = live.cloned().unwrap_or_else(|| empty_object(ty));
    remove_managed_fields(&mut object);
    if managers.is_empty() && live.is_some() {
        let manager = BEFORE_FIRST_APPLY;
        let before = Writer { manager, ..*writer };
        record_update(ty, &empty_object(ty), &object, &mut managers, &before);
    }
    if let Some(problem) = validate::problem(ty, config) {
        return Err(ApplyError::Internal(format!(
            "failed to create typed patch object ({}/{}; {}): {problem}",
            text(config, "/metadata/namespace"),
            text(config, "/metadata/name"),
            kind_of(config),
        )));
    }
    let application = Application {
        ty,
        config,
        id: writer.id(Operation::Apply, ""),
        reset: reset_fields(ty, writer.subresource),
    };
    let merged = application.merge(&object, &mut managers)?;
    let changed =
        Comparison::of(application.layout(), &object, &merged).without(&application.reset);
    let conflicts = application.conflicts(&changed, &object, &managers);
    if !conflicts.is_empty() && !force {
        return Err(ApplyError::Conflict(conflicts));
    }
    application.take_over(changed, &mut managers);
    application.settle(merged != object, &mut managers, writer);
    let mut applied = merged;
    if writer.manager == last_applied::KUBECTL {
        last_applied::update(&mut applied, config);
    }
    managers.write_to(&mut applied);
    Ok(applied)
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// Group, version and kind as Go prints them.
fn kind_of(config: &Value) -> String {
    let version = text(config, "/apiVersion");
    let slash = if version.contains('/') { "" } else { "/" };
    format!("{slash}{version}, Kind={}", text(config, "/kind"))
}

fn check_kind(ty: &'static Type, config: &Value) -> Result<(), ApplyError> {
    let is_of_type = text(config, "/kind") == ty.name()
        && Some(text(config, "/apiVersion")) == ty.group_version();
    if !is_of_type {
        let message = format!("invalid object type: {}", kind_of(config));
        return Err(ApplyError::BadRequest(message));
    }
    let managed_fields = config.pointer("/metadata/managedFields");
    if managed_fields.is_some_and(|fields| !fields.is_null()) {
        let message = "metadata.managedFields must be nil".to_owned();
        return Err(ApplyError::BadRequest(message));
    }
    Ok(())
}

/// One apply under way.
struct Application<'a> {
    ty: &'static Type,
    config: &'a Value,
    id: ManagerId,
    /// Fields that applying means nothing to.
    reset: FieldSet,
}

impl Application<'_> {
    fn layout(&self) -> Layout {
        Layout::of_type(self.ty)
    }

    fn version(&self) -> &'static str {
        self.ty.group_version().unwrap_or_default()
    }

    /// The object with the configuration merged in and without what the manager gave up.
    fn merge(&self, object: &Value, managers: &mut Managers) -> Result<Value, ApplyError> {
        let mut merged = object.clone();
        merge::merge(self.layout(), &mut merged, self.config)
            .map_err(|error| ApplyError::Internal(format!("failed to merge config: {error}")))?;
        let mut fields = fields_of(self.layout(), self.config);
        fields.subtract_deeply(&self.reset);
        let last = managers.take(&self.id);
        let time = last.as_ref().and_then(|entry| entry.time);
        let entry = Entry {
            api_version: self.version().to_owned(),
            fields,
            time,
        };
        managers.set(self.id.clone(), entry);
        if let Some(last) = last {
            self.prune(&mut merged, last.fields, managers);
        }
        Ok(merged)
    }

    /// Removes what the manager had applied before and nobody has any more.
    fn prune(&self, merged: &mut Value, last: FieldSet, managers: &Managers) {
        let last = self.with_parents(last);
        let mut pruned = merged.clone();
        merge::remove(self.layout(), &mut pruned, &last);

        let current = managers
            .iter()
            .filter(|(_, entry)| entry.api_version == self.version());
        let managed = current.map(|(_, entry)| entry.fields.clone());
        let managed = managed.reduce(FieldSet::union).unwrap_or_default();
        let all = self.with_parents(fields_of(self.layout(), merged));
        let mut unwanted = all.clone();
        unwanted.subtract(&self.with_parents(fields_of(self.layout(), &pruned)));
        unwanted.subtract(&self.with_parents(managed));

        // Removing those may take along what the manager never had: that stays.
        let mut pruned = merged.clone();
        merge::remove(self.layout(), &mut pruned, &unwanted);
        let mut gone = all;
        gone.subtract(&self.with_parents(fields_of(self.layout(), &pruned)));
        merge::remove(self.layout(), merged, &gone.intersection(&last));
    }

    /// The set with the fields of structs that it has something below.
    fn with_parents(&self, mut set: FieldSet) -> FieldSet {
        set.add_parents(self.layout(), &|layout: Layout, step| layout.step(step));
        set
    }

    /// The other managers whose fields this would change.
    fn others<'a>(
        &'a self,
        managers: &'a Managers,
    ) -> impl Iterator<Item = (&'a ManagerId, &'a Entry)> {
        let others = managers.iter().filter(|(id, _)| **id != self.id);
        others.filter(|(_, entry)| entry.api_version == self.version())
    }

    fn conflicts(
        &self,
        changed: &Comparison,
        object: &Value,
        managers: &Managers,
    ) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let mut explained = None;
        for (manager, entry) in self.others(managers) {
            let modified = entry.fields.intersection(&changed.modified);
            let mut fields = modified.union(entry.fields.intersection(&changed.added));
            if !fields.is_empty() && self.id.manager == last_applied::KUBECTL {
                fields.subtract(
                    explained.get_or_insert_with(|| last_applied::fields(self.ty, object)),
                );
            }
            conflicts.extend(fields.paths().into_iter().map(|field| Conflict {
                manager: manager.clone(),
                field,
            }));
        }
        conflicts
    }

    /// Takes the fields that changed from the other managers.
    fn take_over(&self, changed: Comparison, managers: &mut Managers) {
        let taken = changed.modified.union(changed.added);
        for (id, entry) in managers.iter_mut() {
            if *id != self.id && entry.api_version == self.version() {
                entry.fields.subtract(&taken);
                entry.fields.subtract(&changed.removed);
            }
        }
        managers.drop_empty();
    }

    /// Leaves the manager with what can be managed, and notes the time if the object changed.
    fn settle(&self, has_changed: bool, managers: &mut Managers, writer: &Writer<'_>) {
        let Some(mut entry) = managers.take(&self.id) else {
            return;
        };
        entry.fields.subtract(unmanaged());
        if has_changed {
            entry.time = Some(writer.now);
        }
        managers.set(self.id.clone(), entry);
    }
}

fn conflict_message(conflicts: &[Conflict]) -> String {
    if let [conflict] = conflicts {
        let Conflict { manager, field } = conflict;
        return format!("Apply failed with 1 conflict: conflict with {manager}: {field}");
    }
    let mut lines = Vec::new();
    let mut last = None;
    for Conflict { manager, field } in conflicts {
        if last != Some(manager) {
            lines.push(format!("conflicts with {manager}:"));
            last = Some(manager);
        }
        lines.push(format!("- {field}"));
    }
    let count = conflicts.len();
    format!("Apply failed with {count} conflicts: {}", lines.join("\n"))
}
