//! What differs on purpose: rules and single cases, each with its reason, and which of them were met.

use std::collections::BTreeMap;

/// `differences.txt`: one `NAME  REASON` a line, `#` begins a comment. A name with a slash is a case, others are rules.
/// `?` before a name: only stock kubectl, or other recordings, show it.
#[derive(Debug)]
pub(crate) struct Differences {
    met: BTreeMap<String, bool>,
}

impl Differences {
    pub(crate) fn load() -> Self {
        Self::parse(include_str!("differences.txt"))
    }

    /// What API servers before this one's minor version, 1.33, can't show besides: only single cases.
    pub(crate) fn of_server(minor: u32) -> Self {
        let is_old = minor < 33;
        Self::parse(if is_old {
            include_str!("old-servers.txt")
        } else {
            ""
        })
    }

    fn parse(text: &str) -> Self {
        let met = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| {
                let (name, reason) = line.split_once(' ').unwrap_or((line, ""));
                assert!(!reason.trim().is_empty(), "{name} has no reason");
                // What only stock kubectl and other recordings show need not be met.
                match name.strip_prefix('?') {
                    Some(name) => (name.to_owned(), true),
                    None => (name.to_owned(), false),
                }
            })
            .collect();
        Self { met }
    }

    /// Whether this difference is known: a rule that was needed, or a case that differs.
    pub(crate) fn expects(&mut self, name: &str) -> bool {
        let known = self.met.get_mut(name);
        known.map(|met| *met = true).is_some()
    }

    /// Those that were not met.
    pub(crate) fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.met.iter().filter(|(_, met)| !**met);
        unused.map(|(name, _)| name.clone())
    }
}
