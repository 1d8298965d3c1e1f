//! Claiming: which objects belong to a controller, and adopting or releasing the others (deployment-controller
//! section 5, replicaset-controller section 6).
//!
//! Both controllers call it: a Deployment claims ReplicaSets, a ReplicaSet claims pods. Ownership compares UIDs only.

use std::sync::Arc;

use super::action::{Action, Kind, RefusalReason, Target};
use super::api::{ObjectMeta, OwnerReference, Pod, ReplicaSet};
use super::plan::{LiveOwner, Recorder, SyncError};
use super::selector::Selector;
use super::why::Why;

/// A kind of object that can be claimed.
pub(crate) trait Claimable {
    /// The kind, for targets and messages.
    const KIND: Kind;

    /// The object's metadata.
    fn meta(&self) -> &ObjectMeta;

    /// The action that adds the owner.
    fn adopt(target: Target, owner: OwnerReference) -> Action;

    /// The action that removes the owner.
    fn release(target: Target, owner_uid: String) -> Action;
}

impl Claimable for ReplicaSet {
    const KIND: Kind = Kind::ReplicaSet;

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn adopt(target: Target, owner: OwnerReference) -> Action {
        Action::AdoptReplicaSet { target, owner }
    }

    fn release(target: Target, owner_uid: String) -> Action {
        Action::ReleaseReplicaSet { target, owner_uid }
    }
}

impl Claimable for Pod {
    const KIND: Kind = Kind::Pod;

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn adopt(target: Target, owner: OwnerReference) -> Action {
        Action::AdoptPod { target, owner }
    }

    fn release(target: Target, owner_uid: String) -> Action {
        Action::ReleasePod { target, owner_uid }
    }
}

/// The reference by which an object of kind `kind` owns what it claims or creates.
pub(crate) fn new_controller_ref(kind: Kind, owner: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: kind.to_string(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
        controller: true,
        block_owner_deletion: true,
    }
}

/// The controller that claims.
pub(crate) struct Claimer<'a> {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its metadata, from the snapshot.
    pub(crate) meta: &'a ObjectMeta,
    /// What it selects.
    pub(crate) selector: &'a Selector,
    /// What a fresh read of it says.
    pub(crate) live: &'a LiveOwner,
}

enum Decision {
    Claimed,
    Ignore,
    Adopt,
    Release,
}

