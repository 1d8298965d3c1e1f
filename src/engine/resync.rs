//! What became of objects that a complete view does not show.

use super::apply::Effect;
use super::feed::Synced;
use super::pass::Context;

impl Context {
    /// After a complete view of one kind: what it did not show is gone. What our own writes made after it began is asked
    /// for.
    pub async fn not_shown(&self, synced: &Synced) -> Vec<Effect> {
        let known = self
            .store()
            .identities(synced.kind, synced.namespace.as_deref());
        let mut effects = Vec::new();
        for (key, uid, version) in known {
            if synced.uids.contains(&uid) {
                continue;
            }
            let is_newer = version
                .parse::<u64>()
                .is_ok_and(|version| version > synced.newest);
            if is_newer {
                effects.extend(self.sender.read(synced.kind, &key, Some(&uid)).await);
            } else {
                effects.push(Effect::Gone {
                    kind: synced.kind,
                    key,
                    uid,
                });
            }
        }
        effects
    }
}
