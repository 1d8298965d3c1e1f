//! Text from a cluster, made safe for a terminal.
//!
//! Names, messages and annotations are written by others: escape sequences in them could retitle a window, hide
//! what is shown or forge lines of a log. Everything that `ui` writes passes through [`Clean`]; styles are added
//! afterwards. Knows no streams and no styles.

use std::fmt::{self, Write as _};

use anstream::adapter::strip_str;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Marks stack on one character up to here; more serve only to spill over the neighbouring lines.
const MARKS_MAX: usize = 4;

/// One line of text without control characters, escape sequences, bidirectional overrides or hidden characters.
///
/// Line breaks and tabs become spaces. What languages and emoji need stays: combining marks (a few on each
/// character), joiners and variation selectors between symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clean(String);

impl Clean {
    /// Cleans `text`.
    pub fn new(text: &str) -> Self {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Self(text.to_owned());
        }
        let mut clean = String::with_capacity(text.len());
        let mut marks = 0;
        let mut broke = false;
        for char in strip_str(text).to_string().chars() {
            let before = clean.chars().next_back();
            match char {
                _ if is_break(char) => broke = true,
                _ if is_hidden(char) || (broke && char == ' ') => {}
                _ if char.width() == Some(0) => {
                    if marks < MARKS_MAX && !broke && may_follow(char, before) {
                        clean.push(char);
                        marks += 1;
                    }
                }
                _ => {
                    if broke && before.is_some_and(|before| before != ' ') {
                        clean.push(' ');
                    }
                    clean.push(char);
                    (marks, broke) = (0, false);
                }
            }
        }
        Self(clean)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds text that was cleaned on its own.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// How many terminal columns it takes.
    pub fn width(&self) -> usize {
        self.0.width()
    }

    /// The text cut to `max` columns; `…` stands for what was cut.
    #[must_use]
    pub fn truncate(&self, max: usize) -> Self {
        if self.width() <= max {
            return self.clone();
        }
        let room = max.saturating_sub(1);
        let kept = self.fitting(room).trim_end();
        Self(match max {
            0 => String::new(),
            _ => format!("{kept}…"),
        })
    }

    /// The text cut in its middle to `max` columns; `…` stands for what was cut.
    #[must_use]
    pub fn truncate_middle(&self, max: usize) -> Self {
        if self.width() <= max {
            return self.clone();
        }
        let room = max.saturating_sub(1);
        let start = self.fitting(room.div_ceil(2));
        let mut begins = self.0.char_indices().map(|(at, _)| at);
        let end = begins.find(|at| self.0[*at..].width() <= room / 2);
        let end = end.map_or("", |at| &self.0[at..]);
        Self(match max {
            0 => String::new(),
            _ => format!("{start}…{end}"),
        })
    }

