//! The revisions of one Deployment, new on top: number, image, bar and counts in columns.

use super::bar::{self, Pods};
use crate::controller::deployment::overview::{Overview, RevisionOverview};
use crate::controller::plural::count;
use crate::ui::escape::Clean;
use crate::ui::image;
use crate::ui::line::{Line, Tone};

/// Old revisions that get a bar; more are summed up.
const OLD_SHOWN: usize = 3;
/// Columns of a bar in a compact line.
const COMPACT_BAR: usize = 16;
/// The narrowest bar, and the narrowest image, worth showing.
const NARROWEST: usize = 8;
/// Narrower terminals get no column of ready pods, so that bars keep some length.
const COLUMNS_FOR_READY: usize = 72;
const INDENT: usize = 2;
const GAP: usize = 2;

/// The rows, at most `columns` wide.
pub(super) fn draw(overview: &Overview, columns: usize) -> Vec<Line> {
    let old = || {
        let with_pods = |revision: &&RevisionOverview| revision.desired > 0 || revision.current > 0;
        overview
            .revisions
            .iter()
            .filter(|revision| !revision.new)
            .filter(with_pods)
    };
    let rows: Vec<_> = overview
        .new_revision()
        .into_iter()
        .chain(old().take(OLD_SHOWN))
        .map(|revision| Row::of(revision, overview))
        .collect();
    let columns_of = Columns::fit(&rows, overview, columns);
    let mut lines: Vec<_> = rows
        .iter()
        .map(|row| columns_of.line(row).truncate(columns))
        .collect();
    let rest: Vec<_> = old()
        .skip(OLD_SHOWN)
        .map(|revision| revision.current)
        .collect();
    if !rest.is_empty() {
        let revisions = count(
            i64::try_from(rest.len()).unwrap_or(i64::MAX),
            "older revision",
        );
        let pods = count(rest.iter().map(|pods| i64::from(*pods)).sum::<i64>(), "pod");
        let line = Line::new(Tone::Faint, format!("  … and {revisions} with {pods}"));
        lines.push(line.truncate(columns));
    }
    lines
}

/// The new revision in a few words: `  ██░░····  2/5 updated, 0 available`.
pub(super) fn compact(overview: &Overview) -> Line {
    let Some(new) = overview.new_revision() else {
        return Line::default();
    };
    let scale = scale(overview);
    let mut line = Line::from("  ");
    line.append(bar::draw(
        pods(new, overview),
        scale,
        bar::cells(COMPACT_BAR, scale),
    ));
    line.with(
        Tone::Plain,
        format!(
            "  {}/{} updated, {} available",
            new.current, overview.desired, new.available
        ),
    )
}

struct Row {
    label: Clean,
    image: Clean,
    pods: Pods,
    counts: [String; 3],
}

impl Row {
    fn of(revision: &RevisionOverview, overview: &Overview) -> Self {
        let label = match revision.revision {
            Some(number) => format!("r{number}"),
            None => revision.replica_set.clone(),
        };
        let RevisionOverview {
            desired, current, ..
        } = revision;
        let first = if revision.new {
            format!("{current}/{} updated", overview.desired)
        } else if desired < current {
            format!("{current}→{desired} old")
        } else {
            format!("{current} old")
        };
        Self {
            label: label.into(),
            image: image::short(&revision.images).into(),
            pods: pods(revision, overview),
            counts: [
                first,
                format!("{} ready", revision.ready),
                format!("{} available", revision.available),
            ],
        }
    }
}

/// Widths that all rows share.
struct Columns {
    label: usize,
    image: usize,
    bar: usize,
    /// Which counts, and their widths.
    counts: Vec<(usize, usize)>,
    scale: i32,
}

impl Columns {
    /// Text takes what it needs, the bar what is left; where that is too little, images are cut.
    fn fit(rows: &[Row], overview: &Overview, columns: usize) -> Self {
        let widest = |width: &dyn Fn(&Row) -> usize| rows.iter().map(width).max().unwrap_or(0);
        let label = widest(&|row| row.label.width());
        let scale = scale(overview);
        // Room for the largest numbers from the start, so that bars keep their length when numbers grow.
        let largest = [
            format!("{0}/{0} updated", overview.desired),
            format!("{scale} ready"),
            format!("{scale} available"),
        ];
        let shown = if columns < COLUMNS_FOR_READY {
            vec![0, 2]
        } else {
            vec![0, 1, 2]
        };
        let counts: Vec<_> = shown
            .into_iter()
            .map(|index| {
                let text = widest(&|row| row.counts[index].chars().count());
                (index, text.max(largest[index].len()))
            })
            .collect();
        let counts_width: usize = counts.iter().map(|(_, width)| GAP + width).sum();
        let room = columns.saturating_sub(INDENT + label + GAP + GAP + counts_width);
        let image = widest(&|row| row.image.width());
        let image = image.min(room.saturating_sub(NARROWEST).max(NARROWEST));
        Self {
            label,
            image,
            bar: bar::cells(room.saturating_sub(image), scale),
            counts,
            scale,
        }
    }

    fn line(&self, row: &Row) -> Line {
        let mut end = INDENT;
        let mut line = Line::from(" ".repeat(INDENT));
        let mut column = |width: usize, cell: Line| {
            line.append(cell);
            line.pad_to(end + width + GAP);
            end += width + GAP;
        };
        column(self.label, Line::new(Tone::Strong, &row.label));
        column(self.image, Line::from(row.image.truncate(self.image)));
        column(self.bar, bar::draw(row.pods, self.scale, self.bar));
        for (index, width) in &self.counts {
            column(*width, Line::from(row.counts[*index].as_str()));
        }
        line.trim_end()
    }
}

/// What all bars of a Deployment are measured by: the most pods it may have, or has.
fn scale(overview: &Overview) -> i32 {
    overview
        .max_total()
        .max(overview.current)
        .max(overview.total)
}

fn pods(revision: &RevisionOverview, overview: &Overview) -> Pods {
    Pods {
        new: revision.new,
        available: revision.available,
        ready: revision.ready,
        current: revision.current,
        goal: overview.desired,
    }
}
