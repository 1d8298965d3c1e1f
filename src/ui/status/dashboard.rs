//! The dashboard of one Deployment.

use k8s_openapi::jiff::SignedDuration;

use super::{Layout, Shown, sign, tone_of};
use crate::controller::deployment::overview::Overview;
use crate::controller::keys;
use crate::controller::plural::count;
use crate::diagnose::{Class, Finding, Phase, Side, Subject, Verdict};
use crate::ui::age::human_duration;
use crate::ui::line::{Line, Tone};
use crate::ui::tables;

/// The most lines that one sentence takes.
const SENTENCE_LINES: usize = 6;
/// The most names of pods that are told of one cause.
const PODS_SHOWN: usize = 5;
/// Estimates beyond this are guesses.
const LONGEST_ESTIMATE: SignedDuration = SignedDuration::from_hours(24);
/// Of so many pods at least one must be available before an estimate is made.
const PODS_PER_HINT: i32 = 20;

/// Verdict, bounds, revisions, and the causes.
pub fn dashboard(shown: &Shown, layout: Layout) -> Vec<Line> {
    let diagnosis = &shown.diagnosis;
    let mut lines = verdict(shown, layout);
    lines.push(strategy(&diagnosis.overview, layout));
    lines.extend(times(shown, layout));
    if !diagnosis.overview.revisions.is_empty() {
        lines.push(Line::default());
        lines.extend(tables::revisions(
            &diagnosis.overview,
            shown.at,
            layout.columns,
        ));
    }
    for finding in &diagnosis.findings {
        lines.push(Line::default());
        lines.extend(cause(finding, shown, layout));
    }
    for missing in &shown.unreadable {
        lines.push(Line::default());
        let line = Line::new(
            Tone::Pending,
            format!("• {} could not be read", missing.resource),
        )
        .with(Tone::Plain, format!(": {}", missing.why));
        lines.extend(fitted(line, layout, 2));
    }
    lines
}

/// What is left to say when a rollout has not ended well: each cause of the new pods, in full.
pub fn last_words(shown: &Shown, columns: Option<usize>) -> Vec<Line> {
    let layout = Layout {
        columns,
        whole: true,
        ..Layout::default()
    };
    let verdict = &shown.diagnosis.verdict;
    let (tone, _) = sign(verdict.phase);
    let line = Line::new(Tone::Plain, format!("deployment/{}: ", verdict.object.name))
        .with(tone, verdict.phase.name())
        .with(Tone::Plain, explanation(verdict));
    let mut lines = fitted(line, layout, 2);
    let causes = shown
        .diagnosis
        .findings
        .iter()
        .filter(|finding| finding.side != Side::Old);
    for finding in causes {
        lines.extend(cause(finding, shown, layout));
    }
    lines
}

fn verdict(shown: &Shown, layout: Layout) -> Vec<Line> {
    let verdict = &shown.diagnosis.verdict;
    let (tone, sign) = sign(verdict.phase);
    let line = Line::new(tone, sign)
        .with(Tone::Strong, format!(" {}  ", shown.name(layout)))
        .with(tone, verdict.phase.name())
        .with(Tone::Plain, explanation(verdict));
    fitted(line, layout, 2)
}

/// The verdict's sentence, unless its word says the same.
fn explanation(verdict: &Verdict) -> String {
    let word = verdict.phase.name();
    match verdict.message.strip_prefix(word) {
        Some("") => String::new(),
        Some(rest) => rest.to_owned(),
        None => format!(": {}", verdict.message),
    }
}

/// Strategy and bounds with today's numbers; what is known by heart only where it fits.
fn strategy(overview: &Overview, layout: Layout) -> Line {
    let mut line = Line::from(format!("  {}", overview.strategy));
    let mut known = count(overview.desired, "replica").to_string();
    if overview.strategy == keys::ROLLING_UPDATE {
        line.append(bounds(overview));
        known = format!(
            "{known}, surge {}, unavailable {}",
            overview.max_surge, overview.max_unavailable
        );
    } else {
        let (total, available) = (overview.current, overview.available);
        line.push(
            Tone::Plain,
            format!("  total {total}, available {available}"),
        );
    }
    if overview.terminating > 0 {
        line.push(
            Tone::Faint,
            format!(", {} terminating", overview.terminating),
        );
    }
    let known = Line::new(Tone::Faint, format!("  ({known})"));
    let room = layout.columns.unwrap_or(usize::MAX);
    if line.width() + known.width() <= room {
        line.append(known);
    }
    line.truncate(room)
}

