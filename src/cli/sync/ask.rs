//! `--step`: asks before each step.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;

use crate::cli::interrupt::Interrupts;
use crate::controller::action::Step;
use crate::engine::event::{EngineEvent, Happening};
use crate::engine::options::{Decision, Gate};
use crate::engine::store::Item;
use crate::ui::printer::Printer;
use crate::ui::prompt::{Answer, ask};
use crate::ui::step::Revisions;

/// Remembers what it needs to put the question, and whether it still is to be put.
pub(super) struct Asker {
    printer: Printer,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    revisions: Revisions,
    all: bool,
}

impl Asker {
    pub(super) fn new(printer: Printer) -> Arc<Self> {
        Arc::new(Self {
            printer,
            state: Mutex::default(),
        })
    }

    /// Learns the revision numbers, by which steps are named.
    pub(super) fn learn(&self, event: &EngineEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.what {
            Happening::Observed(overview) => state.revisions.learn(overview),
            Happening::Stepped { step, .. } => state.revisions.learn_step(&step.action),
            _ => {}
        }
    }

    /// The gate that the engine asks.
    pub(super) fn gate(self: &Arc<Self>) -> Gate {
        let asker = Arc::clone(self);
        Arc::new(move |item, steps| {
            let (asker, item, steps) = (Arc::clone(&asker), item.clone(), steps.to_vec());
            // Ctrl-C must be heard while the terminal is read.
            let answer = tokio::task::spawn_blocking(move || asker.decide(&item, &steps));
            async move {
                let Ok(mut interrupts) = Interrupts::listen() else {
                    return Decision::Stop;
                };
                tokio::select! {
                    answer = answer => answer.unwrap_or(Decision::Stop),
                    () = interrupts.heed() => Decision::Stop,
                }
            }
            .boxed()
        })
    }

    fn decide(&self, item: &Item, steps: &[Step]) -> Decision {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.all {
            return Decision::Proceed;
        }
        let steps: Vec<&Step> = steps.iter().collect();
        let object = format!("{}/{}", item.kind.word(), item.key.name);
        match ask(
            &self.printer,
            &object,
            &steps,
            &state.revisions,
            &mut io::stdin().lock(),
        ) {
            Ok(Answer::Yes) => Decision::Proceed,
            Ok(Answer::All) => {
                state.all = true;
                Decision::Proceed
            }
            // Without an answer nothing is written.
            Ok(Answer::Stop) | Err(_) => Decision::Stop,
        }
    }
}