impl Claimer<'_> {
    /// Goes through the candidates in their order and returns those that belong to the controller, adopted ones
    /// included. All candidates are tried; their patches may be sent at once.
    ///
    /// # Errors
    /// Every adoption and release that failed, together.
    pub(crate) fn claim<'c, T: Claimable>(
        &self,
        candidates: impl IntoIterator<Item = &'c Arc<T>>,
        recorder: &mut Recorder<'_>,
    ) -> Result<Vec<&'c Arc<T>>, SyncError> {
        recorder.next_batch();
        let mut claimed = Vec::new();
        let mut errors = Vec::new();
        for candidate in candidates {
            let is_ours = match self.decide(candidate.meta()) {
                Decision::Claimed => Ok(true),
                Decision::Ignore => Ok(false),
                Decision::Adopt => self.adopt::<T>(candidate.meta(), recorder),
                Decision::Release => self.release::<T>(candidate.meta(), recorder),
            };
            match is_ours {
                Ok(true) => claimed.push(candidate),
                Ok(false) => {}
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(claimed)
        } else {
            Err(SyncError::Claim(errors))
        }
    }

    /// Whether an object is the controller's already, without adopting it.
    pub(crate) fn owns(&self, candidate: &ObjectMeta) -> bool {
        matches!(self.decide(candidate), Decision::Claimed)
    }

    /// The reference that claimed objects carry.
    pub(crate) fn owner_reference(&self) -> OwnerReference {
        new_controller_ref(self.kind, self.meta)
    }

    fn decide(&self, candidate: &ObjectMeta) -> Decision {
        let matches = || self.selector.matches(&candidate.labels);
        match candidate.controller() {
            Some(owner) if owner.uid != self.meta.uid => Decision::Ignore,
            Some(_) if matches() => Decision::Claimed,
            _ if self.meta.is_deleting() => Decision::Ignore,
            Some(_) => Decision::Release,
            None if candidate.is_deleting() || !matches() => Decision::Ignore,
            None => Decision::Adopt,
        }
    }

    fn adopt<T: Claimable>(
        &self,
        candidate: &ObjectMeta,
        recorder: &mut Recorder<'_>,
    ) -> Result<bool, String> {
        self.can_adopt().map_err(|cause| {
            format!(
                "can't adopt {} {} ({}): {cause}",
                T::KIND,
                candidate.key(),
                candidate.uid
            )
        })?;
        let action = T::adopt(
            Target::new(T::KIND, candidate),
            new_controller_ref(self.kind, self.meta),
        );
        match recorder.perform_in_batch(action, Why::OrphanMatches) {
            Ok(_) => Ok(true),
            Err(refusal) if refusal.reason == RefusalReason::NotFound => Ok(false),
            Err(refusal) => Err(refusal.message),
        }
    }

    fn release<T: Claimable>(
        &self,
        candidate: &ObjectMeta,
        recorder: &mut Recorder<'_>,
    ) -> Result<bool, String> {
        let action = T::release(Target::new(T::KIND, candidate), self.meta.uid.clone());
        match recorder.perform_in_batch(action, Why::SelectorMismatch) {
            Ok(_) => Ok(false),
            // The object is gone, or was made anew, or the reference is already removed.
            Err(refusal)
                if matches!(
                    refusal.reason,
                    RefusalReason::NotFound | RefusalReason::Invalid
                ) =>
            {
                Ok(false)
            }
            Err(refusal) => Err(refusal.message),
        }
    }

    /// Whether the fresh read allows adoptions: between the snapshot and now the controller may have been deleted,
    /// and what it adopted then would be collected with it.
    fn can_adopt(&self) -> Result<(), String> {
        let key = self.meta.key();
        match self.live {
            LiveOwner::Unchanged => Ok(()),
            LiveOwner::Deleting { since } => Err(format!(
                "{key} has just been deleted at {}",
                since.strftime("%Y-%m-%d %H:%M:%S +0000 UTC")
            )),
            LiveOwner::Recreated { uid } => Err(format!(
                "can't recheck DeletionTimestamp: original {} {key} is gone: got uid {uid}, wanted {}",
                self.kind, self.meta.uid
            )),
            LiveOwner::Unreadable(refusal) => {
                Err(format!("can't recheck DeletionTimestamp: {refusal}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use serde_json::{from_value, json};

    use super::*;
    use crate::controller::plan::Requeue;

    const OWNER: &str = "d-uid";

    fn owner(is_deleting: bool) -> ObjectMeta {
        ObjectMeta {
            namespace: "default".into(),
            name: "web".to_owned(),
            uid: OWNER.to_owned(),
            deletion_timestamp: is_deleting.then_some(Time(Timestamp::UNIX_EPOCH)),
            ..ObjectMeta::default()
        }
    }

    fn candidate(controller: Option<&str>, app: &str, is_deleting: bool) -> Arc<ReplicaSet> {
        let mut set = ReplicaSet::default();
        set.meta.labels.insert("app".to_owned(), app.to_owned());
        set.meta.deletion_timestamp = is_deleting.then_some(Time(Timestamp::UNIX_EPOCH));
        set.meta.owner_references = controller
            .map(|uid| OwnerReference {
                uid: uid.to_owned(),
                controller: true,
                ..OwnerReference::default()
            })
            .into_iter()
            .collect();
        Arc::new(set)
    }

    #[test]
    fn every_state_of_a_candidate_is_decided() {
        let (ours, other) = (Some(OWNER), Some("other"));
        for (controller, app, is_deleting, owner_is_deleting, action, claimed) in [
            (other, "web", false, false, "", false),
            (other, "api", false, false, "", false),
            (ours, "web", false, false, "", true),
            (ours, "web", true, false, "", true),
            (ours, "web", false, true, "", true),
            (ours, "api", false, true, "", false),
            (ours, "api", false, false, "release", false),
            (ours, "api", true, false, "release", false),
            (None, "api", false, false, "", false),
            (None, "web", false, true, "", false),
            (None, "web", true, false, "", false),
            (None, "web", false, false, "adopt", true),
        ] {
            let selector = from_value(json!({"matchLabels": {"app": "web"}})).unwrap();
            let claimer = Claimer {
                kind: Kind::Deployment,
                meta: &owner(owner_is_deleting),
                selector: &Selector::compile(Some(&selector)).unwrap(),
                live: &LiveOwner::Unchanged,
            };
            let mut recorder = Recorder::new(&[]);
            let set = candidate(controller, app, is_deleting);
            let result = claimer.claim([&set], &mut recorder).unwrap();
            let steps = recorder.finish(Ok(Requeue::No)).steps;
            let done = match steps.first().map(|step| &step.action) {
                None => "",
                Some(Action::AdoptReplicaSet { .. }) => "adopt",
                Some(Action::ReleaseReplicaSet { .. }) => "release",
                Some(_) => "something else",
            };
            let case = format!("{controller:?} {app} {is_deleting} {owner_is_deleting}");
            assert_eq!((done, result.len() == 1), (action, claimed), "{case}");
        }
    }
}
