//! Several Deployments, a row each, the worst first.

use super::{Layout, Shown, sign};
use crate::diagnose::Verdict;
use crate::ui::line::{Line, Tone};
use crate::ui::tables::{self, table};

const HEADER: [&str; 6] = ["NAME", "STATUS", "REVISION", "AVAILABLE", "OLD", "WHY"];
/// Spaces between columns.
const GAP: u16 = 2;

/// A row each, the worst first; cut to the room.
pub fn rows(all: &[Shown], layout: Layout) -> Vec<Line> {
    let mut sorted: Vec<&Shown> = all.iter().collect();
    sorted.sort_by_key(|shown| {
        let verdict = &shown.diagnosis.verdict;
        (verdict.phase, verdict.object.clone())
    });
    let cells = sorted.iter().map(|shown| row(shown, layout));
    let drawn = table(HEADER, cells, GAP);
    let signs = sorted
        .iter()
        .map(|shown| Some(sign(shown.diagnosis.verdict.phase)));
    std::iter::once(None)
        .chain(signs)
        .zip(drawn)
        .map(|(sign, line)| {
            let (tone, sign) = sign.unwrap_or((Tone::Plain, " "));
            let mut row = Line::new(tone, sign).with(Tone::Plain, " ");
            row.append(line);
            match layout.columns {
                Some(columns) => row.truncate(columns),
                None => row,
            }
        })
        .collect()
}

/// `AVAILABLE` is of the new pods, `OLD` how many pods of other revisions are left.
fn row(shown: &Shown, layout: Layout) -> [String; 6] {
    let verdict = &shown.diagnosis.verdict;
    let overview = &shown.diagnosis.overview;
    let new = overview.new_revision();
    let old = overview.current - new.map_or(0, |new| new.current);
    [
        shown.name(layout),
        verdict.phase.name().to_owned(),
        new.map_or_else(|| "<none>".to_owned(), tables::number),
        format!(
            "{}/{}",
            new.map_or(0, |new| new.available),
            overview.desired
        ),
        old.to_string(),
        why(verdict),
    ]
}

/// The cause; numbers are in the row already.
fn why(verdict: &Verdict) -> String {
    match verdict.code {
        Some(_) => verdict.message.clone(),
        None => String::new(),
    }
}
