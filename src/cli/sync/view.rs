//! What `sync` shows of the engine's events: progress, the steps of a dry run, and the questions of `--step`.

use std::io;
use std::sync::Arc;

use super::args::{DryRunMode, SyncArgs};
use super::ask::Asker;
use super::planned::Planned;
use super::silence::Silence;
use crate::cli::output::OutputFormat;
use crate::cli::progress::ProgressView;
use crate::cli::wait::AloneEar;
use crate::engine::options::Gate;
use crate::engine::pass::Sink;
use crate::ui::printer::{Color, Level, Printer};
use crate::ui::progress::{Board, Form, Style};

/// Progress, and the questions of `--step`.
pub(super) struct View {
    progress: ProgressView,
    /// In a dry run the steps are the result.
    planned: Option<Arc<Planned>>,
    asker: Option<Arc<Asker>>,
    silence: Arc<Silence>,
}

impl View {
    pub(super) fn new(
        args: &SyncArgs,
        format: OutputFormat,
        printer: &Printer,
        way_out: &'static str,
    ) -> Self {
        let form = match format {
            OutputFormat::Jsonl => Form::Json,
            OutputFormat::Json | OutputFormat::Yaml | OutputFormat::Name => Form::Lines,
            _ if args.step => Form::Lines,
            _ => Form::People,
        };
        let style = Style {
            form,
            timestamps: args.view.timestamps,
            with_namespace: args.selection.all_namespaces,
        };
        let planned = (args.dry_run != DryRunMode::None && form != Form::Json)
            .then(|| Arc::new(Planned::new(args.dry_run, printer.clone())));
        let talker = if planned.is_some() {
            Printer::new(Level::Quiet, Color::Never)
        } else {
            printer.clone()
        };
        Self {
            progress: ProgressView::new(style, talker),
            planned,
            silence: Arc::new(Silence::new(printer.clone(), way_out)),
            asker: args.step.then(|| Asker::new(printer.clone())),
        }
    }

    /// Where the engine tells its events; `alone` hears them too.
    pub(super) fn sink(&self, alone: AloneEar) -> Sink {
        let (planned, asker) = (self.planned.clone(), self.asker.clone());
        let silence = Arc::clone(&self.silence);
        self.progress.sink(move |event| {
            if let Some(asker) = &asker {
                asker.learn(event);
            }
            silence.hear(event);
            alone.hear(event);
            planned
                .as_ref()
                .map_or(Ok(()), |planned| planned.show(event))
        })
    }

    /// Whom the engine asks before it writes.
    pub(super) fn gate(&self) -> Option<Gate> {
        self.asker.as_ref().map(Asker::gate)
    }

    /// Leaves the terminal in order; returns what is known of all objects.
    ///
    /// # Errors
    /// Output that could not be written on the way.
    pub(super) fn finish(&self) -> io::Result<Board> {
        self.progress.finish()
    }
}
