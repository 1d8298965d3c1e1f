//! Wrong command lines, told as kubectl tells them.

use std::ffi::OsString;

use clap::Parser;

use super::failure;
use crate::cli::Cli;

fn told(line: &str) -> String {
    let words = std::iter::once("kubectl-rs").chain(line.split_whitespace());
    let words: Vec<_> = words.map(OsString::from).collect();
    let failure = failure(&Cli::try_parse_from(&words).expect_err(line), &words);
    let hint = failure.hint.map(|hint| format!("hint: {hint}"));
    let lines = [failure.message].into_iter().chain(failure.details);
    lines.chain(hint).collect::<Vec<_>>().join("\n")
}

#[test]
fn mistakes_are_told_in_kubectls_words() {
    let lines = [
        "foo",
        "versoin",
        "version --foo",
        "version --contxt=a",
        "version -x",
        "version surplus",
        "version -n",
        "version --namespace",
        "rollout foo bar --watch",
        "rollout foo bar",
        "rollout status deploy/web --watch=maybe",
        "version --request-timeout=soon",
        "version --insecure-skip-tls-verify=maybe",
    ];
    let told: Vec<_> = lines
        .into_iter()
        .map(|line| format!("[{line}] {}", told(line)))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    [foo] unknown command "foo"
    See 'kubectl rs -h' for help and examples
    [versoin] unknown command "versoin"
    See 'kubectl rs -h' for help and examples
    hint: did you mean 'version'?
    [version --foo] unknown flag: --foo
    See 'kubectl rs version --help' for usage.
    [version --contxt=a] unknown flag: --contxt
    See 'kubectl rs version --help' for usage.
    hint: did you mean '--context'?
    [version -x] unknown shorthand flag: 'x' in -x
    See 'kubectl rs version --help' for usage.
    [version surplus] unexpected argument 'surplus' found
    See 'kubectl rs version --help' for usage.
    [version -n] flag needs an argument: 'n' in -n
    See 'kubectl rs version --help' for usage.
    [version --namespace] flag needs an argument: --namespace
    See 'kubectl rs version --help' for usage.
    [rollout foo bar --watch] unknown flag: --watch
    See 'kubectl rs rollout --help' for usage.
    [rollout foo bar] unknown command "foo"
    See 'kubectl rs rollout -h' for help and examples
    [rollout status deploy/web --watch=maybe] invalid argument "maybe" for "-w, --watch" flag: strconv.ParseBool: parsing "maybe": invalid syntax
    See 'kubectl rs rollout status --help' for usage.
    [version --request-timeout=soon] invalid argument "soon" for "--request-timeout" flag: Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)
    See 'kubectl rs version --help' for usage.
    [version --insecure-skip-tls-verify=maybe] invalid argument "maybe" for "--insecure-skip-tls-verify" flag: must be one of true, false
    See 'kubectl rs version --help' for usage.
    "#);
}
