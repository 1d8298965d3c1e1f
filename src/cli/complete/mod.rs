//! What a shell may put at the end of a command line: `__complete WORD…`, the last word being the one that is typed.
//!
//! Prints one candidate a line, with a description behind a tab, and last a line `:N` with cobra's directive, as kubectl
//! expects it of `kubectl_complete-rs`. Nothing goes to stderr, and a server that is slow is not waited for.

mod live;
mod place;

use std::ffi::OsString;
use std::io::Write as _;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::error::ExitCode;
use place::{Place, Wanted};

/// The word that asks for it.
const WORD: &str = "__complete";

/// No space behind the candidate.
const NO_SPACE: u8 = 2;
/// No file names.
const NO_FILES: u8 = 4;

/// A candidate and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    value: String,
    description: String,
}

impl Candidate {
    fn new(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            description: description.into(),
        }
    }
}

/// The words to complete, if that is what a command line asks for.
pub(super) fn words(line: &[OsString]) -> Option<Vec<String>> {
    let mut words = line.iter().skip(1);
    (words.next()? == WORD).then(|| {
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    })
}

/// Prints the candidates.
pub(super) fn run(words: &[String]) -> ExitCode {
    let mut command = Cli::command();
    command.build();
    let place = Place::of(&command, words);
    let (mut candidates, mut directive) = match &place.wanted {
        Wanted::Files => (Vec::new(), 0),
        Wanted::Given(candidates) => (candidates.clone(), NO_FILES),
        Wanted::Live(what) => (live::candidates(&place, *what), NO_FILES),
    };
    candidates.retain(|candidate| candidate.value.starts_with(&place.partial));
    candidates.sort();
    candidates.dedup();
    if candidates
        .iter()
        .any(|candidate| candidate.value.ends_with(['=', '/']))
    {
        directive |= NO_SPACE;
    }
    let mut text = String::new();
    for candidate in candidates {
        text += &candidate.value;
        if !candidate.description.is_empty() {
            text.push('\t');
            text += &candidate.description;
        }
        text.push('\n');
    }
    let text = format!("{text}:{directive}\n");
    // A shell that has gone needs no answer.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::Done
}
