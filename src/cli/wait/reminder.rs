//! Lines while a rollout is waited for: when its cause changes, and every 30 seconds at most.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::controller::api::ObjectKey;
use crate::diagnose::{Class, Code};
use crate::follow::{Followed, Told};
use crate::ui::age::human_duration;
use crate::ui::line::{Line, Tone};
use crate::ui::printer::Printer;

/// The least time between two lines that say the same.
const EVERY: Duration = Duration::from_secs(30);
/// A cause that is gone again within this time is not told of.
const PATIENCE: SignedDuration = SignedDuration::from_secs(2);

/// What has been told of each Deployment.
pub(super) struct Reminder {
    printer: Printer,
    with_namespace: bool,
    notes: BTreeMap<ObjectKey, Note>,
    trouble: Option<String>,
}

#[derive(Default)]
struct Note {
    began: Option<Timestamp>,
    /// The present cause, and since when it is that.
    cause: Option<(Code, Timestamp)>,
    told: Option<(Code, Timestamp)>,
}

impl Reminder {
    pub(super) fn new(printer: Printer, with_namespace: bool) -> Self {
        Self {
            printer,
            with_namespace,
            notes: BTreeMap::new(),
            trouble: None,
        }
    }

    /// Takes note of a look, and says something if it is time to.
    pub(super) fn tell(&mut self, told: Told<'_>) {
        match told {
            Told::Trouble(error) => {
                let error = error.to_string();
                if self.trouble.as_ref() != Some(&error) {
                    self.printer.warning(&format!("{error}; trying again"));
                    self.trouble = Some(error);
                }
            }
            Told::Looked(followed) => {
                self.trouble = None;
                if let Some(line) = self.note(followed) {
                    self.printer.talk(line);
                }
            }
        }
    }

    fn note(&mut self, followed: &Followed) -> Option<Line> {
        let verdict = &followed.diagnosis.verdict;
        let now = followed.seen.snapshot.now;
        let note = self.notes.entry(followed.key.clone()).or_default();
        let began = *note.began.get_or_insert(now);
        if followed.ending.is_some() {
            return None;
        }
        let cause = verdict.code.filter(|_| verdict.class != Some(Class::Note));
        note.cause = match (cause, note.cause) {
            (Some(code), Some((before, since))) if code == before => Some((code, since)),
            (Some(code), _) => Some((code, now)),
            (None, _) => None,
        };
        let (code, since) = note.cause?;
        let is_due = match note.told {
            Some((before, at)) if before == code => is_past(now, at, EVERY),
            _ => now.duration_since(since) >= PATIENCE,
        };
        if !is_due {
            return None;
        }
        note.told = Some((code, now));
        let name = if self.with_namespace {
            format!("{}/{}", followed.key.namespace, followed.key.name)
        } else {
            followed.key.name.clone()
        };
        let waited = human_duration(now.duration_since(began));
        Some(
            Line::new(Tone::Plain, format!("deployment/{name}: "))
                .with(Tone::Pending, verdict.phase.name())
                .with(Tone::Plain, format!(": {}", verdict.message))
                .with(Tone::Faint, format!(" ({waited})")),
        )
    }
}

fn is_past(now: Timestamp, at: Timestamp, limit: Duration) -> bool {
    SignedDuration::try_from(limit).is_ok_and(|limit| now.duration_since(at) >= limit)
}
