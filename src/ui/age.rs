//! Ages and durations as kubectl writes them: `47s`, `3m20s`, `3h20m`, `5d`.

use k8s_openapi::jiff::{SignedDuration, Timestamp};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long ago `since` was, at `now`. Objects without a creation time are of `<unknown>` age; a time more than a
/// second ahead is `<invalid>`.
pub fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    match since {
        None => "<unknown>".to_owned(),
        Some(since) => human_duration(now.duration_since(since)),
    }
}

/// A duration in at most two units, the second one only where it still says something. The limits are those of
/// kubectl's AGE column (apimachinery, `duration.HumanDuration`).
pub fn human_duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two_units(seconds, (MINUTE, "m"), (1, "s")),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two_units(seconds, (HOUR, "h"), (MINUTE, "m")),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two_units(seconds, (DAY, "d"), (HOUR, "h")),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two_units(seconds, (YEAR, "y"), (DAY, "d")),
        _ => format!("{}y", seconds / YEAR),
    }
}

fn two_units(
    seconds: i64,
    (large, large_name): (i64, &str),
    (small, small_name): (i64, &str),
) -> String {
    let whole = seconds / large;
    match seconds % large / small {
        0 => format!("{whole}{large_name}"),
        rest => format!("{whole}{large_name}{rest}{small_name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kubectls() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (47, "47s"),
            (119, "119s"),
            (2 * MINUTE, "2m"),
            (2 * MINUTE + 5, "2m5s"),
            (10 * MINUTE - 1, "9m59s"),
            (10 * MINUTE + 5, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 20 * MINUTE, "3h20m"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR + 59 * MINUTE, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (5 * DAY + 3 * HOUR, "5d3h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY + 23 * HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (3 * YEAR + 4 * DAY, "3y4d"),
            (8 * YEAR - 1, "7y364d"),
            (9 * YEAR + 300 * DAY, "9y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(human_duration(SignedDuration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn an_age_needs_a_birth() {
        let now = Timestamp::from_second(1_000).expect("in range");
        assert_eq!(age(None, now), "<unknown>");
        assert_eq!(age(Timestamp::from_second(953).ok(), now), "47s");
    }
}
