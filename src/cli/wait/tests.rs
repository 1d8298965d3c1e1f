//! What acting and following end a command with, together.

use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::alone::{Alone, AloneEar};
use super::together::{Both, Stop, run};
use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;
use crate::diagnose::{Budgets, Snapshot, diagnose};
use crate::engine::error::EngineError;
use crate::engine::event::{End, EngineEvent, Happening};
use crate::engine::options::Scope;
use crate::engine::run::{StoppedBy, Summary};
use crate::engine::store::Item;
use crate::error::ExitCode;
use crate::follow::{Ending, Followed, Seen, Waited};
use crate::ui::progress::Board;

fn waited(ending: Ending) -> Waited {
    let snapshot = Snapshot::default();
    let key = ObjectKey::new("default", "web");
    let followed = Followed {
        key: key.clone(),
        ending: Some(ending),
        diagnosis: diagnose(&snapshot, &Budgets::default()),
        unreadable: Vec::new(),
        seen: Seen {
            key,
            uid: String::new(),
            generation: 1,
            last_change: None,
            snapshot,
        },
    };
    Waited {
        followed: vec![followed],
        timed_out: false,
    }
}

/// Acts until it is stopped.
async fn act(stop: Stop) -> Result<Summary, EngineError> {
    stop.await;
    Ok(summary(Some(StoppedBy::Signal)))
}

fn summary(stopped: Option<StoppedBy>) -> Summary {
    Summary {
        ends: BTreeMap::new(),
        left: BTreeMap::new(),
        missing: Vec::new(),
        stopped,
    }
}

async fn both(ending: Ending, after: Duration, signal: impl Future<Output = ()>) -> Both {
    let follow = |stop: Stop| async move {
        tokio::select! {
            () = stop => {}
            () = sleep(after) => {}
        }
        Ok(waited(ending))
    };
    run(act, follow, Alone::none(), signal).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_following_finds_ends_both() {
    let soon = Duration::from_secs(1);
    let failed = both(Ending::Failed, soon, pending()).await;
    assert_eq!(
        failed.exit_code(&Board::default()).unwrap(),
        ExitCode::RolloutFailed
    );
    let overtaken = both(Ending::Overtaken { by: None }, soon, pending()).await;
    assert_eq!(
        overtaken.exit_code(&Board::default()).unwrap(),
        ExitCode::Overtaken
    );
}

/// Following may see the end first. Acting has a moment to see it too, and counts as complete even if it does not.
#[tokio::test(start_paused = true)]
async fn what_following_finds_complete_is_complete() {
    let soon = Duration::from_secs(1);
    let stopped = both(Ending::Complete, soon, pending()).await;
    assert_eq!(stopped.summary.stopped, Some(StoppedBy::Signal));
    assert_eq!(
        stopped.exit_code(&Board::default()).unwrap(),
        ExitCode::Done
    );
    let act = |stop: Stop| async {
        tokio::select! {
            summary = act(stop) => summary,
            () = sleep(soon * 2) => Ok(summary(None)),
        }
    };
    let follow = |_| async move {
        sleep(soon).await;
        Ok(waited(Ending::Complete))
    };
    let agreed = run(act, follow, Alone::none(), pending()).await.unwrap();
    assert_eq!(agreed.summary.stopped, None);
}

/// A ReplicaSet without a Deployment is not followed, so the end of following says nothing about it.
#[tokio::test(start_paused = true)]
async fn a_replica_set_alone_is_brought_to_rest_as_well() {
    let key = ObjectKey::new("default", "cache");
    let set = Item {
        kind: Kind::ReplicaSet,
        key: key.clone(),
    };
    for ending in [Ending::Complete, Ending::Failed] {
        let (ear, alone) = AloneEar::new(&Scope::named([set.clone()]));
        let hear = async {
            for (after, what) in [
                (5, Happening::Ended(End::Complete)),
                (0, Happening::Waiting(Vec::new())),
                (5, Happening::Ended(End::Complete)),
            ] {
                sleep(Duration::from_secs(after)).await;
                ear.hear(&EngineEvent {
                    at: Timestamp::UNIX_EPOCH,
                    kind: Kind::ReplicaSet,
                    key: key.clone(),
                    what,
                });
            }
        };
        let follow = |_| async { Ok(waited(ending.clone())) };
        let began = Instant::now();
        let (both, ()) = tokio::join!(run(act, follow, alone, pending()), hear);
        let both = both.unwrap();
        assert!(began.elapsed() >= Duration::from_secs(10), "{ending:?}");
        assert_eq!(both.summary.stopped, Some(StoppedBy::Signal));
    }
}

/// The last look after Ctrl-C may find a failure. Whoever pressed it wants to know that nothing was waited for.
#[tokio::test(start_paused = true)]
async fn an_interrupt_counts_more_than_what_the_last_look_finds() {
    let never = Duration::from_secs(3600);
    let both = both(Ending::Failed, never, ready(())).await;
    assert_eq!(
        both.exit_code(&Board::default()).unwrap(),
        ExitCode::Interrupted
    );
}
