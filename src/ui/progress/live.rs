//! The live view: draws frames on the terminal, and prints for good what has ended.
//!
//! Drawing is driven by indicatif's ticker, which calls for a frame ten times a second; events only change the board.
//! So a burst of events costs no drawing, and clocks and estimates move between events. The cursor is never hidden,
//! so even a killed process leaves the terminal usable.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::block::Look;
use super::board::Board;
use super::frame;
use crate::engine::event::EngineEvent;
use crate::ui::printer::Printer;

const TICK: Duration = Duration::from_millis(100);

/// The live view.
pub(super) struct Live {
    printer: Printer,
    bar: ProgressBar,
    scene: Arc<Mutex<Scene>>,
}

/// What a frame is drawn from.
struct Scene {
    board: Board,
    /// The last event's instant, and what the bar's stopwatch showed then: events carry the engine's time, and frames
    /// between them need it too.
    latest: Option<(Timestamp, Duration)>,
}

impl Live {
    /// Begins to draw.
    pub(super) fn new(mut board: Board, printer: Printer) -> Self {
        board.keep_log();
        let scene = Arc::new(Mutex::new(Scene {
            board,
            latest: None,
        }));
        let bar = printer.live().add(ProgressBar::no_length());
        let (drawn, on) = (Arc::clone(&scene), printer.clone());
        let style = ProgressStyle::with_template("{frame}")
            .expect("a template of one key")
            .with_key(
                "frame",
                move |state: &ProgressState, out: &mut dyn Write| {
                    let frame = lock(&drawn).paint(&on, state.elapsed());
                    // There is no way to report a failure from here, and a String takes whatever is written.
                    let _ = out.write_str(&frame);
                },
            );
        bar.set_style(style);
        bar.enable_steady_tick(TICK);
        Self {
            printer,
            bar,
            scene,
        }
    }

    /// Takes note of an event, and prints what has ended where there are several objects.
    pub(super) fn handle(&mut self, event: &EngineEvent) {
        let elapsed = self.bar.elapsed();
        let columns = self.printer.size().columns;
        let settled = {
            let mut scene = lock(&self.scene);
            scene.board.apply(event);
            scene.latest = Some((event.at, elapsed));
            let look = scene.look(columns, event.at);
            frame::settle(&mut scene.board, look)
        };
        // The lock is free again: printing waits for the ticker, which waits for the lock.
        if !settled.is_empty() {
            self.printer.talk_lines(&settled);
        }
    }

    /// Stops drawing and leaves the last state on the terminal as ordinary lines.
    pub(super) fn close(&mut self) {
        if self.bar.is_finished() {
            return;
        }
        let elapsed = self.bar.elapsed();
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
        let columns = self.printer.size().columns;
        let lines = {
            let scene = lock(&self.scene);
            frame::remains(&scene.board, scene.look(columns, scene.now(elapsed)))
        };
        self.printer.talk_lines(&lines);
    }

    /// What is known of all objects.
    pub(super) fn board(&self) -> Board {
        lock(&self.scene).board.clone()
    }
}

impl Drop for Live {
    /// An interrupted command drops what it holds: the terminal must be left in order.
    fn drop(&mut self) {
        self.close();
    }
}

impl Scene {
    fn now(&self, elapsed: Duration) -> Timestamp {
        let Some((at, then)) = self.latest else {
            return Timestamp::UNIX_EPOCH;
        };
        let since = SignedDuration::try_from(elapsed.saturating_sub(then)).unwrap_or_default();
        at.saturating_add(since).unwrap_or(at)
    }

    fn look(&self, columns: usize, now: Timestamp) -> Look {
        Look {
            columns,
            now,
            tick: None,
            with_namespace: self.board.shows_namespaces(),
        }
    }

    fn paint(&self, printer: &Printer, elapsed: Duration) -> String {
        let size = printer.size();
        let tick = usize::try_from(elapsed.as_millis() / TICK.as_millis()).ok();
        let look = Look {
            tick,
            ..self.look(size.columns, self.now(elapsed))
        };
        // The last row stays free: a terminal that scrolls would smear the frame.
        let lines = frame::frame(&self.board, look, size.rows.saturating_sub(1));
        let painted: Vec<_> = lines
            .iter()
            .map(|line| line.paint(printer.talks_in_colour()))
            .collect();
        painted.join("\n")
    }
}

fn lock(scene: &Mutex<Scene>) -> MutexGuard<'_, Scene> {
    scene.lock().unwrap_or_else(PoisonError::into_inner)
}
