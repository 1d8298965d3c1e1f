//! Instants as the API writes them, and what else may stand for one. Most texts are in that form already, which is
//! seen without parsing them.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

/// How a type of time is written.
#[derive(Clone, Copy)]
pub(super) enum Precision {
    /// `2026-01-02T03:04:05Z`.
    Seconds,
    /// `2026-01-02T03:04:05.000006Z`.
    Micros,
}

impl Precision {
    /// The form: `0` stands for a digit, anything else for itself.
    fn pattern(self) -> &'static [u8] {
        match self {
            Self::Seconds => b"0000-00-00T00:00:00Z",
            Self::Micros => b"0000-00-00T00:00:00.000000Z",
        }
    }

    fn format(self) -> &'static str {
        match self {
            Self::Seconds => "%Y-%m-%dT%H:%M:%SZ",
            Self::Micros => "%Y-%m-%dT%H:%M:%S.%6fZ",
        }
    }

    /// Whether a text has the form already. A leap second has not: it is written as the one before.
    fn is_form_of(self, text: &str) -> bool {
        let fits = |(byte, wanted): (u8, &u8)| match wanted {
            b'0' => byte.is_ascii_digit(),
            wanted => byte == *wanted,
        };
        let pattern = self.pattern();
        text.len() == pattern.len()
            && text.bytes().zip(pattern).all(fits)
            && text.as_bytes()[17] != b'6'
    }

    /// Brings a text into the form; one that is no instant stays as it is.
    pub(super) fn rewrite(self, text: &mut String) {
        if !self.is_form_of(text)
            && let Ok(at) = text.parse::<Timestamp>()
        {
            *text = at.strftime(self.format()).to_string();
        }
    }
}

/// The instant that a value stands for.
pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Whether a value is Go's zero time, which the API takes for "no time".
pub(super) fn is_zero(value: &Value) -> bool {
    const SECONDS: i64 = -62_135_596_800;
    let text = value.as_str().unwrap_or_default();
    // In UTC it is the first instant of the year 1, elsewhere of that day or the one before.
    (text.starts_with("0001-01-01") || text.starts_with("0000-12-31"))
        && instant(value).is_some_and(|at| at.as_second() == SECONDS && at.subsec_nanosecond() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_take_the_form_of_their_type() {
        for (text, seconds, micros) in [
            (
                "2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05.000000Z",
            ),
            (
                "2026-01-02T03:04:05.123456Z",
                "2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05.123456Z",
            ),
            (
                "2026-01-02T05:04:05+02:00",
                "2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05.000000Z",
            ),
            (
                "2026-01-02T03:04:60Z",
                "2026-01-02T03:04:59Z",
                "2026-01-02T03:04:59.000000Z",
            ),
            (
                "2026-13-02T03:04:05Z",
                "2026-13-02T03:04:05Z",
                "2026-13-02T03:04:05Z",
            ),
            ("soon", "soon", "soon"),
        ] {
            let rewritten = |precision: Precision| {
                let mut text = text.to_owned();
                precision.rewrite(&mut text);
                text
            };
            assert_eq!(rewritten(Precision::Seconds), seconds, "{text}");
            assert_eq!(rewritten(Precision::Micros), micros, "{text}");
        }
    }

    #[test]
    fn the_zero_time_is_zero_in_every_zone() {
        for (text, expected) in [
            ("0001-01-01T00:00:00Z", true),
            ("0001-01-01T02:00:00+02:00", true),
            ("0000-12-31T22:00:00-02:00", true),
            ("0001-01-01T00:00:01Z", false),
            ("2026-01-02T03:04:05Z", false),
            ("", false),
        ] {
            assert_eq!(is_zero(&text.into()), expected, "{text}");
        }
    }
}
