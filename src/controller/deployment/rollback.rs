//! The server-side rollback that an annotation asks for (deployment-controller section 13).

use super::Pass;
use super::replica_sets::{Claimed, ReplicaSets};
use super::revision::{last_revision, revision, skip_copy_annotation};
use crate::controller::action::{Action, AnnotationChanges, EventType};
use crate::controller::api::ReplicaSet;
use crate::controller::keys;
use crate::controller::plan::{Requeue, SyncError};
use crate::controller::template::Template;
use crate::controller::why::Why;

impl<'a> Pass<'a> {
    /// The revision asked for; 0 is the last one. Text that is no number asks for nothing.
    pub(super) fn rollback_to(&self) -> Option<i64> {
        self.deployment
            .meta
            .annotation(keys::ROLLBACK_TO)
            .and_then(|text| text.parse().ok())
    }

    /// Puts the template of an earlier revision into the Deployment. The rollout itself is for later passes.
    pub(super) fn rollback(
        &mut self,
        claimed: &Claimed<'a>,
        asked_for: i64,
    ) -> Result<Requeue, SyncError> {
        let new = self.get_or_create_new_replica_set(claimed)?;
        let sets = ReplicaSets {
            new: Some(new),
            old: claimed.old_copies(),
        };
        let why = Why::RollbackAnnotation {
            revision: asked_for,
        };
        let wanted = match asked_for {
            0 => last_revision(sets.all()),
            number => number,
        };
        if wanted == 0 {
            self.warn_not_found("Unable to find last revision.");
            return self.clear_rollback_to(why);
        }
        let Some(found) = sets.all().find(|set| revision(set) == Some(wanted)) else {
            self.warn_not_found("Unable to find the revision to rollback to.");
            return self.clear_rollback_to(why);
        };
        let name = &self.deployment.meta.name;
        if found
            .spec
            .template
            .is_equal_to(&self.deployment.spec.template)
        {
            self.event(
                EventType::Warning,
                "DeploymentRollbackTemplateUnchanged",
                format!(
                    "The rollback revision contains the same template as current deployment \"{name}\""
                ),
            );
            return self.clear_rollback_to(why);
        }
        let template = found.spec.template.without_hash_label();
        let annotations = self.annotations_from(found);
        self.update_deployment(Some(template), annotations, why)?;
        self.event(
            EventType::Normal,
            "DeploymentRollback",
            format!("Rolled back deployment \"{name}\" to revision {wanted}"),
        );
        Ok(Requeue::No)
    }

    fn warn_not_found(&mut self, message: &str) {
        self.event(
            EventType::Warning,
            "DeploymentRollbackRevisionNotFound",
            message.to_owned(),
        );
    }

    fn clear_rollback_to(&mut self, why: Why) -> Result<Requeue, SyncError> {
        self.update_deployment(None, AnnotationChanges::new(), why)?;
        Ok(Requeue::No)
    }

    /// Writes the Deployment itself, without the rollback annotation.
    fn update_deployment(
        &mut self,
        template: Option<Template>,
        mut annotations: AnnotationChanges,
        why: Why,
    ) -> Result<(), SyncError> {
        annotations.insert(keys::ROLLBACK_TO.to_owned(), None);
        let action = Action::UpdateDeployment {
            target: self.target(),
            template,
            annotations,
        };
        self.recorder.perform(action, why)?;
        Ok(())
    }

    /// The changes that leave the Deployment with the ReplicaSet's annotations, those of one object alone excepted.
    /// Others that only the Deployment has disappear.
    fn annotations_from(&self, set: &ReplicaSet) -> AnnotationChanges {
        let own = &self.deployment.meta.annotations;
        let gone = own
            .keys()
            .filter(|key| !skip_copy_annotation(key) && !set.meta.annotations.contains_key(*key))
            .map(|key| (key.clone(), None));
        let copied = set
            .meta
            .annotations
            .iter()
            .filter(|(key, value)| !skip_copy_annotation(key) && own.get(*key) != Some(value))
            .map(|(key, value)| (key.clone(), Some(value.clone())));
        gone.chain(copied).collect()
    }
}
