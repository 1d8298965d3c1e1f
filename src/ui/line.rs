//! A line for people: spans of cleaned text, each with a tone.
//!
//! Views build lines, the printer and the live view write them. Text enters only through [`Clean`], so no view can
//! forget to clean what came from a cluster.

use std::fmt::{self, Write as _};
use std::mem;

use anstyle::{AnsiColor, Style};

use super::escape::Clean;

/// What a span means; how that looks is decided here alone.
///
/// Only weights and the basic colours are used, on the default background: they follow the terminal's theme, light
/// or dark. No line depends on its colours to be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// A name or a headline.
    Strong,
    /// What can be skipped.
    Faint,
    /// Available, complete.
    Good,
    /// Not there yet, held.
    Pending,
    /// Failed.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Pending => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// A line of text, without its line break.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<(Tone, Clean)>);

impl Line {
    /// A line of one tone.
    pub fn new(tone: Tone, text: impl fmt::Display) -> Self {
        Self::default().with(tone, text)
    }

    /// The line with `text` added.
    #[must_use]
    pub fn with(mut self, tone: Tone, text: impl fmt::Display) -> Self {
        self.push(tone, text);
        self
    }

    /// Adds `text`.
    pub fn push(&mut self, tone: Tone, text: impl fmt::Display) {
        let text = Clean::from(text.to_string());
        match self.0.last_mut() {
            _ if text.as_str().is_empty() => {}
            Some((last, before)) if *last == tone => before.append(&text),
            _ => self.0.push((tone, text)),
        }
    }

    /// Adds another line's spans.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds spaces until the line takes `columns`.
    pub fn pad_to(&mut self, columns: usize) {
        let missing = columns.saturating_sub(self.width());
        self.push(Tone::Plain, " ".repeat(missing));
    }

    /// How many terminal columns it takes.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The line cut to `max` columns; `…` stands for what was cut.
    #[must_use]
    pub fn truncate(self, max: usize) -> Self {
        if self.width() <= max {
            return self;
        }
        let mut cut = Self::default();
        let mut room = max;
        for (tone, text) in self.0 {
            let width = text.width();
            // A span that fills the room exactly must still say that something follows.
            if width >= room {
                let text = if width > room {
                    text
                } else {
                    Clean::from(format!("{text}…"))
                };
                cut.push(tone, text.truncate(room));
                break;
            }
            room -= width;
            cut.0.push((tone, text));
        }
        cut
    }

    /// The line over several lines of at most `columns`, broken after spaces, and within words that fill a line of their
    /// own; all but the first are indented. If more than `lines_max` would be needed, the last one is cut.
    pub fn wrap(self, columns: usize, lines_max: usize, indent: usize) -> Vec<Self> {
        let mut lines = Vec::new();
        let mut line = Self::default();
        let mut may_break = false;
        let room = columns.saturating_sub(indent).max(1);
        for (tone, text) in self.0 {
            let words = text.as_str().split_inclusive(' ');
            for (word, breaks_after) in words.flat_map(|word| pieces(word, room)) {
                let width = Clean::new(word.trim_end()).width();
                let full = may_break && line.width() + width > columns;
                if full && lines.len() + 1 < lines_max {
                    lines.push(mem::take(&mut line).trim_end());
                    line.push(Tone::Plain, " ".repeat(indent));
                }
                line.push(tone, word);
                may_break = breaks_after;
            }
        }
        lines.push(line.trim_end());
        lines
            .into_iter()
            .map(|line| line.truncate(columns))
            .collect()
    }

    /// The line without spaces at its end.
    #[must_use]
    pub fn trim_end(mut self) -> Self {
        while let Some((tone, text)) = self.0.pop() {
            let kept = text.as_str().trim_end_matches(' ');
            if !kept.is_empty() {
                self.push(tone, kept);
                break;
            }
        }
        self
    }

    /// The text as it is written to a terminal, with or without styles.
    pub fn paint(&self, colour: bool) -> String {
        let mut painted = String::new();
        for (tone, text) in &self.0 {
            let style = if colour { tone.style() } else { Style::new() };
            write!(painted, "{style}{text}{style:#}").expect("a String takes whatever is written");
        }
        painted
    }
}

/// A word in pieces that take at most `room` columns, and whether a line may end after each.
fn pieces(word: &str, room: usize) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while Clean::new(rest.trim_end()).width() > room {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let fitting = Clean::new(rest).fitting(room).len().max(first);
        let (piece, behind) = rest.split_at(fitting);
        pieces.push((piece, true));
        rest = behind;
    }
    pieces.push((rest, rest.ends_with(' ')));
    pieces
}

impl From<Clean> for Line {
    fn from(text: Clean) -> Self {
        Self(vec![(Tone::Plain, text)])
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::new(Tone::Plain, text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::new(Tone::Plain, text)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.paint(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line::new(Tone::Strong, "web")
            .with(Tone::Plain, " is ")
            .with(Tone::Good, "complete")
    }

    #[test]
    fn colour_is_an_addition() {
        assert_eq!(line().paint(false), "web is complete");
        assert_eq!(
            line().paint(true),
            "\u{1b}[1mweb\u{1b}[0m is \u{1b}[32mcomplete\u{1b}[0m"
        );
    }

    #[test]
    fn hostile_text_is_cleaned_on_the_way_in() {
        let line = Line::new(Tone::Bad, "a\u{1b}[2Jb\nc");
        assert_eq!(line.paint(false), "ab c");
    }

    #[test]
    fn cutting_says_so_wherever_it_falls() {
        let cut = |max| line().truncate(max).to_string();
        assert_eq!(cut(15), "web is complete");
        assert_eq!(cut(14), "web is comple…");
        assert_eq!(cut(7), "web is…");
        assert_eq!(cut(3), "we…");
        assert_eq!(cut(0), "");
    }

    #[test]
    fn sentences_wrap_at_spaces_and_keep_their_tones() {
        let sentence =
            Line::new(Tone::Pending, "waiting").with(Tone::Plain, ": one two three four");
        let wrapped = |columns, lines_max| {
            let lines = sentence.clone().wrap(columns, lines_max, 9);
            lines.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(wrapped(80, 3), ["waiting: one two three four"]);
        assert_eq!(
            wrapped(18, 3),
            ["waiting: one two", "         three", "         four"]
        );
        assert_eq!(wrapped(18, 2), ["waiting: one two", "         three fo…"]);
        assert_eq!(wrapped(5, 1), ["wait…"]);
        let image = Line::from("pulling registry.example.com/shop/web failed");
        let wrapped = |lines_max| {
            let lines = image.clone().wrap(20, lines_max, 2);
            lines.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let rows = ["pulling", "  registry.example.c", "  om/shop/web failed"];
        assert_eq!(wrapped(3), rows);
        assert_eq!(wrapped(2), ["pulling", "  registry.example.…"]);
        assert_eq!(
            sentence.clone().wrap(18, 3, 9)[0].paint(true),
            "\u{1b}[33mwaiting\u{1b}[0m: one two"
        );
    }
}
