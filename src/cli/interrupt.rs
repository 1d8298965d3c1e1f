//! Ctrl-C, and on Unix the signal that asks a process to end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Hears the signals from the moment it is made, not from when it is first asked: what is pressed in between counts.
pub(super) struct Interrupts {
    signals: Signals,
    is_heeded: Arc<AtomicBool>,
}

struct Signals {
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
        Ok(Self {
            signals: Signals::listen()?,
            is_heeded: Arc::default(),
        })
    }

    /// Resolves when the command is to be dropped where it stands: on the first signal, or on the second one after a
    /// command has said that it heeds the first.
    ///
    /// # Errors
    /// Where signals can't be had.
    pub(super) fn killed(&self) -> io::Result<impl Future<Output = ()> + use<>> {
        let mut signals = Signals::listen()?;
        let is_heeded = Arc::clone(&self.is_heeded);
        Ok(async move {
            signals.next().await;
            if is_heeded.load(Ordering::Relaxed) {
                signals.next().await;
            }
        })
    }

    /// Resolves on the next signal. From the call on the first signal is the caller's to heed: it finishes what is under
    /// way.
    pub(super) fn heed(&mut self) -> impl Future<Output = ()> + use<'_> {
        self.is_heeded.store(true, Ordering::Relaxed);
        self.signals.next()
    }
}

impl Signals {
    fn listen() -> io::Result<Self> {
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

    async fn next(&mut self) {
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
