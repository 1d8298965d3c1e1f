//! Wrong command lines, in kubectl's words and on one line.
//!
//! clap finds the mistake; its message spreads over several lines and names things as clap does, so it is told again.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Failure;

/// Whether clap's "error" is a request for help or the version.
pub(super) fn is_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The failure that clap's error stands for; `words` is the command line that it is about.
pub(super) fn failure(error: &clap::Error, words: &[OsString]) -> Failure {
    let message =
        in_kubectls_words(error).unwrap_or_else(|| first_paragraph(&error.render().to_string()));
    let see = format!("see '{} --help'", command_of(words));
    let hint = match suggestion(error) {
        Some(suggestion) => format!("did you mean '{suggestion}'? {see}"),
        None => see,
    };
    Failure::usage(message).hint(hint)
}

/// kubectl's words, for the mistakes that it has words for.
fn in_kubectls_words(error: &clap::Error) -> Option<String> {
    let arg = text(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(arg?),
        ErrorKind::InvalidSubcommand => {
            let name = text(error, ContextKind::InvalidSubcommand)?;
            Some(format!("unknown command \"{name}\""))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let flag = arg?.split([' ', '=', '[']).next()?;
            let value = text(error, ContextKind::InvalidValue)?;
            if value.is_empty() && error.kind() == ErrorKind::InvalidValue {
                return Some(format!("flag needs an argument: {flag}"));
            }
            Some(format!(
                "invalid argument \"{value}\" for \"{flag}\" flag: {}",
                reason(error)?
            ))
        }
        _ => None,
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

/// `kubectl rs sync`: the words that are commands.
fn command_of(words: &[OsString]) -> String {
    let mut command = &super::Cli::command();
    let mut path = command.get_bin_name().unwrap_or_default().to_owned();
    for word in words.iter().skip(1) {
        if let Some(subcommand) = command.find_subcommand(word) {
            command = subcommand;
            path = format!("{path} {}", command.get_name());
        }
    }
    path
}

#[cfg(test)]
mod tests;
