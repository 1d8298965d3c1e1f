//! When a rollout will be done, if it goes on as it went so far.
//!
//! Pods become available one by one at a rate that image pulls and probes set, so the rate since the start is carried
//! forward. It is taken anew only when the number of available pods moves: a rollout that stalls sees its estimate run
//! out and disappear, not grow.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// Estimates beyond this are guesses.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// Of so many pods at least one must be new and available before anything is said.
const PODS_PER_HINT: i32 = 20;

/// An estimate that follows the new revision's available pods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eta {
    start: Option<(Timestamp, i32)>,
    latest: Option<(Timestamp, i32)>,
    desired: i32,
}

impl Eta {
    /// Takes note of how many new pods are available of those desired.
    pub(super) fn observe(&mut self, at: Timestamp, available: i32, desired: i32) {
        let backwards = self.latest.is_some_and(|(_, before)| available < before);
        if backwards || desired != self.desired {
            *self = Self::default();
        }
        self.desired = desired;
        self.start.get_or_insert((at, available));
        match self.latest {
            Some((_, before)) if before == available => {}
            _ => self.latest = Some((at, available)),
        }
    }

    /// The time left at `now`; `None` while there is too little to go by, or once the estimate has run out.
    pub(super) fn remaining(&self, now: Timestamp) -> Option<SignedDuration> {
        let (start, first) = self.start?;
        let (latest, available) = self.latest?;
        let gained = available.checked_sub(first)?;
        let missing = self.desired.checked_sub(available)?;
        if gained <= 0 || missing <= 0 || gained < self.desired / PODS_PER_HINT {
            return None;
        }
        let pace = latest.duration_since(start).checked_div(gained)?;
        let left = pace
            .checked_mul(missing)?
            .checked_sub(now.duration_since(latest))?;
        (left.is_positive() && left < LONGEST).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::scene::second;
    use super::*;

    fn remaining(observations: &[(i64, i32)], desired: i32, now: i64) -> Option<i64> {
        let mut eta = Eta::default();
        for (at, available) in observations {
            eta.observe(second(*at), *available, desired);
        }
        eta.remaining(second(now)).map(|left| left.as_secs())
    }

    #[test]
    fn the_pace_so_far_is_carried_forward() {
        assert_eq!(remaining(&[(0, 0), (20, 2)], 10, 20), Some(80));
        assert_eq!(remaining(&[(0, 0), (20, 2)], 10, 50), Some(50));
        assert_eq!(remaining(&[(0, 0), (20, 2), (35, 2)], 10, 50), Some(50));
        assert_eq!(remaining(&[(0, 4), (30, 7)], 10, 30), Some(30));
    }

    #[test]
    fn nothing_is_said_without_data() {
        assert_eq!(remaining(&[], 10, 0), None);
        assert_eq!(remaining(&[(0, 0)], 10, 60), None);
        assert_eq!(remaining(&[(0, 0), (20, 1)], 100, 20), None, "too few");
        assert_eq!(remaining(&[(0, 0), (20, 10)], 10, 20), None, "done");
        assert_eq!(remaining(&[(0, 0), (20, 2)], 10, 100), None, "overdue");
        assert_eq!(
            remaining(&[(0, 0), (80_000, 1)], 10, 80_000),
            None,
            "too far"
        );
    }

    #[test]
    fn a_setback_or_a_new_scale_starts_over() {
        assert_eq!(remaining(&[(0, 0), (20, 2), (30, 1)], 10, 30), None);
        let mut eta = Eta::default();
        eta.observe(second(0), 0, 10);
        eta.observe(second(20), 2, 10);
        eta.observe(second(30), 2, 20);
        assert_eq!(eta.remaining(second(30)), None);
    }
}
