//! Flags that say how progress is shown.

use clap::Args;

use crate::ui::printer::{Color, Level, Printer};

/// How progress is shown.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output options")]
pub struct ViewFlags {
    /// When to colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Say nothing but results and errors
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Put the time before each line of progress
    #[arg(long)]
    pub timestamps: bool,
}

impl ViewFlags {
    /// A printer on the process's own streams.
    pub fn printer(&self, verbose: bool) -> Printer {
        let level = match (self.quiet, verbose) {
            (true, _) => Level::Quiet,
            (false, true) => Level::Verbose,
            (false, false) => Level::Default,
        };
        Printer::new(level, self.color)
    }
}
