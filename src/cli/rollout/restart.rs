//! `rollout restart`.

use clap::Args;
use k8s_openapi::jiff::tz::TimeZone;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::change::{ChangeFlags, Making};
use super::pause::is_paused;
use crate::cli::after::AfterFlags;
use crate::cli::interrupt::Interrupts;
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::Found;
use crate::clock::Clock;
use crate::controller::keys::RESTARTED_AT;
use crate::error::ExitCode;

/// Restart rollouts: every pod is replaced
///
/// Pods are replaced as after any change of the pod template, within the bounds of the Deployment's strategy.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RestartArgs {
    #[command(flatten)]
    flags: ChangeFlags,
    #[command(flatten)]
    after: AfterFlags,
}

const EXAMPLES: &str = "\
Examples:
  # Replace the pods of a Deployment
  kubectl rs rollout restart --embedded=examples/web.yaml deploy/web --wait

  # Replace those of all Deployments with a label
  kubectl rs rollout restart deploy -l app=web";

impl RestartArgs {
    pub(super) async fn run(
        &self,
        kube: &KubeFlags,
        verbose: bool,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let now = Clock::system().now();
        let making = Making {
            operation: "restarted",
            change: |object: &Found| restart(object, now, &TimeZone::system()),
            after: &self.after,
        };
        self.flags.run(kube, verbose, making, interrupts).await
    }
}

fn restart(object: &Found, now: Timestamp, zone: &TimeZone) -> Result<Value, &'static str> {
    match object.resource.kind {
        "Deployment" if is_paused(object) == Some(true) => {
            Err("can't restart paused deployment (run rollout resume first)")
        }
        "Deployment" | "DaemonSet" | "StatefulSet" => {
            let annotations = &object.json["spec"]["template"]["metadata"]["annotations"];
            let before = annotations[RESTARTED_AT].as_str();
            let at = stamp(before, now, zone);
            Ok(json!({"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: at}}}}}))
        }
        _ => Err("restarting is not supported"),
    }
}

/// Now, in seconds and in the local zone. A restart within the same second would change nothing, so it takes the next.
fn stamp(before: Option<&str>, now: Timestamp, zone: &TimeZone) -> String {
    let mut at = now;
    while before == Some(in_seconds(at, zone).as_str()) {
        at = at
            .checked_add(SignedDuration::from_secs(1))
            .unwrap_or(Timestamp::MAX);
    }
    in_seconds(at, zone)
}

fn in_seconds(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    let zone = if at.offset().is_zero() { "Z" } else { "%:z" };
    at.strftime(&format!("%Y-%m-%dT%H:%M:%S{zone}")).to_string()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::tz::Offset;

    use super::*;

    #[test]
    fn a_second_restart_in_a_second_takes_the_next() {
        let now: Timestamp = "2026-05-01T08:00:00.7Z".parse().unwrap();
        let local = TimeZone::fixed(Offset::constant(2));
        for (before, zone, expected) in [
            (None, &TimeZone::UTC, "2026-05-01T08:00:00Z"),
            (None, &local, "2026-05-01T10:00:00+02:00"),
            (
                Some("2026-05-01T10:00:00+02:00"),
                &local,
                "2026-05-01T10:00:01+02:00",
            ),
            (
                Some("2026-05-01T09:59:59+02:00"),
                &local,
                "2026-05-01T10:00:00+02:00",
            ),
        ] {
            assert_eq!(stamp(before, now, zone), expected);
        }
    }
}