    /// The longest prefix that takes at most `max` columns.
    pub(super) fn fitting(&self, max: usize) -> &str {
        let ends = self.0.char_indices().map(|(at, char)| at + char.len_utf8());
        let end = ends
            .take_while(|end| self.0[..*end].width() <= max)
            .last()
            .unwrap_or(0);
        &self.0[..end]
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<&str> for Clean {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Clean {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

/// JSON text with every character that [`Clean`] would take away written as an escape, which means the same to a
/// parser and nothing to a terminal.
pub fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for char in json.chars() {
        if !char.is_ascii() && (is_break(char) || is_hidden(char)) || char == '\u{7f}' {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                write!(escaped, "\\u{unit:04x}").expect("a String takes whatever is written");
            }
        } else {
            escaped.push(char);
        }
    }
    escaped
}

fn is_break(char: char) -> bool {
    matches!(char, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character shows nothing by itself yet changes what is read: controls, bidirectional marks, overrides
/// and isolates, zero-width spaces, fillers, tags.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character of no width belongs to the one before it. Joiners and variation selectors make emoji; after
/// ASCII they only tell strings apart that look the same (keycaps such as `1️⃣` apart).
fn may_follow(char: char, before: Option<char>) -> bool {
    match (char, before) {
        (_, None | Some(' ')) => false,
        ('\u{200d}', Some(before)) => !before.is_ascii(),
        ('\u{fe00}'..='\u{fe0f}', Some(before)) => {
            !before.is_ascii() || matches!(before, '0'..='9' | '#' | '*')
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(text: &str) -> String {
        Clean::new(text).to_string()
    }

    #[test]
    fn sequences_and_hidden_characters_go() {
        let cases = [
            ("plain text", "plain text"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;owned\u{7}name", "name"),
            (
                "\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\",
                "link",
            ),
            ("\u{9b}31mred", "31mred"),
            ("one\r\ntwo\n\n  three\tfour", "one two three four"),
            ("a\u{0}b\u{8}c\u{7f}d\u{85}e", "abcd e"),
            ("pay\u{202e}exe.txt\u{202c}", "payexe.txt"),
            ("zero\u{200b}width\u{feff}", "zerowidth"),
            ("ascii\u{200d}joined\u{fe0f}", "asciijoined"),
            ("\u{e0068}\u{e0069}tagged", "tagged"),
            ("line\u{2028}separator", "line separator"),
        ];
        for (dirty, expected) in cases {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }

    #[test]
    fn languages_and_emoji_stay() {
        for text in [
            "部署失败 デプロイ 배포",
            "👩‍💻 🏳️‍🌈 👍🏽 ✔️ 1️⃣",
            "naïve e\u{301}te\u{301} Việt",
            "हिन्दी العربية עברית",
            "total ≤ 6 − 1 → 5 …",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn marks_do_not_pile_up() {
        let piled = format!("z{}a", "\u{35c}".repeat(60));
        assert_eq!(clean(&piled), format!("z{}a", "\u{35c}".repeat(MARKS_MAX)));
    }

    #[test]
    fn cutting_counts_columns() {
        let cut = |text: &str, max| Clean::new(text).truncate(max).to_string();
        assert_eq!(cut("deployment", 10), "deployment");
        assert_eq!(cut("deployment", 9), "deployme…");
        assert_eq!(cut("deployment", 1), "…");
        assert_eq!(cut("deployment", 0), "");
        assert_eq!(cut("部署失败", 8), "部署失败");
        assert_eq!(cut("部署失败", 6), "部署…");
        assert_eq!(cut("one two", 5), "one…");
    }

    #[test]
    fn cutting_in_the_middle_keeps_both_ends() {
        let cut = |text: &str, max| Clean::new(text).truncate_middle(max).to_string();
        assert_eq!(cut("shop/frontend-blue", 18), "shop/frontend-blue");
        assert_eq!(cut("shop/frontend-blue", 12), "shop/f…-blue");
        assert_eq!(cut("shop/frontend-blue", 2), "s…");
        assert_eq!(cut("shop/frontend-blue", 0), "");
        assert_eq!(cut("部署失败", 6), "部…败");
    }

    #[test]
    fn json_means_the_same_escaped() {
        let value =
            serde_json::json!({"message": "a\u{9b}31m\u{202e}b\u{e0041}\u{7f} 世界 \u{1b}"});
        let escaped = escape_json(&value.to_string());
        assert!(
            !escaped
                .chars()
                .any(|char| char.is_control() || is_hidden(char))
        );
        assert!(escaped.contains("世界"));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).expect("still JSON"),
            value
        );
    }

    proptest! {
        #[test]
        fn nothing_that_acts_on_a_terminal_is_left(
            text in "(\\PC|\\pC|[\u{1b}\u{9b}\\[\\];:0-9mKH\u{7}\u{9c}\\\\]|\u{200d}|\u{35c}){0,60}",
            max in 0_usize..30,
        ) {
            let clean = Clean::new(&text);
            for part in [&clean, &clean.truncate(max), &clean.truncate_middle(max)] {
                prop_assert!(!part.as_str().chars().any(|char| char.is_control() || is_hidden(char)));
            }
            prop_assert!(clean.truncate(max).width() <= max);
            prop_assert!(clean.truncate_middle(max).width() <= max);
            prop_assert_eq!(&Clean::new(clean.as_str()), &clean);
        }
    }
}
