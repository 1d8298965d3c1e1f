//! A change that nobody looks at, though somebody else is in charge: one line, and the way to take over.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::controller::api::ObjectKey;
use crate::controller::why::WaitingOn;
use crate::engine::event::{EngineEvent, Happening};
use crate::ui::printer::Printer;

/// Says it once for each change.
pub(super) struct Silence {
    printer: Printer,
    way_out: &'static str,
    told: Mutex<HashMap<ObjectKey, i64>>,
}

impl Silence {
    /// `way_out` are the flags that make us act.
    pub(super) fn new(printer: Printer, way_out: &'static str) -> Self {
        Self {
            printer,
            way_out,
            told: Mutex::default(),
        }
    }

    /// Says something where an event calls for it.
    pub(super) fn hear(&self, event: &EngineEvent) {
        let Happening::Waiting(waiting) = &event.what else {
            return;
        };
        let generation = waiting.iter().find_map(|wait| match wait {
            WaitingOn::Unobserved { generation } => Some(*generation),
            _ => None,
        });
        let Some(generation) = generation else { return };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(event.key.clone(), generation) != Some(generation) {
            let (kind, name) = (event.kind.word(), &event.key.name);
            self.printer.warning(&format!(
                "no controller has looked at generation {generation} of {kind}/{name} for 10s, it may be switched off: \
                 {} to act from here",
                self.way_out
            ));
        }
    }
}
