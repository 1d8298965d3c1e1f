//! What the engine's events are shown through.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::args::{DryRunMode, SyncArgs};
use super::ask::Asker;
use super::planned::Planned;
use super::silence::Silence;
use crate::cli::output::OutputFormat;
use crate::engine::event::EngineEvent;
use crate::engine::options::Gate;
use crate::engine::pass::Sink;
use crate::ui::printer::{Color, Level, Printer};
use crate::ui::progress::{Board, Form, Progress, Style};

/// Progress, and the questions of `--step`.
pub(super) struct View {
    shared: Arc<Shared>,
    asker: Option<Arc<Asker>>,
}

struct Shared {
    progress: Mutex<Option<Progress>>,
    /// In a dry run the steps are the result.
    planned: Option<Planned>,
    failed: Mutex<Option<io::Error>>,
    silence: Silence,
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
            .then(|| Planned::new(args.dry_run, printer.clone()));
        let talker = if planned.is_some() {
            Printer::new(Level::Quiet, Color::Never)
        } else {
            printer.clone()
        };
        let progress = Progress::new(style, talker);
        Self {
            shared: Arc::new(Shared {
                progress: Mutex::new(Some(progress)),
                planned,
                failed: Mutex::default(),
                silence: Silence::new(printer.clone(), way_out),
            }),
            asker: args.step.then(|| Asker::new(printer.clone())),
        }
    }

    /// Where the engine tells its events.
    pub(super) fn sink(&self) -> Sink {
        let shared = Arc::clone(&self.shared);
        let asker = self.asker.clone();
        Arc::new(move |event| {
            if let Some(asker) = &asker {
                asker.learn(&event);
            }
            shared.show(&event);
            shared.silence.hear(&event);
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
        let progress = lock(&self.shared.progress).take();
        let board = progress.map(Progress::finish).unwrap_or_default();
        lock(&self.shared.failed).take().map_or(Ok(board), Err)
    }
}

impl Shared {
    fn show(&self, event: &EngineEvent) {
        let mut progress = lock(&self.progress);
        let Some(shown) = progress.as_mut() else {
            return;
        };
        let planned = self
            .planned
            .as_ref()
            .map_or(Ok(()), |planned| planned.show(event));
        if let Err(error) = planned.and_then(|()| shown.handle(event)) {
            // The engine goes on: half a rollout is worse than a view that nobody reads.
            lock(&self.failed).get_or_insert(error);
            *progress = None;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
