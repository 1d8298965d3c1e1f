//! How the API answered a step, as far as the controllers tell answers apart.

/// How the API answered one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was done.
    Applied(Applied),
    /// It was refused, or nobody knows.
    Refused(Refusal),
}

/// What the server said about the object it wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The object's name (the server's choice where only a prefix was given).
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its new version.
    pub resource_version: String,
}

/// Why a write was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The kind of refusal.
    pub reason: RefusalReason,
    /// The server's sentence.
    pub message: String,
}

/// The refusals that the controllers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// 404.
    NotFound,
    /// 409, the name is taken.
    AlreadyExists,
    /// 409, somebody else wrote first.
    Conflict,
    /// 422.
    Invalid,
    /// 403 with the cause `NamespaceTerminating`.
    NamespaceTerminating,
    /// 403 for any other cause: RBAC, quota, admission.
    Forbidden,
    /// The answer did not come: the write may or may not have been done.
    Timeout,
    /// The server asks to come back later (429, 503).
    Busy,
    /// Anything else.
    Other,
}
