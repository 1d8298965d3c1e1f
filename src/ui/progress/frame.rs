//! Everything that the live view shows at one instant, cut to the terminal.
//!
//! Blocks in full while they fit, then with fewer steps, then one line each, then as many lines as fit and how many
//! more there are. What has ended is not part of it: it was printed for good.

use super::block::{self, Look};
use super::board::{Board, Track};
use crate::engine::event::End;
use crate::ui::age::human_duration;
use crate::ui::escape::Clean;
use crate::ui::line::{Line, Tone};

/// How many steps a block shows: the most that lets all blocks fit.
const LOG_SIZES: [usize; 4] = [6, 3, 1, 0];
/// Fewer lines than any block takes.
const BLOCK_LEAST: usize = 2;
/// Longer names are cut in compact lines.
const NAME_COLUMNS_MAX: usize = 40;

/// The lines to draw on at most `rows` rows.
pub(super) fn frame(board: &Board, look: Look, rows: usize) -> Vec<Line> {
    let active: Vec<_> = board
        .tracks()
        .iter()
        .filter(|track| !track.settled)
        .collect();
    if board.tracks().len() < 2 {
        return blocks(&active, look, rows).unwrap_or_default();
    }
    let rows = rows.saturating_sub(1);
    let mut lines = blocks(&active, look, rows).unwrap_or_else(|| compact(&active, look, rows));
    lines.push(summary(board, look));
    lines
}

/// All in blocks, if they fit. A single one is cut if it must be.
fn blocks(active: &[&Track], look: Look, rows: usize) -> Option<Vec<Line>> {
    if active.len() > 1 && active.len() * BLOCK_LEAST > rows {
        return None;
    }
    let drawn = |log_max| {
        let mut lines = Vec::new();
        for track in active {
            lines.extend(block::full(track, look, log_max));
        }
        lines
    };
    let mut fitting = LOG_SIZES.iter().map(|log_max| drawn(*log_max));
    match fitting.find(|lines| lines.len() <= rows) {
        Some(lines) => Some(lines),
        None if active.len() == 1 => {
            let mut lines = drawn(0);
            lines.truncate(rows);
            Some(lines)
        }
        None => None,
    }
}

/// One line each, as many as fit.
fn compact(active: &[&Track], look: Look, rows: usize) -> Vec<Line> {
    let (shown, rest) = match rows {
        _ if active.len() <= rows => (active, 0),
        0 => return Vec::new(),
        rows => (&active[..rows - 1], active.len() - (rows - 1)),
    };
    let name = |track: &&Track| Clean::from(track.short_name(look.with_namespace)).width();
    let name_columns = shown
        .iter()
        .map(name)
        .max()
        .unwrap_or(0)
        .min(NAME_COLUMNS_MAX);
    let mut lines: Vec<_> = shown
        .iter()
        .map(|track| block::compact(track, look, name_columns))
        .collect();
    if rest > 0 {
        lines.push(Line::new(Tone::Faint, format!("… and {rest} more")).truncate(look.columns));
    }
    lines
}

/// `3 of 40 complete, 1 failed  2m5s`.
fn summary(board: &Board, look: Look) -> Line {
    let tracks = board.tracks();
    let ended = |is: fn(&End) -> bool| {
        tracks
            .iter()
            .filter_map(|track| track.end.as_ref())
            .filter(|end| is(end))
            .count()
    };
    let complete = ended(|end| matches!(end, End::Complete));
    let failed = ended(|end| matches!(end, End::Failed { .. }));
    let mut line = Line::new(
        Tone::Strong,
        format!("{complete} of {} complete", tracks.len()),
    );
    if failed > 0 {
        line.push(Tone::Plain, ", ");
        line.push(Tone::Bad, format!("{failed} failed"));
    }
    let elapsed = board.elapsed(look.now);
    line.push(Tone::Faint, format!("  {}", human_duration(elapsed)));
    line.truncate(look.columns)
}

/// Marks what has ended as printed for good and returns its lines. A single object stays in the frame to the end.
pub(super) fn settle(board: &mut Board, look: Look) -> Vec<Line> {
    if board.tracks().len() < 2 {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for track in board.tracks_mut() {
        if track.end.is_some() && !track.settled {
            track.settled = true;
            lines.extend(block::ended(track, look));
        }
    }
    lines
}

/// What is left on the terminal when drawing stops, as far as it was not printed before.
pub(super) fn remains(board: &Board, look: Look) -> Vec<Line> {
    match board.tracks() {
        [track] => block::full(track, look, LOG_SIZES[0]),
        tracks => tracks
            .iter()
            .filter(|track| !track.settled)
            .flat_map(|track| block::ended(track, look))
            .collect(),
    }
}
