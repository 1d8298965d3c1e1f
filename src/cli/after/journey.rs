//! One way of the changed Deployments to their end: acting or following, and pausing at a stage.

use std::collections::BTreeSet;

use super::pauser::Pauser;
use super::{AfterFlags, Signal, Site};
use crate::cli::authority::{Authority, Purpose};
use crate::cli::edit::Edited;
use crate::cli::progress::ProgressView;
use crate::cli::wait::{self, Alone, Both, Course, Pins, WaitFlags};
use crate::controller::api::{Deployment, ObjectKey};
use crate::engine::actor::Finding;
use crate::engine::options::{Goal, Hold, Options, Scope, Stage};
use crate::engine::pass::Sink;
use crate::engine::run::Engine;
use crate::engine::store::Item;
use crate::error::{ExitCode, Failure};
use crate::follow::Pin;
use crate::ui::progress::{Form, Style};

/// Deployments that were changed, and what is known of who acts on them.
pub(super) struct Journey<'a> {
    flags: &'a AfterFlags,
    site: Site<'a>,
    finding: &'a Finding,
    edited: &'a [Edited],
    pins: Pins,
    /// Whether it was said already who acts.
    is_told: bool,
}

/// How it ended.
pub(super) struct Arrival {
    pub(super) both: Both,
    /// Which were paused at the stage.
    pub(super) paused: BTreeSet<ObjectKey>,
    /// Why others were not.
    pub(super) not_paused: Vec<anyhow::Error>,
}

impl<'a> Journey<'a> {
    /// The journey of Deployments as they are now.
    ///
    /// # Errors
    /// What is no Deployment.
    pub(super) fn new(
        flags: &'a AfterFlags,
        site: Site<'a>,
        finding: &'a Finding,
        edited: &'a [Edited],
    ) -> anyhow::Result<Self> {
        let pin = |edited: &Edited| {
            let deployment = Deployment::from_json(&edited.now.json)?;
            Ok((deployment.meta.key(), Pin::of(&deployment)))
        };
        let pins: Result<Pins, serde_json::Error> = edited.iter().map(pin).collect();
        Ok(Self {
            flags,
            site,
            finding,
            edited,
            pins: pins?,
            is_told: false,
        })
    }

    /// The way back of some of them.
    ///
    /// # Errors
    /// As [`Journey::new`].
    pub(super) fn back(&self, edited: &'a [Edited]) -> anyhow::Result<Self> {
        let back = Self::new(self.flags, self.site, self.finding, edited)?;
        Ok(Self {
            is_told: true,
            ..back
        })
    }

    /// How rollouts are followed.
    pub(super) fn following(&self) -> &WaitFlags {
        &self.flags.following
    }

    /// The Deployments.
    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.pins.keys()
    }

    /// The change of one of them, and which rollout it began.
    pub(super) fn change(&self, key: &ObjectKey) -> Option<(&'a Edited, &Pin)> {
        let is_it = |edited: &&Edited| {
            edited.now.name() == key.name && edited.now.namespace() == key.namespace
        };
        self.edited.iter().find(is_it).zip(self.pins.get(key))
    }

    fn scope(&self) -> Scope {
        Scope::named(self.pins.keys().cloned().map(Item::deployment))
    }

    async fn authority(&self, scope: &Scope) -> Result<Authority, Failure> {
        let Site {
            cluster,
            flags,
            printer,
            ..
        } = self.site;
        let purpose = Purpose {
            scope,
            labels: "",
            is_dry: false,
            force: self.flags.force,
            is_patient: false,
            follows_clients: true,
            is_told: self.is_told,
        };
        flags
            .authority(cluster, self.finding.clone(), purpose, printer)
            .await
    }

    fn view(&self) -> ProgressView {
        let style = Style {
            form: Form::People,
            timestamps: self.site.timestamps,
            with_namespace: false,
        };
        ProgressView::new(style, self.site.printer.clone())
    }

    fn engine(&self, options: Options, sink: Sink) -> Engine {
        let cluster = self.site.cluster;
        let options = Options {
            timeout: self.flags.timeout.0,
            ..options
        };
        Engine::new(cluster.client.clone(), cluster.clock, options, sink)
    }

    /// Takes the steps that can be taken now.
    ///
    /// # Errors
    /// Another client acts, or what is in scope can't be read.
    pub(super) async fn one_shot(&self, signal: Signal<'_>) -> anyhow::Result<ExitCode> {
        let scope = self.scope();
        let authority = self.authority(&scope).await?;
        let view = self.view();
        let engine = self.engine(Options::new(scope, Goal::AtRest), view.sink(|_| Ok(())));
        let run = async |engine: Engine| engine.run(signal).await;
        let summary = authority.run(engine, run).await;
        let board = view.finish()?;
        let summary = summary.map_err(|error| wait::cut_short(error, &board))?;
        wait::exit_code_of(&summary, &board, Goal::AtRest)
    }

    /// Goes to the end, or to the stage.
    ///
    /// # Errors
    /// Another client acts, or what is in scope can't be read.
    pub(super) async fn run(
        &self,
        stage: Option<Stage>,
        signal: Signal<'_>,
    ) -> anyhow::Result<Arrival> {
        let scope = self.scope();
        let authority = self.authority(&scope).await?;
        let view = self.view();
        let (reached, mut pauser) = Pauser::new(self.site.cluster, &self.pins);
        let options = Options {
            until: stage,
            hold: Hold::UntilPaused,
            ..Options::new(scope.clone(), Goal::Complete)
        };
        let engine = self.engine(options, view.sink(move |event| reached.hear(event)));
        let course = Course {
            flags: &self.flags.following,
            cluster: self.site.cluster,
            printer: self.site.printer,
            scope,
            pins: self.pins.clone(),
            timeout: self.flags.timeout.0,
            needs_engine: stage.is_some(),
        };
        let pausing = &mut pauser;
        let both = course
            .run(
                engine,
                authority,
                move |engine, stop| pausing.act(engine, stop),
                Alone::none(),
                signal,
            )
            .await;
        let board = view.finish()?;
        Ok(Arrival {
            both: both.map_err(|error| wait::cut_short(error, &board))?,
            paused: pauser.paused,
            not_paused: pauser.refused,
        })
    }
}
