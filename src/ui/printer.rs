//! The one place that writes to the terminal: data to stdout, talk to stderr.
//!
//! Commands own a [`Printer`] and hand it to whoever has something to say. It knows how much is wanted, which
//! streams are terminals and whether they take colour, and keeps lines and the live view from overwriting each
//! other. It knows nothing of what is said.

mod canvas;
#[cfg(test)]
pub(crate) mod capture;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use indicatif::{MultiProgress, ProgressDrawTarget};
use serde::Serialize;
use terminal_size::terminal_size_of;

use super::escape::escape_json;
use super::line::{Line, Tone};
use canvas::Canvas;

/// How often the live view may draw.
const DRAWINGS_PER_SECOND: u8 = 20;

/// How much is said. Data and errors always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing but errors.
    Quiet,
    /// What people want to know.
    #[default]
    Default,
    /// Bookkeeping too, as plain lines; the live view is off, since log lines would run through it.
    Verbose,
}

/// When to colour (`--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` or `TERM=dumb` is set.
    #[default]
    Auto,
    /// Even into a pipe.
    Always,
    /// Not at all.
    Never,
}

/// How much room a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

/// Writes to stdout and stderr. Cheap to clone; clones share the streams.
#[derive(Clone)]
pub struct Printer {
    level: Level,
    streams: Arc<Streams>,
    live: MultiProgress,
}

struct Streams {
    out: Stream,
    err: Stream,
}

struct Stream {
    sink: Mutex<Box<dyn Write + Send>>,
    terminal: bool,
    colour: bool,
}

