//! What an engine may do and how far it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::controller::action::{Kind, Step};
use crate::controller::api::{Deployment, ObjectKey, ReplicaSet};
use crate::controller::label_selector::LabelSelector;
use crate::controller::plural::count;

use super::apply::Effect;
use super::store::Item;

/// Whether writes are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// They are.
    #[default]
    None,
    /// They are only told.
    Client,
    /// They are sent, and the server only pretends.
    Server,
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Until nothing can be done without the world changing.
    AtRest,
    /// Until every selected rollout is complete or has failed.
    Complete,
    /// Until stopped.
    Forever,
}

/// A share of new pods at which to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// So many.
    Pods(i32),
    /// So many of a hundred, rounded up.
    Percent(i32),
}

impl Stage {
    /// The number of pods it means for a Deployment of this size, at most all of them.
    pub fn pods_of(self, desired: i32) -> i32 {
        match self {
            Self::Pods(pods) => pods.min(desired),
            Self::Percent(percent) => {
                let pods = (i64::from(desired) * i64::from(percent) + 99) / 100;
                i32::try_from(pods).unwrap_or(i32::MAX).min(desired)
            }
        }
    }
}

impl fmt::Display for Stage {
    /// `3 pods`, `50%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pods(pods) => write!(f, "{}", count(*pods, "pod")),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// What becomes of a Deployment that has reached its stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// Its rollout has ended: nothing more is written for it.
    #[default]
    Ends,
    /// Nothing is written for it until the caller has paused it, which the event tells it to do. Then it is brought to
    /// rest.
    UntilPaused,
}

/// Which objects to reconcile.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Namespaces to look into; `None`: all.
    pub namespaces: Option<BTreeSet<String>>,
    /// Which objects there.
    pub which: Which,
}

/// Which objects of the namespaces in scope.
#[derive(Clone, Debug)]
pub enum Which {
    /// Those of these kinds whose labels match. ReplicaSets that a Deployment controls come with it.
    Matching {
        /// Kinds; `None`: Deployments and ReplicaSets.
        kinds: Option<BTreeSet<Kind>>,
        /// Labels; `None`: any.
        labels: Option<LabelSelector>,
    },
    /// Those named.
    Named(BTreeSet<Item>),
}

impl Scope {
    /// Whether every Deployment of its namespaces is in scope.
    pub fn selects_all_deployments(&self) -> bool {
        match &self.which {
            Which::Matching { kinds, labels } => {
                let is_among = |kinds: &BTreeSet<Kind>| kinds.contains(&Kind::Deployment);
                labels.is_none() && kinds.as_ref().is_none_or(is_among)
            }
            Which::Named(_) => false,
        }
    }

    /// Everything in these namespaces; `None`: in all.
    pub fn everything(namespaces: Option<BTreeSet<String>>) -> Self {
        Self {
            namespaces,
            which: Which::Matching {
                kinds: None,
                labels: None,
            },
        }
    }

    /// These objects, by name.
    pub fn named(items: impl IntoIterator<Item = Item>) -> Self {
        let items: BTreeSet<Item> = items.into_iter().collect();
        let namespaces = items
            .iter()
            .map(|item| item.key.namespace.clone())
            .collect();
        Self {
            namespaces: Some(namespaces),
            which: Which::Named(items),
        }
    }

    /// Whether a Deployment is selected.
    pub fn selects_deployment(&self, deployment: &Deployment) -> bool {
        self.selects(
            Kind::Deployment,
            &deployment.meta.key(),
            &deployment.meta.labels,
        )
    }

    /// Whether a ReplicaSet that no Deployment controls is selected for its own sake.
    pub fn selects_replica_set(&self, replica_set: &ReplicaSet) -> bool {
        self.selects(
            Kind::ReplicaSet,
            &replica_set.meta.key(),
            &replica_set.meta.labels,
        )
    }

    /// Whether an object is selected of which only the name is known. Labels that nobody knows select nothing.
    pub fn selects_by_name(&self, item: &Item) -> bool {
        let may_have_any_labels = !matches!(
            &self.which,
            Which::Matching {
                labels: Some(_),
                ..
            }
        );
        may_have_any_labels && self.selects(item.kind, &item.key, &BTreeMap::new())
    }

    fn selects(&self, kind: Kind, key: &ObjectKey, labels: &BTreeMap<String, String>) -> bool {
        let in_namespace = self
            .namespaces
            .as_ref()
            .is_none_or(|namespaces| namespaces.contains(&key.namespace));
        in_namespace
            && match &self.which {
                Which::Matching {
                    kinds,
                    labels: wanted,
                } => {
                    kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
                        && wanted.as_ref().is_none_or(|wanted| {
                            wanted.matches(|label| labels.get(label).map(String::as_str))
                        })
                }
                Which::Named(items) => items.contains(&Item {
                    kind,
                    key: key.clone(),
                }),
            }
    }
}

/// What a person answers when asked about the next steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Proceed,
    /// Stop here.
    Stop,
}

/// Asks before steps are sent. Called with the steps that would be sent at once; it may take its time to answer.
pub type Gate = Arc<dyn Fn(&Item, &[Step]) -> BoxFuture<'static, Decision> + Send + Sync>;

/// Everything that shapes a run.
#[derive(Clone)]
pub struct Options {
    /// Which objects.
    pub scope: Scope,
    /// How far.
    pub goal: Goal,
    /// Whether to write.
    pub dry_run: DryRun,
    /// Objects to plan with as if the server had them like this: what a dry run of their apply answered.
    pub presets: Vec<Effect>,
    /// Where to stop early.
    pub until: Option<Stage>,
    /// What stopping there means.
    pub hold: Hold,
    /// How long in all.
    pub timeout: Option<Duration>,
    /// Whom to ask.
    pub gate: Option<Gate>,
    /// How many passes run at once.
    pub workers: usize,
    /// Whether to take away what deleted owners leave behind, as a garbage collector does. Off, it is left to one.
    pub collects_garbage: bool,
}

impl Options {
    /// Options for a scope and goal, everything else as by default.
    pub fn new(scope: Scope, goal: Goal) -> Self {
        Self {
            scope,
            goal,
            dry_run: DryRun::None,
            presets: Vec::new(),
            until: None,
            hold: Hold::default(),
            timeout: None,
            gate: None,
            workers: 8,
            collects_garbage: true,
        }
    }
}
