//! Where a pod goes, or why nowhere: filters, choice and words of the default scheduler (failure-states spec,
//! section 9). Pod affinity, topology spread, host ports, volumes and preemption are not looked at.

use std::collections::BTreeMap;

use super::affinity::{NodeRequirement, NodeSelectorTerm};
use super::container_spec::Resources;
use super::node::{Node, PODS};
use super::pod::PodSpec;

/// Why a node does not take a pod.
#[derive(Debug, PartialEq, Eq)]
struct Obstacle {
    reason: String,
    /// Whether it could be lifted by removing pods of lower priority.
    preemption_may_help: bool,
}

impl Obstacle {
    fn lasting(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            preemption_may_help: false,
        }
    }
}

/// Chooses the least crowded node that takes the pod; the error is what the scheduler says.
pub(super) fn choose<'a>(
    spec: &PodSpec,
    requests: &Resources,
    nodes: impl Iterator<Item = &'a Node>,
) -> Result<&'a str, String> {
    let mut obstacles = Vec::new();
    let mut best: Option<((i128, i64, &str), &str)> = None;
    for node in nodes {
        let found = obstacles_of(node, spec, requests);
        if found.is_empty() {
            let name = node.view.metadata.name.as_str();
            let rank = (node.crowding, node.pods, name);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, name));
            }
        }
        obstacles.push(found);
    }
    match best {
        Some((_, name)) => Ok(name),
        None => Err(message(&obstacles)),
    }
}

/// What the scheduler says when every node lacks CPU: for a pod that is told to find no node.
pub(super) fn nowhere(nodes: usize) -> String {
    let obstacle = || vec![Obstacle::lasting("Insufficient cpu")];
    message(
        &std::iter::repeat_with(obstacle)
            .take(nodes)
            .collect::<Vec<_>>(),
    )
}

/// The first filter that fails speaks for the node; the one for resources names all that are short.
fn obstacles_of(node: &Node, spec: &PodSpec, requests: &Resources) -> Vec<Obstacle> {
    let tolerates = |taint: &super::node::Taint| {
        spec.tolerations
            .iter()
            .any(|toleration| taint.is_tolerated_by(toleration))
    };
    if node.view.spec.unschedulable && !tolerates(&cordon()) {
        return vec![Obstacle::lasting("node(s) were unschedulable")];
    }
    if node
        .view
        .spec
        .taints
        .iter()
        .any(|taint| taint.repels() && !tolerates(taint))
    {
        return vec![Obstacle::lasting("node(s) had untolerated taint(s)")];
    }
    if !is_selected(node, spec) {
        return vec![Obstacle::lasting(
            "node(s) didn't match Pod's node affinity/selector",
        )];
    }
    let mut short = Vec::new();
    let slots = node.allocatable(PODS).value();
    if node.pods + 1 > slots {
        short.push(Obstacle {
            reason: "Too many pods".to_owned(),
            preemption_may_help: slots > 0,
        });
    }
    for (resource, amount) in requests {
        let allocatable = node.allocatable(resource);
        if !amount.is_zero() && node.used(resource) + *amount > allocatable {
            short.push(Obstacle {
                reason: format!("Insufficient {resource}"),
                preemption_may_help: *amount <= allocatable,
            });
        }
    }
    short
}

fn cordon() -> super::node::Taint {
    super::node::Taint {
        key: "node.kubernetes.io/unschedulable".to_owned(),
        effect: "NoSchedule".to_owned(),
        ..Default::default()
    }
}

fn is_selected(node: &Node, spec: &PodSpec) -> bool {
    let labels = &node.view.metadata.labels;
    let by_selector = spec
        .node_selector
        .iter()
        .all(|(key, value)| labels.get(key) == Some(value));
    let required = spec.affinity.node_affinity.required.as_ref();
    by_selector
        && required.is_none_or(|selector| {
            let mut terms = selector.node_selector_terms.iter();
            terms.any(|term| term_holds(node, term))
        })
}

fn term_holds(node: &Node, term: &NodeSelectorTerm) -> bool {
    let name = Some(&node.view.metadata.name);
    let labels = &node.view.metadata.labels;
    let empty = term.match_expressions.is_empty() && term.match_fields.is_empty();
    !empty
        && term
            .match_expressions
            .iter()
            .all(|wanted| holds(wanted, labels.get(&wanted.key)))
        && term.match_fields.iter().all(|wanted| holds(wanted, name))
}

fn holds(wanted: &NodeRequirement, value: Option<&String>) -> bool {
    let compared = |holds: fn(i64, i64) -> bool| {
        let ours = value.and_then(|value| value.parse().ok());
        let theirs = wanted.values.first().and_then(|value| value.parse().ok());
        ours.zip(theirs)
            .is_some_and(|(ours, theirs)| holds(ours, theirs))
    };
    match wanted.operator.as_str() {
        "In" => value.is_some_and(|value| wanted.values.contains(value)),
        "NotIn" => value.is_none_or(|value| !wanted.values.contains(value)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compared(|ours, theirs| ours > theirs),
        "Lt" => compared(|ours, theirs| ours < theirs),
        _ => false,
    }
}

fn message(nodes: &[Vec<Obstacle>]) -> String {
    if nodes.is_empty() {
        return "no nodes available to schedule pods".to_owned();
    }
    let total = nodes.len();
    let reasons = histogram(
        nodes
            .iter()
            .flatten()
            .map(|obstacle| obstacle.reason.as_str()),
    );
    let help = histogram(nodes.iter().map(|obstacles| {
        if obstacles
            .iter()
            .all(|obstacle| obstacle.preemption_may_help)
        {
            "No preemption victims found for incoming pod"
        } else {
            "Preemption is not helpful for scheduling"
        }
    }));
    format!(
        "0/{total} nodes are available: {reasons}. no new claims to deallocate, preemption: \
         0/{total} nodes are available: {help}."
    )
}

/// `2 this, 1 that`, in the order of the texts.
fn histogram<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_insert(0_u32) += 1;
    }
    let mut texts: Vec<_> = counts
        .into_iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    texts.sort();
    texts.join(", ")
}
