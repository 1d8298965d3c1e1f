//! What was done to one object and what was not: a command that gives up ends with it.

use std::collections::BTreeMap;

use super::pods::PodBatch;
use crate::controller::action::{Action, Step};
use crate::controller::plural::count;
use crate::engine::event::Left;
use crate::ui::step::{Naming, ReplicaSetName, Revisions, Weight, Words, weight};

/// Steps that are named, before they are only counted.
const NAMED: usize = 6;

/// The steps that were done, summed up: what they came to, not how.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    /// Sizes of ReplicaSets before (`None`: it was created) and now, in the order of their first change.
    sizes: Vec<(String, Option<i32>, i32)>,
    /// Pods, by what was done to them.
    pods: BTreeMap<&'static str, u32>,
    /// Everything else that moved the rollout, in words.
    others: Vec<String>,
}

impl Account {
    /// Adds a step that was done.
    pub(super) fn add(&mut self, action: &Action, revisions: &Revisions) {
        let words = Words::new(action, revisions, Naming::Full);
        match action {
            _ if weight(action) == Weight::Bookkeeping => {}
            Action::CreateReplicaSet(new) => self.resize(&new.key.name, None, new.replicas),
            Action::ScaleReplicaSet {
                target, from, to, ..
            } => self.resize(&target.key.name, Some(*from), *to),
            Action::CreatePod { .. }
            | Action::DeletePod { .. }
            | Action::AdoptPod { .. }
            | Action::ReleasePod { .. } => *self.pods.entry(words.verb_done()).or_default() += 1,
            _ => self.others.push(words.done()),
        }
    }

    fn resize(&mut self, replica_set: &str, from: Option<i32>, to: i32) {
        let mut known = self.sizes.iter_mut();
        match known.find(|(name, ..)| name == replica_set) {
            Some((_, _, size)) => *size = to,
            None => self.sizes.push((replica_set.to_owned(), from, to)),
        }
    }

    /// In words: `scaled web-abc (revision 2) 1→3, created 2 pods`.
    pub(super) fn done(&self, revisions: &Revisions) -> String {
        let sizes = self.sizes.iter().filter_map(|(name, from, to)| {
            let name = ReplicaSetName::new(name, revisions, Naming::Full);
            match from {
                None => Some(format!("created {name} with {}", count(*to, "pod"))),
                Some(from) if from == to => None,
                Some(from) => Some(format!("scaled {name} {from}→{to}")),
            }
        });
        let pods = self.pods.iter();
        let pods = pods.map(|(verb, number)| format!("{verb} {}", count(*number, "pod")));
        listed(
            sizes
                .chain(self.others.iter().cloned())
                .chain(pods)
                .collect(),
        )
    }
}

/// What was not done, in words: `scale down web-def (revision 1) 3→2 (replicasets.apps is forbidden)`.
pub(super) fn not_done(left: &[Left], revisions: &Revisions) -> String {
    let mut parts: Vec<(Part, Option<&str>)> = Vec::new();
    for Left { step, refusal } in left {
        let reason = refusal.as_ref().map(|refusal| refusal.message.as_str());
        let part = Part::of(step, revisions);
        if let (Some((Part::Pods(last), before)), Part::Pods(next)) = (parts.last_mut(), &part)
            && *before == reason
            && last.absorb(next)
        {
            continue;
        }
        parts.push((part, reason));
    }
    let words = parts.into_iter().map(|(part, reason)| {
        let words = match part {
            Part::Pods(batch) => batch.to_do(revisions, Naming::Full),
            Part::Step(words) => words,
        };
        reason.map_or_else(|| words.clone(), |reason| format!("{words} ({reason})"))
    });
    listed(words.collect())
}

enum Part {
    Pods(PodBatch),
    Step(String),
}

impl Part {
    fn of(step: &Step, revisions: &Revisions) -> Self {
        match PodBatch::begin(step, false, revisions) {
            Some(batch) => Self::Pods(batch),
            None => Self::Step(Words::new(&step.action, revisions, Naming::Full).to_do()),
        }
    }
}

fn listed(mut parts: Vec<String>) -> String {
    if parts.len() > NAMED {
        let more = parts.len() - NAMED;
        parts.truncate(NAMED);
        parts.push(format!("and {more} more"));
    }
    parts.join(", ")
}
