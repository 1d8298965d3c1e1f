//! What can stop the engine as a whole. A refused write stops only its pass.

use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;

/// Why the engine could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// An object could not be read.
    #[error("cannot read {kind} {key}: {cause}")]
    Reading {
        /// Its kind.
        kind: &'static str,
        /// Its name.
        key: ObjectKey,
        /// Why.
        cause: String,
    },
    /// Objects could not be listed or watched.
    #[error("cannot list {plural}{scope}: {cause}")]
    Listing {
        /// Their kind, in the plural.
        plural: &'static str,
        /// ` in namespace …`, or empty.
        scope: String,
        /// Why.
        cause: String,
    },
}

impl EngineError {
    pub(crate) fn reading(kind: Kind, key: &ObjectKey, cause: String) -> Self {
        Self::Reading {
            kind: kind.name(),
            key: key.clone(),
            cause,
        }
    }

    pub(crate) fn listing(kind: Kind, namespace: Option<&str>, cause: String) -> Self {
        let scope = namespace
            .map(|name| format!(" in namespace {name}"))
            .unwrap_or_default();
        Self::Listing {
            plural: kind.plural(),
            scope,
            cause,
        }
    }
}
