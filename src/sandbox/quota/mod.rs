//! Quotas: what an object takes is charged to the quotas of its namespace, or it is refused
//! (failure-states spec, section 14.1).
//!
//! Admission goes by a quota's status alone, as a real API server does: a quota without `status.hard` limits nothing,
//! what a write takes is added to `status.used`, and nothing is given back. Giving back is [`recount`]'s job, which
//! does what the quota controller of a real cluster does. All of it is pure: who calls gives in the objects.

mod scope;
mod usage;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value};

use self::scope::is_covered;
use self::usage::{is_taken_by, missing};
use super::kinds::{KINDS, Kind, Serves};
use super::pod_resources::amounts;
use crate::kubelet::Resources;
use crate::schema::quantity::Quantity;

/// A write as quotas see it.
pub(crate) struct Charge<'a> {
    pub(crate) kind: &'a Kind,
    /// The object before; none when it is created.
    pub(crate) old: Option<&'a Value>,
    pub(crate) new: &'a Value,
    pub(crate) now: Timestamp,
}

/// The kinds whose objects quotas can count.
pub(crate) fn counted_kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| can_be_counted(kind))
}

fn can_be_counted(kind: &Kind) -> bool {
    kind.namespaced && kind.serves != Serves::CreateOnly && kind.kind != "Event"
}

impl Charge<'_> {
    /// Whether quotas have a say in it.
    pub(crate) fn is_counted(&self) -> bool {
        let resource = self.kind.qualified_resource();
        if !can_be_counted(self.kind) {
            return false;
        }
        let Some(old) = self.old else { return true };
        match resource.as_str() {
            "services" | "persistentvolumeclaims" => true,
            "pods" => {
                let ends = |pod: &Value| pod["spec"]["activeDeadlineSeconds"].is_null();
                ends(old) != ends(self.new)
            }
            _ => false,
        }
    }

    /// The new `status.used` of each quota that it is charged to, in the order of the quotas; or why it is refused.
    pub(crate) fn apply(&self, quotas: &[Value]) -> Result<Vec<Option<Value>>, String> {
        let usage = usage::usage(self.kind, self.new, self.now);
        // All quotas are asked whether they can tell before any is asked whether there is enough.
        for quota in quotas.iter().filter(|quota| self.is_limited_by(quota)) {
            self.check_constraints(quota)?;
        }
        let charged = |quota: &Value| {
            if !self.is_limited_by(quota) {
                return Ok(None);
            }
            charge_to(quota, &self.added(quota, &usage))
        };
        quotas.iter().map(charged).collect()
    }

    fn is_limited_by(&self, quota: &Value) -> bool {
        let hard = amounts(&quota["status"]["hard"]);
        hard.keys().any(|resource| is_taken_by(self.kind, resource))
            && is_covered(self.kind, self.new, quota)
    }

    fn check_constraints(&self, quota: &Value) -> Result<(), String> {
        let name = quota["metadata"]["name"].as_str().unwrap_or_default();
        let hard = amounts(&quota["status"]["hard"]);
        let used = amounts(&quota["status"]["used"]);
        let limited: BTreeSet<&str> = hard
            .keys()
            .map(String::as_str)
            .filter(|resource| is_taken_by(self.kind, resource))
            .collect();
        if self.kind.kind == "Pod" {
            let missing = missing(self.new, &limited);
            if !missing.is_empty() {
                let missing = missing.join("; ");
                return Err(format!("failed quota: {name}: must specify {missing}"));
            }
        }
        if limited.iter().all(|resource| used.contains_key(*resource)) {
            return Ok(());
        }
        let limited = Vec::from_iter(limited).join(",");
        Err(format!(
            "status unknown for quota: {name}, resources: {limited}"
        ))
    }

    /// What a write adds to what a quota counts already.
    fn added(&self, quota: &Value, usage: &Resources) -> Resources {
        let mut added = usage.clone();
        if let Some(old) = self.old
            && is_covered(self.kind, old, quota)
        {
            for (name, amount) in usage::usage(self.kind, old, self.now) {
                let rest = added.entry(name).or_default();
                *rest = (*rest - amount).max(Quantity::ZERO);
            }
        }
        added.retain(|_, amount| !amount.is_zero());
        added
    }
}

/// Adds to what is used, if the limits let it; nothing if the quota limits none of it.
fn charge_to(quota: &Value, added: &Resources) -> Result<Option<Value>, String> {
    let hard = amounts(&quota["status"]["hard"]);
    let mut used = amounts(&quota["status"]["used"]);
    let before = used.clone();
    let mut exceeded = [const { Vec::new() }; 3];
    for (name, limit) in &hard {
        let Some(requested) = added.get(name) else {
            continue;
        };
        let now_used = used.entry(name.clone()).or_default();
        if *now_used + *requested > *limit {
            let amounts = [*requested, *now_used, *limit];
            for (texts, amount) in exceeded.iter_mut().zip(amounts) {
                texts.push(format!("{name}={amount}"));
            }
        }
        *now_used += *requested;
    }
    let [requested, in_use, limited] = exceeded.map(|texts| texts.join(","));
    if !requested.is_empty() {
        let name = quota["metadata"]["name"].as_str().unwrap_or_default();
        return Err(format!(
            "exceeded quota: {name}, requested: {requested}, used: {in_use}, limited: {limited}"
        ));
    }
    Ok((used != before).then(|| resource_list(&used)))
}

fn resource_list(amounts: &Resources) -> Value {
    let amounts = amounts.iter();
    let texts = amounts.map(|(name, amount)| (name.clone(), amount.to_string().into()));
    Value::Object(texts.collect())
}

/// The status that a quota should have, if it is not the one it has: the limits of its spec, and what the objects of
/// its namespace take of them. `objects` gives those of a kind; it is asked for kinds that the quota counts.
pub(crate) fn recount<'k>(
    quota: &Value,
    kinds: impl IntoIterator<Item = &'k Kind>,
    mut objects: impl FnMut(&Kind) -> Vec<Value>,
    now: Timestamp,
) -> Option<Value> {
    let hard = amounts(&quota["spec"]["hard"]);
    let mut used = amounts(&quota["status"]["used"]);
    used.retain(|name, _| hard.contains_key(name));
    for kind in kinds {
        let mut counted = Resources::new();
        counted.extend(
            hard.keys()
                .filter(|name| is_taken_by(kind, name))
                .map(|name| (name.clone(), Quantity::ZERO)),
        );
        if counted.is_empty() {
            continue;
        }
        for object in objects(kind) {
            if is_covered(kind, &object, quota) {
                for (name, amount) in usage::usage(kind, &object, now) {
                    if let Some(sum) = counted.get_mut(&name) {
                        *sum += amount;
                    }
                }
            }
        }
        used.extend(counted);
    }
    let is_current = amounts(&quota["status"]["hard"]) == hard
        && quota["status"]["used"].is_object()
        && amounts(&quota["status"]["used"]) == used;
    if is_current {
        return None;
    }
    let mut status = Map::new();
    status.insert("hard".to_owned(), resource_list(&hard));
    status.insert("used".to_owned(), resource_list(&used));
    Some(Value::Object(status))
}
