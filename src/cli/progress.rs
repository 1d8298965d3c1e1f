//! What the engine's events are shown through.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::event::EngineEvent;
use crate::engine::pass::Sink;
use crate::ui::printer::Printer;
use crate::ui::progress::{Board, Progress, Style};

/// Progress that the engine's tasks share.
pub(super) struct ProgressView(Arc<Shared>);

struct Shared {
    progress: Mutex<Option<Progress>>,
    failed: Mutex<Option<io::Error>>,
}

impl ProgressView {
    /// Progress in this style.
    pub(super) fn new(style: Style, printer: Printer) -> Self {
        Self(Arc::new(Shared {
            progress: Mutex::new(Some(Progress::new(style, printer))),
            failed: Mutex::default(),
        }))
    }

    /// Where the engine tells its events. `listener` hears each before it is shown.
    pub(super) fn sink(
        &self,
        listener: impl Fn(&EngineEvent) -> io::Result<()> + Send + Sync + 'static,
    ) -> Sink {
        let shared = Arc::clone(&self.0);
        Arc::new(move |event| shared.show(&event, &listener))
    }

    /// Leaves the terminal in order; returns what is known of all objects.
    ///
    /// # Errors
    /// Output that could not be written on the way.
    pub(super) fn finish(&self) -> io::Result<Board> {
        let progress = lock(&self.0.progress).take();
        let board = progress.map(Progress::finish).unwrap_or_default();
        lock(&self.0.failed).take().map_or(Ok(board), Err)
    }
}

impl Shared {
    fn show(&self, event: &EngineEvent, listener: &impl Fn(&EngineEvent) -> io::Result<()>) {
        let mut progress = lock(&self.progress);
        let heard = listener(event);
        let Some(shown) = progress.as_mut() else {
            return;
        };
        if let Err(error) = heard.and_then(|()| shown.handle(event)) {
            // The engine goes on: half a rollout is worse than a view that nobody reads.
            lock(&self.failed).get_or_insert(error);
            *progress = None;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
