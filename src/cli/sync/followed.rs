//! `sync --wait`: the engine acts while its rollouts are followed, and whichever knows first that there is nothing left
//! to wait for ends both.

use tokio::sync::watch;

use super::outcome;
use crate::cli::wait;
use crate::engine::event::End;
use crate::engine::options::Goal;
use crate::engine::run::{Engine, StoppedBy, Summary};
use crate::error::ExitCode;
use crate::follow::{Ending, Waited};
use crate::ui::progress::Board;

/// What came of acting and of following.
pub(super) struct Both {
    pub(super) summary: Summary,
    pub(super) waited: Waited,
}

/// Runs both. `follow` is given the signal that stops it.
pub(super) async fn run<F>(
    engine: Engine,
    signal: impl Future<Output = ()>,
    follow: impl FnOnce(Stop) -> F,
) -> anyhow::Result<Both>
where
    F: Future<Output = anyhow::Result<Waited>>,
{
    let (stop_acting, acting) = watch::channel(false);
    let (stop_following, following) = watch::channel(false);
    let act = async {
        let summary = engine
            .run(async {
                tokio::select! {
                    () = signal => {}
                    () = raised(acting) => {}
                }
            })
            .await;
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
        stop_acting.send_replace(true);
        waited
    };
    let (summary, waited) = tokio::join!(act, watch);
    Ok(Both {
        summary: summary?,
        waited: waited?,
    })
}

/// Resolves when following is to end.
pub(super) type Stop = std::pin::Pin<Box<dyn Future<Output = ()>>>;

async fn raised(mut flag: watch::Receiver<bool>) {
    if flag.wait_for(|raised| *raised).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A failure that following found counts, though acting was only stopped by it.
///
/// # Errors
/// Nothing matched, or an object that was named does not exist.
pub(super) fn exit_code(
    summary: &Summary,
    waited: &Waited,
    board: &Board,
) -> anyhow::Result<ExitCode> {
    let is_over =
        !waited.followed.is_empty() && waited.followed.iter().all(|one| one.ending.is_some());
    let found = waited
        .followed
        .iter()
        .filter(|one| matches!(one.ending, Some(Ending::Failed | Ending::Overtaken { .. })))
        .map(wait::exit_code)
        .max();
    match (summary.stopped, found) {
        (None | Some(StoppedBy::Signal), Some(code)) if is_over => Ok(code),
        _ => outcome::exit_code(summary, board, Goal::Complete),
    }
}
