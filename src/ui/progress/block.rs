//! One Deployment as a block of lines: strategy and bounds, a bar for each revision, the last steps, what it waits
//! for. Pure: everything it shows, time included, comes in.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::board::{Entry, Track};
use super::ending::{Ending, joined};
use super::rows;
use crate::controller::action::Kind;
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::count;
use crate::ui::age::human_duration;
use crate::ui::line::{Line, Tone};
use crate::ui::step::Naming;

/// Frames of the sign that something is going on.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Lines that a sentence may take.
const SENTENCE_LINES: usize = 3;
/// What a drawing depends on besides the Deployment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) columns: usize,
    pub(super) now: Timestamp,
    /// Which frame of the spinner; `None` once nothing moves any more.
    pub(super) tick: Option<usize>,
    pub(super) with_namespace: bool,
}

/// The whole block with at most `log_max` steps.
pub(super) fn full(track: &Track, look: Look, log_max: usize) -> Vec<Line> {
    let mut lines = vec![header(track, look)];
    if let Some(overview) = &track.overview {
        lines.extend(rows::draw(overview, look.columns));
    }
    let skipped = track.log().len().saturating_sub(log_max);
    for entry in track.log().skip(skipped) {
        let mut line = Line::from("  ");
        line.append(entry_line(entry, track));
        lines.push(line.truncate(look.columns));
    }
    lines.extend(standing(track, look));
    lines
}

/// One line for a Deployment in motion, where there are too many for blocks; names take `name_columns`.
pub(super) fn compact(track: &Track, look: Look, name_columns: usize) -> Line {
    let mut line = headline(track, look).truncate(name_columns + 2);
    line.pad_to(name_columns + 2);
    if let Some(overview) = &track.overview {
        line.append(rows::compact(overview));
    }
    if let Some(waiting) = track.waiting.first() {
        line.push(Tone::Pending, "  waiting");
        line.push(Tone::Plain, format!(": {waiting}"));
    }
    line.truncate(look.columns)
}

/// The lines that remain of a Deployment that has ended, where there are several.
pub(super) fn ended(track: &Track, look: Look) -> Vec<Line> {
    let Some(end) = &track.end else {
        return vec![compact(track, look, 0)];
    };
    let ending = Ending::new(end, track);
    let mut line = Line::new(ending.tone, ending.sign()).with(
        Tone::Strong,
        format!(" {}  ", track.short_name(look.with_namespace)),
    );
    line.append(ending.line());
    line.append(spent(track, look));
    let mut lines = line.wrap(look.columns, SENTENCE_LINES, 2);
    if ending.tone != Tone::Good {
        lines.extend(waits(track, look.columns));
    }
    lines
}

/// What a Deployment does or waits for now, or how it ended.
fn standing(track: &Track, look: Look) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(error) = &track.retrying {
        lines.extend(sentence("retrying", error, look.columns));
    }
    match &track.end {
        Some(end) => {
            let ending = Ending::new(end, track);
            if ending.tone != Tone::Good {
                lines.extend(waits(track, look.columns));
            }
            let mut line = Line::new(ending.tone, format!("{} ", ending.sign()));
            line.append(ending.line());
            line.append(spent(track, look));
            lines.extend(line.wrap(look.columns, SENTENCE_LINES, 2));
        }
        None => lines.extend(waits(track, look.columns)),
    }
    lines
}

fn waits(track: &Track, columns: usize) -> Vec<Line> {
    if track.waiting.is_empty() {
        return Vec::new();
    }
    sentence("waiting", &joined(&track.waiting), columns)
}

/// `  waiting: …`, over as many lines as it takes, up to a limit.
fn sentence(label: &str, text: &str, columns: usize) -> Vec<Line> {
    let indent = label.len() + 4;
    Line::new(Tone::Pending, format!("  {label}"))
        .with(Tone::Plain, format!(": {text}"))
        .wrap(columns, SENTENCE_LINES, indent)
}

