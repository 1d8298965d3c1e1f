//! What a run of the engine ends the command with, and what it tells of what was done and what was not.

use crate::cli::failures::Failures;
use crate::cli::selection::not_found;
use crate::engine::event::End;
use crate::engine::options::Goal;
use crate::engine::run::{StoppedBy, Summary};
use crate::engine::store::Item;
use crate::error::{ExitCode, Failure};
use crate::ui::progress::Board;

/// The worst of how the objects ended. What went wrong with objects that were asked for is said on the way.
///
/// # Errors
/// Nothing matched, or an object that was named does not exist.
pub(in crate::cli) fn exit_code(
    summary: &Summary,
    board: &Board,
    goal: Goal,
) -> anyhow::Result<ExitCode> {
    if let [first, ..] = summary.missing.as_slice() {
        return Err(not_found(first).into());
    }
    if summary.ends.is_empty() && summary.stopped.is_none() {
        return Err(Failure::new(ExitCode::NothingMatched, "no resources found").into());
    }
    let of_objects = ExitCode::worst(summary.ends.values().flatten().map(code_of));
    Ok(match summary.stopped {
        Some(StoppedBy::Signal) => return interrupted(summary, board, goal),
        Some(StoppedBy::Timeout) => {
            let open = accounts(summary, board, |end| end.is_none());
            return Err(timed_out(summary).details(open).into());
        }
        Some(StoppedBy::Person) => ExitCode::Held,
        None => {
            refused(summary, board).finish()?;
            of_objects.unwrap_or_default()
        }
    })
}

/// Ctrl-C: what was still to be done is said. For a controller, which never is done, only what it had begun counts.
pub(super) fn interrupted(
    summary: &Summary,
    board: &Board,
    goal: Goal,
) -> anyhow::Result<ExitCode> {
    let open = accounts(summary, board, |end| end.is_none() && goal != Goal::Forever);
    if open.is_empty() {
        return Ok(ExitCode::Interrupted);
    }
    Err(Failure::new(ExitCode::Interrupted, "interrupted")
        .details(open)
        .into())
}

/// What was done and what was not, of the objects whose end is chosen and of those whose last pass did not get through.
fn accounts(
    summary: &Summary,
    board: &Board,
    is_chosen: impl Fn(Option<&End>) -> bool,
) -> Vec<String> {
    let chosen = summary
        .ends
        .iter()
        .filter(|(item, end)| is_chosen(end.as_ref()) || summary.left.contains_key(item));
    chosen
        .map(|(item, _)| account(item, summary, board))
        .filter(|line| !line.is_empty())
        .collect()
}

fn account(item: &Item, summary: &Summary, board: &Board) -> String {
    let left = summary.left.get(item).map(Vec::as_slice);
    board.account(item.kind, &item.key, left.unwrap_or_default())
}

/// The objects of which a write was refused for good.
fn refused(summary: &Summary, board: &Board) -> Failures {
    let mut failures = Failures::default();
    for (item, end) in &summary.ends {
        if let Some(End::Refused { message }) = end {
            let mut line = account(item, summary, board);
            if line.is_empty() {
                line = format!("{} {:?}: {message}", item.kind.word(), item.key.name);
            }
            failures.push(Failure::error(line));
        }
    }
    failures
}

/// What ended the run for all objects, and what had been done by then.
pub(in crate::cli) fn cut_short(error: impl Into<anyhow::Error>, board: &Board) -> anyhow::Error {
    let error = error.into();
    let written: Vec<String> = board
        .tracks()
        .iter()
        .filter(|track| track.steps > 0 && track.end.is_none())
        .map(|track| track.account(&[], board.shows_namespaces()))
        .collect();
    if written.is_empty() || error.is::<Failure>() {
        return error;
    }
    Failure::error(error.to_string()).details(written).into()
}

/// Objects that a line names before it only counts.
const NAMED: usize = 3;

/// kubectl's words, and what was waited for.
pub(in crate::cli) fn timed_out(summary: &Summary) -> Failure {
    let open = summary.ends.iter().filter(|(_, end)| end.is_none());
    let open: Vec<String> = open
        .map(|(item, _)| format!("{}/{}", item.kind.word(), item.key.name))
        .collect();
    let what = match open.as_slice() {
        [] => "the API server has not answered".to_owned(),
        [one] => format!("{one} has not come to its end"),
        named if named.len() <= NAMED => {
            format!("{} have not come to their end", named.join(", "))
        }
        named => {
            let more = named.len() - NAMED;
            let named = named[..NAMED].join(", ");
            format!("{named} and {more} more have not come to their end")
        }
    };
    let message = format!("timed out waiting for the condition: {what}");
    Failure::new(ExitCode::TimedOut, message)
}

fn code_of(end: &End) -> ExitCode {
    match end {
        End::Complete | End::AtRest | End::Deleted => ExitCode::Done,
        End::Failed { .. } => ExitCode::RolloutFailed,
        End::Refused { .. } => ExitCode::Error,
        End::StageReached { .. } | End::Paused => ExitCode::Held,
    }
}
