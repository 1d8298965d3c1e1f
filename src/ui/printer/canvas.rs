//! The terminal as the live view draws on it.
//!
//! indicatif fills every line with spaces up to the last column and lets the terminal wrap. That leaves the cursor
//! beyond the last line, where the echo of a key (or of Ctrl-C) shifts everything that is drawn later, and copied text
//! comes out as one long line. Here lines end with line breaks, and the cursor stays behind the last one.

use std::fmt::{self, Write as _};
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::TermLike;

use super::{Streams, size};

/// Draws on stderr.
pub(super) struct Canvas {
    streams: Arc<Streams>,
    pending: Mutex<Pending>,
}

/// What is drawn at the next flush: all at once, so that nothing flickers.
#[derive(Default)]
struct Pending {
    text: String,
    /// Whether a line is complete and another one would need a line break first.
    line_done: bool,
}

impl Canvas {
    pub(super) fn new(streams: Arc<Streams>) -> Self {
        Self {
            streams,
            pending: Mutex::default(),
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an escape sequence that moves the cursor by `count`; moving by nothing would move by one.
    fn move_cursor(&self, count: usize, direction: char) {
        if count > 0 {
            let text = &mut self.pending().text;
            write!(text, "\u{1b}[{count}{direction}").expect("a String takes whatever is written");
        }
    }
}

/// Nothing here fails: indicatif panics on some errors, and a stderr that is gone is not worth failing for.
impl TermLike for Canvas {
    fn width(&self) -> u16 {
        u16::try_from(size().columns).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        u16::try_from(size().rows).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'A');
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'B');
        Ok(())
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'C');
        Ok(())
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'D');
        Ok(())
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        self.write_str(s)?;
        self.write_str("")
    }

    /// Adds a line, or the spaces that indicatif fills it with, which only say that it is complete.
    fn write_str(&self, s: &str) -> io::Result<()> {
        let mut pending = self.pending();
        if s.trim_start_matches(' ').is_empty() {
            pending.line_done = true;
            return Ok(());
        }
        if mem::take(&mut pending.line_done) {
            pending.text.push_str("\r\n");
        }
        pending.text.push_str(s);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.pending().text.push_str("\r\u{1b}[2K");
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let drawn = mem::take(&mut *self.pending()).text;
        let _ = self.streams.err.write(&drawn);
        Ok(())
    }
}

impl fmt::Debug for Canvas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canvas")
    }
}

#[cfg(test)]
mod tests {
    use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

    use super::super::Level;
    use super::super::capture::captured;
    use super::*;

    #[test]
    fn lines_end_with_breaks_and_are_cleared_from_the_last_one_up() {
        let (printer, capture) = captured(Level::Default);
        let canvas = Canvas::new(Arc::clone(&printer.streams));
        let live = MultiProgress::with_draw_target(ProgressDrawTarget::term_like(Box::new(canvas)));
        let bar = live.add(ProgressBar::no_length());
        bar.set_style(ProgressStyle::with_template("{msg}").expect("a template"));
        bar.set_message("one\ntwo");
        bar.force_draw();
        let before = capture.err();
        assert!(before.ends_with("one\r\ntwo"), "{before:?}");
        bar.finish_and_clear();
        let cleared = capture.err().split_off(before.len());
        assert_eq!(cleared, "\u{1b}[1A\r\u{1b}[2K\u{1b}[1B\r\u{1b}[2K\u{1b}[1A");
    }
}
