//! What the simulation keeps of one pod.

use k8s_openapi::jiff::Timestamp;

use crate::controller::api::ObjectKey;
use crate::kubelet::container_spec::Resources;
use crate::kubelet::event::EventLog;
use crate::kubelet::pod::{PodMeta, PodView};
use crate::kubelet::run::PodRun;
use crate::kubelet::status::PodStatus;

/// A pod, by name and UID: a namesake that came later is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRef {
    /// Namespace and name.
    pub key: ObjectKey,
    /// The UID.
    pub uid: String,
}

/// One pod.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) meta: PodMeta,
    pub(super) log: EventLog,
    /// The node that it takes room on.
    pub(super) node: Option<String>,
    pub(super) requests: Resources,
    pub(super) life: Life,
    /// The status last written.
    pub(super) written: Option<PodStatus>,
    /// What its kubelet has not heard, since its node is lost.
    pub(super) unheard: Option<Box<PodView>>,
    /// The instant of its timer that counts; older timers are stale.
    pub(super) timer: Option<Timestamp>,
}

#[derive(Debug)]
pub(super) enum Life {
    /// Not bound, or to a node that is none of ours.
    Unbound(Box<PodView>),
    /// On its node.
    Bound(Box<PodRun>),
    /// Nothing more happens to it.
    Finished(Removal),
}

/// Whether a finished pod's object is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    NotWanted,
    Wanted,
    /// It may stay for a finalizer; asking again would not help.
    Asked,
}

impl Removal {
    pub(super) fn of(view: &PodView) -> Self {
        match view.deadline() {
            Some(_) => Self::Wanted,
            None => Self::NotWanted,
        }
    }
}

impl Entry {
    pub(super) fn new(view: PodView) -> Self {
        Self {
            meta: view.metadata.clone(),
            log: EventLog::default(),
            node: None,
            requests: view.spec.requests(),
            life: Life::Unbound(Box::new(view)),
            written: None,
            unheard: None,
            timer: None,
        }
    }

    pub(super) fn reference(&self) -> PodRef {
        PodRef {
            key: ObjectKey::new(&self.meta.namespace, &self.meta.name),
            uid: self.meta.uid.clone(),
        }
    }
}
