//! Going back with a DaemonSet or StatefulSet: its ControllerRevisions hold the patches.

use anyhow::Context as _;

use super::{Undo, not_found, skipped};
use crate::cli::edit::{Change, EditError};
use crate::cli::objects::Found;
use crate::cli::rollout::history::numbered;
use crate::cli::rollout::revisions::{Recorded, recorded};
use crate::controller::template::Template;
use crate::engine::options::DryRun;
use crate::error::Failure;

/// What kubectl's line says; `None` where the user did not agree.
pub(super) async fn undo(undo: &Undo<'_>, object: &Found) -> anyhow::Result<Option<String>> {
    let asked = undo.args.to_revision;
    if asked < 0 {
        return Err(not_found(asked).into());
    }
    let client = &undo.job.cluster.client;
    let history = recorded(client, object).await?;
    let target = target(&history, asked)?;
    let template = target.template();
    let name = format!("revision {}", target.number);
    if undo.dry_run == DryRun::Client {
        undo.agreed(object, &template, &name).await?;
        let description = Undo::description(&template);
        return Ok(Some(format!("will roll back to {description}")));
    }
    if is_current(object, target) {
        return Ok(Some(skipped(asked)));
    }
    if !undo.agreed(object, &template, &name).await? {
        return Ok(None);
    }
    let edited = undo
        .writing()
        .edit(client, object, |object| {
            Ok((!is_current(object, target)).then(|| Change::Strategic(target.patch.clone())))
        })
        .await;
    match edited {
        Ok(None) => Ok(Some(skipped(asked))),
        Ok(Some(_)) => Ok(Some("rolled back".to_owned())),
        Err(EditError::Refused(error)) => Err(error),
        Err(EditError::Request(error)) => {
            Err(error).with_context(|| format!("failed restoring revision {asked}"))
        }
    }
}

fn target(history: &[Recorded], asked: i64) -> Result<&Recorded, Failure> {
    if asked > 0 {
        let found = history.iter().find(|recorded| recorded.number == asked);
        return found.ok_or_else(|| {
            let numbers = numbered(history.iter().map(|recorded| &recorded.number));
            match &numbers[..] {
                "" => not_found(asked),
                numbers => not_found(asked).hint(numbers),
            }
        });
    }
    match history {
        [.., target, _] => Ok(target),
        _ => Err(Failure::error("no last revision to roll back to")),
    }
}

fn is_current(object: &Found, target: &Recorded) -> bool {
    let current = Template::new(object.json["spec"]["template"].clone());
    Template::new(target.template()).is_equal_to(&current)
}