fn spent(track: &Track, look: Look) -> Line {
    let steps = count(track.steps, "step");
    let elapsed = human_duration(track.elapsed(look.now));
    Line::new(Tone::Faint, format!("  ({steps}, {elapsed})"))
}

fn entry_line(entry: &Entry, track: &Track) -> Line {
    match entry {
        Entry::Step(line) => line.clone(),
        Entry::Pods(batch) => Line::from(batch.to_do(&track.revisions, Naming::Short)),
    }
}

fn headline(track: &Track, look: Look) -> Line {
    let sign = match (&track.end, look.tick) {
        (Some(end), _) => {
            let ending = Ending::new(end, track);
            Line::new(ending.tone, ending.sign())
        }
        (None, Some(tick)) => Line::new(Tone::Pending, SPINNER[tick % SPINNER.len()]),
        (None, None) => Line::new(Tone::Pending, "•"),
    };
    sign.with(Tone::Plain, " ")
        .with(Tone::Strong, track.short_name(look.with_namespace))
}

/// Name, strategy and bounds; what is known by heart and the time, where they fit.
fn header(track: &Track, look: Look) -> Line {
    let mut line = headline(track, look);
    let mut known = Line::default();
    if let Some(overview) = &track.overview {
        line.append(bounds(overview));
        known = parameters(overview);
    } else if track.kind == Kind::ReplicaSet {
        line.push(Tone::Plain, "  ReplicaSet");
    }
    let time = if track.end.is_none() {
        time(track, look)
    } else {
        Line::default()
    };
    let room = look.columns.saturating_sub(line.width());
    if known.width() + time.width() <= room {
        line.append(known);
    }
    if line.width() + time.width() <= look.columns {
        line.append(time);
    }
    line.truncate(look.columns)
}

fn bounds(overview: &Overview) -> Line {
    let mut line = Line::from(format!("  {}", overview.strategy));
    if overview.paused {
        line.push(Tone::Pending, "  paused");
    }
    let available = overview.available;
    if overview.strategy != keys::ROLLING_UPDATE {
        let total = overview.current;
        return line.with(
            Tone::Plain,
            format!("  total {total}, available {available}"),
        );
    }
    let total = overview.total;
    let (most, least) = (overview.max_total(), overview.min_available());
    let (tone, sign) = if total > most {
        (Tone::Pending, '>')
    } else {
        (Tone::Plain, '≤')
    };
    line.push(tone, format!("  total {total} {sign} {most}"));
    line.push(Tone::Plain, ", ");
    let (tone, sign) = if available < least {
        (Tone::Pending, '<')
    } else {
        (Tone::Plain, '≥')
    };
    line.with(tone, format!("available {available} {sign} {least}"))
}

fn parameters(overview: &Overview) -> Line {
    let replicas = count(overview.desired, "replica");
    let rolling = if overview.strategy == keys::ROLLING_UPDATE {
        format!(
            ", surge {}, unavailable {}",
            overview.max_surge, overview.max_unavailable
        )
    } else {
        String::new()
    };
    Line::new(Tone::Faint, format!("  ({replicas}{rolling})"))
}

fn time(track: &Track, look: Look) -> Line {
    let elapsed = human_duration(track.elapsed(look.now));
    let left = track.remaining(look.now).map_or_else(String::new, |left| {
        format!(", about {} left", human_duration(round_up(left)))
    });
    Line::new(Tone::Faint, format!("  {elapsed}{left}"))
}

/// Estimates are no more exact than this.
fn round_up(left: SignedDuration) -> SignedDuration {
    let seconds = left.as_secs() + i64::from(left.subsec_nanos() > 0);
    let grain = match seconds {
        ..60 => 5,
        60..600 => 10,
        _ => 60,
    };
    SignedDuration::from_secs((seconds + grain - 1) / grain * grain)
}
