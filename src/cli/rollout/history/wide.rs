//! `-o wide`: what a Deployment's revisions are made of.

use k8s_openapi::jiff::Timestamp;

use crate::cli::rollout::revisions::{DeploymentHistory, Set};
use crate::controller::deployment::revision_history;
use crate::controller::keys::POD_TEMPLATE_HASH;
use crate::ui::age::age;
use crate::ui::escape::Clean;
use crate::ui::history::change_cause;
use crate::ui::image;
use crate::ui::line::Line;
use crate::ui::tables::{table, width};

const HEADER: [&str; 9] = [
    "REVISION",
    "CHANGE-CAUSE",
    "AGE",
    "IMAGES",
    "REPLICAS",
    "READY",
    "HASH",
    "REUSED-FROM",
    "CURRENT",
];
/// Where room is scarce, the numbers that a revision had before stand beside its own.
const NARROW_HEADER: [&str; 8] = [
    "REVISION",
    "CHANGE-CAUSE",
    "AGE",
    "IMAGES",
    "REPLICAS",
    "READY",
    "HASH",
    "CURRENT",
];
/// Spaces between columns, and where room is scarce.
const GAP: u16 = 3;
const GAP_NARROW: u16 = 2;
/// Causes and images are cut to no less: the width of the wider one's header.
const LEAST: usize = 12;
const NONE: &str = "<none>";

/// A revision.
struct Row {
    number: String,
    cause: String,
    age: String,
    images: Vec<String>,
    replicas: String,
    ready: String,
    hash: String,
    /// The numbers that it had before.
    before: String,
    is_current: bool,
}

/// The revisions, lowest first. Where lines would be wider than `columns`, images are shortened, then columns draw
/// together, then causes and at last images are cut.
pub(super) fn lines(
    history: &DeploymentHistory,
    now: Timestamp,
    columns: Option<usize>,
) -> Vec<Line> {
    let rows = rows(history, now);
    let room = columns.unwrap_or(usize::MAX);
    let full = draw(&rows, |row| row.images.join(","));
    if width(&full) <= room {
        return full;
    }
    let short = draw(&rows, |row| image::short(&row.images));
    if width(&short) <= room {
        return short;
    }
    narrow(&rows, room)
}

/// A cause that is the same as the one before was only inherited.
fn rows(history: &DeploymentHistory, now: Timestamp) -> Vec<Row> {
    let sets = history.sets.iter();
    let mut sets: Vec<(i64, &Set)> = sets
        .filter_map(|set| Some((set.revision()?, set)))
        .collect();
    sets.sort_by_key(|(number, _)| *number);
    let mut previous = String::new();
    let mut rows = Vec::new();
    for (number, set) in sets {
        let mut row = Row::new(number, set, history, now);
        if !row.cause.is_empty() && row.cause == previous {
            row.cause += " (inherited)";
        }
        previous = change_cause(&set.slim);
        rows.push(row);
    }
    rows
}

fn draw(rows: &[Row], images: impl Fn(&Row) -> String) -> Vec<Line> {
    let cells = |row: &Row| {
        [
            row.number.clone(),
            or_none(&row.cause),
            row.age.clone(),
            or_none(&images(row)),
            row.replicas.clone(),
            row.ready.clone(),
            or_none(&row.hash),
            or_none(&row.before),
            row.current().to_owned(),
        ]
    };
    table(HEADER, rows.iter().map(cells), GAP)
}

fn narrow(rows: &[Row], room: usize) -> Vec<Line> {
    let draw = |causes: usize, images: usize| {
        let cells = |row: &Row| {
            [
                match &row.before[..] {
                    "" => row.number.clone(),
                    before => format!("{} (was {before})", row.number),
                },
                cut(&or_none(&row.cause), causes),
                row.age.clone(),
                cut(&or_none(&image::short(&row.images)), images),
                row.replicas.clone(),
                row.ready.clone(),
                or_none(&row.hash),
                row.current().to_owned(),
            ]
        };
        table(NARROW_HEADER, rows.iter().map(cells), GAP_NARROW)
    };
    let widest = |text: &dyn Fn(&Row) -> String| {
        let widths = rows.iter().map(|row| Clean::from(text(row)).width());
        widths.max().unwrap_or(0)
    };
    let left = |most: usize, excess: usize| most.saturating_sub(excess).max(LEAST);
    let (causes, images) = (
        widest(&|row| row.cause.clone()),
        widest(&|row| image::short(&row.images)),
    );
    let excess = width(&draw(causes, images)).saturating_sub(room);
    let causes = left(causes, excess);
    let excess = width(&draw(causes, images)).saturating_sub(room);
    draw(causes, left(images, excess))
}

fn cut(text: &str, room: usize) -> String {
    Clean::new(text).truncate(room).to_string()
}

fn or_none(text: &str) -> String {
    if text.is_empty() { NONE } else { text }.to_owned()
}

impl Row {
    fn new(number: i64, set: &Set, history: &DeploymentHistory, now: Timestamp) -> Self {
        let template = &set.slim.spec.template;
        let before = revision_history(&set.slim);
        let before: Vec<String> = before.iter().map(ToString::to_string).collect();
        let hash = set.slim.meta.labels.get(POD_TEMPLATE_HASH);
        Self {
            number: number.to_string(),
            cause: change_cause(&set.slim),
            age: age(set.slim.meta.created(), now),
            images: template.images().map(Into::into).collect(),
            replicas: set.slim.spec.replicas.to_string(),
            ready: set.slim.status.ready_replicas.to_string(),
            hash: hash.cloned().unwrap_or_default(),
            before: before.join(","),
            is_current: template.is_equal_to(&history.deployment().spec.template),
        }
    }

    fn current(&self) -> &'static str {
        if self.is_current { "yes" } else { "no" }
    }
}
