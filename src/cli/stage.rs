//! A share of new pods, as flags name it.

use crate::engine::options::Stage;

/// Reads `3` or `50%`.
///
/// # Errors
/// Anything else, and more than all.
pub(super) fn parse(text: &str) -> Result<Stage, String> {
    let (digits, is_percent) = match text.strip_suffix('%') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let number: i32 = digits
        .parse()
        .ok()
        .filter(|number| *number >= 0 && !digits.starts_with('+'))
        .ok_or_else(|| "give a number of pods such as 3, or a share such as 50%".to_owned())?;
    match is_percent {
        true if number > 100 => Err("a share is at most 100%".to_owned()),
        true => Ok(Stage::Percent(number)),
        false => Ok(Stage::Pods(number)),
    }
}
