//! Tables of our own, without borders, in the manner of `kubectl get`.
//!
//! Where output must be kubectl's to the byte, [`columns`](super::columns) lays it out instead. Pure: time and room
//! come in, lines go out.

use comfy_table::{Table, presets};
use k8s_openapi::jiff::Timestamp;

use super::age::age;
use super::escape::Clean;
use super::image;
use super::line::{Line, Tone};
use super::progress::{Board, Track};
use crate::controller::deployment::overview::{Overview, RevisionOverview};

/// What kubectl writes where there is nothing.
const NONE: &str = "<none>";
/// Spaces between columns, and where room is scarce.
const GAP: u16 = 3;
const GAP_NARROW: u16 = 2;
/// An image is cut to no less.
const IMAGE_LEAST: usize = 12;

const REVISION_HEADER: [&str; 8] = [
    "REVISION",
    "IMAGE",
    "DESIRED",
    "CURRENT",
    "READY",
    "AVAILABLE",
    "AGE",
    "REPLICASET",
];
const SUMMARY_HEADER: [&str; 7] = [
    "NAME",
    "REVISION",
    "DESIRED",
    "UPDATED",
    "READY",
    "AVAILABLE",
    "RESULT",
];

/// The revisions of a Deployment, new on top, with the numbers that a reused one had before. Where the lines would be
/// wider than `columns`, gaps narrow and images are shortened; names of ReplicaSets stay whole, to be copied, unless there
/// is room for no more than what they don't share with the Deployment.
pub fn revisions(overview: &Overview, now: Timestamp, columns: Option<usize>) -> Vec<Line> {
    let short = |revision: &RevisionOverview| Clean::from(image::short(&revision.images));
    let whole = |revision: &RevisionOverview| revision.replica_set.clone();
    let draw = |gap,
                image: &dyn Fn(&RevisionOverview) -> String,
                replica_set: &dyn Fn(&RevisionOverview) -> String| {
        let rows = overview
            .revisions
            .iter()
            .map(|revision| revision_row(revision, image(revision), replica_set(revision), now));
        table(REVISION_HEADER, rows, gap)
    };
    let columns = columns.unwrap_or(usize::MAX);
    let full = draw(GAP, &|revision| revision.images.join(","), &whole);
    if width(&full) <= columns {
        return full;
    }
    let shortened = draw(GAP, &|revision| short(revision).to_string(), &whole);
    if width(&shortened) <= columns {
        return shortened;
    }
    let widest = overview
        .revisions
        .iter()
        .map(|revision| short(revision).width())
        .max()
        .unwrap_or(0);
    let fitted = |replica_set: &dyn Fn(&RevisionOverview) -> String| {
        let narrow = draw(
            GAP_NARROW,
            &|revision| short(revision).to_string(),
            replica_set,
        );
        let excess = width(&narrow).saturating_sub(columns);
        let room = widest.saturating_sub(excess).max(IMAGE_LEAST);
        let image = |revision: &RevisionOverview| short(revision).truncate(room).to_string();
        draw(GAP_NARROW, &image, replica_set)
    };
    let lines = fitted(&whole);
    if width(&lines) <= columns {
        return lines;
    }
    let prefix = format!("{}-", overview.key.name);
    fitted(
        &|revision| match revision.replica_set.strip_prefix(&prefix) {
            Some(hash) => format!("…{hash}"),
            None => whole(revision),
        },
    )
}

fn revision_row(
    revision: &RevisionOverview,
    image: String,
    replica_set: String,
    now: Timestamp,
) -> [String; 8] {
    [
        number(revision),
        or_none(image),
        revision.desired.to_string(),
        revision.current.to_string(),
        revision.ready.to_string(),
        revision.available.to_string(),
        age(revision.created, now),
        replica_set,
    ]
}

/// How several objects ended, or stand, one a line; why, too, unless that makes lines wider than `columns`.
pub fn summary(board: &Board, columns: Option<usize>) -> Vec<Line> {
    let with_reasons = draw_summary(board, Track::standing);
    if width(&with_reasons) <= columns.unwrap_or(usize::MAX) {
        return with_reasons;
    }
    draw_summary(board, |track| track.standing_word().to_owned())
}

fn draw_summary(board: &Board, result: fn(&Track) -> String) -> Vec<Line> {
    let rows = board.tracks().iter().map(|track| {
        let overview = track.overview.as_ref();
        let new = overview.and_then(|overview| overview.new_revision());
        let count = |count: Option<i32>| or_none(count.map_or_else(String::new, |n| n.to_string()));
        [
            track.name(board.shows_namespaces()),
            new.map_or_else(|| NONE.to_owned(), number),
            count(overview.map(|overview| overview.desired)),
            count(new.map(|new| new.current)),
            count(new.map(|new| new.ready)),
            count(new.map(|new| new.available)),
            result(track),
        ]
    });
    table(SUMMARY_HEADER, rows, GAP)
}

/// `3`, or `3 (was 1)` for a revision that was gone back to.
pub(super) fn number(revision: &RevisionOverview) -> String {
    let Some(number) = revision.revision else {
        return NONE.to_owned();
    };
    if revision.reused_from.is_empty() {
        return number.to_string();
    }
    let before: Vec<_> = revision
        .reused_from
        .iter()
        .map(ToString::to_string)
        .collect();
    format!("{number} (was {})", before.join(", "))
}

fn or_none(text: String) -> String {
    if text.is_empty() {
        NONE.to_owned()
    } else {
        text
    }
}

