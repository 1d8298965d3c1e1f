//! What goes wrong with single objects while a command goes on with the others.

use std::fmt;

use crate::error::ExitCode;

/// Failures so far, in the order in which they are to be told.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<anyhow::Error>);

impl Failures {
    /// Parts what could be had from the failures to have others.
    pub(super) fn part<T>(results: impl IntoIterator<Item = anyhow::Result<T>>) -> (Vec<T>, Self) {
        let mut failures = Self::default();
        let mut had = Vec::new();
        for result in results {
            match result {
                Ok(it) => had.push(it),
                Err(error) => failures.push(error),
            }
        }
        (had, failures)
    }

    /// Remembers one.
    pub(super) fn push(&mut self, error: impl Into<anyhow::Error>) {
        self.0.push(error.into());
    }

    /// Ends the command.
    ///
    /// # Errors
    /// The failure, or [`Several`].
    pub(super) fn finish(mut self) -> anyhow::Result<ExitCode> {
        match self.0.len() {
            0 => Ok(ExitCode::Done),
            1 => Err(self.0.remove(0)),
            _ => Err(Several(self.0).into()),
        }
    }
}

/// Several failures. They are told one a line, as kubectl tells them.
#[derive(Debug)]
pub(super) struct Several(pub(super) Vec<anyhow::Error>);

impl std::error::Error for Several {}

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let semicolon = if index == 0 { "" } else { "; " };
            write!(f, "{semicolon}{error}")?;
        }
        Ok(())
    }
}
