//! What a Lease of ours covers: a namespace, all of them, a share by labels, or one object.

use std::collections::BTreeSet;
use std::fmt;

use super::options::{Scope, Which};

/// Where the Lease on all namespaces is.
const EVERYWHERE: &str = "kube-system";

/// A part of a cluster that one client acts on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Domain {
    /// The namespace; empty: all.
    namespace: String,
    /// Kind and name of the one object; empty: all.
    object: String,
    /// The label selector; empty: any labels.
    labels: String,
}

impl Domain {
    /// The domains of a scope. `labels` is its selector as it was written.
    pub fn of(scope: &Scope, labels: &str) -> Vec<Self> {
        match (&scope.which, &scope.namespaces) {
            (Which::Named(items), _) => items
                .iter()
                .map(|item| Self {
                    namespace: item.key.namespace.clone(),
                    object: format!("{}/{}", item.kind.word(), item.key.name),
                    labels: String::new(),
                })
                .collect(),
            (Which::Matching { .. }, None) => vec![Self {
                labels: labels.to_owned(),
                ..Self::default()
            }],
            (Which::Matching { .. }, Some(namespaces)) => namespaces
                .iter()
                .map(|namespace| Self {
                    namespace: namespace.clone(),
                    object: String::new(),
                    labels: labels.to_owned(),
                })
                .collect(),
        }
    }

    /// Whether both may hold the same object. Different selectors are taken at their word: they are there to share a
    /// namespace out.
    pub fn overlaps(&self, other: &Self) -> bool {
        let meet = |a: &str, b: &str| a.is_empty() || b.is_empty() || a == b;
        meet(&self.namespace, &other.namespace)
            && meet(&self.object, &other.object)
            && meet(&self.labels, &other.labels)
    }

    /// The namespaces where Leases may lie that overlap these; `None`: all.
    pub(super) fn places(domains: &[Self]) -> BTreeSet<Option<String>> {
        if domains.iter().any(|domain| domain.namespace.is_empty()) {
            return BTreeSet::from([None]);
        }
        let own = domains.iter().map(|domain| domain.namespace.clone());
        own.chain([EVERYWHERE.to_owned()]).map(Some).collect()
    }

    /// Where its Lease is.
    pub(super) fn lease_namespace(&self) -> &str {
        if self.namespace.is_empty() {
            EVERYWHERE
        } else {
            &self.namespace
        }
    }

    /// What its Lease is called.
    pub(super) fn lease_name(&self) -> String {
        let scope = if self.namespace.is_empty() {
            "-all"
        } else {
            ""
        };
        if self.object.is_empty() && self.labels.is_empty() {
            return format!("kubectl-rs{scope}");
        }
        format!("kubectl-rs{scope}-{:08x}", fnv1a(&self.to_string()))
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ' ').map(|part| {
            let (_, value) = part.split_once('=')?;
            Some(value.to_owned())
        });
        Some(Self {
            namespace: parts.next()??,
            object: parts.next()??,
            labels: parts.next()??,
        })
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            namespace,
            object,
            labels,
        } = self;
        write!(f, "namespace={namespace} object={object} labels={labels}")
    }
}

fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(namespace: &str, object: &str, labels: &str) -> Domain {
        Domain {
            namespace: namespace.to_owned(),
            object: object.to_owned(),
            labels: labels.to_owned(),
        }
    }

    #[test]
    fn what_may_hold_the_same_object_overlaps() {
        let cases = [
            (domain("", "", ""), domain("a", "deployment/web", ""), true),
            (domain("a", "", ""), domain("b", "", ""), false),
            (domain("a", "", ""), domain("a", "deployment/web", ""), true),
            (
                domain("a", "deployment/db", ""),
                domain("a", "deployment/web", ""),
                false,
            ),
            (
                domain("a", "", "shard=1"),
                domain("a", "", "shard=2"),
                false,
            ),
            (domain("a", "", "shard=1"), domain("a", "", ""), true),
            (domain("", "", "shard=1"), domain("a", "", "shard=1"), true),
        ];
        for (a, b, expected) in cases {
            assert_eq!(a.overlaps(&b), expected, "{a} and {b}");
            assert_eq!(b.overlaps(&a), expected, "{b} and {a}");
        }
    }

    #[test]
    fn it_is_read_as_it_is_written_and_names_its_lease() {
        let cases = [
            (domain("", "", ""), "kubectl-rs-all"),
            (domain("a", "", ""), "kubectl-rs"),
            (domain("a", "deployment/web", ""), "kubectl-rs-bfc378c4"),
            (domain("a", "", "x in (a, b),c"), "kubectl-rs-ca7a4f74"),
        ];
        for (domain, name) in cases {
            assert_eq!(Domain::parse(&domain.to_string()), Some(domain.clone()));
            assert_eq!(domain.lease_name(), name);
        }
    }
}