/// Rows in columns, as wide as their widest cell and a gap.
pub fn table<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    gap: u16,
) -> Vec<Line> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for row in rows {
        // Clean before it is laid out: what is cleaned away must not take room.
        table.add_row(row.map(|cell| Clean::from(cell).to_string()));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, gap));
    }
    table
        .lines()
        .map(|line| Line::new(Tone::Plain, line).trim_end())
        .collect()
}

/// The columns that the widest line takes.
pub fn width(lines: &[Line]) -> usize {
    lines.iter().map(Line::width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::action::Kind;
    use crate::engine::event::{End, EngineEvent, Happening};
    use crate::ui::printer::Level;
    use crate::ui::printer::capture::captured;
    use crate::ui::progress::{Form, Progress, Style};
    use crate::ui::scene;

    fn text(lines: &[Line]) -> String {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }

    /// A rollback in motion, with a sidecar and a revision that somebody else made.
    fn overview() -> Overview {
        let mut overview =
            scene::overview(&[(3, [2, 2, 1, 1]), (2, [4, 4, 4, 4]), (1, [0, 0, 0, 0])]);
        overview.revisions[0].reused_from = vec![1];
        overview.revisions[1]
            .images
            .push("registry.example.com/mesh/proxy@sha256:3f2a91c0ffee".to_owned());
        overview.revisions[2].revision = None;
        overview.revisions[2].created = None;
        overview
    }

    #[test]
    fn revisions_with_all_the_room_they_need() {
        insta::assert_snapshot!(text(&revisions(&overview(), scene::second(47), None)), @"
        REVISION    IMAGE                                                                                    DESIRED   CURRENT   READY   AVAILABLE   AGE         REPLICASET
        3 (was 1)   registry.example.com/shop/web:1.27                                                       2         2         1       1           60m         web-7f9c
        2           registry.example.com/shop/web:1.26,registry.example.com/mesh/proxy@sha256:3f2a91c0ffee   4         4         4       4           60m         web-7f9c
        <none>      registry.example.com/shop/web:1.25                                                       0         0         0       0           <unknown>   web-6d4b
        ");
    }

    #[test]
    fn images_give_way_where_room_is_scarce() {
        let drawn = |columns| text(&revisions(&overview(), scene::second(47), Some(columns)));
        insta::assert_snapshot!(drawn(100), @"
        REVISION    IMAGE         DESIRED   CURRENT   READY   AVAILABLE   AGE         REPLICASET
        3 (was 1)   web:1.27      2         2         1       1           60m         web-7f9c
        2           web:1.26 +1   4         4         4       4           60m         web-7f9c
        <none>      web:1.25      0         0         0       0           <unknown>   web-6d4b
        ");
        insta::assert_snapshot!(drawn(80), @"
        REVISION   IMAGE        DESIRED  CURRENT  READY  AVAILABLE  AGE        REPLICASET
        3 (was 1)  web:1.27     2        2        1      1          60m        …7f9c
        2          web:1.26 +1  4        4        4      4          60m        …7f9c
        <none>     web:1.25     0        0        0      0          <unknown>  …6d4b
        ");
    }

    #[test]
    fn the_summary_says_how_each_object_stands() {
        let (printer, _) = captured(Level::Quiet);
        let style = Style {
            form: Form::Lines,
            ..Style::default()
        };
        let mut progress = Progress::new(style, printer);
        let mut tell = |name: &str, what| {
            progress
                .handle(&scene::event_of(name, 1, what))
                .expect("a buffer can be written");
        };
        tell(
            "web",
            scene::observed(scene::overview(&[(2, [5, 5, 5, 5])])),
        );
        tell("web", Happening::Ended(End::Complete));
        tell("api", scene::observed(scene::rolling()));
        tell("api", Happening::Waiting(vec![scene::blocked()]));
        tell("api", Happening::Ended(End::AtRest));
        tell("db", scene::observed(scene::rolling()));
        tell(
            "db",
            Happening::Ended(End::Failed {
                reason: "ProgressDeadlineExceeded".to_owned(),
                message: "ReplicaSet \"db-1\" has timed out\nprogressing.".to_owned(),
            }),
        );
        tell("late", scene::observed(scene::rolling()));
        let alone = EngineEvent {
            kind: Kind::ReplicaSet,
            ..scene::event_of("cache", 1, Happening::Ended(End::Complete))
        };
        progress.handle(&alone).expect("a buffer can be written");
        let board = progress.finish();
        insta::assert_snapshot!(text(&summary(&board, None)), @r#"
        NAME               REVISION   DESIRED   UPDATED   READY    AVAILABLE   RESULT
        deployment/web     2          5         5         5        5           complete
        deployment/api     2          5         2         0        0           at rest: total 6 = 5 + maxSurge 1, available 4 = 5 − maxUnavailable 1: neither side may move until 1 of 2 new pods is ready
        deployment/db      2          5         2         0        0           failed: ProgressDeadlineExceeded: ReplicaSet "db-1" has timed out progressing.
        deployment/late    2          5         2         0        0           running
        replicaset/cache   <none>     <none>    <none>    <none>   <none>      complete
        "#);
        insta::assert_snapshot!(text(&summary(&board, Some(80))), @"
        NAME               REVISION   DESIRED   UPDATED   READY    AVAILABLE   RESULT
        deployment/web     2          5         5         5        5           complete
        deployment/api     2          5         2         0        0           at rest
        deployment/db      2          5         2         0        0           failed
        deployment/late    2          5         2         0        0           running
        replicaset/cache   <none>     <none>    <none>    <none>   <none>      complete
        ");
    }
}
