//! Which pods go first when there are too many (replicaset-controller section 9).
//!
//! Upstream compares pods in pairs, and its comparison is not a consistent order for every set: ready pods of one
//! age class are ordered by UID, but two with the very same ready time by restarts and age. With three pods that can
//! go round in a circle, and a sort that relies on its comparison may panic on such input. So nothing here is sorted
//! by that comparison. The rules that are consistent make up a `Class`, and classes are put in order first. Inside
//! a class, pods with the same ready time form a chain, ordered by restarts and age, and the chains are merged by the
//! UIDs of their heads. Where upstream's comparison is consistent, this is its order: the first of all pods is the
//! head of some chain, and the heads differ in ready time, so that upstream compares them by UID as well. Where it
//! goes round in a circle, upstream's order hangs on its sorting algorithm; this one is at least always the same.

use std::cmp::Reverse;
use std::collections::HashMap;

use k8s_openapi::jiff::Timestamp;

use crate::controller::api::{Phase, Pod};
use crate::controller::keys;

/// The first `count` of `pods` to be deleted, in order. `related` are the pods that make a node crowded: those of all
/// ReplicaSets with the same controller, these included; only active ones count.
pub fn victims<'a, 'r>(
    pods: impl IntoIterator<Item = &'a Pod>,
    related: impl IntoIterator<Item = &'r Pod>,
    count: usize,
    now: Timestamp,
) -> Vec<&'a Pod> {
    let crowding = crowding(related);
    let mut candidates: Vec<Candidate<'a>> = pods
        .into_iter()
        .map(|pod| Candidate::new(pod, &crowding, now))
        .collect();
    if (1..candidates.len()).contains(&count) {
        // Only the classes that reach into the first `count` need to be put in order.
        let (_, last, _) = candidates.select_nth_unstable_by_key(count - 1, |c| c.class);
        let last = last.class;
        candidates.retain(|candidate| candidate.class <= last);
    }
    merge_chains(&mut candidates);
    candidates.iter().take(count).map(|c| c.pod).collect()
}

/// Puts candidates in order, as the module's documentation says.
///
/// Merging by the heads puts a pod right behind the one before it in its chain if that one has the larger UID. So it
/// comes to sorting by the largest UID up to each pod in its chain.
fn merge_chains(candidates: &mut [Candidate<'_>]) {
    candidates.sort_unstable_by(|a, b| a.in_chain().cmp(&b.in_chain()));
    for chain in candidates.chunk_by_mut(Candidate::is_in_chain_of) {
        let mut largest = chain[0].identity;
        for candidate in chain {
            largest = largest.max(candidate.identity);
            candidate.largest = largest;
        }
    }
    candidates.sort_by_key(|candidate| (candidate.class, candidate.largest));
}

/// How many active pods each node has.
fn crowding<'r>(related: impl IntoIterator<Item = &'r Pod>) -> HashMap<&'r str, usize> {
    let mut crowding = HashMap::new();
    for pod in related.into_iter().filter(|pod| pod.is_active()) {
        *crowding.entry(pod.node_name.as_str()).or_default() += 1;
    }
    crowding
}

/// Rules 1 to 6 as far as they are a consistent order, in their order; smaller goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    scheduled: bool,
    phase: u8,
    ready: bool,
    cost: i32,
    crowding: Reverse<usize>,
    ready_for: AgeClass,
}

/// Rules 7 and 8, among pods of one class with the same ready time.
type Wear = (Reverse<i32>, Reverse<i32>, AgeClass);

/// An unknown time, then an age that is not positive, then the binary logarithm of the age in nanoseconds.
type AgeClass = Option<Option<u32>>;

/// UID and name. The UID decides; names only matter where UIDs are missing.
///
/// In front stands how the UID begins: that tells most pods apart without looking up their texts, which lie scattered.
type Identity<'a> = ([u8; 8], &'a str, &'a str);

fn identity(pod: &Pod) -> Identity<'_> {
    let mut start = [0; 8];
    for (to, from) in start.iter_mut().zip(pod.meta.uid.bytes()) {
        *to = from;
    }
    (start, &pod.meta.uid, &pod.meta.name)
}

struct Candidate<'a> {
    pod: &'a Pod,
    class: Class,
    ready_since: Option<Timestamp>,
    wear: Wear,
    identity: Identity<'a>,
    largest: Identity<'a>,
}

impl<'a> Candidate<'a> {
    fn new(pod: &'a Pod, crowding: &HashMap<&str, usize>, now: Timestamp) -> Self {
        let ready_since = pod.ready_since();
        let identity = identity(pod);
        Self {
            pod,
            class: Class {
                scheduled: !pod.node_name.is_empty(),
                phase: match pod.phase {
                    Phase::Unknown => 1,
                    Phase::Running => 2,
                    Phase::Pending | Phase::Succeeded | Phase::Failed | Phase::Other => 0,
                },
                ready: pod.is_ready(),
                cost: deletion_cost(pod),
                crowding: Reverse(crowding.get(pod.node_name.as_str()).copied().unwrap_or(0)),
                ready_for: age_class(ready_since, now),
            },
            ready_since,
            wear: (
                Reverse(pod.restarts),
                Reverse(pod.sidecar_restarts),
                age_class(pod.meta.created(), now),
            ),
            identity,
            largest: identity,
        }
    }

    /// Sorts candidates into chains, and each chain.
    fn in_chain(&self) -> impl Ord {
        (self.class, self.ready_since, self.wear, self.identity)
    }

    fn is_in_chain_of(&self, other: &Self) -> bool {
        (self.class, self.ready_since) == (other.class, other.ready_since)
    }
}

/// Nanoseconds end where upstream's 64 bits do.
fn age_class(since: Option<Timestamp>, now: Timestamp) -> AgeClass {
    let age = now.duration_since(since?).as_nanos();
    Some(age.min(i64::MAX.into()).checked_ilog2())
}

/// The pod's deletion cost: a decimal number of 32 bits without a plus sign or leading zeros; anything else counts as 0.
fn deletion_cost(pod: &Pod) -> i32 {
    let Some(text) = pod.meta.annotation(keys::POD_DELETION_COST) else {
        return 0;
    };
    match text.as_bytes() {
        [b'-' | b'1'..=b'9', ..] => text.parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
