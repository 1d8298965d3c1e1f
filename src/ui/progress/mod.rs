//! Progress of what the engine does or follows: live on a terminal, plain lines elsewhere, JSON lines for programs.
//!
//! Commands feed a [`Progress`] with the engine's events, whatever the form. All forms keep the same [`Board`]; the
//! drawing is done by pure functions on it.

mod account;
mod bar;
mod block;
mod board;
mod ending;
mod eta;
mod frame;
mod json;
mod lines;
mod live;
mod narrator;
mod pods;
mod rows;

use std::io;

use crate::engine::event::EngineEvent;
use crate::ui::printer::Printer;

pub use board::{Board, Track};
use json::Record;
use lines::Lines;
use live::Live;

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// In which form.
    pub form: Form,
    /// Whether plain lines begin with the instant.
    pub timestamps: bool,
    /// Whether names say their namespace from the start; they do in any case once two namespaces were seen.
    pub with_namespace: bool,
}

/// For whom progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// For people: live where the terminal can, as plain lines elsewhere.
    #[default]
    People,
    /// As plain lines even on a terminal, such as between the questions of `--step`.
    Lines,
    /// As JSON lines on stdout (`-o jsonl`).
    Json,
}

/// Shows the engine's events as they come.
pub struct Progress(View);

enum View {
    /// Nobody looks.
    Silent(Board),
    Live(Live),
    Lines(Lines),
    Json(Board, Printer),
}

impl Progress {
    /// A view of the given style. Talk goes to stderr and keeps to the printer's level, JSON goes to stdout.
    pub fn new(style: Style, printer: Printer) -> Self {
        let mut board = Board::default();
        if style.with_namespace {
            board.show_namespaces();
        }
        Self(match style.form {
            Form::People | Form::Lines if printer.is_quiet() => View::Silent(board),
            Form::People if !printer.live().is_hidden() => View::Live(Live::new(board, printer)),
            Form::People | Form::Lines => View::Lines(Lines::new(board, style.timestamps, printer)),
            Form::Json => View::Json(board, printer),
        })
    }

    /// Shows an event.
    ///
    /// # Errors
    /// When JSON can't be written to stdout.
    pub fn handle(&mut self, event: &EngineEvent) -> io::Result<()> {
        match &mut self.0 {
            View::Silent(board) => {
                board.apply(event);
            }
            View::Live(live) => live.handle(event),
            View::Lines(lines) => lines.handle(event),
            View::Json(board, printer) => {
                let index = board.apply(event);
                printer.json_line(&Record::of(event, &board.tracks()[index]))?;
            }
        }
        Ok(())
    }

    /// Shows what was held back and leaves the terminal in order. Returns what is known of all objects. A view that is
    /// dropped instead leaves the terminal in order, too.
    pub fn finish(self) -> Board {
        match self.0 {
            View::Live(mut live) => {
                live.close();
                live.board()
            }
            View::Lines(lines) => lines.finish(),
            View::Silent(board) | View::Json(board, _) => board,
        }
    }
}

#[cfg(test)]
mod tests;
