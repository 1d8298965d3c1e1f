//! Going back with a Deployment: its template and annotations become those of one of its ReplicaSets.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Undo, Undone, not_found};
use crate::cli::edit::{Change, EditError};
use crate::cli::objects::Found;
use crate::cli::rollout::history::numbered;
use crate::cli::rollout::revisions::{DeploymentHistory, Set};
use crate::controller::deployment::{revision_history, skip_copy_annotation};
use crate::controller::keys::{CHANGE_CAUSE, LAST_APPLIED};
use crate::engine::options::DryRun;
use crate::error::Failure;

/// Undoes one.
pub(super) async fn undo(undo: &Undo<'_>, object: &Found) -> anyhow::Result<Undone> {
    let asked = undo.args.to_revision;
    if asked < 0 {
        return Err(not_found(asked).into());
    }
    let client = &undo.job.cluster.client;
    let history = DeploymentHistory::read(client, object).await?;
    let target = target(&history, asked, object.name())?;
    let name = name_of(target);
    if undo.dry_run == DryRun::Client {
        undo.agreed(object, target.template(), &name).await?;
        return Ok(Undone::said(Undo::description(target.template())));
    }
    must_not_be_paused(object)?;
    if is_current(&history, target) {
        return Ok(Undone::skipped(object, asked));
    }
    if !undo.agreed(object, target.template(), &name).await? {
        return Ok(Undone::REFUSED);
    }
    tell_survivors(undo, object, target);
    let cause = undo.args.cause.as_deref();
    let mut was_reached = false;
    let edited = undo
        .writing()
        .edit(client, object, |object| {
            must_not_be_paused(object)?;
            was_reached = is_current(&history.of_version(object)?, target);
            Ok((!was_reached).then(|| back_to(object, target, cause)))
        })
        .await;
    match edited {
        Ok(None) => Ok(Undone::skipped(object, asked)),
        Ok(Some(edited)) => {
            tell_numbers(undo, object, &history, target);
            Ok(Undone::rolled_back(edited))
        }
        Err(EditError::Refused(error)) => Err(error),
        Err(EditError::Request(error)) => {
            Err(error).with_context(|| format!("failed restoring revision {asked}"))
        }
    }
}

/// A number and who has it.
type Place<'a> = Option<(i64, &'a Set)>;

/// The ReplicaSet to go back to: of that number, or with the second highest one.
fn target<'a>(
    history: &'a DeploymentHistory,
    asked: i64,
    deployment: &str,
) -> Result<&'a Set, Failure> {
    let numbered_sets = || {
        let sets = history.sets.iter();
        sets.filter_map(|set| Some((set.revision()?, set)))
    };
    if asked > 0 {
        let found = numbered_sets().find(|(number, _)| *number == asked);
        return found
            .map(|(_, set)| set)
            .ok_or_else(|| with_those_that_exist(not_found(asked), history, asked));
    }
    let (mut highest, mut second): (Place<'_>, Place<'_>) = (None, None);
    let is_below = |place: Place<'_>, number| place.is_none_or(|(n, _)| n < number);
    for (number, set) in numbered_sets() {
        if is_below(highest, number) {
            second = highest;
            highest = Some((number, set));
        } else if is_below(second, number) {
            second = Some((number, set));
        }
    }
    second.map(|(_, set)| set).ok_or_else(|| {
        Failure::error(format!(
            "no rollout history found for deployment \"{deployment}\""
        ))
    })
}

/// Says which revisions there are, and what a number that was used before has become.
fn with_those_that_exist(failure: Failure, history: &DeploymentHistory, asked: i64) -> Failure {
    let heir = history
        .sets
        .iter()
        .find(|set| revision_history(&set.slim).contains(&asked));
    let lives_on = heir
        .and_then(Set::revision)
        .map(|number| format!("revision {asked} lives on as {number}; "));
    match numbered(&history.numbers()) {
        numbers if numbers.is_empty() => failure,
        numbers => failure.hint(format!("{}{numbers}", lives_on.unwrap_or_default())),
    }
}

fn must_not_be_paused(object: &Found) -> Result<(), Failure> {
    if object.json["spec"]["paused"] == true {
        return Err(Failure::error(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again",
        ));
    }
    Ok(())
}

