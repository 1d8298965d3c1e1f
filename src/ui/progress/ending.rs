//! How a rollout ended, in words that all views share.

use super::board::Track;
use crate::controller::plural::count;
use crate::controller::why::WaitingOn;
use crate::engine::event::End;
use crate::ui::line::{Line, Tone};

/// An end in words: `complete`: `revision 2, 5 of 5 available`.
pub(super) struct Ending {
    pub(super) tone: Tone,
    /// One or two words.
    label: &'static str,
    /// What more there is to say; may be empty.
    details: String,
}

impl Ending {
    /// The words for `end`.
    pub(super) fn new(end: &End, track: &Track) -> Self {
        let (tone, label, details) = match end {
            End::Complete => (Tone::Good, "complete", complete(track)),
            End::AtRest => (
                Tone::Pending,
                "at rest",
                "nothing more can be done for now".to_owned(),
            ),
            End::Failed { reason, message } => {
                (Tone::Bad, "failed", format!("{reason}: {message}"))
            }
            End::StageReached { available, stage } => (
                Tone::Pending,
                "held",
                format!(
                    "{} available, {stage} asked for",
                    count(*available, "new pod")
                ),
            ),
            End::Refused { message } => (Tone::Bad, "refused", message.clone()),
            End::Paused => (Tone::Pending, "paused", String::new()),
            End::Deleted => (Tone::Pending, "deleted", String::new()),
        };
        Self {
            tone,
            label,
            details,
        }
    }

    /// A sign that tells good from bad without colour.
    pub(super) fn sign(&self) -> &'static str {
        match self.tone {
            Tone::Good => "✓",
            Tone::Bad => "✗",
            _ => "•",
        }
    }

    /// `complete: revision 2, 5 of 5 available`.
    pub(super) fn line(&self) -> Line {
        let line = Line::new(self.tone, self.label);
        if self.details.is_empty() {
            line
        } else {
            line.with(Tone::Plain, format!(": {}", self.details))
        }
    }
}

fn complete(track: &Track) -> String {
    let new = track.overview.as_ref().and_then(|overview| {
        let new = overview.new_revision()?;
        Some((new.revision?, new.available, overview.desired))
    });
    new.map_or_else(String::new, |(revision, available, desired)| {
        format!("revision {revision}, {available} of {desired} available")
    })
}

/// How an object stands or ended, in a word or two: `at rest`.
pub(super) fn standing_word(track: &Track) -> &'static str {
    match &track.end {
        None => "running",
        Some(end) => Ending::new(end, track).label,
    }
}

/// How an object stands or ended, in one sentence: `at rest: total 6 = …`.
pub(super) fn standing(track: &Track) -> String {
    let word = standing_word(track);
    let details = match &track.end {
        None | Some(End::AtRest) => joined(&track.waiting),
        Some(End::Complete) => String::new(),
        Some(end) => Ending::new(end, track).details,
    };
    if details.is_empty() {
        word.to_owned()
    } else {
        format!("{word}: {details}")
    }
}

/// Everything that is waited for, in one sentence.
pub(super) fn joined(waiting: &[WaitingOn]) -> String {
    let sentences = waiting.iter().map(ToString::to_string).collect::<Vec<_>>();
    sentences.join("; ")
}