fn bounds(overview: &Overview) -> Line {
    let (total, most) = (overview.total, overview.max_total());
    let (available, least) = (overview.available, overview.min_available());
    Line::new(
        tone_if(total > most),
        format!("  total {total} {} {most}", order(total <= most, '≤', '>')),
    )
    .with(Tone::Plain, ", ")
    .with(
        tone_if(available < least),
        format!(
            "available {available} {} {least}",
            order(available >= least, '≥', '<')
        ),
    )
}

fn tone_if(is_outside: bool) -> Tone {
    if is_outside {
        Tone::Pending
    } else {
        Tone::Plain
    }
}

fn order(holds: bool, within: char, beyond: char) -> char {
    if holds { within } else { beyond }
}

/// What is left of the deadline, and until the end if it goes on like this.
fn times(shown: &Shown, layout: Layout) -> Option<Line> {
    let verdict = &shown.diagnosis.verdict;
    let mut parts = Vec::new();
    if let Some(left) = verdict.deadline_left_seconds {
        parts.push(format!("deadline in {}", duration(left)));
    }
    if verdict.phase == Phase::Progressing
        && let Some(left) = estimate(shown)
    {
        parts.push(format!("about {} left", human_duration(left)));
    }
    if parts.is_empty() {
        return None;
    }
    let line = Line::new(Tone::Faint, format!("  {}", parts.join(", ")));
    Some(match layout.columns {
        Some(columns) => line.truncate(columns),
        None => line,
    })
}

fn duration(seconds: i64) -> String {
    human_duration(SignedDuration::from_secs(seconds))
}

/// The pace since the new ReplicaSet was made, carried forward. One that was gone back to is older than its rollout.
fn estimate(shown: &Shown) -> Option<SignedDuration> {
    let overview = &shown.diagnosis.overview;
    let new = overview.new_revision()?;
    let missing = overview.desired.checked_sub(new.available)?;
    if new.available <= 0
        || missing <= 0
        || !new.reused_from.is_empty()
        || new.available < overview.desired / PODS_PER_HINT
    {
        return None;
    }
    let spent = shown.at.duration_since(new.created?);
    let left = spent.checked_div(new.available)?.checked_mul(missing)?;
    (left.is_positive() && left < LONGEST_ESTIMATE).then_some(left)
}

/// One cause: what, how it heals, since when, whose, the evidence and what to do.
fn cause(finding: &Finding, shown: &Shown, layout: Layout) -> Vec<Line> {
    let tone = tone_of(finding);
    let sign = if finding.is_final { "✗" } else { "•" };
    let line = Line::new(tone, format!("{sign} {}", finding.message))
        .with(Tone::Faint, format!("  ({})", facts(finding, shown)));
    let mut lines = fitted(line, layout, 2);
    if !finding.pods.is_empty() {
        let line = Line::new(Tone::Plain, format!("    {}", pods(&finding.pods, layout)));
        lines.extend(fitted(line, layout, 6));
    }
    for text in finding
        .evidence
        .iter()
        .filter(|text| **text != finding.message)
    {
        let line = Line::new(Tone::Faint, format!("    « {text} »"));
        lines.extend(fitted(line, layout, 6));
    }
    if !finding.next_step.is_empty() {
        let line = Line::new(Tone::Plain, format!("    → {}", finding.next_step));
        lines.extend(fitted(line, layout, 6));
    }
    lines
}

fn facts(finding: &Finding, shown: &Shown) -> String {
    let mut facts = vec![finding.code.name().to_owned()];
    match finding.class {
        Class::Note => {}
        Class::TerminalAfterBudget if finding.is_final => {
            facts.push("has not recovered".to_owned());
        }
        class => facts.push(class.words().to_owned()),
    }
    if let Some(since) = finding.since {
        let age = shown.at.duration_since(since).max(SignedDuration::ZERO);
        facts.push(format!("for {}", human_duration(age)));
    }
    if let Some(until) = finding.until {
        let left = until.duration_since(shown.at).max(SignedDuration::ZERO);
        facts.push(format!("{} left", human_duration(left)));
    }
    facts.join(", ")
}

fn pods(pods: &[Subject], layout: Layout) -> String {
    let most = if layout.wide { usize::MAX } else { PODS_SHOWN };
    let names: Vec<String> = pods
        .iter()
        .take(most)
        .map(|pod| match pod.restarts {
            0 => pod.name.clone(),
            restarts => format!("{} ({})", pod.name, count(restarts, "restart")),
        })
        .collect();
    match pods.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn fitted(line: Line, layout: Layout, indent: usize) -> Vec<Line> {
    match layout.columns {
        Some(columns) => {
            let most = if layout.whole {
                usize::MAX
            } else {
                SENTENCE_LINES
            };
            line.wrap(columns, most, indent)
        }
        None => vec![line],
    }
}
