//! Setting images in objects: checked, written or only shown, and told.

use serde_json::{Value, json};

use super::containers::{Pairs, names, pod_spec_path, set_images};
use crate::cli::after::Site;
use crate::cli::dry_run;
use crate::cli::edit::{Change, EditError, Edited, Writing};
use crate::cli::failures::Failures;
use crate::cli::objects::Found;
use crate::cli::print::Form;
use crate::cli::selection::ObjectArgs;
use crate::controller::keys::CHANGE_CAUSE;
use crate::engine::options::DryRun;
use crate::error::{ExitCode, Failure};
use crate::ui::printer::Printer;

/// The change, and how it is made and told.
pub(super) struct Setting<'a> {
    /// Images by container.
    pub(super) pairs: Pairs,
    /// What to note as the reason.
    pub(super) cause: Option<String>,
    /// Who writes, in `managedFields`.
    pub(super) field_manager: &'a str,
    /// `--all`.
    pub(super) takes_all: bool,
    /// `--local`.
    pub(super) is_local: bool,
    /// Whether anything is written.
    pub(super) dry_run: DryRun,
}

impl Setting<'_> {
    /// # Errors
    /// All that is wrong with the command line.
    pub(super) fn validate(&self, objects: &ObjectArgs) -> anyhow::Result<()> {
        let mut failures = Failures::default();
        if self.takes_all
            && objects
                .selector
                .as_ref()
                .is_some_and(|text| !text.is_empty())
        {
            failures.push(Failure::usage(
                "cannot set --all and --selector at the same time",
            ));
        }
        if self.pairs.is_empty() {
            failures.push(
                Failure::usage("at least one image update is required")
                    .hint("name a container and its image, such as web=nginx:1.27"),
            );
        }
        if self.pairs.len() > 1 && self.pairs.iter().any(|(name, _)| name == "*") {
            failures.push(Failure::usage(
                "all containers are already specified by *, but saw more than one container_name=container_image pairs",
            ));
        }
        if self.is_local && self.dry_run == DryRun::Server {
            failures.push(Failure::usage(
                "cannot specify --local and --dry-run=server - did you mean --dry-run=client?",
            ));
        }
        failures.finish().map(|_| ())
    }

    /// The change of one object; `None` when there is none.
    fn patch(&self, object: &Found) -> Option<Value> {
        let path = pod_spec_path(object)?;
        let pod_spec = path
            .iter()
            .fold(&object.json, |value, field| &value[*field]);
        let mut body = set_images(pod_spec, &self.pairs).patch(path);
        if let Some(cause) = &self.cause
            && object.json["metadata"]["annotations"][CHANGE_CAUSE] != cause.as_str()
        {
            let body = body.get_or_insert_with(|| json!({}));
            body["metadata"] = json!({"annotations": {CHANGE_CAUSE: cause}});
        }
        body
    }

    /// What can't be changed as asked: objects without pods, names without container.
    fn check(&self, object: &Found, failures: &mut Failures) {
        let Some(path) = pod_spec_path(object) else {
            let resource = object.resource;
            failures.push(Failure::error(format!(
                "error: {}/{} the object is not a pod or does not have a pod template: *{}.{}",
                resource.plural,
                object.full_name(),
                resource.version(),
                resource.kind
            )));
            return;
        };
        let pod_spec = path
            .iter()
            .fold(&object.json, |value, field| &value[*field]);
        for name in set_images(pod_spec, &self.pairs).missing {
            let failure =
                Failure::error(format!("error: unable to find container named \"{name}\""));
            let there = format!("{} has {}", object.line_name(), names(pod_spec));
            failures.push(failure.hint(there));
        }
    }

    /// Changes the objects on the server and prints what comes back. Returns those that have the images, and what went
    /// wrong with others.
    ///
    /// # Errors
    /// When stdout can't be written.
    pub(super) async fn write(
        &self,
        found: &[Found],
        site: Site<'_>,
        form: &mut Form,
    ) -> anyhow::Result<(Vec<Edited>, Failures)> {
        let writing = Writing {
            field_manager: Some(self.field_manager),
            dry_run: self.dry_run,
        };
        let mut failures = Failures::default();
        for object in found {
            self.check(object, &mut failures);
        }
        let operation = format!("image updated{}", dry_run::suffix(self.dry_run));
        let mut done = Vec::new();
        for object in found {
            let change = |object: &Found| Ok(self.patch(object).map(Change::Strategic));
            match writing.edit(&site.cluster.client, object, change).await {
                Ok(None) => done.push(Edited::unchanged(object)),
                Ok(Some(edited)) => {
                    form.print(site.printer, &edited.now, &operation)?;
                    done.push(edited);
                }
                Err(EditError::Refused(error)) => failures.push(error),
                Err(EditError::Request(error)) => {
                    let error = anyhow::Error::from(error)
                        .context("failed to patch image update to pod template");
                    failures.push(object.failure(error));
                }
            }
        }
        Ok((done, failures))
    }

    /// Prints the objects as they would be, without asking the server.
    pub(super) fn print_changed(
        &self,
        found: Vec<Found>,
        form: &mut Form,
        printer: &Printer,
    ) -> anyhow::Result<ExitCode> {
        let mut failures = Failures::default();
        let operation = format!("image updated{}", dry_run::suffix(self.dry_run));
        for mut object in found {
            self.check(&object, &mut failures);
            let Some(path) = pod_spec_path(&object).filter(|_| self.patch(&object).is_some())
            else {
                continue;
            };
            let pod_spec = path
                .iter()
                .fold(&object.json, |value, field| &value[*field]);
            let images = set_images(pod_spec, &self.pairs);
            images.apply(&mut object.json, path);
            if let Some(cause) = &self.cause {
                object.json["metadata"]["annotations"][CHANGE_CAUSE] = cause.as_str().into();
            }
            if self.is_local {
                object.settle();
            }
            form.print(printer, &object, &operation)?;
        }
        failures.finish()
    }
}