impl Printer {
    /// A printer on the process's own streams.
    pub fn new(level: Level, color: Color) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let streams = Arc::new(Streams {
            out: Stream {
                terminal: out.is_terminal(),
                colour: color.resolve(|| AutoStream::choice(&out)),
                sink: Mutex::new(Box::new(AutoStream::always(out))),
            },
            err: Stream {
                terminal: err.is_terminal(),
                colour: color.resolve(|| AutoStream::choice(&err)),
                sink: Mutex::new(Box::new(AutoStream::always(err))),
            },
        });
        let live = level == Level::Default && streams.err.terminal && !is_dumb();
        Self {
            level,
            live: MultiProgress::with_draw_target(if live {
                let canvas = Canvas::new(Arc::clone(&streams));
                ProgressDrawTarget::term_like_with_hz(Box::new(canvas), DRAWINGS_PER_SECOND)
            } else {
                ProgressDrawTarget::hidden()
            }),
            streams,
        }
    }

    /// Writes one line of data to stdout.
    ///
    /// # Errors
    /// When stdout can't be written. A reader that has gone is such an error; it ends the command with code 0.
    pub fn data(&self, line: impl Into<Line>) -> io::Result<()> {
        self.data_lines(&[line.into()])
    }

    /// Writes lines of data to stdout.
    ///
    /// # Errors
    /// When stdout can't be written. A reader that has gone is such an error; it ends the command with code 0.
    pub fn data_lines(&self, lines: &[Line]) -> io::Result<()> {
        let out = &self.streams.out;
        self.write(out, &paint(lines, out.colour))
    }

    /// Whether stdout is a terminal on which lines can be written over.
    pub fn can_redraw(&self) -> bool {
        self.streams.out.terminal && !is_dumb()
    }

    /// Writes lines over the last `drawn` ones that are on the terminal; what is left of those is cleared.
    ///
    /// # Errors
    /// When stdout can't be written. A reader that has gone is such an error; it ends the command with code 0.
    pub fn redraw(&self, lines: &[Line], drawn: usize) -> io::Result<()> {
        let out = &self.streams.out;
        let text = paint(lines, out.colour).replace('\n', "\u{1b}[K\r\n");
        let up = match drawn {
            0 => String::new(),
            drawn => format!("\u{1b}[{drawn}A\r"),
        };
        self.write(out, &format!("{up}{text}\u{1b}[J"))
    }

    /// Writes a document (YAML, JSON, a diff) to stdout: as it is into a pipe, cleaned line by line on a terminal.
    ///
    /// # Errors
    /// When stdout can't be written. A reader that has gone is such an error; it ends the command with code 0.
    pub fn document(&self, text: &str) -> io::Result<()> {
        let out = &self.streams.out;
        if !out.terminal {
            return self.write(out, text);
        }
        let lines = text.lines().map(Line::from).collect::<Vec<_>>();
        self.write(out, &paint(&lines, false))
    }

    /// Writes a value to stdout as one line of JSON that is safe on a terminal, too.
    ///
    /// # Errors
    /// When the value is no JSON, or stdout can't be written. A reader that has gone is such an error; it ends the command with code 0.
    pub fn json_line(&self, value: &impl Serialize) -> io::Result<()> {
        let json = serde_json::to_string(value)?;
        self.write(&self.streams.out, &(escape_json(&json) + "\n"))
    }

    /// Says something on stderr, unless quiet. A stderr that can't be written is not worth failing for.
    pub fn talk(&self, line: impl Into<Line>) {
        self.talk_lines(&[line.into()]);
    }

    /// Says several lines on stderr, unless quiet.
    pub fn talk_lines(&self, lines: &[Line]) {
        if self.level > Level::Quiet {
            self.complain(lines);
        }
    }

    /// Says something on stderr when verbose.
    pub fn detail(&self, line: impl Into<Line>) {
        if self.is_verbose() {
            self.talk(line);
        }
    }

    /// Warns on stderr, unless quiet.
    pub fn warning(&self, text: &str) {
        self.talk(Line::new(Tone::Pending, "warning: ").with(Tone::Plain, text));
    }

    /// Writes `lines` and a question to stderr, at any level, and leaves the cursor behind the question.
    pub(super) fn question(&self, lines: &[Line], question: &Line) {
        let err = &self.streams.err;
        let text = paint(lines, err.colour) + &question.paint(err.colour);
        let _ = self.write(err, &text);
    }

    /// Whether bookkeeping is wanted.
    pub fn is_verbose(&self) -> bool {
        self.level == Level::Verbose
    }

    /// Whether nothing but errors is wanted.
    pub fn is_quiet(&self) -> bool {
        self.level == Level::Quiet
    }

    /// How wide a table on stdout may get; `None`: as wide as it needs.
    pub fn table_columns(&self) -> Option<usize> {
        self.columns(&self.streams.out)
    }

    /// How wide what is said on stderr may get; `None`: as wide as it needs.
    pub fn talk_columns(&self) -> Option<usize> {
        self.columns(&self.streams.err)
    }

    fn columns(&self, stream: &Stream) -> Option<usize> {
        (stream.terminal || env::var_os("COLUMNS").is_some()).then(|| self.size().columns)
    }

    /// The room on the terminal now: `COLUMNS` and `LINES` before what the terminal says; 80 × 24 where nobody does.
    pub fn size(&self) -> Size {
        size()
    }

    /// Where a live view draws itself; hidden unless stderr is a terminal that can show one.
    pub(super) fn live(&self) -> &MultiProgress {
        &self.live
    }

    /// Whether stderr takes colour.
    pub(super) fn talks_in_colour(&self) -> bool {
        self.streams.err.colour
    }

    fn complain(&self, lines: &[Line]) {
        let err = &self.streams.err;
        let _ = self.write(err, &paint(lines, err.colour));
    }

    /// Writes with the live view out of the way.
    fn write(&self, stream: &Stream, text: &str) -> io::Result<()> {
        self.live.suspend(|| stream.write(text))
    }
}

impl Stream {
    fn write(&self, text: &str) -> io::Result<()> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(text.as_bytes())?;
        sink.flush()
    }
}

impl Color {
    fn resolve(self, detect: impl Fn() -> ColorChoice) -> bool {
        match self {
            Self::Auto => detect() != ColorChoice::Never,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

fn paint(lines: &[Line], colour: bool) -> String {
    lines
        .iter()
        .flat_map(|line| [line.paint(colour), "\n".to_owned()])
        .collect()
}

/// A line for stderr: as it is, or, where that is a terminal, on as many lines as it takes to break between words.
pub fn for_stderr(line: &str) -> String {
    if !io::stderr().is_terminal() {
        return line.to_owned();
    }
    let lines = Line::from(line).wrap(size().columns, usize::MAX, 2);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn size() -> Size {
    let terminal = terminal_size_of(io::stderr()).or_else(|| terminal_size_of(io::stdout()));
    let (columns, rows) = terminal.map_or((80, 24), |(width, height)| (width.0, height.0));
    Size {
        columns: positive("COLUMNS").unwrap_or(columns.into()),
        rows: positive("LINES").unwrap_or(rows.into()),
    }
}

/// Whether the terminal can't move its cursor.
fn is_dumb() -> bool {
    match env::var("TERM") {
        Ok(term) => term == "dumb",
        Err(_) => cfg!(unix),
    }
}

fn positive(variable: &str) -> Option<usize> {
    let number = env::var(variable).ok()?.trim().parse().ok()?;
    (number > 0).then_some(number)
}
