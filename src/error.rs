//! Exit codes, and how a failure reaches the user: one line, and a code that scripts can branch on.

use std::process;

/// What the process ends with. The table is part of the interface; the README repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum ExitCode {
    /// All done.
    #[default]
    Done = 0,
    /// Something went wrong.
    Error = 1,
    /// The command line or a file is wrong.
    Usage = 2,
    /// The rollout failed.
    RolloutFailed = 3,
    /// Time ran out.
    TimedOut = 4,
    /// The rollout failed and was undone.
    Undone = 5,
    /// Still running (`--exit-code`, or one-shot).
    Running = 6,
    /// Paused, or held at a stage.
    Held = 7,
    /// Nothing matched.
    NothingMatched = 8,
    /// Another revision overtook the one that was followed.
    Overtaken = 9,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
