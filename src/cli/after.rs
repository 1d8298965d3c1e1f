//! What follows a change: `--wait` shows the rollout to its end.

use std::future::pending;
use std::sync::Arc;

use clap::{ArgAction, Args};

use super::cluster::Cluster;
use super::failures::Failures;
use super::go_flags::{self, Timeout};
use super::objects::Found;
use super::viewer::Viewer;
use crate::engine::options::{Goal, Options, Scope};
use crate::engine::run::Engine;
use crate::ui::printer::Printer;

/// The flags.
#[derive(Clone, Debug, Args)]
pub(super) struct AfterFlags {
    /// Wait until the rollouts that the change begins are done; progress goes to stderr
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        hide_default_value = true,
        value_parser = go_flags::parse_bool,
        action = ArgAction::Set
    )]
    wait: bool,
    /// With --wait: give up on an object after this long, such as 90s or 10m; 0: never
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = go_flags::parse_timeout, allow_hyphen_values = true)]
    timeout: Timeout,
}

impl AfterFlags {
    /// Follows the rollouts of what was changed, one after another. On a cluster inside this process its controllers run
    /// meanwhile; elsewhere they are whoever is there.
    pub(super) async fn follow(
        &self,
        cluster: &Cluster,
        changed: &[Found],
        printer: &Printer,
        failures: &mut Failures,
    ) {
        if !self.wait {
            return;
        }
        let acting = cluster.embedded.is_some().then(|| {
            let options = Options::new(Scope::everything(None), Goal::Forever);
            let silent = Arc::new(|_| {});
            let engine = Engine::new(cluster.client.clone(), cluster.clock, options, silent);
            tokio::spawn(engine.run(pending()))
        });
        for object in changed {
            let viewer = Viewer {
                object,
                revision: 0,
                say: &|line| {
                    printer.talk(line);
                    Ok(())
                },
            };
            if let Err(error) = viewer.follow(&cluster.client, self.timeout).await {
                failures.push(error);
            }
        }
        if let Some(acting) = acting {
            acting.abort();
        }
    }
}
