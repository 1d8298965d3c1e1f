//! What can be wrong with a manifest: one line each, with the place.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Where in the inputs something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, or `STDIN`.
    pub file: Arc<str>,
    /// The document in the file, from 1.
    pub document: usize,
    /// The line in the file, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Place {
    /// An error at this place.
    pub(super) fn mistake(&self, mistake: Mistake) -> Error {
        Error::At {
            place: self.clone(),
            mistake: Box::new(mistake),
        }
    }
}

/// Why manifests can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such file. kubectl's words.
    #[error("the path \"{path}\" does not exist")]
    Missing {
        /// The path.
        path: String,
    },
    /// The file can't be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The path.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// An address in the web. Nothing but the cluster is talked to.
    #[error("{url} is not a file (download it, or pipe it to `-f -`)")]
    Url {
        /// The address.
        url: String,
    },
    /// `-` more than once. kubectl's words.
    #[error("standard input cannot be used for multiple arguments")]
    StdinTwice,
    /// A directory without manifests. kubectl's words.
    #[error("error reading [{path}]: recognized file extensions are [.json .yaml .yml]")]
    NoManifests {
        /// The directory.
        path: String,
    },
    /// No input holds an object.
    #[error("no objects in {files}")]
    Empty {
        /// The files.
        files: String,
    },
    /// The inputs are larger than any sensible manifest.
    #[error("{path} is too large: manifests may have {limit_mib} MiB together")]
    TooLarge {
        /// The file that went beyond the limit.
        path: String,
        /// The limit.
        limit_mib: u64,
    },
    /// Not text at all.
    #[error("{path} is binary, not YAML or JSON")]
    Binary {
        /// The file.
        path: String,
    },
    /// Something in it is wrong.
    #[error("{place}: {mistake}")]
    At {
        /// Where.
        place: Place,
        /// What.
        mistake: Box<Mistake>,
    },
}

/// What is wrong at some place in the inputs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// Text in an encoding that YAML doesn't allow.
    #[error("invalid UTF-8")]
    NotUtf8,
    /// Neither YAML nor JSON; the parser's words.
    #[error("{0}")]
    Syntax(String),
    /// More nodes than are taken, aliases that multiply into that many, or too many levels.
    #[error("too large once aliases are expanded, or nested too deeply")]
    Expansion,
    /// A document that is a list, a number or text.
    #[error("{0} where an object is expected")]
    NotAnObject(&'static str),
    /// No `kind`. Kubernetes' words.
    #[error("Object 'Kind' is missing")]
    MissingKind,
    /// No `apiVersion`. Kubernetes' words.
    #[error("Object 'apiVersion' is missing")]
    MissingApiVersion,
    /// An API version that has no such kind. kubectl's words, and what to say instead.
    #[error("no matches for kind \"{kind}\" in version \"{api_version}\" ({advice})")]
    NoMatch {
        /// The kind.
        kind: String,
        /// The API version.
        api_version: String,
        /// What would match.
        advice: String,
    },
    /// The same object twice.
    #[error("{what} \"{name}\" is already defined at {first}")]
    Duplicate {
        /// The first.
        first: Place,
        /// `deployment.apps`.
        what: String,
        /// The name.
        name: String,
    },
    /// A field that the API server would refuse. Kubernetes' words.
    #[error("The {kind} \"{name}\" is invalid: {field}: {message}")]
    Invalid {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
        /// The field's path.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
}
