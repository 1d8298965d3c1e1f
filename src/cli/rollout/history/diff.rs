//! `--diff`: what differs between two revisions.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::numbered;
use crate::cli::go_flags::parse_int;
use crate::cli::rollout::revisions::Revision;
use crate::error::Failure;
use crate::manifest;
use crate::ui::diff;
use crate::ui::line::Line;

/// `A`, `A..B`, or nothing: the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    from: Option<i64>,
    to: Option<i64>,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text {
            "" => Ok(None),
            text => parse_int(text).map(Some),
        };
        let (from, to) = text.split_once("..").unwrap_or((text, ""));
        Ok(Self {
            from: number(from)?,
            to: number(to)?,
        })
    }
}

impl Range {
    /// The diff; no line where the templates are equal.
    ///
    /// # Errors
    /// A revision that is not there, or too few of them.
    pub(super) fn lines(self, revisions: &BTreeMap<i64, Revision>) -> Result<Vec<Line>, Failure> {
        let mut last = revisions.keys().rev().copied();
        let to = self.to.or_else(|| last.next());
        let before = || {
            revisions
                .keys()
                .rev()
                .copied()
                .find(|number| Some(*number) < to)
        };
        let from = self.from.or_else(before);
        let (Some(from), Some(to)) = (from, to) else {
            let there = match numbered(revisions.keys()) {
                none if none.is_empty() => "there is no revision".to_owned(),
                there => there,
            };
            let failure = Failure::error("there are no two revisions to compare");
            return Err(failure.hint(there));
        };
        let template = |number: i64| {
            let revision = revisions.get(&number).ok_or_else(|| {
                Failure::error(format!("unable to find revision {number}"))
                    .hint(numbered(revisions.keys()))
            })?;
            Ok((&revision.template, format!("revision {number}")))
        };
        let ((old, old_name), (new, new_name)) = (template(from)?, template(to)?);
        Ok(diff::templates(
            (old, &old_name),
            (new, &new_name),
            manifest::to_yaml,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_revisions() {
        let range = |from, to| Ok(Range { from, to });
        for (text, expected) in [
            ("", range(None, None)),
            ("2", range(Some(2), None)),
            ("2..5", range(Some(2), Some(5))),
            ("..5", range(None, Some(5))),
            (
                "x",
                Err("strconv.ParseInt: parsing \"x\": invalid syntax".to_owned()),
            ),
        ] {
            assert_eq!(text.parse::<Range>(), expected, "{text}");
        }
    }
}
