//! `--dry-run`: the steps are the result, one line each on stdout.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::args::DryRunMode;
use crate::controller::action::{Outcome, Step};
use crate::engine::event::{EngineEvent, Happening};
use crate::engine::store::Item;
use crate::ui::line::{Line, Tone};
use crate::ui::printer::Printer;
use crate::ui::step::{Naming, Revisions, Words};

/// Prints planned steps as they come.
pub(super) struct Planned {
    mode: DryRunMode,
    printer: Printer,
    revisions: Mutex<Revisions>,
}

impl Planned {
    pub(super) fn new(mode: DryRunMode, printer: Printer) -> Self {
        Self {
            mode,
            printer,
            revisions: Mutex::default(),
        }
    }

    /// Shows an event: steps, and what is waited for. Bookkeeping only when verbose.
    pub(super) fn show(&self, event: &EngineEvent) -> io::Result<()> {
        let mut revisions = self
            .revisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let subject = Item {
            kind: event.kind,
            key: event.key.clone(),
        };
        let name = format!("{}/{}: ", subject.kind.word(), subject.key.name);
        match &event.what {
            Happening::Observed(overview) => revisions.learn(overview),
            Happening::Stepped { step, outcome, .. } => {
                revisions.learn_step(&step.action);
                if !step.action.is_bookkeeping() || self.printer.is_verbose() {
                    return self
                        .printer
                        .data(self.step(name, step, outcome, &revisions));
                }
            }
            Happening::Waiting(waiting) => {
                for wait in waiting {
                    let line = Line::new(Tone::Plain, name.clone());
                    self.printer
                        .data(line.with(Tone::Pending, format!("waiting: {wait}")))?;
                }
            }
            Happening::Retrying { .. } | Happening::Ended(_) => {}
        }
        Ok(())
    }

    fn step(&self, name: String, step: &Step, outcome: &Outcome, revisions: &Revisions) -> Line {
        let words = Words::new(&step.action, revisions, Naming::Full).to_do();
        let line = Line::new(Tone::Plain, name).with(Tone::Strong, words);
        match outcome {
            Outcome::Applied(_) => line
                .with(Tone::Faint, format!(": {}", step.why))
                .with(Tone::Plain, self.suffix()),
            Outcome::Refused(refusal) => line
                .with(Tone::Bad, format!(": refused: {refusal}"))
                .with(Tone::Plain, self.suffix()),
        }
    }

    fn suffix(&self) -> &'static str {
        match self.mode {
            DryRunMode::Server => " (server dry run)",
            DryRunMode::Client | DryRunMode::None => " (dry run)",
        }
    }
}
