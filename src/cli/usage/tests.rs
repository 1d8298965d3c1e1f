//! Wrong command lines, told as kubectl tells them.

use std::ffi::OsString;

use clap::Parser;

use super::failure;
use crate::cli::Cli;

fn told(line: &str) -> String {
    let words = std::iter::once("kubectl-rs").chain(line.split_whitespace());
    let words: Vec<_> = words.map(OsString::from).collect();
    let failure = failure(&Cli::try_parse_from(&words).expect_err(line), &words);
    format!(
        "{}\nhint: {}",
        failure.message,
        failure.hint.unwrap_or_default()
    )
}

#[test]
fn mistakes_are_told_on_one_line_in_kubectls_words() {
    let lines = [
        "foo",
        "versoin",
        "version --foo",
        "version --contxt=a",
        "version -x",
        "version surplus",
        "version -n",
        "version --request-timeout=soon",
        "version --insecure-skip-tls-verify=maybe",
    ];
    let told: Vec<_> = lines
        .into_iter()
        .map(|line| format!("[{line}] {}", told(line)))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    [foo] unknown command "foo"
    hint: see 'kubectl rs --help'
    [versoin] unknown command "versoin"
    hint: did you mean 'version'? see 'kubectl rs --help'
    [version --foo] unknown flag: --foo
    hint: see 'kubectl rs version --help'
    [version --contxt=a] unknown flag: --contxt
    hint: did you mean '--context'? see 'kubectl rs version --help'
    [version -x] unknown shorthand flag: 'x' in -x
    hint: see 'kubectl rs version --help'
    [version surplus] unexpected argument 'surplus' found
    hint: see 'kubectl rs version --help'
    [version -n] flag needs an argument: --namespace
    hint: see 'kubectl rs version --help'
    [version --request-timeout=soon] invalid argument "soon" for "--request-timeout" flag: Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)
    hint: see 'kubectl rs version --help'
    [version --insecure-skip-tls-verify=maybe] invalid argument "maybe" for "--insecure-skip-tls-verify" flag: must be one of true, false
    hint: see 'kubectl rs version --help'
    "#);
}
