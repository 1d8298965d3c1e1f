//! A printer whose streams are buffers, for the tests of this module.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressDrawTarget};

use super::{Level, Printer, Stream, Streams};

/// What a captured printer has written.
#[derive(Default)]
pub(crate) struct Capture {
    out: Buffer,
    err: Buffer,
}

impl Capture {
    /// What went to stdout.
    pub(crate) fn out(&self) -> String {
        self.out.text()
    }

    /// What went to stderr.
    pub(crate) fn err(&self) -> String {
        self.err.text()
    }
}

/// A printer without colour that writes to the capture.
pub(crate) fn captured(level: Level) -> (Printer, Capture) {
    let capture = Capture::default();
    let stream = |buffer: &Buffer| Stream {
        sink: Mutex::new(Box::new(buffer.clone())),
        terminal: false,
        colour: false,
    };
    let printer = Printer {
        level,
        streams: Arc::new(Streams {
            out: stream(&capture.out),
            err: stream(&capture.err),
        }),
        live: MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
    };
    (printer, capture)
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
