//! Wrong command lines, in kubectl's words and on one line.
//!
//! clap finds the mistake; its message spreads over several lines and names things as clap does, so it is told again.

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

/// The failure that clap's error stands for.
pub(super) fn failure(error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let message = in_kubectls_words(error).unwrap_or_else(|| first_paragraph(&rendered));
    let see = format!("see '{} --help'", command_of(&rendered));
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

/// `kubectl rs sync`, read from clap's usage line: its words up to the first that is not a command.
fn command_of(rendered: &str) -> String {
    let usage = rendered
        .lines()
        .find_map(|line| line.trim().strip_prefix("Usage: "));
    let is_command = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
    match usage {
        Some(usage) => usage
            .split(' ')
            .take_while(is_command)
            .collect::<Vec<_>>()
            .join(" "),
        None => "kubectl rs".to_owned(),
    }
}

#[cfg(test)]
mod tests;
