//! `kubectl rs sync`: reconcile from here.

mod args;
mod ask;
mod outcome;
mod planned;
mod pods;
mod silence;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use args::DryRunMode;
pub(super) use args::SyncArgs;

use super::authority::{Authority, Purpose};
use super::cluster::Cluster;
use super::kube_flags::KubeFlags;
use super::manifests::{self, Manifests};
use super::output::OutputFormat;
use super::selection::{self, Selection, Targets};
use super::wait::{self, AloneEar, Course, Pins};
use crate::controller::action::Kind;
use crate::controller::api::{Deployment, ObjectKey, ReplicaSet};
use crate::controller::label_selector::LabelSelector;
use crate::engine::actor::Finding;
use crate::engine::apply::Effect;
use crate::engine::options::{DryRun, Goal, Options, Scope, Which};
use crate::engine::run::{Engine, StoppedBy, Summary};
use crate::engine::store::Item;
use crate::engine::submit::SubmitOptions;
use crate::error::{ExitCode, Failure};
use crate::ui::printer::Printer;
use crate::ui::progress::Board;
use view::View;

/// How many objects are worked on at once.
const WORKERS: usize = 8;

/// Forms that results can be printed in.
const FORMATS: [OutputFormat; 6] = [
    OutputFormat::Table,
    OutputFormat::Wide,
    OutputFormat::Json,
    OutputFormat::Yaml,
    OutputFormat::Name,
    OutputFormat::Jsonl,
];

impl SyncArgs {
    /// Runs the command until its goal, or until `signal`.
    ///
    /// # Errors
    /// Whatever keeps it from starting; what happens to single objects is in the exit code.
    pub async fn run(
        self,
        kube: &KubeFlags,
        verbose: bool,
        signal: impl Future<Output = ()>,
    ) -> anyhow::Result<ExitCode> {
        pods::check_usage(&self)?;
        let format = self.output.format(&FORMATS)?;
        let printer = self.view.printer(verbose);
        let selection = self.selection.selection()?;
        let mut signal = pin!(signal);
        let began = Instant::now();
        let (cluster, scope, presets, authority) = tokio::select! {
            prepared = self.prepare(&selection, kube, &printer) => prepared?,
            () = &mut signal => return Ok(ExitCode::Interrupted),
            () = outlast(self.limit()) => return wait::exit_code_of(&out_of_time(), &Board::default(), self.goal()),
        };
        let (ear, alone) = AloneEar::new(&scope);
        let view = View::new(&self, format, &printer, authority.way_out());
        let options = self.options(scope.clone(), presets, &view, began.elapsed());
        let engine = Engine::new(
            cluster.client.clone(),
            cluster.clock,
            options,
            view.sink(ear),
        );
        let (acting, is_acting) = watch::channel(true);
        let authority = authority.telling(acting);
        let _pods = self
            .simulate_pods
            .then(|| pods::start(&cluster, &scope, is_acting, &printer));
        if !self.is_following() {
            let run = async |engine: Engine| engine.run(signal).await;
            let summary = authority.run(engine, run).await;
            let board = view.finish()?;
            let summary = summary.map_err(|error| wait::cut_short(error, &board))?;
            self.print(&summary, &board, &cluster, &printer, format)
                .await?;
            return wait::exit_code_of(&summary, &board, self.goal());
        }
        let course = Course {
            flags: &self.following,
            cluster: &cluster,
            printer: &printer,
            scope,
            pins: Pins::new(),
            timeout: None,
            needs_engine: true,
        };
        let both = course
            .run(engine, authority, Engine::run, alone, signal)
            .await;
        let board = view.finish()?;
        let both = both.map_err(|error| wait::cut_short(error, &board))?;
        self.print(&both.summary, &board, &cluster, &printer, format)
            .await?;
        let following = &self.following;
        following
            .conclude(&cluster, &both.waited, &printer, format)
            .await?;
        both.exit_code(&board)
    }

    /// Whether rollouts are followed to their end, and failures found on the way end the run.
    fn is_following(&self) -> bool {
        self.goal() == Goal::Complete && self.wait && self.until.is_none()
    }

    async fn print(
        &self,
        summary: &Summary,
        board: &Board,
        cluster: &Cluster,
        printer: &Printer,
        format: OutputFormat,
    ) -> anyhow::Result<()> {
        if self.dry_run == DryRunMode::None || format > OutputFormat::Wide {
            outcome::print(summary, board, cluster, printer, format).await?;
        }
        Ok(())
    }

