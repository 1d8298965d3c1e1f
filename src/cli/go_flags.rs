//! Flag values as Go's flag packages read them, with their words for those they can't read.

use std::num::IntErrorKind;
use std::time::Duration;

use clap::{Arg, ArgAction};

use super::duration;

/// `true`, `1`, `F` and so on.
///
/// # Errors
/// Any other word.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(format!(
            "strconv.ParseBool: parsing \"{text}\": invalid syntax"
        )),
    }
}

/// Makes a flag one of Go's booleans: given alone it is on, `--flag=false` turns it off.
pub fn boolean(flag: Arg) -> Arg {
    flag.value_name("BOOL")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(parse_bool)
        .action(ArgAction::Set)
}

/// Makes a flag one of Go's booleans that is off unless it is given.
pub fn off(flag: Arg) -> Arg {
    boolean(flag)
        .default_value("false")
        .hide_default_value(true)
}

/// A 64-bit integer: decimal, or with a prefix for another base (`0x`, `0o`, `0b`, `0`), with `_` between digits then.
///
/// # Errors
/// Anything else.
pub fn parse_int(text: &str) -> Result<i64, String> {
    let failed = |why: &str| format!("strconv.ParseInt: parsing \"{text}\": {why}");
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (if text.starts_with('-') { "-" } else { "" }, digits),
        None => ("", text),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, radix)));
    let (digits, radix) = match prefixed {
        Some(found) => found,
        None if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        None => (lower.as_str(), 10),
    };
    if digits.starts_with(['-', '+']) || (radix == 10 && digits.contains('_')) {
        return Err(failed("invalid syntax"));
    }
    i64::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix).map_err(|error| {
        match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => failed("value out of range"),
            _ => failed("invalid syntax"),
        }
    })
}

/// How long to wait; `None` for ever, which is what zero and negative durations mean.
///
/// # Errors
/// No duration, in Go's words.
pub fn parse_timeout(text: &str) -> Result<Timeout, String> {
    let limit = match text.strip_prefix('-') {
        Some(digits) => {
            duration::parse(digits).map_err(|error| error.replace(digits, text))?;
            Duration::ZERO
        }
        None => duration::parse(text)?,
    };
    Ok(Timeout(Some(limit).filter(|limit| !limit.is_zero())))
}

/// A limit of time, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeout(pub Option<Duration>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_any_base() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("+7", Some(7)),
            ("0x1F", Some(31)),
            ("010", Some(8)),
            ("0b1_0", Some(2)),
            ("1_000", None),
            ("two", None),
            ("", None),
            ("--1", None),
        ] {
            assert_eq!(parse_int(text).ok(), expected, "{text}");
        }
        assert_eq!(
            parse_int("x"),
            Err("strconv.ParseInt: parsing \"x\": invalid syntax".to_owned())
        );
        assert_eq!(
            parse_int("9223372036854775808"),
            Err("strconv.ParseInt: parsing \"9223372036854775808\": value out of range".to_owned())
        );
    }

    #[test]
    fn booleans_and_timeouts() {
        assert_eq!(parse_bool("T"), Ok(true));
        assert_eq!(parse_bool("0"), Ok(false));
        assert_eq!(
            parse_bool("maybe"),
            Err("strconv.ParseBool: parsing \"maybe\": invalid syntax".to_owned())
        );
        let limit = |text| parse_timeout(text).map(|timeout| timeout.0);
        assert_eq!(limit("1m"), Ok(Some(Duration::from_secs(60))));
        assert_eq!(limit("0"), Ok(None));
        assert_eq!(limit("-1s"), Ok(None));
        assert_eq!(
            limit("-soon"),
            Err("time: invalid duration \"-soon\"".to_owned())
        );
    }
}
