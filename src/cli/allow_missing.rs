//! What it means that nothing matched.

use clap::{ArgAction, Args};

use super::cluster::Cluster;
use super::go_flags;
use crate::error::ExitCode;
use crate::ui::printer::Printer;

/// The flag.
#[derive(Clone, Debug, Args)]
pub(super) struct AllowMissing {
    /// Succeed when nothing matches
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        hide_default_value = true,
        value_parser = go_flags::parse_bool,
        action = ArgAction::Set
    )]
    allow_missing: bool,
}

impl AllowMissing {
    /// Says that nothing matched, and what to end with.
    pub(super) fn end(&self, cluster: &Cluster, printer: &Printer) -> ExitCode {
        let namespace = &cluster.namespace;
        printer.talk(format!("No resources found in {namespace} namespace."));
        if self.allow_missing {
            ExitCode::Done
        } else {
            ExitCode::NothingMatched
        }
    }
}
