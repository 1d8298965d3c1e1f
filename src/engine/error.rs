//! What can stop the engine as a whole. A refused write stops only its pass.

use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;

use super::apply::one_line;

/// Why the engine could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// An object could not be read.
    #[error("cannot read {kind} {key}: {}", one_line(.source))]
    Reading {
        /// Its kind.
        kind: &'static str,
        /// Its name.
        key: ObjectKey,
        /// Why.
        source: kube::Error,
    },
    /// Objects could not be listed or watched.
    #[error("cannot list {plural}{scope}: {}", one_line(.source))]
    Listing {
        /// Their kind, in the plural.
        plural: &'static str,
        /// ` in namespace …`, or empty.
        scope: String,
        /// Why.
        source: kube::Error,
    },
}

impl EngineError {
    /// Whether the server only could not answer at the moment.
    pub fn is_passing(&self) -> bool {
        let (Self::Reading { source, .. } | Self::Listing { source, .. }) = self;
        matches!(source, kube::Error::Api(status) if status.code == 429 || status.code >= 500)
    }

    /// Whether the server has answered, and would answer the same another time: it does not allow it.
    pub fn is_final(&self) -> bool {
        let (Self::Reading { source, .. } | Self::Listing { source, .. }) = self;
        matches!(source, kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404))
    }

    pub(crate) fn reading(kind: Kind, key: &ObjectKey, source: kube::Error) -> Self {
        Self::Reading {
            kind: kind.name(),
            key: key.clone(),
            source,
        }
    }

    pub(crate) fn listing(kind: Kind, namespace: Option<&str>, source: kube::Error) -> Self {
        let scope = namespace
            .map(|name| format!(" in namespace {name}"))
            .unwrap_or_default();
        Self::Listing {
            plural: kind.plural(),
            scope,
            source,
        }
    }
}