    /// Connects, and applies what the files hold: the cluster, what to work on there, what a dry run is to take as
    /// given, and who acts.
    async fn prepare(
        &self,
        selection: &Selection,
        kube: &KubeFlags,
        printer: &Printer,
    ) -> anyhow::Result<(Cluster, Scope, Vec<Effect>, Authority)> {
        let cluster = self.cluster.open(kube).await?;
        let manifests = read_files(selection, kube, &cluster.namespace)?;
        let is_dry = self.dry_run != DryRunMode::None;
        let finding = if is_dry {
            Finding::Nobody
        } else {
            // What files hold may be elsewhere than in the namespace that is worked in.
            let namespaces: BTreeSet<String> = match &manifests {
                Some(manifests) => manifests.namespaces().map(str::to_owned).collect(),
                None => BTreeSet::from([cluster.namespace.clone()]),
            };
            let namespaces = (!selection.all_namespaces).then_some(&namespaces);
            self.cluster
                .look_around(&cluster, namespaces, self.force)
                .await?
        };
        if self.simulate_pods {
            pods::check(self, &cluster, &finding).await?;
        }
        let presets = match &manifests {
            Some(manifests) => self.submit(manifests, &cluster, printer).await?,
            None => Vec::new(),
        };
        let scope = scope(selection, manifests.as_ref(), &cluster.namespace)?;
        let purpose = Purpose {
            scope: &scope,
            labels: selection.selector.as_deref().unwrap_or_default(),
            is_dry,
            force: self.force,
            is_patient: self.leader_elect,
            follows_clients: false,
            is_told: false,
        };
        let authority = self
            .cluster
            .authority(&cluster, finding, purpose, printer)
            .await?;
        Ok((cluster, scope, presets, authority))
    }

    /// Applies what the files hold. In a dry run it comes back as it would be, since the server does not have it.
    async fn submit(
        &self,
        manifests: &Manifests,
        cluster: &Cluster,
        printer: &Printer,
    ) -> anyhow::Result<Vec<Effect>> {
        let given = match &cluster.embedded {
            Some(embedded) => embedded.give(
                &manifests.others,
                manifests.namespaces(),
                &cluster.namespace,
            )?,
            None => Vec::new(),
        };
        manifests.name_others(&given, printer);
        let options = SubmitOptions {
            dry_run: self.dry_run.into(),
            force_conflicts: self.force_conflicts,
        };
        let applied = manifests.submit(&cluster.client, printer, options).await?;
        if options.dry_run == DryRun::None {
            return Ok(Vec::new());
        }
        Ok(applied.iter().map(as_preset).collect::<Result<_, _>>()?)
    }

    /// How long all may take.
    fn limit(&self) -> Option<Duration> {
        Some(self.timeout).filter(|timeout| *timeout > Duration::ZERO)
    }

    fn options(&self, scope: Scope, presets: Vec<Effect>, view: &View, spent: Duration) -> Options {
        Options {
            presets,
            dry_run: self.dry_run.into(),
            until: self.until,
            timeout: self.limit().map(|limit| limit.saturating_sub(spent)),
            gate: view.gate(),
            workers: if self.step { 1 } else { WORKERS },
            ..Options::new(scope, self.goal())
        }
    }
}

async fn outlast(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// A run that was over before anything was seen.
fn out_of_time() -> Summary {
    Summary {
        ends: BTreeMap::new(),
        left: BTreeMap::new(),
        missing: Vec::new(),
        stopped: Some(StoppedBy::Timeout),
    }
}

/// What the server would store, to plan with.
fn as_preset(object: &Value) -> Result<Effect, Failure> {
    let decoded = match object["kind"].as_str() {
        Some("ReplicaSet") => {
            ReplicaSet::from_json(object).map(|set| Effect::ReplicaSet(Arc::new(set)))
        }
        _ => {
            Deployment::from_json(object).map(|deployment| Effect::Deployment(Arc::new(deployment)))
        }
    };
    decoded.map_err(|error| Failure::error(format!("the server's answer can't be read: {error}")))
}

/// What the files hold, if the selection is by file.
fn read_files(
    selection: &Selection,
    kube: &KubeFlags,
    namespace: &str,
) -> Result<Option<Manifests>, Failure> {
    let Targets::Files { paths, recursive } = &selection.targets else {
        return Ok(None);
    };
    manifests::read(paths, *recursive, namespace, kube.namespace.as_deref()).map(Some)
}

/// Which objects the engine works on.
fn scope(
    selection: &Selection,
    manifests: Option<&Manifests>,
    namespace: &str,
) -> Result<Scope, Failure> {
    let item = |target: &selection::Target<Kind>| Item {
        kind: target.kind,
        key: ObjectKey::new(namespace, &target.name),
    };
    let kinds = match &selection.targets {
        Targets::Named(targets) => return Ok(Scope::named(targets.iter().map(item))),
        Targets::Files { .. } => {
            let ours = manifests.into_iter().flat_map(|manifests| &manifests.ours);
            return Ok(Scope::named(ours.map(|(item, _)| item.clone())));
        }
        Targets::Types(kinds) => Some(kinds.iter().copied().collect()),
        Targets::Unnamed => None,
    };
    if kinds.is_none() && selection.selector.is_none() && !selection.all_namespaces {
        return Err(Failure::usage("which objects? none were named")
            .hint("name some (deploy/web), or use -f, -l or -A"));
    }
    let namespaces = (!selection.all_namespaces).then(|| BTreeSet::from([namespace.to_owned()]));
    let labels = selection
        .selector
        .as_deref()
        .map(LabelSelector::parse)
        .transpose()
        .map_err(Failure::usage)?;
    Ok(Scope {
        namespaces,
        which: Which::Matching { kinds, labels },
    })
}
