//! Several Deployments, a row each, the worst first.

use super::{Layout, Shown, sign};
use crate::controller::plural::count;
use crate::diagnose::{Diagnosis, Finding, Side};
use crate::ui::escape::Clean;
use crate::ui::line::{Line, Tone};
use crate::ui::tables::{self, table};

const HEADER: [&str; 6] = ["NAME", "STATUS", "REVISION", "AVAILABLE", "OLD", "WHY"];
/// Spaces between columns.
const GAP: u16 = 2;
/// Names are shortened where less than this would be left for the cause, but to no less than that.
const WHY_LEAST: usize = 24;
const NAME_LEAST: usize = 16;

/// A row each, the worst first; cut to the room.
pub fn rows(all: &[Shown], layout: Layout) -> Vec<Line> {
    let mut sorted: Vec<&Shown> = all.iter().collect();
    sorted.sort_by_key(|shown| {
        let verdict = &shown.diagnosis.verdict;
        (verdict.phase, verdict.object.clone())
    });
    let mut cells: Vec<[String; 6]> = sorted.iter().map(|shown| row(shown, layout)).collect();
    if let Some(columns) = layout.columns {
        shorten_names(&mut cells, columns);
    }
    let drawn = table(HEADER, cells.into_iter(), GAP);
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

/// Leaves room for the causes. Of a name both ends count: namespaces stand before it, and what tells siblings apart behind.
fn shorten_names(cells: &mut [[String; 6]], columns: usize) {
    let width = |column: usize| {
        let cells = cells.iter().map(|row| Clean::new(&row[column]).width());
        cells.chain([HEADER[column].len()]).max().unwrap_or(0)
    };
    let others: usize = (1..5).map(|column| width(column) + usize::from(GAP)).sum();
    let signs_and_gap = 2 + usize::from(GAP);
    let why = width(5).min(WHY_LEAST);
    let room = columns.saturating_sub(others + signs_and_gap + why);
    for row in cells {
        let name = Clean::new(&row[0]);
        row[0] = name.truncate_middle(room.max(NAME_LEAST)).to_string();
    }
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
        why(&shown.diagnosis),
    ]
}

/// The cause; numbers are in the row already. Of what is complete the restarts: complete is no proof of health.
fn why(diagnosis: &Diagnosis) -> String {
    if diagnosis.verdict.code.is_some() {
        return diagnosis.verdict.message.clone();
    }
    let restarts = |finding: &Finding| -> i32 {
        let restarts = finding.pods.iter().map(|pod| pod.restarts);
        restarts.fold(0, i32::saturating_add)
    };
    let of_new = diagnosis.findings.iter().filter(|it| it.side == Side::New);
    let mut scars = of_new.map(|it| (restarts(it), it)).filter(|(n, _)| *n > 0);
    scars.next().map_or_else(String::new, |(n, finding)| {
        format!("{}: {}", count(n, "restart"), finding.message)
    })
}
