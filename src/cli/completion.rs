//! `completion`: the scripts that teach a shell to complete `kubectl-rs`. They ask the program itself (see `complete`),
//! so they need not change when it does.

use std::io::Write as _;

use clap::{Args, ValueEnum};

use crate::error::ExitCode;

/// Print the script that completes kubectl-rs in a shell
///
/// How to install it is in its first lines. For `kubectl rs <TAB>`, put completions/kubectl_complete-rs on the PATH.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionArgs {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  # Completion in this bash
  source <(kubectl-rs completion bash)";

/// A shell.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("../../completions/kubectl-rs.bash"),
            Self::Zsh => include_str!("../../completions/_kubectl-rs"),
            Self::Fish => include_str!("../../completions/kubectl-rs.fish"),
            Self::Powershell => include_str!("../../completions/kubectl-rs.ps1"),
        }
    }
}

impl CompletionArgs {
    /// Prints the script.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        anstream::stdout().write_all(self.shell.script().as_bytes())?;
        Ok(ExitCode::Done)
    }
}
