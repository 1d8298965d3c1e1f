//! What `status` shows: a dashboard for one Deployment, a row each for several, and the same for pages and programs.
//!
//! Pure: diagnoses, an instant and the room come in; lines and documents go out. One renderer serves a single look and
//! `--watch`.

mod dashboard;
mod github;
mod json;
mod markdown;
mod rows;
#[cfg(test)]
mod tests;

use k8s_openapi::jiff::Timestamp;

use super::line::Tone;
use crate::diagnose::{Class, Diagnosis, Finding, Phase, Unreadable};

pub use dashboard::{dashboard, last_words};
pub use github::annotations;
pub use json::StatusRecord;
pub use markdown::markdown;
pub use rows::rows;

/// One Deployment to show.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What is said about it.
    pub diagnosis: Diagnosis,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// When it was looked at.
    pub at: Timestamp,
}

/// How it is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// The room; `None`: as much as it takes.
    pub columns: Option<usize>,
    /// Whether names say their namespace.
    pub with_namespace: bool,
    /// Whether remarks are shown for which there may be no room.
    pub wide: bool,
    /// Whether sentences may take as many lines as they need.
    pub whole: bool,
}

impl Shown {
    fn name(&self, layout: Layout) -> String {
        let key = &self.diagnosis.verdict.object;
        if layout.with_namespace {
            format!("{}/{}", key.namespace, key.name)
        } else {
            key.name.clone()
        }
    }
}

/// A sign that tells good from bad without colour.
fn sign(phase: Phase) -> (Tone, &'static str) {
    match phase {
        Phase::Failed => (Tone::Bad, "✗"),
        Phase::Complete => (Tone::Good, "✓"),
        _ => (Tone::Pending, "•"),
    }
}

fn tone_of(finding: &Finding) -> Tone {
    match finding.class {
        _ if finding.is_final => Tone::Bad,
        Class::TerminalNow => Tone::Bad,
        Class::Note => Tone::Faint,
        _ => Tone::Pending,
    }
}