fn is_current(history: &DeploymentHistory, target: &Set) -> bool {
    let current = &history.deployment().spec.template;
    target.slim.spec.template.is_equal_to(current)
}

/// Template and annotations as the ReplicaSet has them; what belongs to the Deployment alone stays.
pub(in crate::cli) fn back_to(object: &Found, target: &Set, cause: Option<&str>) -> Change {
    let mut template = target.template().clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(crate::controller::keys::POD_TEMPLATE_HASH);
    }
    let (own, theirs) = (&object.json["metadata"]["annotations"], &target.full.json);
    let theirs = &theirs["metadata"]["annotations"];
    let entries = |annotations: &'_ Value, skipped: bool| {
        let entries = annotations.as_object().into_iter().flatten();
        let entries = entries.filter(|(key, _)| skip_copy_annotation(key) == skipped);
        entries
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    let mut annotations: BTreeMap<String, Value> = entries(own, true).into_iter().collect();
    annotations.extend(entries(theirs, false));
    if let Some(cause) = cause {
        annotations.insert(CHANGE_CAUSE.to_owned(), cause.into());
    }
    // What is not there can't be replaced.
    let operation = if own.is_object() { "replace" } else { "add" };
    Change::Operations(vec![
        json!({"op": "replace", "path": "/spec/template", "value": template}),
        json!({"op": operation, "path": "/metadata/annotations", "value": annotations}),
    ])
}

fn name_of(set: &Set) -> String {
    let number = set.revision().unwrap_or_default();
    format!("revision {number}")
}

/// The controller gives the revision that is used again a new number.
fn tell_numbers(undo: &Undo<'_>, object: &Found, history: &DeploymentHistory, target: &Set) {
    let replicas = history.deployment().spec.replicas;
    undo.job.printer.talk(format!(
        "note: {}: {} becomes revision {}; replicas stay {replicas}",
        object.line_name(),
        name_of(target),
        history.highest().saturating_add(1),
    ));
}

/// Names the containers that a later `kubectl apply` would not remove, since it has never applied them.
fn tell_survivors(undo: &Undo<'_>, object: &Found, target: &Set) {
    let applied = object.json["metadata"]["annotations"][LAST_APPLIED].as_str();
    let Some(applied) = applied.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return;
    };
    let names = |template: &Value, list: &str| {
        let containers = template["spec"][list].as_array().into_iter().flatten();
        let names = containers.filter_map(|container| container["name"].as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let survivors: Vec<String> = ["initContainers", "containers"]
        .into_iter()
        .flat_map(|list| {
            let known = names(&applied["spec"]["template"], list);
            let mut brought_back = names(target.template(), list);
            brought_back.retain(|name| !known.contains(name));
            brought_back
        })
        .collect();
    if !survivors.is_empty() {
        undo.job.printer.talk(format!(
            "note: {}: a later 'kubectl apply' of the present configuration would leave behind: {}",
            object.line_name(),
            survivors.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::resource::Resource;
    use crate::controller::api::ReplicaSet;

    #[test]
    fn what_is_not_known_comes_back_with_the_template() {
        let template = json!({
            "metadata": {"labels": {"app": "web", "pod-template-hash": "7f001"}},
            "spec": {"containers": [{"name": "main", "futureField": {"a": [1]}}], "anotherOne": true},
        });
        let json = json!({
            "metadata": {"annotations": {"deployment.kubernetes.io/revision": "1", "note": "theirs"}},
            "spec": {"template": template},
        });
        let found = |word: &str, json: Value| Found::new(Resource::parse(word).unwrap(), json);
        let set = Set {
            slim: ReplicaSet::from_json(&json).unwrap(),
            full: found("rs", json),
        };
        let own = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "2", "own": "x"}}});
        let without_hash = json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "futureField": {"a": [1]}}], "anotherOne": true},
        });
        assert_eq!(
            back_to(&found("deploy", own), &set, Some("why")),
            Change::Operations(vec![
                json!({"op": "replace", "path": "/spec/template", "value": without_hash}),
                json!({"op": "replace", "path": "/metadata/annotations", "value": {
                    "deployment.kubernetes.io/revision": "2", "note": "theirs", CHANGE_CAUSE: "why",
                }}),
            ])
        );
    }
}
