//! `-v`: what the program logs to stderr, in kubectl's levels.

use std::io;

use clap::Args;
use tracing_subscriber::EnvFilter;

/// The logging flag.
#[derive(Clone, Debug, Default, Args)]
pub struct LogFlags {
    /// Log level: 1 what is done, 4 why, 6 requests, 8 everything (`RUST_LOG` overrides it)
    #[arg(
        short = 'v',
        long = "v",
        value_name = "LEVEL",
        global = true,
        default_value_t = 0,
        help_heading = super::kube_flags::HEADING
    )]
    pub verbosity: u8,
}

impl LogFlags {
    /// Whether anything is logged; live progress would be torn apart by it.
    pub fn is_verbose(&self) -> bool {
        self.verbosity > 0 || std::env::var_os(EnvFilter::DEFAULT_ENV).is_some()
    }

    /// Starts logging. The first call in a process decides.
    pub(super) fn start(&self) {
        if !self.is_verbose() {
            return;
        }
        let filter =
            EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(self.directives()));
        // A second subscriber is refused, which is what a caller that embeds this library wants.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .with_target(self.verbosity >= 6)
            .try_init();
    }

    fn directives(&self) -> &'static str {
        match self.verbosity {
            0..=3 => "kubectl_rs=info",
            4..=5 => "kubectl_rs=debug",
            6..=7 => "kubectl_rs=debug,kube=debug,tower_http=debug",
            _ => "trace",
        }
    }
}
