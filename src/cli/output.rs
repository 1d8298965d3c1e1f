//! `-o`: the forms a result can be printed in.

use clap::Args;

use crate::error::Failure;

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Table,
    /// For people with wide terminals.
    Wide,
    /// One JSON document.
    Json,
    /// YAML documents.
    Yaml,
    /// `type/name`, one a line.
    Name,
    /// One JSON object a line, as things happen.
    Jsonl,
    /// For a pull request or a job's summary.
    Markdown,
    /// Annotations of GitHub Actions.
    Github,
}

impl OutputFormat {
    const ALL: [Self; 8] = [
        Self::Table,
        Self::Wide,
        Self::Json,
        Self::Yaml,
        Self::Name,
        Self::Jsonl,
        Self::Markdown,
        Self::Github,
    ];

    /// What the user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Wide => "wide",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Name => "name",
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
            Self::Github => "github",
        }
    }
}

/// The output flag.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputFlags {
    /// Output format
    #[arg(short = 'o', long = "output", value_name = "FORMAT")]
    pub output: Option<String>,
}

impl OutputFlags {
    /// The chosen format, which must be among those that the command has; a table when none is chosen.
    ///
    /// # Errors
    /// Another word, in kubectl's words, naming those allowed.
    pub fn format(&self, allowed: &[OutputFormat]) -> Result<OutputFormat, Failure> {
        let Some(wanted) = &self.output else {
            return Ok(OutputFormat::default());
        };
        OutputFormat::ALL
            .into_iter()
            .find(|format| format.name() == wanted && allowed.contains(format))
            .ok_or_else(|| {
                let mut names: Vec<_> = allowed.iter().map(|format| format.name()).collect();
                names.sort_unstable();
                Failure::usage(format!(
                    "unable to match a printer suitable for the output format \"{wanted}\", allowed formats are: {}",
                    names.join(",")
                ))
            })
    }
}
