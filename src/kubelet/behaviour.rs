//! What a simulated container does: the words in which its author asks for it.
//!
//! The same words stand in a pod's annotations (under [`PREFIX`]) and in a behaviours file (`rules`);
//! `docs/behaviours.md` explains them to users.

use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thiserror::Error;

/// What annotations that set a behaviour start with. A container's name behind a dot limits one to that container:
/// `sandbox.kubectl-rs.dev/fails.web`.
pub const PREFIX: &str = "sandbox.kubectl-rs.dev/";

/// How one container behaves. What is not set is left to the simulation.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Behaviour {
    /// From the container's turn to start until it serves. With a readiness or startup probe, the probe decides when
    /// that is noticed; without one, the start itself takes so long.
    #[serde(deserialize_with = "duration")]
    pub ready_after: Option<Duration>,
    /// How long getting its image takes.
    #[serde(deserialize_with = "duration")]
    pub pulls_for: Option<Duration>,
    /// How long one run lasts; absent: for ever, but for init containers and for what fails.
    #[serde(deserialize_with = "duration")]
    pub runs_for: Option<Duration>,
    /// What it exits with.
    #[serde(deserialize_with = "integer")]
    pub exit_code: Option<i32>,
    /// What goes wrong.
    pub fails: Option<Failure>,
    /// What the runtime or the application says when it goes wrong.
    pub message: Option<String>,
    /// How often it goes wrong before it works; absent: always.
    #[serde(deserialize_with = "integer")]
    pub restarts: Option<u32>,
    /// How long after the pod was bound it stops going wrong; absent: never.
    #[serde(deserialize_with = "duration")]
    pub heals_after: Option<Duration>,
    /// How long shutting down takes after SIGTERM.
    pub terminates_after: Option<Patience>,
}

/// What goes wrong, by the reason that Kubernetes gives for it (failure-states spec, sections 2 to 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Failure {
    /// The image's name can't be parsed.
    InvalidImageName,
    /// The image is not on the node and must not be pulled.
    ErrImageNeverPull,
    /// The image can't be looked up on the node.
    ImageInspectError,
    /// The image can't be pulled: not found, unless the message says otherwise.
    #[serde(alias = "ImagePullBackOff")]
    ErrImagePull,
    /// The registry does not answer.
    RegistryUnavailable,
    /// The image's signature is not trusted.
    SignatureValidationFailed,
    /// The container's configuration can't be put together.
    CreateContainerConfigError,
    /// The runtime refuses to create the container.
    CreateContainerError,
    /// The runtime refuses to start the container.
    RunContainerError,
    /// The postStart hook fails.
    PostStartHookError,
    /// The application exits with an error.
    #[serde(alias = "Error")]
    CrashLoopBackOff,
    /// The application is killed for its memory.
    OOMKilled,
    /// The application ends well, though it should run.
    Completed,
    /// The readiness probe fails.
    #[serde(alias = "ReadinessProbe")]
    NeverReady,
    /// The liveness probe fails.
    LivenessProbe,
    /// The startup probe fails.
    StartupProbe,
    /// No node takes the pod.
    Unschedulable,
    /// A volume can't be mounted.
    FailedMount,
    /// The pod's sandbox can't be set up.
    FailedCreatePodSandBox,
    /// The kubelet evicts the pod.
    Evicted,
    /// The kubelet rejects the pod: no room for its devices.
    UnexpectedAdmissionError,
    /// The kubelet rejects the pod: a kernel setting that the node does not allow.
    SysctlForbidden,
}

impl Failure {
    /// Whether it befalls the pod as a whole rather than one container.
    pub fn is_of_the_pod(self) -> bool {
        matches!(
            self,
            Self::Unschedulable
                | Self::FailedMount
                | Self::FailedCreatePodSandBox
                | Self::Evicted
                | Self::UnexpectedAdmissionError
                | Self::SysctlForbidden
        )
    }

    /// Whether it ends pulling the image, each try after a growing pause.
    pub(super) fn is_of_the_pull(self) -> bool {
        matches!(
            self,
            Self::ErrImagePull | Self::RegistryUnavailable | Self::SignatureValidationFailed
        )
    }
}

/// How long to wait for something that may never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// So long.
    For(Duration),
    /// In vain.
    Never,
}

/// An annotation that is no behaviour.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("annotation {annotation}: {cause}")]
pub struct BehaviourError {
    /// The annotation's key.
    pub annotation: String,
    /// What is wrong with it.
    pub cause: String,
}

impl Behaviour {
    /// Reads one annotation's key (without [`PREFIX`] and container) and text.
    pub(super) fn from_annotation(key: &str, text: &str) -> Result<Self, String> {
        let pair = Map::from_iter([(key.to_owned(), Value::String(text.to_owned()))]);
        Self::deserialize(Value::Object(pair)).map_err(|error| error.to_string())
    }

    /// This behaviour where `upper` says nothing, `upper` elsewhere.
    #[must_use]
    pub fn overlaid_with(self, upper: &Self) -> Self {
        Self {
            ready_after: upper.ready_after.or(self.ready_after),
            pulls_for: upper.pulls_for.or(self.pulls_for),
            runs_for: upper.runs_for.or(self.runs_for),
            exit_code: upper.exit_code.or(self.exit_code),
            fails: upper.fails.or(self.fails),
            message: upper.message.clone().or(self.message),
            restarts: upper.restarts.or(self.restarts),
            heals_after: upper.heals_after.or(self.heals_after),
            terminates_after: upper.terminates_after.or(self.terminates_after),
        }
    }
}

/// YAML writes numbers bare, annotations can't.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText<T> {
    Number(T),
    Text(String),
}

/// The longest text that is read as a duration: what is longer could overflow in the parser.
const LONGEST_DURATION: usize = 16;

fn parse_duration(text: &str) -> Result<Duration, String> {
    let plain = |letter: char| letter.is_alphanumeric() || letter == '.';
    let parsed = if text.len() <= LONGEST_DURATION && text.chars().all(plain) {
        text.parse::<kube::core::Duration>().ok()
    } else {
        None
    };
    parsed
        .filter(|_| !text.is_empty())
        .map(Duration::from)
        .ok_or_else(|| format!("invalid duration {text:?}: write it as 500ms, 5s, 2m or 1h30m"))
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let asked = Option::<NumberOrText<serde_json::Number>>::deserialize(deserializer)?;
    let text = asked.map(|asked| match asked {
        NumberOrText::Number(number) => number.to_string(),
        NumberOrText::Text(text) => text,
    });
    text.map(|text| parse_duration(&text))
        .transpose()
        .map_err(D::Error::custom)
}

fn integer<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr<Err: fmt::Display> + Deserialize<'de>,
{
    match Option::<NumberOrText<T>>::deserialize(deserializer)? {
        Some(NumberOrText::Number(number)) => Ok(Some(number)),
        Some(NumberOrText::Text(text)) => text
            .parse()
            .map(Some)
            .map_err(|cause| D::Error::custom(format!("invalid number {text:?}: {cause}"))),
        None => Ok(None),
    }
}

impl<'de> Deserialize<'de> for Patience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "never" => Ok(Self::Never),
            text => parse_duration(text)
                .map(Self::For)
                .map_err(D::Error::custom),
        }
    }
}
