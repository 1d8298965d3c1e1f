//! Wrong command lines, in kubectl's words and on one line.
//!
//! clap finds the mistake; its message spreads over several lines and names things as clap does, so it is told again.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::{ExitCode, Failure};

/// Whether clap's "error" is a request for help or the version.
pub(super) fn is_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// What help ends with: a mistake where it stands in for a command that is missing (`kubectl rs rollout`).
pub(super) fn code_of_help(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && words.len() > 1 {
        return ExitCode::Usage;
    }
    ExitCode::Done
}

/// The failure that clap's error stands for; `words` is the command line that it is about.
pub(super) fn failure(error: &clap::Error, words: &[OsString]) -> Failure {
    let line = Line::of(words);
    if error.kind() == ErrorKind::InvalidSubcommand {
        return unknown_command(error, &line);
    }
    let message = in_kubectls_words(error, &line)
        .unwrap_or_else(|| first_paragraph(&error.render().to_string()));
    let failure = Failure::usage(message).details([line.see_usage()]);
    with_suggestion(failure, error)
}

fn with_suggestion(failure: Failure, error: &clap::Error) -> Failure {
    match suggestion(error) {
        Some(suggestion) => failure.hint(format!("did you mean '{suggestion}'?")),
        None => failure,
    }
}

/// A flag that does not exist is told before a command that does not.
fn unknown_command(error: &clap::Error, line: &Line<'_>) -> Failure {
    if let Some(flag) = line.flags().find(|flag| !line.knows(flag)) {
        return Failure::usage(format!("unknown flag: {flag}")).details([line.see_usage()]);
    }
    let name = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    let failure = Failure::usage(format!("unknown command \"{name}\""))
        .details([format!("See '{} -h' for help and examples", line.path)]);
    with_suggestion(failure, error)
}

/// A command line, and the command that it gets to.
struct Line<'a> {
    words: &'a [OsString],
    command: clap::Command,
    /// `kubectl rs sync`.
    path: String,
}

impl<'a> Line<'a> {
    fn of(words: &'a [OsString]) -> Self {
        let mut command = super::Cli::command();
        command.build();
        let mut path = command.get_bin_name().unwrap_or_default().to_owned();
        for word in words.iter().skip(1) {
            if let Some(subcommand) = command.find_subcommand(word) {
                path = format!("{path} {}", subcommand.get_name());
                command = subcommand.clone();
            }
        }
        Self {
            words,
            command,
            path,
        }
    }

    /// Where kubectl sends those whose command line is wrong.
    fn see_usage(&self) -> String {
        format!("See '{} --help' for usage.", self.path)
    }

    /// The long flags, without their values.
    fn flags(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().filter_map(|word| word.to_str());
        words
            .take_while(|word| *word != "--")
            .filter(|word| word.starts_with("--"))
            .filter_map(|word| word.split('=').next())
    }

    fn knows(&self, flag: &str) -> bool {
        self.argument(flag).is_some()
    }

    fn argument(&self, flag: &str) -> Option<&clap::Arg> {
        let name = flag.strip_prefix("--")?;
        let mut arguments = self.command.get_arguments();
        arguments.find(|argument| argument.get_long() == Some(name))
    }

    /// `-w, --watch`: a flag with its short form, where it has one.
    fn full_name(&self, flag: &str) -> String {
        match self.argument(flag).and_then(clap::Arg::get_short) {
            Some(short) => format!("-{short}, {flag}"),
            None => flag.to_owned(),
        }
    }

    /// The last word, if it is a short flag whose value is missing.
    fn last_short_flag(&self) -> Option<&str> {
        let word = self.words.last()?.to_str()?;
        (word.starts_with('-') && !word.starts_with("--")).then_some(word)
    }
}

/// kubectl's words, for the mistakes that it has words for.
fn in_kubectls_words(error: &clap::Error, line: &Line<'_>) -> Option<String> {
    let arg = text(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(arg?),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let flag = arg?.split([' ', '=', '[']).next()?;
            let value = text(error, ContextKind::InvalidValue)?;
            if value.is_empty() && error.kind() == ErrorKind::InvalidValue {
                return Some(missing_value(flag, line));
            }
            Some(format!(
                "invalid argument \"{value}\" for \"{}\" flag: {}",
                line.full_name(flag),
                reason(error)?
            ))
        }
        _ => None,
    }
}

fn missing_value(flag: &str, line: &Line<'_>) -> String {
    match line.last_short_flag() {
        Some(word) => {
            let short = word.chars().next_back().unwrap_or_default();
            format!("flag needs an argument: '{short}' in {word}")
        }
        None => format!("flag needs an argument: {flag}"),
    }
}

fn unknown_flag(arg: &str) -> Option<String> {
    if arg.starts_with("--") {
        return Some(format!("unknown flag: {arg}"));
    }
    let short = arg.strip_prefix('-')?.chars().next()?;
    Some(format!("unknown shorthand flag: '{short}' in {arg}"))
}

/// Why a value is not accepted: the parser's own words, or the values that are.
fn reason(error: &clap::Error) -> Option<String> {
    use std::error::Error as _;
    if let Some(source) = error.source() {
        return Some(source.to_string());
    }
    match error.get(ContextKind::ValidValue)? {
        ContextValue::Strings(values) => Some(format!("must be one of {}", values.join(", "))),
        _ => None,
    }
}

fn suggestion(error: &clap::Error) -> Option<&str> {
    text(error, ContextKind::SuggestedArg)
        .or_else(|| text(error, ContextKind::SuggestedSubcommand))
        .or_else(|| text(error, ContextKind::SuggestedValue))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        ContextValue::Strings(texts) => texts.first().map(String::as_str),
        _ => None,
    }
}

fn first_paragraph(rendered: &str) -> String {
    let lines = rendered.lines().take_while(|line| !line.trim().is_empty());
    let joined = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    joined.strip_prefix("error: ").unwrap_or(&joined).to_owned()
}

#[cfg(test)]
mod tests;
