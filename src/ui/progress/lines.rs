//! Progress where nothing can be redrawn: plain lines on stderr, each with the name of what it is about.

use std::collections::HashMap;

use k8s_openapi::jiff::Timestamp;

use super::board::Board;
use super::narrator::Narrator;
use crate::engine::event::EngineEvent;
use crate::ui::line::{Line, Tone};
use crate::ui::printer::Printer;

/// Plain lines for all objects.
pub(super) struct Lines {
    printer: Printer,
    timestamps: bool,
    board: Board,
    /// One for each object, by its place on the board.
    narrators: HashMap<usize, Narrator>,
    latest: Timestamp,
}

impl Lines {
    pub(super) fn new(board: Board, timestamps: bool, printer: Printer) -> Self {
        Self {
            printer,
            timestamps,
            board,
            narrators: HashMap::new(),
            latest: Timestamp::UNIX_EPOCH,
        }
    }

    pub(super) fn handle(&mut self, event: &EngineEvent) {
        let verbose = self.printer.is_verbose();
        let index = self.board.apply(event);
        self.latest = event.at;
        let narrator = self.narrators.entry(index).or_default();
        let told = narrator.tell(event, &self.board.tracks()[index], verbose);
        self.print(index, told);
    }

    /// Prints what was held back.
    pub(super) fn finish(mut self) -> Board {
        for index in 0..self.board.tracks().len() {
            let narrator = self.narrators.entry(index).or_default();
            let told = narrator.flush(&self.board.tracks()[index]);
            self.print(index, told);
        }
        self.board
    }

    fn print(&self, index: usize, told: Vec<Line>) {
        let name = self.board.tracks()[index].name(self.board.shows_namespaces());
        let lines: Vec<_> = told
            .into_iter()
            .map(|told| {
                let mut line = Line::default();
                if self.timestamps {
                    line.push(Tone::Faint, format!("{} ", written(self.latest)));
                }
                line.push(Tone::Strong, &name);
                line.push(Tone::Plain, ": ");
                line.append(told);
                line
            })
            .collect();
        self.printer.talk_lines(&lines);
    }
}

/// An instant as the API writes it: UTC, whole seconds.
fn written(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
