//! Counts with their nouns, in one place, so that "1 replicas" is never said.
//!
//! Reasons, progress lines and tables all count through here.

use std::fmt;

/// A count and what is counted: `1 pod`, `3 pods`.
pub fn count(number: impl Into<i64>, noun: &'static str) -> impl fmt::Display {
    Counted {
        number: number.into(),
        noun,
    }
}

/// The word that agrees with `number`: `one` for exactly one, `many` for any other.
pub fn agree<'a>(number: impl Into<i64>, one: &'a str, many: &'a str) -> &'a str {
    if number.into() == 1 { one } else { many }
}

struct Counted {
    number: i64,
    noun: &'static str,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, noun } = self;
        write!(f, "{number} {noun}{}", agree(*number, "", "s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let counted = |number: i32| count(number, "old ReplicaSet").to_string();
        assert_eq!(counted(0), "0 old ReplicaSets");
        assert_eq!(counted(1), "1 old ReplicaSet");
        assert_eq!(counted(2), "2 old ReplicaSets");
        assert_eq!(agree(1, "is", "are"), "is");
        assert_eq!(agree(0, "is", "are"), "are");
    }
}
