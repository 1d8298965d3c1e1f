//! What must be there before the first container: volumes and the sandbox (failure-states spec, section 10).

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::{PodRun, Setup};
use crate::controller::action::EventType::Warning;
use crate::kubelet::behaviour::Failure;
use crate::kubelet::config::{self, References};
use crate::kubelet::container::RETRY;
use crate::kubelet::event::PodEvent;
use crate::kubelet::text;

/// The first pause after a failed mount; each further one is twice as long.
const FIRST_MOUNT_PAUSE: SignedDuration = SignedDuration::from_millis(500);
/// The longest pause between mounts.
const LONGEST_MOUNT_PAUSE: SignedDuration = SignedDuration::from_secs(122);

impl PodRun {
    pub(super) fn set_up(
        &mut self,
        at: Timestamp,
        failures: u32,
        references: &dyn References,
        events: &mut Vec<PodEvent>,
    ) {
        let missing = config::missing_pull_secrets(&self.pod, references);
        if !missing.is_empty() {
            let message = format!(
                "Unable to retrieve some image pull secrets ({}); attempting to pull the image may not succeed.",
                missing.join(", ")
            );
            events.push(PodEvent::kubelet(
                Warning,
                "FailedToRetrieveImagePullSecret",
                message,
            ));
        }
        let Some((reason, message, pause)) = self.set_up_trouble(at, failures, references) else {
            self.setup = Setup::Ready { shown: false };
            return;
        };
        events.push(PodEvent::kubelet(Warning, reason, message));
        self.setup = Setup::Tried {
            at: at + pause,
            failures: failures + 1,
        };
    }

    /// What keeps the first container from being started, and how long until the next try.
    fn set_up_trouble(
        &self,
        at: Timestamp,
        failures: u32,
        references: &dyn References,
    ) -> Option<(&'static str, String, SignedDuration)> {
        let mount = |message| ("FailedMount", message, mount_pause(failures));
        match self.pod_failure(at) {
            Some((Failure::FailedMount, behaviour)) => {
                let volume = self.pod.spec.volumes.first();
                let volume = volume.map_or("data", |volume| &volume.name);
                let said = behaviour.message.as_deref();
                let said = said.unwrap_or("timed out waiting for the condition");
                Some(mount(config::mount_failure(volume, said)))
            }
            Some((Failure::FailedCreatePodSandBox, behaviour)) => {
                let said = behaviour.message.as_deref().unwrap_or(text::NO_SANDBOX);
                let message = format!("Failed to create pod sandbox: {said}");
                Some(("FailedCreatePodSandBox", message, RETRY))
            }
            _ => config::missing_in_volumes(&self.pod, references).map(mount),
        }
    }
}

fn mount_pause(failures: u32) -> SignedDuration {
    let doubled = 1_i32.checked_shl(failures.min(16)).unwrap_or(i32::MAX);
    FIRST_MOUNT_PAUSE
        .saturating_mul(doubled)
        .min(LONGEST_MOUNT_PAUSE)
}
