//! Answers and changes into the store: an effect is news or it is not.

use crate::controller::action::Kind;
use crate::controller::api::ObjectKey;

use super::apply::Effect;
use super::pass::Context;
use super::store::Store;

impl Context {
    /// Puts an effect into the store; returns it when it was news.
    pub fn absorb(&self, effect: Effect) -> Option<Effect> {
        let mut store = self.store();
        match effect {
            Effect::None => None,
            Effect::Deployment(object) => {
                let change = store.deployments.apply(object)?;
                change.after.map(Effect::Deployment)
            }
            Effect::ReplicaSet(object) => {
                let change = store.replica_sets.apply(object)?;
                change.after.map(Effect::ReplicaSet)
            }
            Effect::Pod(object) => {
                let change = store.apply_pod(object)?;
                self.observe(&change);
                change.after.map(Effect::Pod)
            }
            Effect::Gone { kind, key, uid } => self.remove(&mut store, kind, &key, &uid),
        }
    }

    /// Removes an object and says what it last was, so that its owner can be found.
    fn remove(&self, store: &mut Store, kind: Kind, key: &ObjectKey, uid: &str) -> Option<Effect> {
        Some(match kind {
            Kind::Deployment => Effect::Deployment(store.deployments.remove(key, uid)?.before?),
            Kind::ReplicaSet => {
                self.forget_replica_set(key, uid);
                Effect::ReplicaSet(store.replica_sets.remove(key, uid)?.before?)
            }
            Kind::Pod => {
                let change = store.pods.remove(key, uid)?;
                self.observe(&change);
                Effect::Pod(change.before?)
            }
        })
    }
}
