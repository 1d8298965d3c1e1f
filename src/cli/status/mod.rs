//! `kubectl rs status`: how rollouts stand, why, and what to do.

mod args;
mod print;

use std::collections::BTreeSet;

pub(super) use args::StatusArgs;

use super::cluster::{Cluster, Controller};
use super::kube_flags::KubeFlags;
use super::manifests;
use super::selection::{Selection, Targets, not_found};
use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;
use crate::controller::label_selector::LabelSelector;
use crate::diagnose::{Phase, Presence, diagnose};
use crate::engine::options::{Scope, Which};
use crate::engine::store::Item;
use crate::error::{ExitCode, Failure};
use crate::follow::{Gathered, look, presence};
use crate::ui::status::Shown;

impl StatusArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// What keeps from looking; names that don't exist; nothing that matches.
    pub async fn run(self, kube: &KubeFlags, verbose: bool) -> anyhow::Result<ExitCode> {
        let format = self.output.format(&print::FORMATS)?;
        let printer = self.view.printer(verbose);
        let selection = self.selection.selection()?;
        let cluster = self.cluster.open(kube).await?;
        let scope = scope(&selection, kube, &cluster)?;
        let view = print::View::new(&self, format, &printer);
        if self.watch {
            return view.watch(&self, &cluster, &scope).await;
        }
        let all = self.look(&cluster, &scope).await?;
        view.print(&all)?;
        Ok(if self.exit_code {
            exit_code(&all)
        } else {
            ExitCode::Done
        })
    }

    /// Looks once.
    async fn look(&self, cluster: &Cluster, scope: &Scope) -> anyhow::Result<Vec<Shown>> {
        let mut gathered = look(&cluster.client, scope, cluster.clock.now()).await?;
        if self.presence(cluster) == Presence::Unknown && gathered.has_work(scope) {
            gathered.learn(presence(&cluster.client, cluster.clock).await);
        }
        self.judge(cluster, scope, &gathered)
    }

    /// What is to be shown of what was read.
    ///
    /// # Errors
    /// Names that don't exist; nothing that matches.
    fn judge(
        &self,
        cluster: &Cluster,
        scope: &Scope,
        gathered: &Gathered,
    ) -> anyhow::Result<Vec<Shown>> {
        let now = cluster.clock.now();
        let budgets = self.budgets();
        let all: Vec<Shown> = gathered
            .seen(scope, self.presence(cluster), now)
            .into_iter()
            .map(|seen| Shown {
                diagnosis: diagnose(&seen.snapshot, &budgets),
                unreadable: seen.snapshot.unreadable,
                at: now,
            })
            .collect();
        if let Which::Named(items) = &scope.which {
            let is_there = |item: &&Item| {
                all.iter()
                    .any(|shown| shown.diagnosis.verdict.object == item.key)
            };
            if let Some(missing) = items.iter().find(|item| !is_there(item)) {
                return Err(not_found(missing).into());
            }
        }
        if all.is_empty() && !self.allow_missing {
            return Err(Failure::new(ExitCode::NothingMatched, "no resources found").into());
        }
        Ok(all)
    }

    /// The embedded cluster has no controller of its own, and what it holds is at rest.
    pub(super) fn presence(&self, cluster: &Cluster) -> Presence {
        match self.cluster.controller {
            Controller::Client | Controller::Server => Presence::Acting,
            Controller::Auto if cluster.embedded.is_some() => Presence::Acting,
            Controller::Auto => Presence::Unknown,
        }
    }
}

/// The worst of them.
fn exit_code(all: &[Shown]) -> ExitCode {
    let worst = all.iter().map(|shown| shown.diagnosis.verdict.phase).min();
    match worst {
        None | Some(Phase::Complete) => ExitCode::Done,
        Some(Phase::Failed) => ExitCode::RolloutFailed,
        Some(Phase::Paused) => ExitCode::Held,
        Some(Phase::Waiting | Phase::Degraded | Phase::Progressing | Phase::Deleting) => {
            ExitCode::Running
        }
    }
}

/// Which Deployments are looked at. Without any argument: all of the namespace.
fn scope(selection: &Selection, kube: &KubeFlags, cluster: &Cluster) -> Result<Scope, Failure> {
    let namespace = cluster.namespace.as_str();
    let only = |kind: Kind| {
        if kind == Kind::Deployment {
            return Ok(());
        }
        Err(Failure::usage("status is about Deployments")
            .hint("name the Deployment that owns the ReplicaSet"))
    };
    match &selection.targets {
        Targets::Named(targets) => {
            for target in targets {
                only(target.kind)?;
            }
            let keys = targets
                .iter()
                .map(|target| ObjectKey::new(namespace, &target.name));
            Ok(Scope::named(keys.map(Item::deployment)))
        }
        Targets::Files { paths, recursive } => {
            let files = manifests::read(paths, *recursive, namespace, kube.namespace.as_deref())?;
            let items = files.ours.into_iter().map(|(item, _)| item);
            Ok(Scope::named(
                items.filter(|item| item.kind == Kind::Deployment),
            ))
        }
        Targets::Types(kinds) => {
            for kind in kinds {
                only(*kind)?;
            }
            matching(selection, namespace)
        }
        Targets::Unnamed => matching(selection, namespace),
    }
}

fn matching(selection: &Selection, namespace: &str) -> Result<Scope, Failure> {
    let labels = selection
        .selector
        .as_deref()
        .map(LabelSelector::parse)
        .transpose()
        .map_err(Failure::usage)?;
    let all = selection.all_namespaces;
    Ok(Scope {
        namespaces: (!all).then(|| BTreeSet::from([namespace.to_owned()])),
        which: Which::Matching {
            kinds: Some(BTreeSet::from([Kind::Deployment])),
            labels,
        },
    })
}
