//! The brake on pod storms: a ReplicaSet whose pods fail right away creates the next ones later and later.
//!
//! A kubelet that rejects its pods makes upstream's controller replace them as fast as the API allows: hundreds in half
//! a minute. Here the first replacements are immediate, then pauses double. A pod that gets ready ends that, and so
//! does a while without failures.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::controller::api::{Phase, Pod};
use crate::controller::replica_set::Brake;

/// The pause after the second round of failures; each further round doubles it.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(300);
/// After this long without failures they are forgotten.
const MEMORY: Duration = Duration::from_secs(600);

/// The ReplicaSets whose pods have failed of late, by UID.
#[derive(Debug, Default)]
pub(super) struct Brakes(HashMap<String, Failures>);

#[derive(Debug)]
struct Failures {
    /// Failed pods seen so far that are still there.
    seen: usize,
    /// How often more had failed.
    rounds: u32,
    since: Instant,
    until: Instant,
}

impl Brakes {
    /// Looks at a ReplicaSet's pods, and says whether it must wait before it creates any.
    pub(super) fn look<'a>(
        &mut self,
        uid: &str,
        pods: impl Iterator<Item = &'a Arc<Pod>>,
        now: Instant,
    ) -> Option<Brake> {
        let (mut failed, mut ready) = (0, false);
        for pod in pods {
            failed += usize::from(pod.phase == Phase::Failed && !pod.meta.is_deleting());
            ready |= pod.is_active() && pod.is_ready();
        }
        if failed == 0 || ready {
            self.0.remove(uid);
            return None;
        }
        let failures = self.0.entry(uid.to_owned()).or_insert(Failures {
            seen: 0,
            rounds: 0,
            since: now,
            until: now,
        });
        if failed > failures.seen && now >= failures.until {
            if now - failures.since >= MEMORY {
                failures.rounds = 0;
            }
            failures.rounds += 1;
            failures.since = now;
            failures.until = now + pause(failures.rounds);
        }
        failures.seen = failed;
        let remaining = failures.until.saturating_duration_since(now);
        (!remaining.is_zero()).then(|| Brake {
            failed: i32::try_from(failed).unwrap_or(i32::MAX),
            remaining,
        })
    }

    /// Forgets a ReplicaSet that is gone.
    pub(super) fn forget(&mut self, uid: &str) {
        self.0.remove(uid);
    }
}

fn pause(rounds: u32) -> Duration {
    match rounds.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => FIRST
            .saturating_mul(2u32.saturating_pow(doublings))
            .min(LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pods(failed: usize, ready: usize) -> Vec<Arc<Pod>> {
        let ready_pod = json!({ "metadata": {}, "status": {
            "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }],
        } });
        let failed_pod = json!({ "metadata": {}, "status": { "phase": "Failed" } });
        let of = |object: &serde_json::Value| Arc::new(Pod::from_json(object).expect("a pod"));
        let failed = (0..failed).map(|_| of(&failed_pod));
        failed.chain((0..ready).map(|_| of(&ready_pod))).collect()
    }

    fn look(brakes: &mut Brakes, failed: usize, ready: usize) -> Option<u64> {
        let brake = brakes.look("uid", pods(failed, ready).iter(), Instant::now());
        brake.map(|brake| brake.remaining.as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_with_every_round_of_failures() {
        let mut brakes = Brakes::default();
        let mut pauses = Vec::new();
        for round in 1..=12 {
            let pause = look(&mut brakes, round * 2, 0).unwrap_or_default();
            pauses.push(pause);
            tokio::time::advance(Duration::from_secs(pause)).await;
            assert_eq!(look(&mut brakes, round * 2, 0), None, "the pause is over");
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pod_that_gets_ready_and_a_quiet_while_are_fresh_starts() {
        let mut brakes = Brakes::default();
        for failed in 1..=4 {
            look(&mut brakes, failed, 0);
            tokio::time::advance(Duration::from_secs(60)).await;
        }
        assert_eq!(look(&mut brakes, 5, 0), Some(8));
        assert_eq!(look(&mut brakes, 5, 1), None);
        assert_eq!(look(&mut brakes, 6, 0), None, "the first round again");
        assert_eq!(look(&mut brakes, 7, 0), Some(1));
        tokio::time::advance(MEMORY).await;
        assert_eq!(look(&mut brakes, 8, 0), None, "the first round again");
    }
}
