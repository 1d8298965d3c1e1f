//! What becomes of an error: the lines on stderr and the exit code.
//!
//! One line, worded as kubectl words it (rollout-commands section 1.4), and at most one `hint:` line; more lines only
//! where kubectl's words have them. A pipe that was closed by its reader is no error at all.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use kube::core::Status;

use super::connection::{Unreachable, chain};
use super::failures::Several;
use crate::error::{ExitCode, Failure};
use crate::manifest;
use crate::ui::escape::Clean;
use crate::ui::printer::for_stderr;

/// An error as the user gets to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the process ends with.
    pub code: ExitCode,
    /// The line, prefix included; empty when there is nothing to say.
    pub line: String,
    /// Lines that belong below it.
    pub details: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Report {
    /// Words an error.
    pub fn of(error: &anyhow::Error) -> Self {
        Self::of_error(error.as_ref())
    }

    /// Words what went wrong with several objects: each on a line of its own, which names no kind of error where the
    /// message itself does not.
    fn of_several(errors: &Several) -> Vec<Self> {
        let word = |error| {
            let mut report = Self::of(error);
            if let Some(line) = report.line.strip_prefix(PREFIX)
                && status_of(error.as_ref()).is_none()
                && !error.to_string().starts_with(PREFIX)
            {
                report.line = line.to_owned();
            }
            report
        };
        errors.0.iter().map(word).collect()
    }

    fn of_error(error: &(dyn StdError + 'static)) -> Self {
        if find::<io::Error>(error).is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return Self {
                code: ExitCode::Done,
                line: String::new(),
                details: Vec::new(),
                hint: None,
            };
        }
        let failure = find::<Failure>(error);
        let code = match failure {
            Some(failure) => failure.code,
            None if find::<manifest::Error>(error).is_some() => ExitCode::Usage,
            None => ExitCode::Error,
        };
        let (line, hint) = if let Some(unreachable) = find::<Unreachable>(error) {
            (unreachable.to_string(), unreachable_hint(unreachable))
        } else if let Some(status) = status_of(error) {
            (of_status(status), None)
        } else {
            let line = one_line(error);
            let prefix = if line.starts_with(PREFIX) { "" } else { PREFIX };
            (
                format!("{prefix}{line}"),
                failure.and_then(|failure| failure.hint.clone()),
            )
        };
        let details = failure.map(|failure| failure.details.as_slice());
        Self {
            code,
            line: single_line(&line),
            details: details
                .unwrap_or_default()
                .iter()
                .map(|line| Clean::new(line).to_string())
                .collect(),
            hint: hint.map(|hint| single_line(&hint)),
        }
    }

    /// Prints the lines to stderr and gives the exit code.
    pub fn print(&self) -> ExitCode {
        let first = Some(&self.line).filter(|line| !line.is_empty());
        let hint = self.hint.as_ref().map(|hint| format!("hint: {hint}"));
        let lines = first.into_iter().chain(&self.details).chain(&hint);
        let text: String = lines.map(|line| for_stderr(line) + "\n").collect();
        // When stderr is gone too, there is nobody left to tell.
        let _ = anstream::stderr().write_all(text.as_bytes());
        self.code
    }
}

/// What begins a line about an error that is not the API server's.
const PREFIX: &str = "error: ";

/// Prints what an error comes to, and gives the exit code.
pub(super) fn print(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Several>() {
        None => Report::of(error).print(),
        Some(several) => {
            let reports = Report::of_several(several);
            let codes = reports.iter().map(Report::print);
            ExitCode::worst(codes).unwrap_or_default()
        }
    }
}

fn unreachable_hint(unreachable: &Unreachable) -> Option<String> {
    match unreachable {
        Unreachable::Refused { host } if host == super::kube_flags::DEFAULT_HOST => Some(
            "no kubeconfig was found; name one with --kubeconfig or KUBECONFIG, or use --embedded"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The API server's answer, when the error is just that. Inside another message it is part of that message.
fn status_of<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Status> {
    if let Some(kube::Error::Api(status)) = error.downcast_ref::<kube::Error>() {
        return Some(status);
    }
    error.downcast_ref::<Status>()
}

/// kubectl's line for an answer of the API server.
fn of_status(status: &Status) -> String {
    let message = &status.message;
    match status.reason.as_str() {
        "Unauthorized" => format!("error: You must be logged in to the server ({message})"),
        "Invalid" => format!("The {}", invalid(status)),
        "" => format!("Error from server: {message}"),
        reason => format!("Error from server ({reason}): {message}"),
    }
}

/// `Deployment "web" is invalid: ` and its causes.
fn invalid(status: &Status) -> String {
    let Some(details) = status
        .details
        .as_ref()
        .filter(|details| !details.causes.is_empty())
    else {
        return status.message.clone();
    };
    let mut line = format!("{} \"{}\" is invalid: ", details.kind, details.name);
    for (index, cause) in details.causes.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(line, "{comma}{}: {}", cause.field, cause.message);
    }
    line
}

fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    chain(error).find_map(|link| link.downcast_ref())
}

/// An error and its causes on one line. Causes that the line already tells are left out: many errors quote theirs.
pub(super) fn one_line(error: &(dyn StdError + 'static)) -> String {
    let mut line = String::new();
    for link in chain(error) {
        // Its source says the same without the client's word for it.
        if matches!(link.downcast_ref(), Some(kube::Error::Service(_))) {
            continue;
        }
        let status = status_of(link);
        let message = status.map_or_else(|| link.to_string(), |status| status.message.clone());
        if !line.contains(message.trim()) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(message.trim());
        }
        if status.is_some() {
            break;
        }
    }
    single_line(&line)
}

/// A message must not pose as several, nor act on the terminal.
fn single_line(text: &str) -> String {
    Clean::new(text.trim()).to_string()
}

#[cfg(test)]
mod tests;
