//! The exchanges that are known to differ, each with its reason.

use std::collections::BTreeMap;

/// The known differences of one theme, and which of them were met.
pub(crate) struct Differences {
    met: BTreeMap<String, bool>,
}

impl Differences {
    /// Reads `differences.txt`: one `ID  REASON` a line, `#` begins a comment.
    pub(crate) fn load(theme: &str) -> Self {
        let prefix = format!("{theme}/");
        let met = include_str!("differences.txt")
            .lines()
            .filter(|line| line.starts_with(&prefix))
            .map(|line| {
                let (id, reason) = line.split_once(' ').unwrap_or((line, ""));
                assert!(!reason.trim().is_empty(), "{id} has no reason");
                (id.to_owned(), false)
            })
            .collect();
        Self { met }
    }

    /// Whether this exchange is known to differ.
    pub(crate) fn expects(&mut self, id: &str) -> bool {
        let known = self.met.get_mut(id);
        known.map(|met| *met = true).is_some()
    }

    /// Those that did not differ.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.met.iter().filter(|(_, met)| !**met);
        unused.map(|(id, _)| id.as_str())
    }
}
