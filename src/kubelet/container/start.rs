//! From a container's turn to its start: image, configuration, creation (failure-states spec, sections 2 and 3).

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::{Container, Context, Exit, PullStatus, RETRY, Role, Stage, signed};
use crate::controller::action::EventType::{Normal, Warning};
use crate::kubelet::behaviour::Failure;
use crate::kubelet::status::ContainerState;
use crate::kubelet::{config, names, text};

/// The first pause after a failed pull or a crash; each further one is twice as long.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// The longest pause.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(300);

/// The pause on a rung of the back-off ladder, from 0.
pub(super) fn pause(rung: u32) -> SignedDuration {
    let doubled = 1_i32.checked_shl(rung.min(10)).unwrap_or(i32::MAX);
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

impl Container {
    /// Its turn has come.
    pub(in crate::kubelet) fn begin(&mut self, ctx: &mut Context) {
        self.pull(ctx);
    }

    fn pull(&mut self, ctx: &mut Context) {
        let fails = self.failing(ctx);
        let stays_local = matches!(
            fails,
            Some(
                Failure::InvalidImageName | Failure::ErrImageNeverPull | Failure::ImageInspectError
            )
        ) || !text::is_valid_name(&ctx.spec.image);
        let pulls = !self.image_present || fails.is_some_and(Failure::is_of_the_pull);
        if pulls && !stays_local {
            let message = format!("Pulling image {:?}", ctx.spec.image);
            ctx.event(self.role, Normal, "Pulling", message);
        }
        self.stage = Stage::Pulling;
        self.due = Some(ctx.at + self.start_takes(ctx));
    }

    /// How long it takes until the container can be created. Whoever asks for a time until ready and has no probe to
    /// show it gets it here: a container without probes is ready as soon as it runs.
    fn start_takes(&self, ctx: &Context) -> SignedDuration {
        if let Some(asked) = self.behaviour.pulls_for {
            return signed(asked);
        }
        match self.behaviour.ready_after {
            Some(ready) if has_probe(ctx) => signed(ready).min(self.default_start),
            Some(ready) => signed(ready),
            None => self.default_start,
        }
    }

    /// How long the application takes to serve once its container runs.
    pub(super) fn warms_up_for(&self, ctx: &Context) -> SignedDuration {
        match self.behaviour.ready_after {
            Some(ready) if has_probe(ctx) => {
                (signed(ready) - self.start_takes(ctx)).max(SignedDuration::ZERO)
            }
            _ => SignedDuration::ZERO,
        }
    }

    /// Gets the image if it must, then creates and starts the container; or shows what prevents it.
    pub(super) fn try_to_start(&mut self, ctx: &mut Context) {
        let image = &ctx.spec.image;
        let fails = self.failing(ctx);
        match fails {
            Some(Failure::InvalidImageName) => self.refuse_name(ctx),
            _ if !text::is_valid_name(image) => self.refuse_name(ctx),
            Some(Failure::ErrImageNeverPull) => {
                let message =
                    format!("Container image {image:?} is not present with pull policy of Never");
                self.refuse_image(ctx, "ErrImageNeverPull", "ErrImageNeverPull", message);
            }
            Some(Failure::ImageInspectError) => {
                let said = text::refusal(Failure::ImageInspectError, &self.behaviour);
                let message = format!("Failed to inspect image {image:?}: {said}");
                self.refuse_image(ctx, "ImageInspectError", "InspectFailed", message);
            }
            Some(failure) if failure.is_of_the_pull() => {
                self.fail_to_pull(ctx, failure);
                self.show_pull(ctx, PullStatus::Failed);
                let retry_at = ctx.at + pause(self.failures - 1);
                self.back_off_pull(ctx, retry_at);
            }
            _ => {
                self.tell_pulled(ctx);
                self.create(ctx, fails);
            }
        }
    }

    fn refuse_name(&mut self, ctx: &mut Context) {
        let message = text::invalid_name(&ctx.spec.image);
        self.refuse_image(ctx, "InvalidImageName", "InspectFailed", message);
    }

    fn refuse_image(
        &mut self,
        ctx: &mut Context,
        reason: &'static str,
        event: &'static str,
        message: String,
    ) {
        ctx.event(self.role, Warning, event, message.clone());
        ctx.event(self.role, Warning, "Failed", format!("Error: {reason}"));
        self.wait_refused(ctx, reason, message);
    }

    fn wait_refused(&mut self, ctx: &Context, reason: &'static str, message: String) {
        self.failures += 1;
        self.state = ContainerState::Waiting { reason, message };
        self.stage = Stage::Refused;
        self.due = Some(ctx.at + RETRY);
    }

    fn tell_pulled(&mut self, ctx: &mut Context) {
        let image = &ctx.spec.image;
        let message = if self.image_present {
            format!(
                "Container image {image:?} already present on machine and can be accessed by the pod"
            )
        } else {
            let took = std::time::Duration::try_from(self.start_takes(ctx)).unwrap_or_default();
            let size = names::image_size(image);
            format!(
                "Successfully pulled image {image:?} in {took:?} ({took:?} including waiting). Image size: {size} bytes."
            )
        };
        self.image_present = true;
        ctx.event(self.role, Normal, "Pulled", message);
    }

    fn fail_to_pull(&mut self, ctx: &mut Context, failure: Failure) {
        let image = &ctx.spec.image;
        let error = text::pull_error(failure, &self.behaviour, image);
        let message = format!("Failed to pull image {image:?}: {}", error.runtime);
        ctx.event(self.role, Warning, "Failed", message);
        let message = format!("Error: {}", error.reason);
        ctx.event(self.role, Warning, "Failed", message);
        self.failures += 1;
    }

    /// A sync within the back-off.
    fn back_off_pull(&mut self, ctx: &mut Context, retry_at: Timestamp) {
        let message = format!("Back-off pulling image {:?}", ctx.spec.image);
        ctx.event(self.role, Normal, "BackOff", message);
        let message = "Error: ImagePullBackOff".to_owned();
        ctx.event(self.role, Warning, "Failed", message);
        self.wait_to_pull(ctx, retry_at, PullStatus::BackOff);
    }

    fn wait_to_pull(&mut self, ctx: &Context, retry_at: Timestamp, next_shown: PullStatus) {
        self.stage = Stage::PullBackOff {
            retry_at,
            next_shown,
        };
        self.due = Some(ctx.at + RETRY);
    }

    fn show_pull(&mut self, ctx: &Context, shown: PullStatus) {
        let failure = self.behaviour.fails.unwrap_or(Failure::ErrImagePull);
        let image = &ctx.spec.image;
        let error = text::pull_error(failure, &self.behaviour, image);
        let (reason, message) = match shown {
            PullStatus::Failed => (error.reason, error.message),
            PullStatus::BackOff => (
                "ImagePullBackOff",
                format!(
                    "Back-off pulling image {image:?}: {}: {}",
                    error.reason, error.message
                ),
            ),
        };
        self.state = ContainerState::Waiting { reason, message };
    }

    /// A sync after a failed pull: first the status, from what the last sync found, then another try if it is time.
    pub(super) fn sync_pull(&mut self, ctx: &mut Context, retry_at: Timestamp, shown: PullStatus) {
        self.show_pull(ctx, shown);
        if ctx.at < retry_at {
            self.back_off_pull(ctx, retry_at);
            return;
        }
        match self.failing(ctx) {
            Some(failure) if failure.is_of_the_pull() => {
                let message = format!("Pulling image {:?}", ctx.spec.image);
                ctx.event(self.role, Normal, "Pulling", message);
                self.fail_to_pull(ctx, failure);
                let retry_at = ctx.at + pause(self.failures - 1);
                self.wait_to_pull(ctx, retry_at, PullStatus::Failed);
            }
            _ => self.pull(ctx),
        }
    }

    fn create(&mut self, ctx: &mut Context, fails: Option<Failure>) {
        let forced = fails.filter(|failure| {
            matches!(
                failure,
                Failure::CreateContainerConfigError | Failure::CreateContainerError
            )
        });
        let namespace = &ctx.pod.metadata.namespace;
        let refused = match forced {
            Some(Failure::CreateContainerError) => Some("CreateContainerError"),
            Some(_) => Some("CreateContainerConfigError"),
            None => None,
        }
        .zip(forced.map(|failure| text::refusal(failure, &self.behaviour)))
        .or_else(|| {
            let missing = config::missing_in_env(ctx.spec, namespace, ctx.references)?;
            Some(("CreateContainerConfigError", missing))
        });
        if let Some((reason, message)) = refused {
            ctx.event(self.role, Warning, "Failed", format!("Error: {message}"));
            self.wait_refused(ctx, reason, message);
            return;
        }
        self.runs += 1;
        ctx.event(self.role, Normal, "Created", "Container created".to_owned());
        match fails {
            Some(Failure::RunContainerError) => self.fail_to_run(ctx),
            Some(Failure::PostStartHookError) => self.fail_post_start(ctx),
            _ => self.start(ctx),
        }
    }

    fn fail_to_run(&mut self, ctx: &mut Context) {
        let message = text::refusal(Failure::RunContainerError, &self.behaviour);
        ctx.event(self.role, Warning, "Failed", format!("Error: {message}"));
        let exit = Exit {
            reason: "StartError",
            ..Exit::error(128)
        };
        // containerd reports the beginning of a run that never began as the epoch.
        let ended = self.ended(ctx, Some(Timestamp::UNIX_EPOCH), exit, message.clone());
        self.last = Some(ended);
        self.fail_start(ctx, "RunContainerError", message);
    }

    fn fail_post_start(&mut self, ctx: &mut Context) {
        let hook = &ctx.spec.lifecycle.post_start;
        let (what, default) = if let Some(http) = &hook.http_get {
            let refused = "connect: connection refused".to_owned();
            (format!("HTTP lifecycle hook ({})", http.path), refused)
        } else {
            let command = hook.exec.command.join(" ");
            let said = format!("command '{command}' exited with 1: , message: \"\"");
            (format!("Exec lifecycle hook ([{command}])"), said)
        };
        let message = format!(
            "{what} for Container {:?} in Pod {:?} failed - error: {}",
            ctx.spec.name,
            ctx.pod_text(),
            self.behaviour.message.as_ref().unwrap_or(&default)
        );
        ctx.event(self.role, Normal, "Started", "Container started".to_owned());
        let failed = "PostStartHook failed".to_owned();
        ctx.event(self.role, Warning, "FailedPostStartHook", failed);
        ctx.event(
            self.role,
            Normal,
            "Killing",
            "FailedPostStartHook".to_owned(),
        );
        let exit = Exit::error(super::SIGTERM);
        self.last = Some(self.ended(ctx, Some(ctx.at), exit, String::new()));
        self.fail_start(ctx, "PostStartHookError", message);
    }

    fn fail_start(&mut self, ctx: &mut Context, reason: &'static str, message: String) {
        self.failures += 1;
        self.state = ContainerState::Waiting { reason, message };
        self.back_off(ctx, RETRY);
    }
}

/// Whether a probe shows when the container serves.
fn has_probe(ctx: &Context) -> bool {
    ctx.spec.readiness_probe.is_some() || ctx.spec.startup_probe.is_some()
}

impl Role {
    /// What events call a container of this role.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Main => "Container",
            Self::Init | Self::Sidecar => "Init container",
        }
    }
}
