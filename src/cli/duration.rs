//! Durations in flags: Go's notation (`1h30m`), and Go's words when they are wrong.

use std::str::FromStr;
use std::time::Duration;

/// kube doesn't name the type.
type ParseDurationError = <kube::core::Duration as FromStr>::Err;

/// More digits than any sensible duration has; the parser multiplies without looking and panics beyond its range.
const MAX_DIGITS: usize = 15;

/// Reads a duration.
///
/// # Errors
/// Text that Go would refuse, and negative durations.
pub fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration \"{text}\"");
    let digits = text.chars().filter(char::is_ascii_digit).count();
    if digits == 0 || digits > MAX_DIGITS {
        return Err(invalid());
    }
    let duration: kube::core::Duration = text.parse().map_err(|error| match error {
        ParseDurationError::NoUnit => format!("time: missing unit in duration \"{text}\""),
        ParseDurationError::InvalidUnit => format!("time: unknown unit in duration \"{text}\""),
        _ => invalid(),
    })?;
    if duration.is_negative() {
        return Err(format!("negative duration \"{text}\""));
    }
    Ok(duration.into())
}

#[cfg(test)]
mod tests {
    use super::{Duration, parse};

    #[test]
    fn durations_as_go_reads_them() {
        let cases = [
            ("0", Duration::ZERO),
            ("5s", Duration::from_secs(5)),
            ("1h30m", Duration::from_secs(5400)),
            ("1.5s", Duration::from_millis(1500)),
            ("250ms", Duration::from_millis(250)),
            ("48h", Duration::from_hours(48)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_durations_in_gos_words() {
        let cases = [
            ("soon", "time: invalid duration \"soon\""),
            ("", "time: invalid duration \"\""),
            ("5", "time: missing unit in duration \"5\""),
            ("2d", "time: unknown unit in duration \"2d\""),
            ("5 s", "time: invalid duration \"5 s\""),
            (
                "9999999999999999h",
                "time: invalid duration \"9999999999999999h\"",
            ),
            ("-1s", "negative duration \"-1s\""),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
    }
}
