//! The examples of every command's help: those that bring their own cluster are run, all others are at least understood.

use std::time::Duration;

use assert_cmd::Command;
use clap::{CommandFactory as _, Parser as _};
use kubectl_rs::cli::Cli;

/// No example takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The command lines in the help of a command and of those below it.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let lines = help.lines().map(str::trim);
    let examples: Vec<String> = lines
        .filter(|line| line.starts_with("kubectl rs "))
        .map(str::to_owned)
        .collect();
    let mut lines = examples;
    lines.extend(command.get_subcommands().flat_map(self::examples));
    lines
}

/// The words of a line; none of the examples has quotes inside of quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words.drain(..2);
    words
}

#[test]
fn examples_do_what_they_promise() {
    let lines = examples(&Cli::command());
    assert!(lines.len() > 10, "{lines:?}");
    let mut runs = 0;
    for line in &lines {
        let words = words(line);
        let parsed =
            Cli::try_parse_from(std::iter::once("kubectl-rs".to_owned()).chain(words.clone()));
        assert!(parsed.is_ok(), "{line}: {parsed:?}");
        let goes_on = words.iter().any(|word| word == "--watch" || word == "-w");
        let brings_its_cluster = words
            .iter()
            .any(|word| word.starts_with("--embedded") || word == "--local");
        if goes_on || !brings_its_cluster {
            continue;
        }
        runs += 1;
        let output = Command::cargo_bin("kubectl-rs")
            .expect("the program is built before its tests")
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .timeout(PATIENCE)
            .output()
            .expect("the program runs");
        assert!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(runs > 5, "{lines:?}");
}
