//! How long ago something was, as kubectl writes it: two units at most, fewer the longer it is.

use k8s_openapi::jiff::Timestamp;

/// The time since a moment, `15m`; `<unknown>` where the text is no moment.
pub(super) fn since(moment: &str, now: Timestamp) -> String {
    match moment.parse::<Timestamp>() {
        Ok(moment) => human(now.duration_since(moment).as_secs()),
        Err(_) => "<unknown>".to_owned(),
    }
}

fn human(seconds: i64) -> String {
    const HOUR: i64 = 60 * 60;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let two = |unit: i64, name: char, part: i64, part_name: char| match seconds % unit / part {
        0 => format!("{}{name}", seconds / unit),
        rest => format!("{}{name}{rest}{part_name}", seconds / unit),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(60, 'm', 1, 's'),
        600..10_800 => format!("{}m", seconds / 60),
        10_800..28_800 => two(HOUR, 'h', 60, 'm'),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(DAY, 'd', HOUR, 'h'),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(YEAR, 'y', DAY, 'd'),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_shorten_as_they_grow() {
        for (seconds, expected) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (930, "15m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (47 * 3600 + 59, "47h"),
            (50 * 3600, "2d2h"),
            (8 * 86_400, "8d"),
            (800 * 86_400, "2y70d"),
            (3000 * 86_400, "8y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }
}
