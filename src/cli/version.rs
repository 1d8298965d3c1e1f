//! `version`.

use std::io::Write;

use clap::Args;

use crate::error::ExitCode;

/// The arguments of `version`: none of its own.
#[derive(Debug, Args)]
pub struct VersionArgs {}

impl VersionArgs {
    /// Prints the program's version.
    #[expect(clippy::unused_self, reason = "every command runs from its arguments")]
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        writeln!(
            anstream::stdout(),
            "kubectl-rs {}",
            env!("CARGO_PKG_VERSION")
        )?;
        Ok(ExitCode::Done)
    }
}
