//! Going back with a DaemonSet or StatefulSet: its ControllerRevisions hold the patches.

use anyhow::Context as _;

use super::{Undo, Undone, not_found};
use crate::cli::edit::{Change, EditError};
use crate::cli::objects::Found;
use crate::cli::rollout::history::numbered;
use crate::cli::rollout::revisions::{Recorded, recorded};
use crate::controller::template::Template;
use crate::engine::options::DryRun;
use crate::error::Failure;

/// Undoes one.
pub(super) async fn undo(undo: &Undo<'_>, object: &Found) -> anyhow::Result<Undone> {
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
        return Ok(Undone::said(format!("will roll back to {description}")));
    }
    if is_current(object, target) {
        return Ok(Undone::skipped(object, asked));
    }
    if !undo.agreed(object, &template, &name).await? {
        return Ok(Undone::REFUSED);
    }
    let edited = undo
        .writing()
        .edit(client, object, |object| {
            Ok((!is_current(object, target)).then(|| Change::Strategic(target.patch.clone())))
        })
        .await;
    match edited {
        Ok(None) => Ok(Undone::skipped(object, asked)),
        Ok(Some(edited)) => Ok(Undone::rolled_back(edited)),
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
