//! Whether a text is an instant, and how Go says that it is not.

/// The layout of times in whole seconds, in Go's notation.
pub(super) const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
/// The layout of times in microseconds.
pub(super) const MICRO_LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";

/// The least and greatest number, and what it counts.
type Range = (u32, u32, &'static str);

/// Elements of the layouts up to the fraction, with the range of each number but the year's.
const ELEMENTS: [(&str, Option<Range>); 11] = [
    ("2006", None),
    ("-", None),
    ("01", Some((1, 12, "month"))),
    ("-", None),
    ("02", Some((1, 31, "day"))),
    ("T", None),
    ("15", Some((0, 23, "hour"))),
    (":", None),
    ("04", Some((0, 59, "minute"))),
    (":", None),
    ("05", Some((0, 59, "second"))),
];

/// Checks a text against one of the layouts.
pub(super) fn parse(layout: &str, text: &str) -> Result<(), String> {
    let refuse = |rest: &str, element: &str| {
        format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}")
    };
    let out_of_range = |what: &str| format!("parsing time {text:?}: {what} out of range");
    let mut rest = text;
    let mut numbers = [0; 3];
    let mut numbers_read = numbers.iter_mut();
    for (element, range) in ELEMENTS {
        let is_number = element.starts_with(|c: char| c.is_ascii_digit());
        let (taken, after) = match rest.get(..element.len()) {
            Some(taken) if !is_number && taken == element => (taken, &rest[taken.len()..]),
            Some(taken) if is_number && taken.bytes().all(|byte| byte.is_ascii_digit()) => {
                (taken, &rest[taken.len()..])
            }
            _ => return Err(refuse(rest, element)),
        };
        if is_number {
            let number: u32 = taken.parse().map_err(|_| refuse(rest, element))?;
            if let Some((least, most, what)) = range
                && !(least..=most).contains(&number)
            {
                return Err(out_of_range(what));
            }
            if let Some(slot) = numbers_read.next() {
                *slot = number;
            }
        }
        rest = after;
    }
    let rest = fraction(layout, rest).map_err(|rest| refuse(rest, ".000000"))?;
    let rest = zone(rest).ok_or_else(|| refuse(rest, "Z07:00"))?;
    let [year, month, day] = numbers;
    if day > days_in(year, month) {
        return Err(out_of_range("day"));
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(format!("parsing time {text:?}: extra text: {rest:?}"))
}

/// What follows the fraction of a second. Whole seconds may have one, microseconds must have one of six digits.
fn fraction<'a>(layout: &str, rest: &'a str) -> Result<&'a str, &'a str> {
    let digits = rest.strip_prefix('.').map_or(0, |rest| {
        rest.bytes().take_while(u8::is_ascii_digit).count()
    });
    match digits {
        0 if layout == LAYOUT => Ok(rest),
        _ if layout == LAYOUT || digits == 6 => Ok(&rest[digits + 1..]),
        _ => Err(rest),
    }
}

/// What follows `Z` or an offset like `+02:00`.
fn zone(rest: &str) -> Option<&str> {
    if let Some(rest) = rest.strip_prefix('Z') {
        return Some(rest);
    }
    let offset = rest.get(..6)?;
    let is_offset = offset.bytes().enumerate().all(|(place, byte)| match place {
        0 => byte == b'+' || byte == b'-',
        3 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    is_offset.then(|| &rest[6..])
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
