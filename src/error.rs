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

impl ExitCode {
    /// Every code with its meaning, as help and the README give it.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Done, "done"),
        (Self::Error, "something went wrong"),
        (Self::Usage, "the command line or a file is wrong"),
        (Self::RolloutFailed, "the rollout failed"),
        (Self::TimedOut, "time ran out"),
        (Self::Undone, "the rollout failed and was undone"),
        (Self::Running, "still running"),
        (Self::Held, "paused, or held at a stage"),
        (Self::NothingMatched, "nothing matched"),
        (
            Self::Overtaken,
            "another revision overtook the one that was followed",
        ),
        (Self::Interrupted, "interrupted"),
    ];
}

impl ExitCode {
    /// Of several objects' codes, the one to end with: failures before what is still open, success last.
    pub fn worst(codes: impl IntoIterator<Item = Self>) -> Option<Self> {
        codes.into_iter().max_by_key(|code| code.severity())
    }

    fn severity(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Held => 1,
            Self::Running => 2,
            Self::NothingMatched => 3,
            Self::TimedOut => 4,
            Self::Overtaken => 5,
            Self::Undone => 6,
            Self::RolloutFailed => 7,
            Self::Error => 8,
            Self::Usage => 9,
            Self::Interrupted => 10,
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// A failure that ends the program: what to say, what to end with and, where it is known, the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What the process ends with.
    pub code: ExitCode,
    /// One sentence, lower case, without `error:`.
    pub message: String,
    /// Lines that belong below it, where kubectl's words have several.
    pub details: Vec<String>,
    /// What to do about it, one sentence.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of the given class.
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
            hint: None,
        }
    }

    /// Something went wrong.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Error, message)
    }

    /// The command line or a file is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// The same failure with more lines.
    #[must_use]
    pub fn details<T: Into<String>>(mut self, lines: impl IntoIterator<Item = T>) -> Self {
        self.details.extend(lines.into_iter().map(Into::into));
        self
    }

    /// The same failure with the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
