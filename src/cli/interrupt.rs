//! Ctrl-C, and on Unix the signal that asks a process to end.

use std::io;

/// Hears the signals from the moment it is made, not from when it is first asked: what is pressed in between counts.
pub(super) struct Interrupts {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
    #[cfg(windows)]
    ctrl_c: tokio::signal::windows::CtrlC,
}

impl Interrupts {
    /// Starts to listen. Must be called within a runtime.
    ///
    /// # Errors
    /// Where signals can't be had.
    pub(super) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                signals: [
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::terminate())?,
                ],
            })
        }
        #[cfg(windows)]
        {
            let ctrl_c = tokio::signal::windows::ctrl_c()?;
            Ok(Self { ctrl_c })
        }
    }

    /// Resolves on the next signal.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, terminate] = &mut self.signals;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(windows)]
        self.ctrl_c.recv().await;
    }
}
