//! `--dry-run`, as kubectl reads it.

use clap::Args;

use crate::engine::options::DryRun;
use crate::error::Failure;
use crate::ui::printer::Printer;

/// The flag.
#[derive(Clone, Debug, Args)]
pub(super) struct DryRunFlag {
    /// none: write. client: say what would be written. server: send it, but change nothing
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_value = "none",
        default_missing_value = "unchanged"
    )]
    dry_run: String,
}

impl DryRunFlag {
    /// The mode. Warns about words that kubectl has given up.
    ///
    /// # Errors
    /// Another word, in kubectl's words.
    pub(super) fn mode(&self, printer: &Printer) -> Result<DryRun, Failure> {
        let deprecated = |instead: &str| {
            printer.warning(&format!(
                "--dry-run={} is deprecated (boolean value) and can be replaced with --dry-run={instead}.",
                self.dry_run
            ));
        };
        match self.dry_run.as_str() {
            "none" => Ok(DryRun::None),
            "client" => Ok(DryRun::Client),
            "server" => Ok(DryRun::Server),
            "unchanged" => {
                printer
                    .warning("--dry-run is deprecated and can be replaced with --dry-run=client.");
                Ok(DryRun::Client)
            }
            other => match super::go_flags::parse_bool(other) {
                Ok(true) => {
                    deprecated("client");
                    Ok(DryRun::Client)
                }
                Ok(false) => {
                    deprecated("none");
                    Ok(DryRun::None)
                }
                Err(_) => Err(Failure::usage(format!(
                    "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
                ))),
            },
        }
    }
}

/// What a line about a change ends with.
pub(super) fn suffix(mode: DryRun) -> &'static str {
    match mode {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    }
}
