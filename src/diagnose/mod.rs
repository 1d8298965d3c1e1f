//! Why a rollout stands where it stands: from a snapshot and an instant to a verdict and its causes. Pure.
//!
//! Commands that show or follow a rollout call [`diagnose`]. What kubelets, schedulers and API servers write in each
//! failure is known here (specification: failure states); how it is read and shown is not.
//!
//! A cause has a class that says how it heals. Only two classes end a rollout: what cannot recover by itself, and what
//! may but has used up its budget ([`Budgets`]). What waits for somebody else, or passes by itself, never does unless a
//! budget for that is set; so a pull that fails once, or an eviction, is never a failed rollout.

pub mod api;
pub mod budget;
mod case;
pub mod code;
mod crash;
pub mod finding;
mod image;
mod leaving;
mod node;
mod pods;
mod probe;
mod quota;
mod refusal;
mod rollout;
mod scheduling;
pub mod snapshot;
mod start;
#[cfg(test)]
mod tests;
pub mod verdict;
mod volume;

use crate::controller::deployment::Snapshot as ControllerSnapshot;
use crate::controller::deployment::overview::{self, Overview};
use crate::controller::plural::{agree, count};

pub use budget::Budgets;
pub use code::Code;
pub use finding::{Class, Finding, Side, Subject};
pub use snapshot::{Change, Presence, Snapshot, Surroundings, Unreadable};
pub use verdict::{Phase, Verdict};

/// What a diagnosis says.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The verdict.
    pub verdict: Verdict,
    /// The causes and remarks, the most telling first.
    pub findings: Vec<Finding>,
    /// The numbers.
    pub overview: Overview,
}

/// Diagnoses a Deployment at the snapshot's instant.
pub fn diagnose(snapshot: &Snapshot, budgets: &Budgets) -> Diagnosis {
    let overview = overview::of(&ControllerSnapshot {
        now: snapshot.now,
        deployment: snapshot.deployment.clone(),
        replica_sets: snapshot.replica_sets.clone(),
        ..ControllerSnapshot::default()
    });
    let new = overview.new_revision().and_then(|new| {
        let sets = snapshot.replica_sets.iter().map(AsRef::as_ref);
        sets.into_iter()
            .find(|set| set.meta.name == new.replica_set)
    });
    let mut findings = pods::examine(snapshot, budgets, new);
    findings.extend(rollout::examine(snapshot, budgets, &overview, new));
    let blame = blame(&mut findings, snapshot);
    findings.extend(blame);
    let findings = finding::grouped(findings);
    Diagnosis {
        verdict: verdict::judge(snapshot, &overview, new, &findings),
        findings,
        overview,
    }
}

/// Old pods with the same trouble speak for a cause outside the new version: then a budget ends nothing, since what
/// both versions need may come back.
fn blame(findings: &mut [Finding], snapshot: &Snapshot) -> Option<Finding> {
    let unhealthy: Vec<Code> = findings
        .iter()
        .filter(|finding| finding.side == Side::Old && is_ill(finding))
        .map(|finding| finding.code)
        .collect();
    let pods: usize = findings
        .iter()
        .filter(|finding| finding.side == Side::Old && is_ill(finding))
        .map(|finding| finding.pods.len())
        .sum();
    let mut is_shared = false;
    for finding in findings.iter_mut() {
        if finding.side != Side::New || !is_ill(finding) {
            continue;
        }
        is_shared = is_shared || pods > 0;
        if finding.class == Class::TerminalAfterBudget && unhealthy.contains(&finding.code) {
            finding.is_final = false;
        }
    }
    let number = i64::try_from(pods).unwrap_or(i64::MAX);
    let name = &snapshot.deployment.meta.name;
    is_shared.then(|| {
        Finding::new(
            Code::OldPodsUnhealthy,
            Class::Note,
            format!(
                "{} of {name} {} unhealthy too: this is not the new version alone",
                count(number, "old pod"),
                agree(number, "is", "are")
            ),
        )
    })
}

/// Trouble of a pod that is meant to stay.
fn is_ill(finding: &Finding) -> bool {
    finding.is_trouble()
        && !finding.pods.is_empty()
        && !matches!(
            finding.code,
            Code::Terminating
                | Code::StuckTerminating
                | Code::Finalizers
                | Code::Evicted
                | Code::Preempted
        )
}
