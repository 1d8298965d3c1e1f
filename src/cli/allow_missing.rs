//! What it means that nothing matched.

use clap::Args;

use super::go_flags;
use crate::error::ExitCode;
use crate::ui::printer::Printer;

/// The flag.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("allow_missing", go_flags::off))]
pub(super) struct AllowMissing {
    /// Succeed when nothing matches
    #[arg(long)]
    allow_missing: bool,
}

impl AllowMissing {
    /// Says that nothing matched, in this namespace or in any, and what to end with.
    pub(super) fn end(&self, namespace: Option<&str>, printer: &Printer) -> ExitCode {
        printer.talk(match namespace {
            Some(namespace) => format!("No resources found in {namespace} namespace."),
            None => "No resources found".to_owned(),
        });
        if self.allow_missing {
            ExitCode::Done
        } else {
            ExitCode::NothingMatched
        }
    }
}
