//! `--record`: the command line as kubectl notes it as a change cause.

use clap::{ArgAction, Command, CommandFactory as _};

use crate::cli::Cli;

/// The program's name, the words that are no flags, then each flag by its long name with its value.
pub(super) fn command_line(words: &[String]) -> String {
    let mut command = Cli::command();
    command.build();
    let mut text = command.get_bin_name().unwrap_or_default().to_owned();
    let mut flags = String::new();
    let mut words = words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            if let Some(subcommand) = command.find_subcommand(word) {
                command = subcommand.clone();
            }
            text = format!("{text} {word}");
            continue;
        }
        let Some((name, value)) = flag(&command, word, &mut words) else {
            continue;
        };
        let value = if name == "token" {
            "CLASSIFIED"
        } else {
            &value
        };
        flags = format!("{flags} --{name}={value}");
    }
    text + &flags
}

/// A flag's long name and value, which may be the next word.
fn flag<'a>(
    command: &Command,
    word: &str,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Option<(String, String)> {
    let (name, given) = if let Some(long) = word.strip_prefix("--") {
        let parts = long.split_once('=');
        parts.map_or((long, None), |(name, value)| (name, Some(value)))
    } else {
        let short = word.chars().nth(1)?;
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.get_short() == Some(short))?;
        let behind = &word[1 + short.len_utf8()..];
        let given = Some(behind.strip_prefix('=').unwrap_or(behind));
        (
            argument.get_long()?,
            given.filter(|given| !given.is_empty()),
        )
    };
    let mut arguments = command.get_arguments();
    let argument = arguments.find(|argument| argument.get_long() == Some(name))?;
    let is_switch =
        argument.is_require_equals_set() || matches!(argument.get_action(), ArgAction::SetTrue);
    let value = match given {
        Some(value) => value.to_owned(),
        None if is_switch => "true".to_owned(),
        None => rest.next()?.to_owned(),
    };
    Some((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_words_by_their_long_names() {
        for (line, expected) in [
            (
                "set image deployment/web main=app:2 --record",
                "kubectl rs set image deployment/web main=app:2 --record=true",
            ),
            (
                "set image -n default --record=true -lapp=web --token secret deploy main=a:2 -o name",
                "kubectl rs set image deploy main=a:2 --namespace=default --record=true --selector=app=web \
                 --token=CLASSIFIED --output=name",
            ),
        ] {
            let words = std::iter::once("kubectl-rs").chain(line.split(' '));
            let words: Vec<String> = words.map(str::to_owned).collect();
            assert_eq!(command_line(&words), expected);
        }
    }
}
