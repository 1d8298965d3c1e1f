//! The README is held to what it says: its exit codes, its commands, and the marks by which the gate finds them.

use clap::Parser as _;
use kubectl_rs::cli::Cli;
use kubectl_rs::error::ExitCode;

fn readme() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    std::fs::read_to_string(path).expect("a README")
}

/// The lines inside `sh` blocks that are commands.
fn commands(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
    let lines = blocks.flat_map(str::lines);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[test]
fn exit_codes_are_those_of_the_program() {
    let readme = readme();
    let (_, section) = readme.split_once("## Exit codes").expect("the section");
    let rows: Vec<_> = section
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let expected = ExitCode::ALL.map(|(code, meaning)| format!("| {} | {meaning} |", code as u8));
    assert_eq!(rows, expected);
}

#[test]
fn every_command_in_it_is_one_that_the_program_takes() {
    let readme = readme();
    let kubectl = include_str!("../docs/kubectl.md");
    let mut seen = 0;
    for command in commands(&readme).into_iter().chain(commands(kubectl)) {
        let words = command
            .strip_prefix("kubectl rs ")
            .or_else(|| command.strip_prefix("cargo run -- "));
        let Some(words) = words else {
            assert_eq!(command, "cargo test", "a command of no known kind");
            continue;
        };
        seen += 1;
        let words = std::iter::once("kubectl-rs").chain(words.split(' '));
        let parsed = Cli::try_parse_from(words);
        assert!(parsed.is_ok(), "{command}\n{}", parsed.unwrap_err());
    }
    assert!(seen > 0, "the README shows no command");
}

/// What differs from kubectl on purpose is told to users, too: each rule that the tests allow has its row, and no other.
#[test]
fn every_difference_from_kubectl_is_told() {
    let read = |path: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(path).expect("a file of this repository")
    };
    let allowed = read("tests/transcripts/differences.txt");
    let names = allowed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| !name.contains('/'))
        .map(|name| name.trim_start_matches('?'));
    let page = read("docs/kubectl.md");
    let (_, section) = page
        .split_once("## Different on purpose")
        .expect("the section");
    let (section, _) = section.split_once("\n## ").expect("another section");
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name);
    assert_eq!(rows.collect::<Vec<_>>(), names.collect::<Vec<_>>());
}

#[test]
fn the_gate_runs_what_the_readme_says() {
    let readme = readme();
    for name in ["main", "test"] {
        let (_, rest) = readme
            .split_once(&format!("<!-- ci:{name} -->\n"))
            .expect("a mark");
        let (marked, _) = rest.split_once("<!-- ci:end -->").expect("its end");
        assert_eq!(commands(marked).len(), 1, "{name}");
    }
}
