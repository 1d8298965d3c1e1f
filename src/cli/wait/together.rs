//! Acting and following side by side: whichever knows first that there is nothing left to wait for ends both.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::alone::Alone;
use super::ending;
use crate::engine::error::EngineError;
use crate::engine::event::End;
use crate::engine::options::Goal;
use crate::engine::run::{StoppedBy, Summary};
use crate::error::ExitCode;
use crate::follow::{Ending, Followed, Waited};
use crate::ui::progress::Board;

/// A rollout that was paused is at rest within this time, or something keeps it from that.
const REST: Duration = Duration::from_secs(10);
/// Acting sees within this time that a rollout is complete, and tells it.
const AGREEMENT: Duration = Duration::from_secs(2);

/// What came of acting and of following.
#[derive(Debug)]
pub(in crate::cli) struct Both {
    /// What came of acting.
    pub(in crate::cli) summary: Summary,
    /// What came of following.
    pub(in crate::cli) waited: Waited,
    /// Whether the caller's signal ended both.
    pub(in crate::cli) is_interrupted: bool,
}

/// A signal that stops acting or following.
pub(in crate::cli) type Stop = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs both. `act` and `follow` are given the signals that stop them. What is `alone` is acted on until it is at rest.
///
/// # Errors
/// What keeps either from going on.
pub(super) async fn run<A, F>(
    act: impl FnOnce(Stop) -> A,
    follow: impl FnOnce(Stop) -> F,
    mut alone: Alone,
    signal: impl Future<Output = ()>,
) -> anyhow::Result<Both>
where
    A: Future<Output = Result<Summary, EngineError>>,
    F: Future<Output = anyhow::Result<Waited>>,
{
    let (stop_acting, acting) = watch::channel(false);
    let (stop_following, following) = watch::channel(false);
    let (has_acted, acted) = watch::channel(false);
    let act = async {
        let summary = act(Box::pin(raised(acting))).await;
        has_acted.send_replace(true);
        // What is complete is still watched for a moment; what ended otherwise needs no more than a last look.
        let is_complete = summary.as_ref().is_ok_and(|summary| {
            let mut ends = summary.ends.values();
            summary.stopped.is_none() && ends.all(|end| *end == Some(End::Complete))
        });
        if !is_complete {
            stop_following.send_replace(true);
        }
        summary
    };
    let watch = async {
        let waited = follow(Box::pin(raised(following))).await;
        if waited.is_ok() {
            tokio::select! {
                () = alone.at_rest() => {}
                () = raised(acted.clone()) => {}
            }
        }
        if let Some(grace) = waited.as_ref().ok().and_then(grace) {
            let _ = timeout(grace, raised(acted)).await;
        }
        stop_acting.send_replace(true);
        waited
    };
    let mut both = pin!(async { tokio::join!(act, watch) });
    let mut is_interrupted = false;
    let (summary, waited) = tokio::select! {
        both = &mut both => both,
        () = signal => {
            is_interrupted = true;
            stop_acting.send_replace(true);
            both.await
        }
    };
    Ok(Both {
        summary: summary?,
        waited: waited?,
        is_interrupted,
    })
}

/// How long acting may go on by itself when following is over. Watches are not equally fast: following may know of an end
/// before acting does.
fn grace(waited: &Waited) -> Option<Duration> {
    let mut endings = waited.followed.iter().map(|one| &one.ending);
    if endings.clone().any(|it| *it == Some(Ending::Paused)) {
        return Some(REST);
    }
    endings
        .all(|it| *it == Some(Ending::Complete))
        .then_some(AGREEMENT)
}

async fn raised(mut flag: watch::Receiver<bool>) {
    if flag.wait_for(|raised| *raised).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Both {
    /// What it all ends the command with. A failure that following found counts, and so does any end of which acting does
    /// not know, since following has stopped it.
    ///
    /// # Errors
    /// Nothing matched, an object that was named does not exist, or time ran out.
    pub(in crate::cli) fn exit_code(&self, board: &Board) -> anyhow::Result<ExitCode> {
        if self.is_interrupted {
            return ending::interrupted(&self.summary, board, Goal::Complete);
        }
        let followed = &self.waited.followed;
        let is_over = !followed.is_empty() && followed.iter().all(|one| one.ending.is_some());
        let is_failure =
            |one: &&Followed| matches!(one.ending, Some(Ending::Failed | Ending::Overtaken { .. }));
        let failed = followed.iter().filter(is_failure);
        let failed = ExitCode::worst(failed.map(super::exit_code));
        // Acting that following has stopped knows no end of its own.
        let is_stopped = self.summary.stopped == Some(StoppedBy::Signal);
        let all = ExitCode::worst(followed.iter().map(super::exit_code));
        let all = all.filter(|_| is_stopped && self.summary.missing.is_empty());
        match (self.summary.stopped, failed.or(all)) {
            (None | Some(StoppedBy::Signal), Some(code)) if is_over => Ok(code),
            _ => ending::exit_code(&self.summary, board, Goal::Complete),
        }
    }
}
